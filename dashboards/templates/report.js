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

  // The dark page is kept as what differs from the light one: objects entry by entry, anything else as a whole.
  function put(over, base) {
    if (over === null || typeof over !== "object" || Array.isArray(over)) return over;
    if (base === null || typeof base !== "object") return over;
    for (const key of Object.keys(over)) base[key] = put(over[key], base[key]);
    return base;
  }

  function draw() {
    for (const key of Object.keys(figures)) {
      const light = structuredClone(figures[key].light);
      const figure = dark.matches ? put(structuredClone(figures[key].dark), light) : light;
      // On a touch screen a finger on a figure scrolls the page.
      if (touch.matches) figure.layout.dragmode = false;
      Plotly.react("figure-" + key, figure.data, figure.layout, config);
    }
  }

  dark.addEventListener("change", draw);
  draw();
})();
