// Plays movies of what a block does to memory. No library, no request. movie.py writes the data;
// what a request costs follows transactions.py, and the tests compare both.
(function () {
"use strict";
const KEY = "@KEY@";
const waiting = window[KEY] || [];
if (waiting.isPlayer) return;
window[KEY] = { isPlayer: true, push: ([name, data]) => begin(name, data, 40) };
waiting.forEach(([name, data]) => begin(name, data, 40));

const SVG = "http://www.w3.org/2000/svg";
const WARP = 32, SECTOR = 32, BANKS = 32, BANK_BYTES = 4;
const VERB = { load: "reads", store: "writes", atomic: "updates" };
const TRAIL = [1, .42, .26];

// A movie can be announced before its place is in the page.
function begin(name, data, tries) {
  // The same output can stand twice in a page (a second view of a notebook): each copy lives alone.
  const root = document.querySelector(`[id="${name}"]:not(.live)`);
  if (root) play(root, data);
  else if (tries) setTimeout(() => begin(name, data, tries - 1), 50);
}

function make(name, look, parent) {
  const node = document.createElementNS(SVG, name);
  for (const key in look) node.setAttribute(key, look[key]);
  if (parent) parent.appendChild(node);
  return node;
}
function html(name, look, parent) {
  const node = document.createElement(name);
  for (const key in look) node[key] = look[key];
  if (parent) parent.appendChild(node);
  return node;
}
function number(n) { return Math.round(n).toLocaleString("en"); }
function many(n, word) { return `${number(n)} ${word}${n === 1 ? "" : "s"}`; }
function safe(text) { return String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`); }
function colour(film, n) {
  const hue = Math.round(240 + (film.colours > 1 ? 130 * n / (film.colours - 1) : 0));
  return `light-dark(oklch(57% .14 ${hue}),oklch(64% .14 ${hue}))`;
}

// ---- the data: which element each thread touches ----
function unrolled(runs) {
  const all = [];
  for (let n = 0; n < runs.length; n += 2) for (let k = 0; k < runs[n + 1]; k++) all.push(runs[n]);
  return all;
}
function spanned(spans) {
  const all = [];
  for (let n = 0; n < spans.length; n += 2) for (let k = 0; k < spans[n + 1]; k++) all.push(spans[n] + k);
  return all;
}
function decoded(code, block) {
  const [x, y, z] = block, first = new Int32Array(x * y * z).fill(-1);
  const who = code.who ? spanned(code.who) : Array.from(first.keys());
  if (code.steps) {
    let at = 0;
    unrolled(code.steps).forEach((step, n) => { first[who[n]] = at += step; });
  } else {
    const [o, a, b, c] = code.at;
    for (const t of who) first[t] = o + a * (t % x) + b * (Math.floor(t / x) % y) + c * Math.floor(t / (x * y));
  }
  return first;
}

// ---- what one warp's request costs ----
function request(array, access, warp) {
  const lanes = Array.from({ length: WARP }, (_, lane) => {
    const t = warp * WARP + lane;
    return t < access.first.length ? access.first[t] : -1;
  });
  if (!lanes.some(e => e >= 0)) return null;
  const isGlobal = array.space === "global", each = array.bytes * access.width / access.parts;
  const made = { warp, lanes, isGlobal, asked: access.parts, active: lanes.filter(e => e >= 0).length };
  return Object.assign(made, isGlobal ? inSectors(array, access, lanes, each) : inBanks(array, lanes, each, access.kind === "load"));
}
function inSectors(array, access, lanes, each) {
  const groups = new Map(), words = SECTOR / array.bytes;
  let cost = 0, used = 0;
  for (let part = 0; part < access.parts; part++) {
    const starts = new Set(lanes.filter(e => e >= 0).map(e => e * array.bytes + part * each));
    used += starts.size * each;
    cost += new Set(Array.from(starts, at => Math.floor(at / SECTOR))).size;
  }
  for (const e of lanes) if (e >= 0) for (let w = 0; w < access.width; w++) {
    const sector = Math.floor((e + w) / words);
    if (!groups.has(sector)) groups.set(sector, new Set());
    groups.get(sector).add(e + w);
  }
  return { groups, cost, used, moved: cost * SECTOR };
}
// Lanes of 8 bytes are served by half warps, of 16 by quarters; by halves where pairs load the same.
function inBanks(array, lanes, each, loads) {
  const parts = Math.max(1, each / BANK_BYTES);
  let rounds = served(array, lanes, parts, parts);
  if (parts === 4 && loads && [1, 2].some(apart => inPairs(lanes, apart))) rounds = served(array, lanes, parts, 2);
  const cost = rounds.reduce((sum, round) => sum + round.passes, 0);
  return { rounds, cost, used: 0, moved: 0 };
}
function inPairs(lanes, apart) {
  return lanes.every((e, n) => e < 0 || lanes[n ^ apart] < 0 || lanes[n ^ apart] === e);
}
function served(array, lanes, parts, groups) {
  const rounds = [], size = WARP / groups;
  for (let g = 0; g < groups; g++) {
    const banks = new Map();
    lanes.slice(g * size, (g + 1) * size).forEach(e => {
      if (e < 0) return;
      for (let p = 0; p < parts; p++) {
        const word = Math.floor(e * array.bytes / BANK_BYTES) + p, bank = word % BANKS;
        if (!banks.has(bank)) banks.set(bank, new Set());
        banks.get(bank).add(word);
      }
    });
    rounds.push({ banks, passes: Math.max(0, ...Array.from(banks.values(), words => words.size)) });
  }
  return rounds;
}

function prepared(film) {
  const threads = film.block[0] * film.block[1] * film.block[2];
  film.threads = threads;
  film.warps = Math.ceil(threads / WARP);
  film.colours = film.warps > 1 ? film.warps : film.block[1];
  film.who = t => film.warps > 1 ? Math.floor(t / WARP) : Math.floor(t / film.block[0]) % film.block[1];
  film.thread = t => {
    const [x, y, z] = film.block, at = [t % x, Math.floor(t / x) % y, Math.floor(t / (x * y))];
    return `(${at.slice(0, z > 1 ? 3 : y > 1 ? 2 : 1).join(", ")})`;
  };
  film.arrays.forEach(array => {
    array.rowAt = new Map(spanned(array.rows).map((row, n) => [row, n]));
    array.columnAt = new Map(spanned(array.columns).map((column, n) => [column, n]));
    array.across = array.down ? array.rowAt.size : array.columnAt.size;
    array.high = array.down ? array.columnAt.size : array.rowAt.size;
  });
  film.steps.forEach(step => {
    step.does = (step.does || []).map(event => {
      const array = film.arrays[event.array], made = { ...event, array, index: event.array };
      made.first = decoded(event, film.block);
      made.parts = event.parts || 1;
      if (event.values) made.values = unrolled(event.values);
      if (event.from) made.sources = decoded(event.from, film.block);
      made.requests = [];
      if (array) for (let warp = 0; warp < film.warps; warp++) {
        const one = request(array, made, warp);
        if (one) made.requests.push(Object.assign(one, { kind: event.kind, width: event.width }));
      }
      return made;
    });
    step.moves = step.does.filter(d => d.array);
    step.meets = step.does.find(d => !d.array);
  });
  film.home = film.home && { array: film.home.array, owners: owners(film) };
  film.idles = film.steps.some(step => step.does.some(d => d.first.some(e => e < 0)));
  return film;
}
// By element of the home array the thread that stores it; the last of them, if there are several.
function owners(film) {
  const found = new Map();
  film.steps.forEach(step => step.moves.forEach(d => {
    if (d.index !== film.home.array || d.kind !== "store" || d.width > 1) return;
    d.first.forEach((e, t) => { if (e >= 0) found.set(e, t); });
  }));
  decoded(film.home, film.block).forEach((e, t) => { if (e >= 0) found.set(e, t); });
  return found;
}
function nothing() {
  return { requests: 0, sectors: 0, used: 0, moved: 0, shared: 0, waves: 0, global_reads: 0, shared_reads: 0, atomics: 0, wasted: 0 };
}
function added(sum, d, r) {
  if (d.kind === "atomic") { sum.atomics += r.active; return; }
  if (d.kind === "load") sum[r.isGlobal ? "global_reads" : "shared_reads"] += d.width * r.active;
  if (r.isGlobal) { sum.requests += r.asked; sum.sectors += r.cost; sum.used += r.used; sum.moved += r.moved; sum.wasted += r.moved - r.used; }
  else { sum.shared += r.asked; sum.waves += r.cost; }
}
// The index of an element, as the source writes it.
function indexOf(array, e) {
  let rest = e;
  const order = array.strides.map((s, n) => [s, n]).filter(([s, n]) => s > 0 && array.shape[n] > 1).sort((a, b) => b[0] - a[0]), index = array.shape.map(() => 0);
  for (const [stride, axis] of order) { index[axis] = Math.floor(rest / stride); rest %= stride; }
  return `${array.name}[${index.join(", ")}]`;
}

// ================================================================ one movie
function play(root, data) {
const films = data.films.map(prepared), focus = data.focus;
const all = (what, at) => Array.from((at || root).querySelectorAll(what));
const one = (what, at) => (at || root).querySelector(what);
root.classList.add("live");
// Gradients and patterns have names, which the same output elsewhere in the page has, too.
const own = `m${Math.random().toString(36).slice(2, 8)}`;
films.forEach((film, n) => {
  film.section = all(".vm-film")[n];
  film.tab = all(".vm-tab")[n];
  film.stage = one(".vm-stage", film.section);
  all("pattern,linearGradient", film.stage).forEach(node => {
    node.id = `${own}-${n}-${node.tagName === "pattern" ? "hatch" : "all"}`;
  });
  film.everyone = `url(#${own}-${n}-all)`;
  film.hatch = `url(#${own}-${n}-hatch)`;
});
let now = 0, step = 0, warp = null, row = null, timer = null, speed = 1;
const bar = one(".vm-bar"), slider = one("input[type=range]"), chooser = one("[data-set=warp]"), thread = one("[data-set=thread]");
const shown = d => d.requests.filter(r => warp === null || r.warp === warp);

// ---- the arrays ----
function cellOf(a, e) {
  const major = a.rowAt.get(Math.floor(e / a.wrap)), minor = a.columnAt.get(e % a.wrap);
  if (major === undefined || minor === undefined) return null;
  const column = a.down ? major : minor, line = a.down ? minor : major;
  return { n: line * a.across + column, line, column, x: a.x + column * a.w, y: a.y + line * a.h };
}
function elementOf(a, column, line) {
  const major = Array.from(a.rowAt.keys())[a.down ? column : line], minor = Array.from(a.columnAt.keys())[a.down ? line : column];
  return major * a.wrap + minor;
}
// Rectangles around elements: one for each run of neighbouring cells.
function runsOf(a, elements) {
  const runs = [];
  let last = null;
  for (const e of elements) {
    const c = cellOf(a, e);
    if (!c) continue;
    if (last && c.line === last.line && c.column === last.column + 1) runs[runs.length - 1].width += a.w;
    else if (last && a.down && c.column === last.column && c.line === last.line + 1) runs[runs.length - 1].height += a.h;
    else runs.push({ x: c.x, y: c.y, width: a.w, height: a.h });
    last = c;
  }
  return runs;
}
function prepare(film) {
  film.arrays.forEach((a, k) => {
    const group = one(`[data-array="${k}"]`, film.stage), cells = one(".cells", group);
    a.marks = one(".marks", group);
    cells.textContent = "";
    a.cells = [];
    a.texts = [];
    const roomy = a.w >= 11 && a.h >= 11 && (film.values ? a.w >= 20 : focus !== "banks"), words = make("g", {}, group);
    for (let line = 0; line < a.high; line++) for (let column = 0; column < a.across; column++) {
      const x = a.x + column * a.w, y = a.y + line * a.h;
      a.cells.push({ node: make("rect", { x, y, width: a.w, height: a.h, fill: "none" }, cells), look: "" });
      if (!roomy) continue;
      const text = make("text", { class: "count", x: x + a.w / 2, y: y + a.h / 2 + .5 }, words);
      text.style.fontSize = `${film.values ? 9.5 : Math.min(11, a.w * .62)}px`;
      a.texts.push({ node: text, look: "" });
    }
  });
  film.flow = make("g", {}, film.stage);
  film.rings = make("g", {}, film.stage);
  if (film.home) { dotsOf(film, film.arrays[film.home.array]); pointable(film); }
  threadsOf(film);
}
function pointable(film) {
  const a = film.arrays[film.home.array];
  const touch = make("rect", { class: "touch", x: a.x, y: a.y, width: a.w * a.across, height: a.h * a.high }, film.stage);
  const find = event => {
    const box = touch.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / box.width * a.across), line = Math.floor((event.clientY - box.top) / box.height * a.high);
    follow(film, film.home.owners.get(elementOf(a, Math.min(column, a.across - 1), Math.min(line, a.high - 1))) ?? -1);
  };
  watched(touch, find, film);
}
function watched(touch, find, film) {
  touch.addEventListener("pointermove", find);
  touch.addEventListener("pointerdown", find);
  touch.addEventListener("pointerleave", event => { if (event.pointerType === "mouse" && !timer) follow(film, -1); });
}

// For each cell: how many threads have read it since it was written, when it was last touched and
// by whom, and its value. Playing goes on from the step before.
function sweep(film) {
  let s = film.swept;
  if (!s || s.warp !== warp || s.step > step) {
    const size = a => a.cells.length;
    s = film.swept = { warp, step: -1, arrays: film.arrays.map(a => ({ reads: new Int32Array(size(a)), last: new Int32Array(size(a)).fill(-99), who: new Int32Array(size(a)).fill(-1), values: new Array(size(a)) })) };
  }
  while (s.step < step) { s.step++; film.steps[s.step].moves.forEach(d => touched(film, d, s)); }
  return s.arrays;
}
function touched(film, d, s) {
  const st = s.arrays[d.index], fresh = new Set();
  shown(d).forEach(r => r.lanes.forEach((e0, lane) => {
    if (e0 < 0) return;
    const t = r.warp * WARP + lane, who = film.who(t);
    for (let w = 0; w < d.width; w++) {
      const c = cellOf(d.array, e0 + w);
      if (!c) continue;
      if (d.kind === "load") st.reads[c.n]++; else st.reads[c.n] = 0;
      if (!fresh.has(c.n)) { st.who[c.n] = who; fresh.add(c.n); } else if (st.who[c.n] !== who) st.who[c.n] = -2;
      st.last[c.n] = s.step;
      if (d.values) st.values[c.n] = d.values[d.values.length > film.threads ? t * d.width + w : t];
    }
  }));
}
function paint(film) {
  const state = sweep(film);
  film.most = Math.max(4, film.most || 0, ...state.map(st => st.reads.reduce((x, y) => Math.max(x, y), 0)));
  film.arrays.forEach((a, k) => {
    const st = state[k];
    a.cells.forEach((cell, n) => {
      const age = step - st.last[n], reads = st.reads[n];
      let fill = "none", opacity = 0;
      if (age <= 2) { fill = st.who[n] === -2 ? film.everyone : colour(film, st.who[n]); opacity = TRAIL[age]; }
      else if (reads) { fill = "var(--tone)"; opacity = (.08 + .24 * reads / film.most).toFixed(2); }
      const look = fill + opacity;
      if (look !== cell.look) { cell.look = look; cell.node.style.fill = fill; cell.node.setAttribute("fill-opacity", opacity); }
      const text = a.texts[n];
      if (!text) return;
      const value = film.values ? st.values[n] : reads || undefined, said = value === undefined ? "" : String(value), words = said + (age === 0);
      if (words !== text.look) { text.look = words; text.node.textContent = said; text.node.classList.toggle("on", age === 0); }
    });
    a.marks.textContent = "";
    if (film.home && film.home.array === k) dots(film, a, st);
  });
  film.steps[step].moves.forEach(d => marks(film, d));
}
// The threads that will store here.
function dotsOf(film, a) {
  const layer = make("g", {}), pad = a.w * .28;
  film.dots = [];
  film.home.owners.forEach((t, e) => {
    const c = cellOf(a, e);
    if (!c) return;
    const node = make("rect", { x: c.x + pad, y: c.y + pad, width: a.w - 2 * pad, height: a.h - 2 * pad, rx: a.w * .12, "fill-opacity": .5 }, layer);
    node.style.fill = colour(film, film.who(t));
    film.dots.push({ node, cell: c.n, warp: Math.floor(t / WARP), hidden: false });
  });
  a.marks.before(layer);
}
function dots(film, a, st) {
  film.dots.forEach(dot => {
    const hidden = (warp !== null && dot.warp !== warp) || step === film.steps.length - 1 || step - st.last[dot.cell] <= 2;
    if (hidden !== dot.hidden) { dot.hidden = hidden; dot.node.style.display = hidden ? "none" : ""; }
  });
}
function marks(film, d) {
  const a = d.array, written = new Set(), sectors = new Map();
  shown(d).forEach(r => {
    if (d.kind !== "load") r.lanes.forEach(e => { if (e >= 0) for (let w = 0; w < d.width; w++) written.add(e + w); });
    if (r.isGlobal) r.groups.forEach((used, sector) => {
      if (!sectors.has(sector)) sectors.set(sector, new Set());
      used.forEach(e => sectors.get(sector).add(e));
    });
    else if (a.banks) r.rounds.forEach(round => round.banks.forEach((words, bank) => {
      if (words.size > 1) make("rect", { x: a.x + bank * a.w - .5, y: a.y - 1.5, width: a.w + 1, height: a.h * a.high + 3, rx: 2, class: "sector" }, a.marks);
    }));
  });
  if (focus === "sectors") sectors.forEach((used, sector) => {
    const words = Math.max(1, SECTOR / a.bytes), whole = Array.from({ length: words }, (_, k) => sector * words + k);
    runsOf(a, whole.filter(e => !used.has(e))).forEach(run => make("rect", { ...run, fill: film.hatch }, a.marks));
    runsOf(a, whole).forEach(run => make("rect", { ...run, class: `sector${used.size === words ? " whole" : ""}`, rx: 1.5 }, a.marks));
  });
  outline(a, Array.from(written).sort((x, y) => x - y));
}
// What is written: cell by cell; where cells are small, rows together, and equal rows as one.
function outline(a, elements) {
  const each = Math.min(a.w, a.h), pad = each < 8 ? .4 : 1.6;
  let runs = each < 8 ? runsOf(a, elements) : elements.flatMap(e => runsOf(a, [e]));
  if (each < 8) runs = runs.reduce((joined, run) => {
    const last = joined[joined.length - 1];
    if (last && last.x === run.x && last.width === run.width && Math.abs(last.y + last.height - run.y) < .01) last.height += run.height;
    else joined.push(run);
    return joined;
  }, []);
  runs.forEach(run => make("rect", { x: run.x + pad, y: run.y + pad, width: run.width - 2 * pad, height: run.height - 2 * pad, class: "put", "stroke-width": each < 8 ? 1 : 1.8 }, a.marks));
}
function middle(d) {
  let left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  shown(d).forEach(r => r.lanes.forEach(e => {
    const c = e < 0 ? null : cellOf(d.array, e);
    if (!c) return;
    left = Math.min(left, c.x); top = Math.min(top, c.y);
    right = Math.max(right, c.x + d.array.w); bottom = Math.max(bottom, c.y + d.array.h);
  }));
  return right < 0 ? null : { left, top, right, bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
}
// What a step carries from one memory to the other, as an arrow.
function flow(film) {
  film.flow.textContent = "";
  const moves = film.steps[step].moves, from = moves.find(d => d.kind === "load"), to = moves.find(d => d.kind === "store");
  if (!from || !to || from.array.space === to.array.space) return;
  const a = middle(from), b = middle(to);
  if (!a || !b) return;
  if (Math.abs(a.x - b.x) > Math.abs(a.y - b.y)) {
    const left = a.x > b.x, x1 = left ? a.left - 2 : a.right + 2, x2 = left ? b.right + 8 : b.left - 8, half = (x1 + x2) / 2;
    make("path", { class: "flow", d: `M${x1} ${a.y}C${half} ${a.y} ${half} ${b.y} ${x2} ${b.y}` }, film.flow);
    make("path", { class: "tip", d: `M${left ? x2 - 6 : x2 + 6} ${b.y}${left ? "l6-4v8z" : "l-6-4v8z"}` }, film.flow);
  } else {
    const up = a.y > b.y, y1 = up ? a.top - 2 : a.bottom + 2, y2 = up ? b.bottom + 8 : b.top - 8, half = (y1 + y2) / 2;
    make("path", { class: "flow", d: `M${a.x} ${y1}C${a.x} ${half} ${b.x} ${half} ${b.x} ${y2}` }, film.flow);
    make("path", { class: "tip", d: `M${b.x} ${up ? y2 - 6 : y2 + 6}${up ? "l-4 6h8z" : "l-4-6h8z"}` }, film.flow);
  }
}

// ---- one thread ----
function follow(film, t) {
  film.follow = t >= 0 && t < film.threads ? t : undefined;
  ring(film);
}
function ring(film) {
  const layer = film.rings, t = film.follow, said = one(".vm-follow");
  layer.textContent = "";
  thread.value = t === undefined ? "" : t;
  if (t === undefined) { said.textContent = ""; return; }
  const around = (a, e) => {
    const c = cellOf(a, e), out = a.w < 8 ? 1.5 : 0;
    if (c) for (const name of ["ring", "ring in"]) make("rect", { class: name, x: c.x - out, y: c.y - out, width: a.w + 2 * out, height: a.h + 2 * out, rx: 2 }, layer);
  };
  if (film.home) film.home.owners.forEach((who, e) => { if (who === t) around(film.arrays[film.home.array], e); });
  const does = [];
  film.steps[step].does.forEach(d => {
    if (d.first[t] < 0) return;
    if (!d.array) { does.push(d.sources ? `takes a value from lane ${d.sources[t]}` : `comes to the ${d.kind}`); return; }
    around(d.array, d.first[t]);
    const value = d.values && d.width === 1 ? ` = ${d.values[t]}` : "";
    does.push(`${VERB[d.kind]} ${indexOf(d.array, d.first[t])}${d.width > 1 ? ` and the ${d.width - 1} next` : ""}${value}`);
  });
  said.textContent = `Thread ${film.thread(t)}, warp ${Math.floor(t / WARP)}, lane ${t % WARP}: ${does.join(", ") || "nothing to do"}.`;
}
// All threads of the block, a row for each warp: who takes part.
function threadsOf(film) {
  const box = one(".vm-threads", film.section);
  box.textContent = "";
  if (!film.idles && film.home) return;
  const high = film.warps > 16 ? 3 : film.warps > 4 ? 6 : 9, wide = 12.125;
  film.count = html("p", { innerHTML: "<span></span><span class='soft'>a row is a warp; empty: nothing to do</span>" }, box).firstChild;
  const svg = make("svg", { viewBox: `0 0 404 ${film.warps * (high + 1) + 2}`, "aria-hidden": "true" }, box);
  film.lamps = Array.from({ length: film.threads }, (_, t) => ({
    look: "", node: make("rect", { class: "idle", x: 8 + t % WARP * wide + .5, y: 1 + Math.floor(t / WARP) * (high + 1), width: wide - 1.5, height: high - .5, rx: 1 }, svg),
  }));
  const touch = make("rect", { class: "touch", x: 8, y: 0, width: WARP * wide, height: film.warps * (high + 1) + 1 }, svg);
  watched(touch, event => {
    const area = touch.getBoundingClientRect();
    const lane = Math.floor((event.clientX - area.left) / area.width * WARP), line = Math.floor((event.clientY - area.top) / area.height * film.warps);
    follow(film, Math.min(line, film.warps - 1) * WARP + Math.min(lane, WARP - 1));
  }, film);
}
function lamps(film) {
  if (!film.lamps) return;
  const busy = new Set();
  film.steps[step].does.forEach(d => d.first.forEach((e, t) => { if (e >= 0) busy.add(t); }));
  film.count.innerHTML = `<b>${number(busy.size)}</b> of ${many(film.threads, "thread")} take part`;
  film.lamps.forEach((lamp, t) => {
    const look = !busy.has(t) ? "" : colour(film, film.who(t)), dim = warp !== null && Math.floor(t / WARP) !== warp ? .25 : 1;
    if (lamp.look === look + dim) return;
    lamp.look = look + dim;
    lamp.node.style.fill = look;
    lamp.node.style.opacity = dim;
    lamp.node.classList.toggle("idle", !look);
  });
}

// ---- one request as the memory sees it ----
function verdict(d, r) {
  if (d.kind === "atomic") return `${many(r.active, "lane")}, one after the other where they meet`;
  const bytes = d.array.bytes * d.width;
  if (r.isGlobal && focus === "sectors") return `${many(r.cost, "sector")} = ${number(r.moved)} bytes moved, ${number(r.used)} used${r.moved > r.used ? `, <span class="bad">${number(r.moved - r.used)} wasted</span>` : ""}`;
  if (r.isGlobal) return `${many(r.active, "thread")} ask${r.active === 1 ? "s" : ""} for ${d.array.bytes === 4 ? many(r.used / 4, "word") : `${number(r.used)} bytes`} in ${many(r.cost, "sector")}`;
  const worst = Math.max(...r.rounds.map(round => round.passes)), halves = r.rounds.length > 1 ? `, ${bytes} bytes a lane: ${r.rounds.length === 2 ? "half" : "quarter"} warps in turn` : "";
  if (focus !== "banks") return many(r.cost, "wavefront") + halves;
  return worst > 1 ? `<span class="bad">${r.cost} wavefronts: ${worst} words of one bank</span>${halves}` : `${many(r.cost, "wavefront")}: no bank asked twice${halves}`;
}
function memoryView(film) {
  const box = one(".vm-memory", film.section), st = film.steps[step];
  box.textContent = "";
  if (st.gap) { box.innerHTML = `<p><span><b>${many(st.gap, "step")} left out.</b> They are like those before and after.</span></p>`; return; }
  if (st.meets) { meeting(film, st.meets, box); return; }
  st.moves.forEach(d => {
    const r = costliest(shown(d));
    if (!r) return;
    const rest = d.requests.length, lanes = r.active < WARP ? ` <span class="soft">${r.active} of 32 lanes</span>` : "";
    const name = `${film.warps > 1 ? `warp ${r.warp} ` : "the warp "}${VERB[d.kind]} <b>${safe(d.array.name)}</b>${lanes}${rest > 1 && warp === null ? ` <span class="soft">(${d.requests.some(other => other.cost < r.cost) ? "the costliest" : "one"} of ${rest})</span>` : ""}`;
    html("p", { innerHTML: `<span>${name}</span><span>${verdict(d, r)}</span>` }, box);
    box.appendChild(r.isGlobal ? sectorRow(film, d, r) : bankRow(film, d, r));
  });
}
function costliest(requests) {
  return requests.reduce((most, r) => !most || r.cost > most.cost ? r : most, undefined);
}
function laneColour(film, r, covers) {
  const found = new Set();
  r.lanes.forEach((e, lane) => { if (e >= 0 && covers(e)) found.add(film.who(r.warp * WARP + lane)); });
  return found.size > 1 ? film.everyone : colour(film, Array.from(found)[0]);
}
function sectorRow(film, d, r) {
  const words = Math.max(1, SECTOR / d.array.bytes), across = 16, rows = Math.ceil(r.groups.size / across), w = 23 / words;
  const svg = make("svg", { viewBox: `0 0 404 ${rows * 13 + 1}`, "aria-hidden": "true" });
  Array.from(r.groups.keys()).sort((x, y) => x - y).forEach((sector, n) => {
    const x = n % across * 25.2 + .5, y = Math.floor(n / across) * 13 + .5, used = r.groups.get(sector);
    for (let k = 0; k < words; k++) {
      const e = sector * words + k, cell = make("rect", { x: x + k * w, y, width: w, height: 10, fill: focus === "sectors" ? film.hatch : "var(--empty)" }, svg);
      if (used.has(e)) cell.style.fill = laneColour(film, r, at => e >= at && e < at + d.width);
    }
    make("rect", { x, y, width: 23, height: 10, rx: 1.5, fill: "none", stroke: focus !== "sectors" ? "var(--soft)" : used.size === words ? "var(--tone)" : "var(--waste)" }, svg);
  });
  return svg;
}
function bankRow(film, d, r) {
  const each = r.cost > 8 ? 4 : r.cost > 2 ? 6 : 10, high = Math.max(each * r.cost + 2 * (r.rounds.length - 1), 10), words = Math.max(1, d.array.bytes * d.width / BANK_BYTES);
  const svg = make("svg", { viewBox: `0 0 404 ${high + 13}`, "aria-hidden": "true" });
  for (let bank = 0; bank < BANKS; bank++) {
    make("rect", { x: 8.5 + bank * 12.125, y: high - 1, width: 11.1, height: 2, fill: "var(--rule)" }, svg);
    if (bank % 4 === 0 || bank === 31) make("text", { x: bank ? 14 + bank * 12.125 : 18, y: high + 11, class: "tiny mid" }, svg).textContent = bank ? bank : "bank 0";
  }
  let bottom = high;
  r.rounds.forEach(round => {
    round.banks.forEach((asked, bank) => Array.from(asked).forEach((word, k) => {
      const cell = make("rect", { x: 9 + bank * 12.125, y: bottom - (k + 1) * each, width: 10.1, height: each - 1 }, svg);
      const first = e => Math.floor(e * d.array.bytes / BANK_BYTES);
      cell.style.fill = asked.size > 1 ? "var(--waste)" : laneColour(film, r, e => word >= first(e) && word < first(e) + words);
    }));
    bottom -= each * round.passes + 2;
  });
  return svg;
}
function meeting(film, d, box) {
  const said = {
    barrier: "<b>Barrier.</b> Every thread of the block waits here until all have come: what was written before can be read after.",
    syncwarp: "<b>syncwarp.</b> The lanes of a warp wait for each other: what one wrote before, the others can read after.",
    shuffle: "<b>Shuffle.</b> Each lane takes a value from a register of another lane of its warp; memory is not asked.",
    vote: "<b>Vote.</b> The lanes of a warp learn something of all of them; memory is not asked.",
    mma: "<b>mma.</b> The lanes of a warp multiply two small matrices, of which each holds a part, and add the product to a third; memory is not asked.",
    match: "<b>Match.</b> Each lane learns which lanes of its warp hold the same value; memory is not asked.",
  }[d.kind] || `<b>${safe(d.kind)}</b>`;
  html("p", { innerHTML: `<span>${said}</span>` }, box);
  if (d.sources) box.appendChild(arrows(film, d));
}
// Lanes of one warp in two rows: above who gives, below who takes.
function arrows(film, d) {
  const first = warp === null ? Math.floor(d.first.findIndex(e => e >= 0) / WARP) : warp, wide = 12.125, high = 14, apart = 46;
  const svg = make("svg", { viewBox: `0 0 404 ${2 * high + apart + 14}`, role: "img", "aria-label": `warp ${first}: which lane each lane takes its value from` });
  for (let lane = 0; lane < WARP; lane++) {
    const t = first * WARP + lane, x = 8 + lane * wide, takes = t < film.threads && d.first[t] >= 0;
    for (const y of [0, high + apart]) {
      const box = make("rect", { x: x + .6, y: y + .5, width: wide - 1.2, height: high - 1, rx: 1.5, fill: "none", stroke: "var(--rule)" }, svg);
      if (takes) { box.style.fill = colour(film, film.who(t)); box.setAttribute("fill-opacity", y ? .85 : .35); }
    }
    if (takes && d.values && String(d.values[t]).length < 4) { const text = make("text", { x: x + wide / 2, y: high + apart + 10, class: "in" }, svg); text.textContent = d.values[t]; text.style.fill = "#fff"; }
    if (lane % 4 === 0 || lane === 31) make("text", { x: lane ? x + 6 : x + 10, y: 2 * high + apart + 10, class: "tiny mid" }, svg).textContent = lane ? lane : "lane 0";
    if (!takes || d.sources[t] < 0) continue;
    const from = 8 + (d.sources[t] + .5) * wide, to = x + wide / 2, moved = d.sources[t] !== lane;
    make("path", { d: `M${from} ${high}C${from} ${high + apart / 2} ${to} ${high + apart / 2} ${to} ${high + apart - 3}`, fill: "none", stroke: moved ? colour(film, film.who(t)) : "var(--rule)", "stroke-width": 1.2 }, svg);
    make("path", { d: `M${to} ${high + apart}l-2.4-5h4.8z`, fill: moved ? colour(film, film.who(t)) : "var(--rule)" }, svg);
  }
  return svg;
}

// ---- a line that was clicked ----
function detail(film) {
  const box = one(".vm-detail", film.section);
  box.textContent = "";
  if (row === null) return;
  const here = film.steps[step].row === row && film.steps[step].moves.length, st = here ? film.steps[step] : film.steps.find(s => s.row === row && s.moves.length);
  if (!st) return;
  const total = new Map();
  film.steps.forEach(s => { if (s.row === row) s.moves.forEach(d => {
    const key = `${VERB[d.kind]} ${safe(d.array.name)}`, sum = total.get(key) || nothing();
    d.requests.forEach(r => added(sum, d, r));
    total.set(key, sum);
  }); });
  let words = `<b>Line ${film.lines[row]}</b>, whole film, all warps`;
  total.forEach((t, key) => {
    words += `<br>${key}: `;
    if (t.atomics) words += many(t.atomics, "atomic operation");
    else if (t.requests) words += `${many(t.requests, "request")}, ${many(t.sectors, "sector")} moved; ${number(t.used)} of ${number(t.moved)} bytes used${t.wasted ? ` (<span class="bad">${Math.round(100 * t.wasted / t.moved)}% wasted</span>)` : ""}`;
    else words += `${many(t.shared, "request")}, ${many(t.waves, "wavefront")}${t.waves > t.shared ? ` (<span class="bad">${(t.waves / t.shared).toFixed(1)} per request</span>)` : ""}`;
  });
  const card = html("div", { innerHTML: `<p>${words}</p>` }, box), pair = html("div", { className: "vm-pair" }, card), drawn = new Map();
  st.moves.forEach(d => {
    const r = costliest(shown(d)) || costliest(d.requests);
    if (!r) return;
    const key = `${d.index}:${r.lanes}`, known = drawn.get(key);
    if (known) known.what.push(VERB[d.kind]); else drawn.set(key, { d, r, what: [VERB[d.kind]] });
  });
  drawn.forEach(m => pair.appendChild(matrix(film, m.d, m.r, m.what.join(" and "))));
}
// Lanes downwards; across: the words of each sector that moved, or the banks.
function matrix(film, d, r, what) {
  const holder = html("div", { innerHTML: `<p>${film.warps > 1 ? `warp ${r.warp} ` : ""}${what} <b>${safe(d.array.name)}</b></p>` }), lane = 5, top = 12, left = 26, wide = 224;
  const svg = make("svg", { viewBox: `0 0 ${left + wide + 4} ${top + 32 * lane + 14}`, role: "img", "aria-label": `warp ${r.warp} ${what} ${d.array.name}: ${r.isGlobal ? `${many(r.cost, "sector")}, ${r.used} of ${r.moved} bytes used` : many(r.cost, "wavefront")}` });
  make("rect", { x: left, y: top, width: wide, height: 32 * lane, fill: "var(--empty)" }, svg);
  let places;
  if (r.isGlobal) {
    const words = Math.max(1, SECTOR / d.array.bytes), keys = Array.from(r.groups.keys()).sort((x, y) => x - y), columns = Math.max(4, keys.length), unit = wide / columns;
    keys.forEach((sector, n) => {
      for (let k = 0; k < words; k++) if (!r.groups.get(sector).has(sector * words + k)) make("rect", { x: left + n * unit + k * unit / words, y: top, width: unit / words, height: 32 * lane, fill: film.hatch, "fill-opacity": columns > 8 ? .5 : .8 }, svg);
      make("rect", { x: left + n * unit, y: top, width: unit, height: 32 * lane, fill: "none", stroke: "var(--paper)" }, svg);
    });
    places = e => Array.from({ length: d.width }, (_, w) => [left + (keys.indexOf(Math.floor((e + w) / words)) + (e + w) % words / words) * unit, unit / words]);
  } else {
    const unit = wide / BANKS, words = Math.max(1, d.array.bytes * d.width / BANK_BYTES);
    r.rounds.forEach(round => round.banks.forEach((asked, bank) => { if (asked.size > 1) make("rect", { x: left + bank * unit, y: top, width: unit, height: 32 * lane, fill: film.hatch }, svg); }));
    for (let b = 0; b < BANKS; b += 8) make("text", { x: left + (b + .5) * unit, y: top + 32 * lane + 10, class: "tiny mid" }, svg).textContent = b;
    places = e => Array.from({ length: words }, (_, p) => [left + (Math.floor(e * d.array.bytes / BANK_BYTES) + p) % BANKS * unit, unit]);
  }
  r.lanes.forEach((e, n) => {
    if (e >= 0) places(e).forEach(([x, width]) => { make("rect", { x, y: top + n * lane + .4, width: Math.max(width, 2.2), height: lane - .8, rx: .6 }, svg).style.fill = colour(film, film.who(r.warp * WARP + n)); });
  });
  for (const n of [0, 8, 16, 24, 31]) make("text", { x: left - 4, y: top + n * lane + 6, "text-anchor": "end", class: "tiny" }, svg).textContent = n;
  make("text", { x: left - 4, y: 8, "text-anchor": "end", class: "tiny" }, svg).textContent = "lane";
  make("text", { x: left, y: 8, class: "tiny" }, svg).textContent = r.isGlobal ? `${many(r.groups.size, "sector")} of 32 bytes` : "32 banks";
  holder.appendChild(svg);
  return holder;
}

// ---- the counters ----
const STATS = {
  reads: [["global_reads", "reads from global memory"], ["shared_reads", "reads from shared memory"], ["requests", "requests to global memory"], ["sectors", "sectors of 32 bytes moved"]],
  sectors: [["requests", "requests to global memory"], ["sectors", "sectors of 32 bytes moved"], ["used", "bytes used"], ["wasted", "bytes moved in vain"]],
  banks: [["shared", "requests to shared memory"], ["waves", "wavefronts they took"]],
}[focus].concat([["atomics", "atomic operations of threads"]]);
function sums(film, until, chosen) {
  const key = `${until}:${chosen}`;
  film.summed = film.summed || new Map();
  if (!film.summed.has(key)) {
    const sum = nothing();
    film.steps.slice(0, until + 1).forEach(st => st.moves.forEach(d => d.requests.forEach(r => { if (chosen === null || r.warp === chosen) added(sum, d, r); })));
    film.summed.set(key, sum);
  }
  return film.summed.get(key);
}
function stats(film) {
  const box = one(".vm-stats", film.section), here = sums(film, step, warp);
  const ends = films.map(f => sums(f, f.steps.length - 1, warp !== null && warp < f.warps ? warp : null));
  box.textContent = "";
  STATS.forEach(([name, words]) => {
    const top = Math.max(...ends.map(s => s[name]));
    if (!top) return;
    const tile = html("div", { className: "vm-stat", innerHTML: `<b>${number(here[name])}</b> <span>${words}</span>` }, box);
    tile.dataset.stat = name;
    const svg = make("svg", { viewBox: "0 0 200 8", preserveAspectRatio: "none", "aria-hidden": "true" }, tile), own = ends[films.indexOf(film)][name];
    make("rect", { width: Math.max(200 * own / top, .8), height: 8, fill: "var(--rule)" }, svg);
    make("rect", { width: 200 * here[name] / top, height: 8, fill: name === "wasted" ? "var(--waste)" : /^(waves|shared)/.test(name) ? "var(--shared)" : name === "atomics" ? "var(--meet)" : "var(--tone)" }, svg);
    const others = films.filter(f => f !== film).map(f => `${f.name}: ${number(ends[films.indexOf(f)][name])}`);
    html("small", { textContent: [`of ${number(own)}`, ...others].join(" · ") }, tile);
  });
}
function lineCounts(film) {
  const sum = {};
  film.steps.slice(0, step + 1).forEach(st => st.moves.forEach(d => shown(d).forEach(r => added(sum[st.row] = sum[st.row] || nothing(), d, r))));
  all(".vm-code button", film.section).forEach(b => {
    const at = +b.parentNode.dataset.row, s = sum[at] || nothing(), mark = one("i", b), figure = s.sectors || s.waves || s.atomics;
    mark.className = s.sectors ? "gl" : s.waves ? "sh" : "am";
    mark.textContent = figure ? number(figure) : "";
    b.title = `so far: ${many(s.requests, "request")} and ${many(s.sectors, "sector")} of global memory, ${many(s.shared, "request")} and ${many(s.waves, "wavefront")} of shared memory, ${many(s.atomics, "atomic operation")}`;
    b.setAttribute("aria-pressed", String(at === row));
  });
}

// ---- putting it together ----
function sentence(film) {
  const st = film.steps[step], before = `Step ${step + 1} of ${film.steps.length} · line ${film.lines[st.row]} · `;
  if (st.gap) return `${before}${many(st.gap, "step")} left out`;
  if (st.meets) return before + (st.meets.kind === "barrier" ? "barrier: all threads of the block meet" : st.meets.kind === "shuffle" ? "shuffle: lanes take values from each other" : st.meets.kind);
  return before + movesInWords(st.moves).join(", ");
}
// The accesses in words, equal ones once: "reads shared twice", "writes c (global)".
function movesInWords(moves) {
  const times = new Map();
  moves.forEach(d => {
    const where = d.array.name === d.array.space ? "" : ` (${d.array.space})`, words = `${VERB[d.kind]} ${d.array.name}${where}`;
    times.set(words, (times.get(words) || 0) + 1);
  });
  return Array.from(times, ([words, n]) => words + (n > 2 ? ` ${n} times` : n > 1 ? " twice" : ""));
}
function show() {
  const film = films[now], st = film.steps[step];
  if (!film.ready) { film.ready = true; prepare(film); }
  paint(film); flow(film); ring(film); lamps(film); memoryView(film); detail(film); stats(film); lineCounts(film);
  slider.max = film.steps.length - 1;
  slider.value = step;
  slider.setAttribute("aria-valuetext", sentence(film));
  const say = one(".vm-say");
  say.setAttribute("aria-live", timer ? "off" : "polite");
  say.textContent = sentence(film);
  film.stage.setAttribute("aria-label", `${film.name}: ${sentence(film)}`);
  root.classList.toggle("meeting", !!st.meets && st.meets.kind === "barrier");
  all("li", film.section).forEach(li => {
    const here = +li.dataset.row === st.row;
    li.classList.toggle("at", here);
    li.classList.toggle("barrier", here && !!st.meets);
    if (!here) return;
    const list = li.parentNode, off = li.offsetTop - list.scrollTop;
    if (off < 20 || off > list.clientHeight - 40) list.scrollTop = li.offsetTop - list.clientHeight / 2;
  });
  const head = one(".head", film.tab);
  head.setAttribute("x", step * head.dataset.slot);
}
function go(to) {
  step = Math.max(0, Math.min(films[now].steps.length - 1, to));
  show();
}
function run(on) {
  clearInterval(timer);
  timer = null;
  if (on) {
    if (step === films[now].steps.length - 1) step = -1;
    timer = setInterval(() => {
      if (!root.isConnected || step >= films[now].steps.length - 1) run(false); else go(step + 1);
    }, 700 / speed);
    go(step + 1);
  }
  root.classList.toggle("on", !!timer);
  one(".vm-play").setAttribute("aria-label", timer ? "pause" : "play");
  if (!timer) one(".vm-say").setAttribute("aria-live", "polite");
}
// The drawing without scripts shows the costliest step; the player opens at the step asked for.
function pick(n) {
  now = n;
  const film = films[n];
  films.forEach((f, k) => {
    f.section.hidden = k !== n;
    f.tab.setAttribute("aria-selected", String(k === n));
    f.tab.tabIndex = k === n ? 0 : -1;
    if (k !== n) one(".head", f.tab).setAttribute("x", -999);
  });
  chooser.textContent = "";
  chooser.add(new Option("all warps", ""));
  for (let w = 0; w < film.warps; w++) chooser.add(new Option(`warp ${w}`, w));
  warp = film.warp;
  chooser.value = warp === null ? "" : warp;
  one(".vm-warps").hidden = film.warps === 1;
  thread.max = film.threads - 1;
  all(".vm-who").forEach(s => { s.textContent = film.warps === 1 && film.block[1] > 1 ? "row of threads" : "warp"; });
  row = null;
  all(".if-home").forEach(s => { s.hidden = !film.home; });
  const shown = { barrier: s => s.meets, atomic: s => s.moves.some(d => d.kind === "atomic"), shared: s => s.moves.some(d => d.array.space === "shared") };
  Object.entries(shown).forEach(([what, has]) => all(`.if-${what}`).forEach(s => { s.hidden = !film.steps.some(has); }));
  if (film.home) all(".vm-home").forEach(s => { s.textContent = film.arrays[film.home.array].name; });
  root.classList.toggle("values", film.values);
  root.classList.toggle("counts", !film.values && focus !== "banks" && film.arrays.some(a => a.w >= 11 && a.h >= 11));
  go(data.opens);
}
// JupyterLab takes no key from an element that has this attribute and the focus.
all("button,input,select").forEach(node => node.setAttribute("data-lm-suppress-shortcuts", "true"));
bar.hidden = false;
bar.addEventListener("click", event => {
  const what = event.target.closest("[data-do]");
  if (!what) return;
  const does = what.dataset.do;
  if (does === "play") run(!timer);
  else { run(false); go(does === "first" ? 0 : does === "back" ? step - 1 : step + 1); }
});
slider.addEventListener("input", () => { run(false); go(+slider.value); });
bar.addEventListener("change", event => {
  const set = event.target.dataset.set;
  if (set === "speed") { speed = +event.target.value; if (timer) run(true); }
  if (set === "warp") { warp = event.target.value === "" ? null : +event.target.value; show(); }
  if (set === "thread") follow(films[now], event.target.value === "" ? -1 : +event.target.value);
});
films.forEach((film, n) => {
  film.tab.addEventListener("click", event => {
    const strip = one(".vm-strip", film.tab).getBoundingClientRect(), on = event.clientY >= strip.top && event.clientY <= strip.bottom && event.clientX;
    if (n !== now) { const was = !!timer; run(false); pick(n); if (was) run(true); }
    else if (on) { run(false); go(Math.floor((event.clientX - strip.left) / strip.width * 600 / one(".head", film.tab).dataset.slot)); }
  });
  film.section.addEventListener("click", event => {
    const b = event.target.closest(".vm-code button");
    if (!b) return;
    const at = +b.parentNode.dataset.row;
    row = row === at ? null : at;
    show();
  });
});
root.addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("select,[type=number]")) return;
  const key = event.key, button = event.target.closest("button"), tab = event.target.closest(".vm-tab");
  if ((key === " " || key === "Enter") && button && !button.matches(".vm-play,.vm-tab")) return;
  if (key === " ") run(!timer);
  else if (tab && (key === "ArrowDown" || key === "ArrowUp")) { pick((now + (key === "ArrowDown" ? 1 : films.length - 1)) % films.length); films[now].tab.focus(); }
  else if (key === "ArrowRight" || key === "ArrowLeft") { run(false); go(step + (key === "ArrowRight" ? 1 : -1)); }
  else if (key === "Home" || key === "End") { run(false); go(key === "Home" ? 0 : 1e9); }
  else return;
  event.preventDefault();
  event.stopPropagation();
});
pick(0);
}
})();
