(function () {
  "use strict";
  // The same output can be twice in a page, so the script takes the first one that is not alive yet.
  const root = Array.from(document.querySelectorAll('[id="@ID@"]')).find(r => !r.dataset.alive);
  if (!root) return;
  root.dataset.alive = "yes";
  const pool = root.querySelector(".pool"), chosen = root.querySelector(".chosen");
  const call = root.querySelector(".call"), copy = root.querySelector("button");
  const labels = [copy.textContent, copy.dataset.done];
  let dragged = null;

  function show() {
    const order = Array.from(chosen.children, item => item.dataset.line).join(", ");
    call.textContent = root.dataset.exercise + " = [" + order + "]";
    copy.textContent = labels[0];
  }
  function number(item) { return +item.dataset.line; }
  function choose(item, before) { chosen.insertBefore(item, before || null); show(); }
  function putBack(item) {
    const next = Array.from(pool.children).find(other => number(other) > number(item));
    pool.insertBefore(item, next || null);
    show();
  }
  function toggle(item) { if (item.parentNode === pool) choose(item); else putBack(item); }
  function neighbour(item, down) { return down ? item.nextElementSibling : item.previousElementSibling; }
  function toggleByKey(item) {
    const next = neighbour(item, true) || neighbour(item, false);
    toggle(item);
    (next || item).focus();
  }
  function move(item, down) {
    const other = neighbour(item, down);
    if (!other) return;
    chosen.insertBefore(down ? other : item, down ? item : other);
    item.focus();
    show();
  }

  root.addEventListener("click", event => {
    const item = event.target.closest("li");
    if (item) toggle(item);
  });
  root.addEventListener("keydown", event => {
    const item = event.target.closest("li");
    if (!item || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const inPool = item.parentNode === pool, down = event.key === "ArrowDown";
    if (down || event.key === "ArrowUp") {
      if (!inPool) move(item, down);
      else if (neighbour(item, down)) neighbour(item, down).focus();
    } else if ([" ", "Enter", inPool ? "ArrowRight" : "ArrowLeft"].includes(event.key)) {
      toggleByKey(item);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("dragstart", event => {
    dragged = event.target.closest("li");
    if (dragged) event.dataTransfer.setData("text/plain", dragged.dataset.line);
  });
  root.addEventListener("dragover", event => {
    if (dragged && event.target.closest(".column")) event.preventDefault();
  });
  root.addEventListener("drop", event => {
    const column = event.target.closest(".column");
    if (!dragged || !column) return;
    event.preventDefault();
    const over = event.target.closest("li");
    if (column.contains(pool)) putBack(dragged);
    else if (over !== dragged) choose(dragged, over);
    dragged = null;
  });
  copy.onclick = function () {
    const range = document.createRange();
    range.selectNodeContents(call);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (navigator.clipboard) navigator.clipboard.writeText(call.textContent)
      .then(() => { copy.textContent = labels[1]; }, () => {});
  };
  root.classList.add("alive");
  show();
})();
