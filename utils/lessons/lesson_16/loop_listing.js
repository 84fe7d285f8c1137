(() => {
  const root = document.getElementById("@ID@");
  if (!root || root.classList.contains("alive")) return;
  root.classList.add("alive");
  const rows = [...root.querySelectorAll("li")];
  const lines = [...root.querySelectorAll(".line")];
  const said = root.querySelector(".said");
  const mark = (number, chosen) => {
    lines.forEach((line) => line.classList.toggle("on", line.dataset.line === number));
    rows.forEach((row) => {
      row.classList.toggle("of", row.dataset.line === number);
      row.classList.toggle("on", row === chosen);
    });
  };
  const columns = root.querySelector(".columns");
  // Beside the list, the explanation moves down to its instruction, so that both are in view.
  const follow = (row) => {
    said.style.top = "0";
    const all = columns.getBoundingClientRect();
    const own = said.getBoundingClientRect();
    const machine = root.querySelector(".machine").getBoundingClientRect();
    const beside = machine.left > own.left;
    const wanted = row.getBoundingClientRect().top - own.top;
    const room = all.bottom - own.bottom;
    said.style.top = `${beside ? Math.max(0, Math.min(wanted, room)) : 0}px`;
  };
  const explain = (row) => {
    said.innerHTML = row.querySelector(".why").innerHTML;
    follow(row);
    mark(row.dataset.line, row);
  };
  rows.forEach((row, index) => {
    row.removeAttribute("title");
    row.tabIndex = index ? -1 : 0;
    row.addEventListener("mouseenter", () => explain(row));
    row.addEventListener("click", () => explain(row));
    row.addEventListener("focus", () => explain(row));
    row.addEventListener("keydown", (event) => {
      const next = rows[index + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
      if (!next) return;
      event.preventDefault();
      event.stopPropagation();
      rows.forEach((one) => { one.tabIndex = one === next ? 0 : -1; });
      next.focus();
    });
  });
  const list = root.querySelector("ol");
  const look = () => {
    const hidden = list.scrollHeight - list.clientHeight;
    root.classList.toggle("scrolls", hidden > 4);
    root.classList.toggle("more", hidden - list.scrollTop > 4);
  };
  list.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(list);
  lines.forEach((line) => {
    line.addEventListener("click", () => mark(line.dataset.line, null));
    line.addEventListener("mouseenter", () => mark(line.dataset.line, null));
  });
})();
