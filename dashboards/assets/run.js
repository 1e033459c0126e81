// What a run's page does in the browser itself.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  run: {
    // Rows of the table that were fetched under another filter are fetched anew.
    refill: function () {
      try {
        window.dash_ag_grid.getApi("run-grid").purgeInfiniteCache();
      } catch (e) { /* the table is not there yet: it fetches its rows under the filter of now */ }
      return window.dash_clientside.no_update;
    },
  },
});
