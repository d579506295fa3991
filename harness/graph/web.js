"use strict";
// One unit of the layout is the place of one state. What is drawn is an item: a state that is not folded
// (its number), or a group of folded ones (N + number of the group). `level` says of each cell, which is the
// states of one title in one layer: 0 every state, 1 the cell is one item, 2 all cells of its title are one.
const data = JSON.parse(document.getElementById("data").textContent);
const { states, edges } = data;
const N = states.x.length, E = edges.source.length, T = data.titles.length, L = data.layers.length;
const EDGE_BUDGET = 6000, SAMPLE = 2000; // if more edges than this are in view, so many of a status are drawn
const LIST = 100; // so many edges are listed in the panel
const FOLDS = ["none", "depth", "state"];
const MARKS = { failed: "✗", tested: "✓", "partly tested": "◐", "not reached": "○" };
const VARIABLES = { failed: "--failed", tested: "--tested", "partly tested": "--partly", "not reached": "--idle" };
const $ = (id) => document.getElementById(id);
const canvas = $("canvas"), context = canvas.getContext("2d"), body = document.body;
const view = { x: 0, y: 0, scale: 1, fitted: true }; // the layout's point in the middle, pixels per unit
const shown = { search: "", status: -1, selected: -1, group: null };
const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

// ---- The graph: edges of each state, the way to it, groups to fold to.

const out = Array.from({ length: N }, () => []), into = Array.from({ length: N }, () => []);
const cameBy = new Int32Array(N).fill(-1);
for (let edge = 0; edge < E; edge++) {
  const source = edges.source[edge], target = edges.target[edge];
  out[source].push(edge);
  into[target].push(edge);
  if (cameBy[target] < 0 && states.layer[target] === states.layer[source] + 1) cameBy[target] = edge;
}
const cell = states.title.map((title, state) => title * L + states.layer[state]);
const level = new Uint8Array(T * L);
const height = data.lanes.length ? data.lanes[T - 1][1] + 1 : 1, width = L ? data.layers[L - 1][1] + 1 : 1;
const groups = makeGroups();

function makeGroups() {
  const made = Array.from({ length: T * L + T }, (_, number) => {
    const title = number < T * L ? Math.floor(number / L) : number - T * L;
    return { title, layer: number < T * L ? number % L : -1, states: [], counts: [0, 0, 0, 0], x: 0, y: 0, r: 0 };
  });
  for (let state = 0; state < N; state++) {
    for (const group of [made[cell[state]], made[T * L + states.title[state]]]) {
      group.states.push(state);
      group.counts[states.status[state]]++;
    }
  }
  const gap = L > 1 ? data.layers[1][0] - data.layers[0][1] : 1, most = [1, 1];
  for (const group of made) most[+(group.layer < 0)] = Math.max(most[+(group.layer < 0)], group.states.length);
  for (const group of made) {
    const [top, bottom] = data.lanes[group.title], share = Math.sqrt(group.states.length / most[+(group.layer < 0)]);
    group.y = (top + bottom) / 2;
    if (group.layer < 0) {
      group.x = ((group.title + 0.5) / T) * width;
      group.whole = (height / 14) * (0.5 + 0.5 * share);
    } else {
      const [left, right] = data.layers[group.layer];
      group.x = (left + right) / 2;
      group.r = Math.min((bottom - top + 1) / 2, ((right - left + gap) / 2) * (0.3 + 0.6 * share));
    }
  }
  return made;
}

const itemOf = (state) => [state, N + cell[state], N + T * L + states.title[state]][level[cell[state]]];
const place = (item) => item < N ? { x: states.x[item], y: states.y[item], r: 0.4 } : groups[item - N];

// ---- What is shown: folding, filter and search. `lit` are states, `litEdge` edges that are not dimmed.

const lit = new Uint8Array(N), litEdge = new Uint8Array(E), hit = new Uint8Array(N), hitEdge = new Uint8Array(E);
let hits = [], at = -1, bundles = [], items = [];
const lowLines = data.lines.map((line) => line.toLowerCase());

function update() {
  search();
  lit.fill(shown.status < 0 ? 1 : 0);
  for (let edge = 0; edge < E; edge++) {
    litEdge[edge] = passes(edge) && (!shown.search || hitEdge[edge]) ? 1 : 0;
    if (passes(edge)) lit[edges.source[edge]] = lit[edges.target[edge]] = 1;
  }
  hits = [];
  for (let state = 0; state < N; state++) {
    if (lit[state] && hit[state]) hits.push(state);
    if (shown.search && !hit[state]) lit[state] = 0;
  }
  hits.sort((one, other) => states.layer[one] - states.layer[other] || states.y[one] - states.y[other]);
  fold();
  report();
}

const passes = (edge) => shown.status < 0 || edges.status[edge] === shown.status;

// A state is a hit by its text, or by the label of an edge out of it that passes the filter.
function search() {
  const word = shown.search.toLowerCase();
  if (!word) { hit.fill(0); hitEdge.fill(0); return; }
  const lines = lowLines.map((line) => line.includes(word));
  const titles = data.titles.map((title) => title.toLowerCase().includes(word));
  const labels = data.labels.map((label) => label.toLowerCase().includes(word));
  for (let state = 0; state < N; state++) {
    hit[state] = titles[states.title[state]] || states.lines[state].some((line) => lines[line]) ? 1 : 0;
  }
  for (let edge = 0; edge < E; edge++) {
    hitEdge[edge] = labels[edges.label[edge]] && passes(edge) ? 1 : 0;
    if (hitEdge[edge]) hit[edges.source[edge]] = 1;
  }
}

// The items, and the edges between those of which one is folded, as bundles.
function fold() {
  items = [...new Set(states.title.map((_, state) => itemOf(state)))];
  const between = new Map(), all = N + groups.length, alone = items.every((item) => item >= N + T * L);
  // Where nothing but the titles is left they are on the diagonal, and the edges are arcs on both sides of it.
  for (const group of groups.slice(T * L)) {
    const [top, bottom] = data.lanes[group.title];
    group.y = alone ? ((group.title + 0.5) / T) * height : (top + bottom) / 2;
    group.r = alone ? group.whole : Math.min(group.whole, (bottom - top + 1) / 2);
  }
  for (let edge = 0; edge < E; edge++) {
    const a = itemOf(edges.source[edge]), b = itemOf(edges.target[edge]);
    if (a === b || (a < N && b < N) || !passes(edge)) continue;
    const key = a * all + b;
    if (!between.has(key)) between.set(key, { a, b, edges: [], counts: [0, 0, 0] });
    between.get(key).edges.push(edge);
    between.get(key).counts[edges.status[edge]]++;
  }
  bundles = [...between.values()].sort((one, other) => one.edges.length - other.edges.length);
}

function foldAll(how) {
  level.fill(FOLDS.indexOf(how));
  shown.group = null;
  update();
}

function unfold(number) {
  const group = groups[number];
  if (group.layer < 0) for (let layer = 0; layer < L; layer++) level[group.title * L + layer] = 1;
  else level[number] = 0;
  choose(-1, number);
  update();
}

function choose(state, group = null) {
  shown.selected = state;
  shown.group = group;
  if (state >= 0 && level[cell[state]]) {
    if (level[cell[state]] === 2) for (let layer = 0; layer < L; layer++) level[states.title[state] * L + layer] = 1;
    level[cell[state]] = 0;
    fold();
  }
  showPanel();
  report();
}

// What is shown, for the fragment of the address, the tools, and as attributes of <body> for programs.
function report() {
  const folds = new Set(groups.slice(0, T * L).flatMap((group, number) => group.states.length ? [level[number]] : []));
  const how = folds.size === 1 ? FOLDS[[...folds][0]] : "mixed";
  const open = items.filter((item) => item < N && lit[item]).length;
  Object.assign(body.dataset, {
    states: open, groups: items.filter((item) => item >= N).length, bundles: bundles.length, fold: how,
    hits: hits.length, edges: litEdge.reduce((sum, one) => sum + one, 0), selected: shown.selected,
  });
  $("hits").textContent = !shown.search ? "" : (at >= 0 ? `${at + 1} of ` : "")
    + `${count(hits.length, "state")}, ${count(+body.dataset.edges, "edge")}`;
  for (const button of document.querySelectorAll("[data-fold]")) button.ariaPressed = button.dataset.fold === how;
  for (const button of document.querySelectorAll("[data-status]")) {
    button.ariaPressed = button.dataset.status === (data.edgeStatuses[shown.status] || "all");
  }
  const words = new URLSearchParams();
  if (shown.search) words.set("search", shown.search);
  if (how !== "none" && how !== "mixed") words.set("fold", how);
  if (shown.status >= 0) words.set("show", data.edgeStatuses[shown.status]);
  if (shown.selected >= 0) words.set("select", shown.selected);
  if (!view.fitted) words.set("view", [view.x, view.y, view.scale].map((one) => +one.toFixed(2)).join(","));
  clearTimeout(report.later);
  report.later = setTimeout(() => history.replaceState(null, "", `#${words}`), 300);
  redraw();
}

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  $("search").value = shown.search = words.get("search") || "";
  shown.status = data.edgeStatuses.indexOf((words.get("show") || "").replace("-", " "));
  level.fill(Math.max(0, FOLDS.indexOf(words.get("fold"))));
  const chosen = parseInt(words.get("select") ?? "-1", 10), where = (words.get("view") || "").split(",").map(Number);
  update();
  fit();
  if (chosen >= 0 && chosen < N) choose(chosen); else showPanel();
  if (where.length === 3 && where.every(Number.isFinite)) {
    [view.x, view.y, view.scale] = where;
    view.fitted = false;
  } else if (chosen >= 0 && chosen < N) centre(chosen);
}

// ---- The view.

const LEFT = 96, TOP = 26, BOTTOM = 34; // pixels for the names of lanes, the numbers of layers, a sentence
let pixels = { width: 1, height: 1 };
const screenX = (x) => (x - view.x) * view.scale + pixels.width / 2;
const screenY = (y) => (y - view.y) * view.scale + pixels.height / 2;
const layoutX = (x) => (x - pixels.width / 2) / view.scale + view.x;
const layoutY = (y) => (y - pixels.height / 2) / view.scale + view.y;

function resize() {
  const ratio = window.devicePixelRatio || 1;
  pixels = { width: canvas.clientWidth, height: canvas.clientHeight };
  canvas.width = pixels.width * ratio;
  canvas.height = pixels.height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (view.fitted) fit();
  draw(); // at once, since a resized canvas is empty
}

function fit() {
  const scale = Math.min((pixels.width - LEFT - 20) / (width + 1), (pixels.height - TOP - BOTTOM) / (height + 1));
  view.scale = Math.max(0.05, Math.min(scale, 150));
  view.x = (width - 1) / 2 - (LEFT - 20) / 2 / view.scale;
  view.y = (height - 1) / 2 + (BOTTOM - TOP) / 2 / view.scale;
  view.fitted = true;
  report();
}

function zoom(factor, x = pixels.width / 2, y = pixels.height / 2) {
  const before = [layoutX(x), layoutY(y)];
  view.scale = Math.max(0.05, Math.min(view.scale * factor, 420));
  pan(before[0] - layoutX(x), before[1] - layoutY(y));
}

function pan(x, y) {
  view.x += x;
  view.y += y;
  view.fitted = false;
  moving();
  report.view ??= requestAnimationFrame(() => { report.view = null; report(); });
}

function centre(state) {
  view.scale = Math.max(view.scale, 30);
  view.x = states.x[state];
  view.y = states.y[state];
  view.fitted = false;
  report();
}

// The item at a point of the screen, or -1; near is near enough where items are small.
function itemAt(x, y) {
  const at = { x: layoutX(x), y: layoutY(y) }, near = 4 / view.scale;
  for (const item of items) {
    if (item < N) continue;
    const group = groups[item - N];
    if (Math.hypot(group.x - at.x, group.y - at.y) <= Math.max(group.r, 9 / view.scale)) return item;
  }
  for (let state = 0; state < N; state++) {
    const far = Math.max(Math.abs(states.x[state] - at.x), Math.abs(states.y[state] - at.y));
    if (far <= 0.45 + near && !level[cell[state]] && (far <= 0.45 || view.scale < 6)) return state;
  }
  return -1;
}
