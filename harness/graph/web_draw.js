// ---- Drawing: lanes, bundles or edges, items over them, and last what is selected.

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "quiet", "line", "ground", "lane", "path"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const ofStatus = (name) => style.getPropertyValue(VARIABLES[name]).trim();
  colours.state = data.stateStatuses.map(ofStatus);
  colours.edge = data.edgeStatuses.map(ofStatus);
  redraw();
}

// While the view moves, a picture that takes long is not drawn anew but moved, until the view is at rest.
const BUSY = 8000, REST = 150; // states and edges in a picture that takes long; milliseconds
const copy = { canvas: document.createElement("canvas"), used: false, x: 0, y: 0, scale: 1 };
let due = false, movedAt = -REST;
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    if (copy.used && performance.now() - movedAt < REST) drawCopy(); else draw();
  });
}

function moving() {
  movedAt = performance.now();
  clearTimeout(moving.rest);
  moving.rest = setTimeout(redraw, REST + 10);
}

function keepCopy() {
  Object.assign(copy, { x: layoutX(0), y: layoutY(0), scale: view.scale });
  Object.assign(copy.canvas, { width: canvas.width, height: canvas.height });
  copy.canvas.getContext("2d").drawImage(canvas, 0, 0);
}

function drawCopy() {
  clear();
  const factor = view.scale / copy.scale;
  context.drawImage(copy.canvas, screenX(copy.x), screenY(copy.y), pixels.width * factor, pixels.height * factor);
  if (isUnfolded()) drawScales();
}

const isUnfolded = () => level.some((one, number) => one < 2 && groups[number].states.length);
function clear() {
  context.globalAlpha = 1;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, pixels.width, pixels.height);
  if (isUnfolded()) drawLanes();
}

function draw() {
  const inView = statesInView();
  clear();
  drawBundles();
  const failed = drawEdges();
  drawStates(inView);
  failed();
  drawGroups();
  drawSelection();
  copy.used = inView.length + bundles.length + 3 * Number(body.dataset.drawnEdges) > BUSY;
  if (copy.used) keepCopy();
  if (isUnfolded()) drawScales();
}

function statesInView() {
  const left = layoutX(0) - 1, right = layoutX(pixels.width) + 1, top = layoutY(0) - 1, bottom = layoutY(pixels.height) + 1;
  return items.filter((item) => item < N && states.x[item] >= left && states.x[item] <= right
    && states.y[item] >= top && states.y[item] <= bottom);
}

function drawLanes() {
  context.fillStyle = colours.lane;
  for (const [top, bottom] of data.lanes) {
    context.fillRect(0, screenY(top - 0.6), pixels.width, (bottom - top + 1.2) * view.scale);
  }
}

// Names of lanes and depths of layers, which stay at the border.
function drawScales() {
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  data.lanes.forEach(([top, bottom], title) => {
    const from = Math.max(screenY(top - 0.5), TOP), to = Math.min(screenY(bottom + 0.5), pixels.height);
    if (to > from && data.titles[title]) label(data.titles[title], 8, (from + to) / 2, data.fills[title]);
  });
  context.globalAlpha = 0.9;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, pixels.width, TOP - 4);
  context.globalAlpha = 1;
  context.fillStyle = colours.quiet;
  context.fillText("steps", 8, 11);
  context.textAlign = "center";
  let free = 0;
  data.layers.forEach(([left, right], layer) => {
    const x = screenX((left + right) / 2), half = context.measureText(data.depths[layer]).width / 2 + 2;
    if (x - half < free) return;
    context.fillText(data.depths[layer], x, 11);
    free = x + half;
  });
}

function label(words, x, y, fill) {
  const wide = context.measureText(words).width + 10;
  const left = context.textAlign === "center" ? x - wide / 2 : x - 5;
  context.fillStyle = fill;
  context.strokeStyle = "#5b6472";
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(left + 2, y - 9, wide, 18, 4);
  context.fill();
  context.stroke();
  context.fillStyle = "#1c2430";
  context.fillText(words, x + 2, y);
}

// A bent line from item to item, so that those of both directions are apart; with an arrow where there is room.
function line(a, b, bend, arrow) {
  const from = place(a), to = place(b);
  const x1 = screenX(from.x), y1 = screenY(from.y), x2 = screenX(to.x), y2 = screenY(to.y);
  const mx = (x1 + x2) / 2 + (y2 - y1) * bend, my = (y1 + y2) / 2 - (x2 - x1) * bend;
  const far = Math.hypot(x2 - mx, y2 - my) || 1, dx = (x2 - mx) / far, dy = (y2 - my) / far;
  const r = to.r * view.scale + 1, tx = x2 - dx * r, ty = y2 - dy * r, inner = arrow * 0.9;
  context.moveTo(x1, y1);
  context.quadraticCurveTo(mx, my, tx - dx * inner, ty - dy * inner);
  if (arrow) arrows.push([[tx, ty], [tx - (dx + dy / 2) * arrow, ty - (dy - dx / 2) * arrow],
    [tx - (dx - dy / 2) * arrow, ty - (dy + dx / 2) * arrow]]);
  return [[x1, y1], [mx, my], [x2, y2]];
}

const along = (points, t) => [0, 1].map((axis) =>
  (1 - t) ** 2 * points[0][axis] + 2 * t * (1 - t) * points[1][axis] + t ** 2 * points[2][axis]);

let arrows = [];
function stroke(colour, lineWidth, alpha, path) {
  arrows = [];
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = lineWidth;
  context.globalAlpha = alpha;
  context.beginPath();
  const answer = path();
  context.stroke();
  context.beginPath();
  for (const [first, ...others] of arrows) {
    context.moveTo(...first);
    for (const point of others) context.lineTo(...point);
  }
  context.fill();
  context.globalAlpha = 1;
  return answer;
}

// As wide as there are edges, and over it in another colour as wide as there are failed ones.
function drawBundles() {
  // Where there are too many, those of single states are left out, unless they failed.
  const some = bundles.length <= SAMPLE ? bundles : bundles.filter(({ a, b, counts }) => (a >= N && b >= N) || counts[0]);
  const most = bundles.length ? bundles[bundles.length - 1].edges.length : 1, few = some.length <= 40;
  const labels = [];
  for (const bundle of some) {
    const { a, b, counts } = bundle, wide = (number) => 1 + (few ? 9 : 6) * Math.sqrt(number / most);
    const faint = shown.search && !bundle.edges.some((edge) => litEdge[edge]), all = wide(bundle.edges.length);
    const colour = colours.state[counts[1] ? (counts[0] + counts[2] ? 2 : 1) : 3];
    const path = (arrow) => () => line(a, b, few ? 0.3 : 0.22, arrow);
    const points = stroke(colour, all, faint ? 0.1 : few ? 0.75 : a < N || b < N ? 0.25 : 0.45, path(few ? 6 + all : 0));
    if (counts[0] && !faint) stroke(colours.state[0], wide(counts[0]), 1, path(0));
    const words = bundle.edges.length.toLocaleString("en") + (counts[0] ? `, ${counts[0].toLocaleString("en")} failed` : "");
    if (few && !faint) labels.push([words, ...along(points, 0.5)]);
  }
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const [words, x, y] of labels) label(words, x, y, "#ffffff");
}

// Edges between states that are not folded, all of a status if that is not too much, failed ones before the others;
// else, faintly, every so many-th. The answer draws the failed ones, which belong over the states.
function drawEdges() {
  const left = layoutX(0), right = layoutX(pixels.width), top = layoutY(0), bottom = layoutY(pixels.height);
  const inside = (state) => states.x[state] >= left && states.x[state] <= right
    && states.y[state] >= top && states.y[state] <= bottom;
  const kinds = data.edgeStatuses.map(() => []);
  for (let edge = 0; edge < E; edge++) {
    const source = edges.source[edge], target = edges.target[edge];
    if (!litEdge[edge] || source === target || level[cell[source]] || level[cell[target]]) continue;
    if (inside(source) || inside(target)) kinds[edges.status[edge]].push(edge);
  }
  let drawn = 0;
  const chosen = kinds.map((kind) => {
    const every = drawn + kind.length <= EDGE_BUDGET ? 1 : Math.ceil(kind.length / SAMPLE);
    const some = every === 1 ? kind : kind.filter((_, number) => number % every === 0);
    drawn += some.length;
    return some;
  });
  const sampled = data.edgeStatuses.filter((_, status) => chosen[status].length < kinds[status].length);
  $("sample").textContent = sampled.length
    ? `Too many edges to draw all: only some of those ${sampled.join(" and ")} are here. Zoom in to see all.` : "";
  body.dataset.drawnEdges = drawn;
  const faint = shown.selected >= 0 ? 0.4 : 1, arrow = view.scale > 24 ? 6 : 0;
  const drawKind = (status) => {
    const partial = chosen[status].length < kinds[status].length;
    const alpha = [0.9, 0.6, 0.5][status] * faint * (status && drawn > 1500 ? 0.5 : 1) * (partial ? 0.9 : 1);
    stroke(colours.edge[status], [2.2, 1.4, 0.8][status], alpha, () => {
      for (const edge of chosen[status]) line(edges.source[edge], edges.target[edge], 0.1, arrow);
    });
  };
  drawKind(2);
  drawKind(1);
  return () => drawKind(0);
}

function drawStates(inView) {
  const half = (view.scale < 9 ? 0.44 : 0.38) * view.scale;
  const rings = view.scale < 9 ? [1.4, 1, 1, 0] : [4, 3, 3, 1.2].map((one) => Math.min(one, view.scale * one * 0.04));
  const square = (state, size) =>
    context.fillRect(screenX(states.x[state]) - size, screenY(states.y[state]) - size, 2 * size, 2 * size);
  for (const bright of [0, 1]) {
    context.globalAlpha = bright ? 1 : 0.16;
    const drawn = inView.filter((state) => lit[state] === bright);
    for (let status = colours.state.length - 1; status >= 0; status--) {
      context.fillStyle = colours.state[status];
      for (const state of drawn) if (states.status[state] === status) square(state, half + (status ? 0 : 1));
    }
    for (let title = 0; title < T; title++) {
      context.fillStyle = data.fills[title];
      for (const state of drawn) if (states.title[state] === title) square(state, half - rings[states.status[state]]);
    }
    const failed = view.scale > 10 && view.scale <= 150 ? drawn.filter((state) => states.status[state] === 0) : [];
    for (const state of failed) drawCross(state, half);
  }
  context.globalAlpha = 1;
  if (view.scale > 150) for (const state of inView) drawText(state, half);
}

// A cross where an edge failed, for those who do not see the colour; where there is text the panel says it.
function drawCross(state, half) {
  const x = screenX(states.x[state]), y = screenY(states.y[state]), size = half * 0.45;
  stroke("#1c2430", Math.max(1, half / 8), context.globalAlpha, () => {
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
  });
}

function drawText(state, half) {
  const left = screenX(states.x[state]) - half + 8, top = screenY(states.y[state]) - half + 8;
  const size = Math.max(8, half * 0.085);
  const words = [data.titles[states.title[state]], ...states.lines[state].map((one) => data.lines[one])];
  context.fillStyle = "#1c2430";
  context.textAlign = "left";
  context.textBaseline = "top";
  words.slice(0, Math.floor((2 * half - 12) / (size * 1.3))).forEach((one, row) => {
    context.font = `${row ? "" : "bold "}${size}px system-ui, sans-serif`;
    context.fillText(one.slice(0, 60), left, top + row * size * 1.3, 2 * half - 16);
  });
}

function drawGroups() {
  for (const item of items) {
    if (item < N) continue;
    const group = groups[item - N], x = screenX(group.x), y = screenY(group.y), r = Math.max(5, group.r * view.scale);
    const found = group.states.filter((state) => lit[state]).length;
    context.globalAlpha = found ? 1 : 0.25;
    context.fillStyle = data.fills[group.title];
    context.beginPath();
    context.arc(x, y, r, 0, 7);
    context.fill();
    let angle = -Math.PI / 2; // the ring says how many of its states have which status
    group.counts.forEach((number, status) => {
      const end = angle + (2 * Math.PI * number) / group.states.length, wide = Math.max(2, Math.min(7, r / 5));
      if (number) stroke(colours.state[status], wide, found ? 1 : 0.25, () => context.arc(x, y, r, angle, end));
      angle = end;
    });
    if (r > 13) drawGroupText(group, x, y, r, found);
  }
  context.globalAlpha = 1;
}

function drawGroupText(group, x, y, r, found) {
  const all = group.states.length.toLocaleString("en"), small = r < 34;
  const number = found < group.states.length && !small ? `${found.toLocaleString("en")} of ${all}` : all;
  context.fillStyle = "#1c2430";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `${small ? 10 : 12}px system-ui, sans-serif`;
  context.fillText(number, x, small ? y : y + 8, 2 * r - 6);
  context.font = "12px system-ui, sans-serif";
  const title = data.titles[group.title] || "states";
  if (small && group.layer < 0 && !isUnfolded()) label(title, x, y + r + 12, data.fills[group.title]);
  if (small) return;
  context.font = "bold 13px system-ui, sans-serif";
  context.fillText(title, x, y - 8, 2 * r - 10);
}

// The selected state: its edges with their labels, the shortest way to it, and a frame.
function drawSelection() {
  const state = shown.selected;
  if (state < 0) return;
  const way = wayTo(state), others = (edge) => edges.source[edge] !== edges.target[edge];
  const near = [...out[state], ...into[state]].filter(others);
  stroke(colours.path, 3.5, 0.9, () => {
    for (const edge of way) line(itemOf(edges.source[edge]), itemOf(edges.target[edge]), 0.1, 8);
  });
  for (const edge of near) {
    const status = edges.status[edge];
    stroke(colours.edge[status], [3, 2.2, 1.4][status], 1,
      () => line(itemOf(edges.source[edge]), itemOf(edges.target[edge]), 0.1, view.scale > 12 ? 8 : 5));
  }
  for (const one of new Set([state, ...way.map((edge) => edges.source[edge])])) {
    const half = Math.max(4, 0.38 * view.scale + 3), chosen = one === state;
    if (itemOf(one) !== one) continue;
    stroke(colours.path, chosen ? 3 : 1.5, 1, () =>
      context.rect(screenX(states.x[one]) - half, screenY(states.y[one]) - half, 2 * half, 2 * half));
  }
  if (view.scale > 24) drawLabels(out[state].filter(others));
}

function drawLabels(chosen) {
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  chosen.forEach((edge, number) => {
    const points = line(itemOf(edges.source[edge]), itemOf(edges.target[edge]), 0.1, 0);
    const long = Math.hypot(points[2][0] - points[0][0], points[2][1] - points[0][1]) || 1;
    label(data.labels[edges.label[edge]], ...along(points, Math.min(0.7, (110 + 40 * number) / long)), "#ffffff");
  });
}

function wayTo(state) {
  const way = [];
  for (let edge = cameBy[state]; edge >= 0; edge = cameBy[edges.source[edge]]) way.unshift(edge);
  return way;
}
