"use strict";
(function () {
  const figures = JSON.parse(document.getElementById("figure-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)");
  const config = {
    responsive: true,
    displaylogo: false,
    // Without these two plotly.js offers to send the figure to a server.
    showSendToCloud: false,
    plotlyServerURL: "",
    // On a narrow page the buttons would lie over the legend.
    displayModeBar: touch.matches || window.innerWidth < 700 ? false : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  const shown = new Set();

  // The dark page is kept as what differs from the light one: objects entry by entry, anything else as a whole.
  function put(over, base) {
    if (over === null || typeof over !== "object" || Array.isArray(over)) return over;
    if (base === null || typeof base !== "object") return over;
    for (const key of Object.keys(over)) base[key] = put(over[key], base[key]);
    return base;
  }

  function draw(key) {
    shown.add(key);
    const light = structuredClone(figures[key].light);
    const figure = dark.matches ? put(structuredClone(figures[key].dark), light) : light;
    // Boxes select nothing here. On a touch screen a finger on a figure scrolls the page.
    figure.layout.dragmode = touch.matches ? false : "zoom";
    Plotly.react("figure-" + key, figure.data, figure.layout, config);
  }

  // A figure is drawn when it comes near the window: a page of several runs has dozens.
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        draw(entry.target.id.slice("figure-".length));
      }
    },
    { rootMargin: "800px" },
  );
  for (const key of Object.keys(figures)) near.observe(document.getElementById("figure-" + key));
  window.addEventListener("beforeprint", () => Object.keys(figures).filter((key) => !shown.has(key)).forEach(draw));
  dark.addEventListener("change", () => shown.forEach(draw));

  // Where a page may not write to the clipboard, its text is marked, ready to be copied by hand.
  async function copy(button, text) {
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      window.getSelection().selectAllChildren(text);
      said = document.execCommand("copy") ? "Copied" : "Marked: copy it";
    }
    button.textContent = said;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button, button.parentElement.nextElementSibling));
  }
})();
