// Cells of tables. Texts become text nodes, never markup.
const cells = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});

// A link: the column's `field` is the text, the row's `<field>_href` the address.
cells.Link = function (props) {
  const href = props.data && props.data[props.colDef.field + "_href"];
  if (!href) return String(props.value ?? "");
  return React.createElement(
    "a",
    {
      href: href,
      onClick: function (event) {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        window.history.pushState({}, "", href);
        window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
        window.scrollTo(0, 0);
      },
    },
    String(props.value ?? ""),
  );
};

// State of a run with its progress, {state, share}.
cells.State = function (props) {
  const value = props.value || "";
  const share = props.data && props.data.share;
  if (value !== "running") return React.createElement("span", { className: "tag" + (value === "done" ? " good" : "") }, value);
  return React.createElement(
    "span",
    { className: "running" },
    React.createElement("progress", { value: share || 0, max: 1, "aria-label": "progress" }),
    " ",
    Math.round(100 * (share || 0)) + " %",
  );
};
