"use strict";
// Figures of the pages: plotly.js and the data of a figure are loaded when the figure comes near the window.
(function () {
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const places = [...document.querySelectorAll(".pto-plot")];
  const touch = window.matchMedia("(pointer: coarse)");
  const shown = new Set();
  const loaded = new Map();

  const config = {
    responsive: true,
    displaylogo: false,
    // Without these two plotly.js offers to send the figure to a server.
    showSendToCloud: false,
    plotlyServerURL: "",
    displayModeBar: touch.matches || window.innerWidth < 700 ? false : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };

  // A cell with a sentence does not shrink to a word a line on a narrow page: its table scrolls instead.
  for (const cell of document.querySelectorAll(".md-typeset td")) {
    if (cell.textContent.length > 40) cell.dataset.long = "";
  }

  // What the theme leaves unsaid: the name of the search, and that a table which scrolls can be reached by keys.
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  function reachable() {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  window.addEventListener("load", reachable);
  window.addEventListener("resize", reachable);

  function load(name) {
    if (!loaded.has(name)) {
      loaded.set(
        name,
        new Promise((done, failed) => {
          const script = document.createElement("script");
          script.src = here + name;
          script.onload = done;
          script.onerror = () => failed(new Error(name + " cannot be loaded"));
          document.head.append(script);
        }),
      );
    }
    return loaded.get(name);
  }

  // The dark figure is kept as what differs from the light one: objects entry by entry, anything else as a whole.
  function put(over, base) {
    if (over === null || typeof over !== "object" || Array.isArray(over)) return over;
    if (base === null || typeof base !== "object") return over;
    for (const key of Object.keys(over)) base[key] = put(over[key], base[key]);
    return base;
  }

  async function draw(place) {
    shown.add(place);
    const key = place.dataset.figure;
    await Promise.all([load("plotly.min.js"), load("figures/" + key + ".js")]);
    const both = window.ptoFigures[key];
    const dark = document.body.dataset.mdColorScheme === "slate";
    const light = structuredClone(both.light);
    const figure = dark ? put(structuredClone(both.dark), light) : light;
    // A finger on a figure scrolls the page.
    figure.layout.dragmode = touch.matches ? false : "zoom";
    await window.Plotly.react(place, figure.data, figure.layout, config);
    place.dataset.drawn = dark ? "dark" : "light";
  }

  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        draw(entry.target);
      }
    },
    { rootMargin: "600px" },
  );
  for (const place of places) near.observe(place);
  window.addEventListener("beforeprint", () => places.filter((place) => !shown.has(place)).forEach(draw));
  new MutationObserver(() => shown.forEach(draw)).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
})();
