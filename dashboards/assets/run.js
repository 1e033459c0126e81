// What a run's page does in the browser itself.
(function () {
  // What stands further down is not waited for: after this long it is asked for in any case.
  const MOST_WAIT_MS = 6000;
  const LOOK_EVERY_MS = 25;

  const firstThingsStand = function () {
    return document.querySelector("#run-scatter .main-svg") &&
      document.querySelector("#run-grid .ag-row [col-id=row], #run-grid .ag-overlay-no-rows-center");
  };

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    run: {
      // Rows of the table that were fetched under another filter are fetched anew.
      refill: function () {
        try {
          window.dash_ag_grid.getApi("run-grid").purgeInfiniteCache();
        } catch (e) { /* the table is not there yet: it fetches its rows under the filter of now */ }
        return window.dash_clientside.no_update;
      },
      // What the figures further down are asked for with; said once the first figure and the first rows stand.
      later: function (...now) {
        const until = Date.now() + MOST_WAIT_MS;
        return new Promise(function (resolve) {
          const look = function () {
            if (firstThingsStand() || Date.now() > until) { resolve(now); } else { setTimeout(look, LOOK_EVERY_MS); }
          };
          look();
        });
      },
    },
  });
})();
