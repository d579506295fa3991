// ---- The panel.

function element(name, words = "", attributes = {}) {
  return Object.assign(document.createElement(name), { textContent: words }, attributes);
}

function showPanel() {
  const panel = $("panel");
  if (shown.selected >= 0) panel.replaceChildren(...aboutState(shown.selected));
  else if (shown.group !== null) panel.replaceChildren(...aboutGroup(shown.group));
  else panel.replaceChildren(...help());
  panel.scrollTop = 0;
}

function swatch(title) {
  const mark = element("span", "", { className: "swatch" });
  mark.style.background = data.fills[title];
  return mark;
}

function heading(title, words) {
  const made = element("h2");
  made.append(swatch(title), ` ${data.titles[title] || "State"} `, element("span", words, { className: "quiet" }));
  return made;
}

const far = (layer) => `${count(+data.depths[layer], "step")} from the initial states`;

function aboutState(state) {
  const way = wayTo(state), status = data.stateStatuses[states.status[state]];
  const text = states.lines[state].map((one) => data.lines[one]).join("\n");
  const folding = element("button", "fold its group", { onclick: () => foldCell(cell[state]) });
  return [
    heading(states.title[state], `#${state}`),
    element("p", `${MARKS[status]} ${status}; ${far(states.layer[state])}`, { className: status }),
    element("p", text, { className: "said" }), folding,
    ...edgeList("Out", out[state], "target"), ...edgeList("In", into[state], "source"),
    ...(way.length ? edgeList("Shortest way here", way, "target") : []),
  ];
}

function edgeList(words, chosen, end) {
  const list = element("ul");
  for (const edge of chosen.slice(0, LIST)) {
    const other = edges[end][edge], status = data.edgeStatuses[edges.status[edge]], row = element("li");
    const button = element("button", "", { onclick: () => { choose(other); centre(other); } });
    const name = edges.source[edge] === edges.target[edge] ? "itself" : `${data.titles[states.title[other]]} #${other}`;
    button.append(element("span", MARKS[status], { className: status, title: status }), ` ${data.labels[edges.label[edge]]} `,
      element("span", end === "target" ? "→ " : "← ", { className: "quiet" }), swatch(states.title[other]),
      element("span", ` ${name}`, { className: "quiet" }));
    row.append(button);
    list.append(row);
  }
  const rest = chosen.length - LIST;
  return [element("h3", `${words} (${chosen.length.toLocaleString("en")})`), list,
    ...(rest > 0 ? [element("p", `and ${rest.toLocaleString("en")} more`, { className: "quiet" })] : [])];
}

// A group that was unfolded: how many states of which status, and its most frequent steps.
function aboutGroup(number) {
  const group = groups[number], kinds = new Map(), list = element("ul"), steps = element("ul");
  group.counts.forEach((one, status) => {
    const name = data.stateStatuses[status];
    if (one) list.append(element("li", `${MARKS[name]} ${one.toLocaleString("en")} ${name}`, { className: name }));
  });
  for (const edge of group.states.flatMap((state) => out[state])) {
    kinds.set(edges.label[edge], (kinds.get(edges.label[edge]) || 0) + 1);
  }
  const ordered = [...kinds].sort((one, other) => other[1] - one[1]);
  for (const [kind, often] of ordered.slice(0, LIST)) {
    steps.append(element("li", `${often.toLocaleString("en")} × ${data.labels[kind]}`));
  }
  const where = group.layer < 0 ? "" : `, ${far(group.layer)}`;
  return [
    heading(group.title, `${count(group.states.length, "state")}${where}`), list,
    element("button", "fold these again", { onclick: () => (group.layer < 0 ? foldTitle(group.title) : foldCell(number)) }),
    element("h3", "Edges out of them"), steps,
  ];
}

function foldCell(number) {
  if (level[number] === 0) level[number] = 1;
  choose(-1);
  update();
}

function foldTitle(title) {
  for (let layer = 0; layer < L; layer++) level[title * L + layer] = 2;
  choose(-1);
  update();
}

function help() {
  const rows = [
    "Every square is a state. From left to right are the steps from the initial states; every group state has a lane.",
    "A state's border says whether the edges out of it were tested. "
      + "Where there are too many edges to draw all, zoom in, select a state, search or filter.",
    "Click a state to see what it says, its edges, and the shortest way to it. Click a folded circle to unfold it.",
    "Wheel or + and −: zoom. Drag or arrows: move. 0 or double click: the whole graph. /: search, "
      + "Enter: the next hit, Shift+Enter: the one before. Esc: nothing selected, then no search.",
    "The address of this page says what you see: it is a link to it.",
  ];
  return [element("h2", "How to read this"), ...rows.map((row) => element("p", row))];
}

// ---- Mouse, touch, keys.

function nextHit(by) {
  if (!hits.length) return;
  at = at < 0 ? (by > 0 ? 0 : hits.length - 1) : (at + by + hits.length) % hits.length;
  choose(hits[at]);
  centre(hits[at]);
}

function searchFor(words) {
  shown.search = words;
  at = -1;
  update();
}

const pointers = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  moved = pointers.size > 1 ? 100 : 0;
});
canvas.addEventListener("pointermove", (event) => {
  const here = [event.offsetX, event.offsetY], before = pointers.get(event.pointerId);
  if (!before) return tip(here);
  const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
  if (other) zoom(apart(here) / apart(before), ...other);
  else pan((before[0] - here[0]) / view.scale, (before[1] - here[1]) / view.scale);
  moved += Math.hypot(here[0] - before[0], here[1] - before[1]);
  pointers.set(event.pointerId, here);
});
canvas.addEventListener("pointerup", (event) => {
  if (pointers.delete(event.pointerId) && moved < 5) click(itemAt(event.offsetX, event.offsetY));
});
canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
canvas.addEventListener("dblclick", (event) => { if (itemAt(event.offsetX, event.offsetY) < 0) fit(); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
}, { passive: false });

function click(item) {
  if (item >= N) unfold(item - N); else choose(item);
}

function tip([x, y]) {
  const item = itemAt(x, y), box = $("tip");
  box.hidden = item < 0;
  canvas.style.cursor = item < 0 ? "grab" : "pointer";
  if (item < 0) return;
  if (item < N) {
    box.textContent = `${data.titles[states.title[item]] || "State"} #${item}, ${data.stateStatuses[states.status[item]]}`;
  } else {
    const { title, states: all, counts } = groups[item - N];
    const parts = counts.flatMap((one, status) => (one ? [`${one.toLocaleString("en")} ${data.stateStatuses[status]}`] : []));
    box.textContent = `${data.titles[title]}: ${count(all.length, "state")} (${parts.join(", ")}). Click to unfold.`;
  }
  box.style.left = `${Math.max(0, Math.min(x + 14, pixels.width - 260))}px`;
  box.style.top = `${Math.min(y + 16, pixels.height - 50)}px`;
}

const KEYS = {
  "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: fit,
  ArrowLeft: () => pan(-80 / view.scale, 0), ArrowRight: () => pan(80 / view.scale, 0),
  ArrowUp: () => pan(0, -80 / view.scale), ArrowDown: () => pan(0, 80 / view.scale),
  "/": () => $("search").select(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (shown.selected >= 0 || shown.group !== null) choose(-1);
    else { $("search").value = ""; searchFor(""); }
    canvas.focus();
  } else if (event.target === $("search")) {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
  } else if (KEYS[event.key] && !(event.target.closest("aside") && event.key.startsWith("Arrow"))) {
    event.preventDefault();
    KEYS[event.key]();
  }
});
$("search").addEventListener("input", (event) => searchFor(event.target.value));
$("fit").onclick = fit;
$("in").onclick = KEYS["+"];
$("out").onclick = KEYS["-"];
for (const button of document.querySelectorAll("[data-fold]")) button.onclick = () => foldAll(button.dataset.fold);
document.fonts?.ready.then(redraw);

function makeLegend() {
  const numbers = (of, length) => of.reduce((sums, one) => (sums[one]++, sums), new Array(length).fill(0));
  const add = (parent, mark, words) => {
    const entry = element("span");
    entry.append(mark, ` ${words}`);
    parent.append(entry);
  };
  const ofTitle = numbers(states.title, T), ofStatus = numbers(states.status, data.stateStatuses.length);
  data.titles.forEach((title, number) => {
    if (title) add($("legend"), swatch(number), `${title} ${ofTitle[number].toLocaleString("en")}`);
  });
  data.stateStatuses.forEach((name, number) => {
    const mark = element("span", "", { className: "swatch ring" });
    mark.style.setProperty("--of", `var(${VARIABLES[name]})`);
    add($("legend"), mark, `${count(ofStatus[number], "state")} ${name}`);
  });
  const ofEdges = numbers(edges.status, data.edgeStatuses.length);
  data.edgeStatuses.forEach((name, number) => {
    const words = `${MARKS[name]} ${name} ${ofEdges[number].toLocaleString("en")}`;
    const button = element("button", words, { title: "Only these edges" });
    button.dataset.status = name;
    $("status").append(button);
  });
  for (const button of document.querySelectorAll("[data-status]")) button.onclick = () => {
    shown.status = data.edgeStatuses.indexOf(button.dataset.status);
    update();
  };
}

makeLegend();
readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
new ResizeObserver(resize).observe(canvas);
resize();
readAddress();
addEventListener("hashchange", readAddress);
draw();
body.dataset.ready = "yes";
