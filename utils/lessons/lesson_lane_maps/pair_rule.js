(function () {
  "use strict";
  // The same output can be twice in a page, so the script takes the first one that is not alive yet.
  const root = Array.from(document.querySelectorAll('[id="@ID@"]')).find(r => !r.dataset.alive);
  if (!root) return;
  root.dataset.alive = "yes";
  const words = JSON.parse(root.dataset.words);
  const columns = Array.from(root.querySelectorAll(".quad"));
  const lanes = Array.from(root.querySelectorAll(".lane")).sort((a, b) => a.dataset.lane - b.dataset.lane);
  const count = root.querySelector(".count"), why = root.querySelector(".why");
  let chosen = null;

  function quadOf(lane) { return columns.indexOf(lanes[lane].closest(".quad")); }
  function fill(text, values) { return text.replace(/\{(\w+)\}/g, (_, name) => values[name]); }
  // The first lane whose quad is not that of the lane at this distance, or -1.
  function apart(distance) {
    return lanes.findIndex((_, lane) => quadOf(lane) !== quadOf(lane ^ distance));
  }
  function show() {
    const first = apart(1), second = apart(2), pairs = first < 0 || second < 0;
    lanes.forEach((lane, number) => {
      const broken = [first, first ^ 1, second, second ^ 2].includes(number);
      lane.classList.toggle("apart", !pairs && broken);
      lane.classList.toggle("chosen", lane === chosen);
      lane.setAttribute("aria-pressed", lane === chosen);
    });
    count.textContent = fill(words.count, {count: pairs ? 2 : 4});
    const values = {first: first, partner: first ^ 1, second: second, other: second ^ 2};
    why.textContent = first < 0 ? words.neighbours : second < 0 ? words.butOne : fill(words.apart, values);
  }
  function put(lane, column) {
    const later = Array.from(column.querySelectorAll(".lane")).find(other => +other.dataset.lane > +lane.dataset.lane);
    column.insertBefore(lane, later || null);
  }
  function move(lane, column) { if (column) { put(lane, column); chosen = null; show(); } }
  function arrange(quads) { quads.forEach((quad, lane) => put(lanes[lane], columns[quad])); chosen = null; show(); }

  root.addEventListener("click", event => {
    const button = event.target.closest("[data-quads]"), lane = event.target.closest(".lane");
    if (button) arrange(JSON.parse(button.dataset.quads));
    else if (lane && (!chosen || lane.closest(".quad") === chosen.closest(".quad"))) {
      chosen = lane === chosen ? null : lane;
      show();
    } else if (chosen) move(chosen, event.target.closest(".quad"));
  });
  root.addEventListener("keydown", event => {
    const lane = event.target.closest(".lane"), step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!lane || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    move(lane, columns[columns.indexOf(lane.closest(".quad")) + step]);
    lane.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  let dragged = null;
  root.addEventListener("dragstart", event => {
    dragged = event.target.closest(".lane");
    if (dragged) event.dataTransfer.setData("text/plain", dragged.dataset.lane);
  });
  root.addEventListener("dragover", event => {
    if (dragged && event.target.closest(".quad")) event.preventDefault();
  });
  root.addEventListener("drop", event => {
    if (!dragged) return;
    event.preventDefault();
    move(dragged, event.target.closest(".quad"));
    dragged = null;
  });
  show();
})();
