// The ways back from an element that keeps its keys from JupyterLab: Escape moves the focus to its
// cell, and Enter with a modifier reaches JupyterLab, which runs the cell.
(function () {
  "use strict";
  const kept = "data-lm-suppress-shortcuts", root = document.documentElement;
  if (root.dataset.leavesKeys) return;
  root.dataset.leavesKeys = "yes";
  document.addEventListener("keydown", event => {
    const cell = event.target.closest && event.target.closest(".jp-Cell");
    if (!cell || !event.target.hasAttribute(kept)) return;
    if (event.key === "Escape") cell.focus();
    else if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.altKey)) {
      const keepers = [];  // a movie has the attribute, and so has each of its buttons
      for (let each = event.target; each !== cell; each = each.parentElement)
        if (each.hasAttribute(kept)) keepers.push(each);
      keepers.forEach(each => each.removeAttribute(kept));
      setTimeout(() => keepers.forEach(each => each.setAttribute(kept, "true")));
    }
  }, true);
})();
