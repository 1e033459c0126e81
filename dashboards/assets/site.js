// What the pages do in the browser itself: theme, address, title, notices.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  site: {
    // "light" or "dark": the button's choice, else the system's.
    theme: function (clicks) {
      const root = document.documentElement;
      const system = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      let now = root.dataset.theme || system;
      if (clicks) {
        now = now === "dark" ? "light" : "dark";
        try { localStorage.setItem("pto-tune-theme", now); } catch (e) { /* private window */ }
      }
      root.dataset.theme = now;
      return now;
    },
    title: function (title) {
      if (title) document.title = title;
      return window.dash_clientside.no_update;
    },
    // The entry of the page that is open, or of what lies above it.
    nav: function (path, ids) {
      path = path || "/";
      let best = "";
      for (const id of ids) {
        const own = id.path;
        const inside = own === "/" ? path === "/" || path.startsWith("/runs") : path === own || path.startsWith(own + "/");
        if (inside && own.length > best.length) best = own;
      }
      return ids.map((id) => (id.path === best ? "current" : ""));
    },
    // What the open page's controls say, written into the address without loading anything.
    address: function (values) {
      const state = (values || []).find((value) => value);
      if (!state) return window.dash_clientside.no_update;
      const query = new URLSearchParams(state).toString();
      const target = window.location.pathname + (query ? "?" + query : "");
      if (target !== window.location.pathname + window.location.search) {
        window.history.replaceState(window.history.state, "", target);
      }
      return window.dash_clientside.no_update;
    },
    notice: function (text) {
      const by = window.dash_clientside.callback_context.triggered.map((t) => t.prop_id);
      if (!text || !by.some((id) => id.startsWith("notice."))) return "";
      return String(text);
    },
  },
});
