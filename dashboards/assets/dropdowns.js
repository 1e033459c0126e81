// Menus of the library are reached by keyboard through an input that is hidden from screen readers, and so are not
// announced, and what is chosen takes the place of their label. Here the button that shows the choice is the stop of the
// tabulator itself, and its name begins with the label.
(function () {
  const mend = function (input) {
    const button = input.parentElement && input.parentElement.querySelector("button.dash-dropdown");
    if (!button) return;
    if (input.tabIndex !== -1) input.tabIndex = -1;
    if (!button.disabled && button.tabIndex !== 0) button.tabIndex = 0;
    const label = button.id && document.querySelector('label[for="' + CSS.escape(button.id) + '"]');
    if (!label) return;
    if (!label.id) label.id = button.id + "-label";
    const names = (button.getAttribute("aria-labelledby") || "").split(" ");
    if (!names.includes(label.id)) button.setAttribute("aria-labelledby", [label.id, ...names].join(" ").trim());
  };
  const mendAll = function (root) {
    if (root.matches && root.matches(".dash-dropdown-focus-target")) mend(root);
    if (root.querySelectorAll) root.querySelectorAll(".dash-dropdown-focus-target").forEach(mend);
  };
  new MutationObserver(function (changes) {
    for (const change of changes) {
      if (change.type === "attributes") mendAll(change.target);
      else change.addedNodes.forEach(mendAll);
    }
  }).observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ["tabindex"] });
})();
