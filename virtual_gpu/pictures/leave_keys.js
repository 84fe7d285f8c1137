// The ways back from an element that keeps its keys from JupyterLab: Escape moves the focus to its
// cell, and Enter with a modifier reaches JupyterLab, which runs the cell.
(function () {
  "use strict";
  const kept = "data-lm-suppress-shortcuts", root = document.documentElement;
  if (root.dataset.leavesKeys) return;
  root.dataset.leavesKeys = "yes";
  document.addEventListener("keydown", event => {
    const element = event.target, cell = element.closest && element.closest(".jp-Cell");
    if (!cell || !element.hasAttribute(kept)) return;
    if (event.key === "Escape") cell.focus();
    else if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.altKey)) {
      element.removeAttribute(kept);
      setTimeout(() => element.setAttribute(kept, "true"));
    }
  }, true);
})();
