"""A big state graph as one self-contained page to pan, zoom, search and fold, with coverage painted on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import networkx as nx
from markupsafe import Markup

from harness.files import output_folder, write_text
from harness.graph.card import Card
from harness.graph.draw import Subject, depths
from harness.graph.dump import path_edges
from harness.graph.layout import layout
from harness.graph.picture import FILL
from harness.graph.states import describer
from harness.itf import Trace
from harness.kinds.cards import SHOWN, TITLES
from harness.pages import template
from harness.tlaparse import print_value
from harness.values import State

TESTED: Final = "tested"
FAILED: Final = "failed"
PARTLY: Final = "partly tested"
NOT_REACHED: Final = "not reached"
EDGE_STATUSES: Final = (FAILED, TESTED, NOT_REACHED)
STATE_STATUSES: Final = (FAILED, TESTED, PARTLY, NOT_REACHED)

_OTHER_FILLS: Final = ("#cfe3f7", "#f7d9e6", "#e8e3c3", "#cdeae6", "#e3d5c9")
"""Colours for titles that are no group states."""
_HERE: Final = Path(__file__).parent
_SCRIPTS: Final = ("web.js", "web_draw.js", "web_use.js")


@dataclass(frozen=True, slots=True)
class WebState:
    """One state: its group state (or another model's title), its text, its distance.

    `text` is lines for the side panel and the search; `depth` is in steps from the initial states.
    """

    title: str
    text: str
    depth: int


@dataclass(frozen=True, slots=True)
class WebEdge:
    """One edge: indices into the states, "Heartbeat narrow m1", one of EDGE_STATUSES."""

    source: int
    target: int
    label: str
    status: str


def web_states(
    graph: nx.MultiDiGraph,
    tested: Collection[tuple[Hashable, ...]] = (),
    failed: Collection[tuple[Hashable, ...]] = (),
) -> tuple[list[WebState], list[WebEdge]]:
    """The states and edges of a state graph (see `harness.graph.dump`), in its order.

    `tested` and `failed` are edges as networkx names them: source, target, key. An edge in both has failed;
    an edge in neither was not reached.
    """
    index = {node: number for number, node in enumerate(graph)}
    depths = {
        node: depth
        for depth, layer in enumerate(nx.bfs_layers(graph, graph.graph["initial"]))
        for node in layer
    }
    known = describer(state for _, state in graph.nodes(data="state"))
    states = []
    for node, state in graph.nodes(data="state"):
        card = known.card(state)
        states.append(WebState(card.title, _text(card, state), depths[node]))
    edges = []
    for source, target, key, names in graph.edges(keys=True, data=True):
        edge = source, target, key
        status = FAILED if edge in failed else TESTED if edge in tested else NOT_REACHED
        words = (names["action"] or "step", names["branch"], names["member"])
        edges.append(WebEdge(index[source], index[target], " ".join(filter(None, words)), status))
    return states, edges


def _text(card: Card, state: State) -> str:
    """A card as lines, then the variables of the group protocol's models that the card does not show."""
    lines = list(card.lines)
    for name, *cells in card.rows:
        parts = [f"{head} {cell}" for head, cell in zip(card.head[1:], cells, strict=False) if cell != "-"]
        lines.append(f"{name}: {', '.join(parts)}" if card.head else f"{name} = {' '.join(cells)}")
    if card.title:
        others = sorted(set(state) - SHOWN)
        lines += [f"{name} = {print_value(state[name])}" for name in others]
    return "\n".join(lines)


def state_statuses(states: int, edges: Iterable[WebEdge]) -> list[str]:
    """The status of each state, one of STATE_STATUSES.

    A state failed if an edge out of it did, and is tested if all edges out of it are (where there is none, if
    an edge into it is). Otherwise it is partly tested if any edge out of it or into it was taken.
    """
    out: list[Counter[str]] = [Counter() for _ in range(states)]
    reached = [False] * states
    for edge in edges:
        out[edge.source][edge.status] += 1
        if edge.status != NOT_REACHED:
            reached[edge.source] = reached[edge.target] = True
    return [
        FAILED if counts[FAILED] else NOT_REACHED if not here else PARTLY if counts[NOT_REACHED] else TESTED
        for counts, here in zip(out, reached, strict=True)
    ]


def web_page(title: str, states: Sequence[WebState], edges: Sequence[WebEdge], notes: Sequence[str]) -> str:
    """The page: HTML that fetches nothing. `notes` are sentences under its title.

    ValueError for a status that is none of EDGE_STATUSES.
    """
    counts = Counter(edge.status for edge in edges)
    if unknown := sorted(counts.keys() - set(EDGE_STATUSES)):
        raise ValueError(f"no status of an edge: {unknown[0]!r}")
    data = json.dumps(_data(title, states, edges), ensure_ascii=False, separators=(",", ":"))
    return template(_HERE, "web.html.j2").render(
        title=title,
        states=len(states),
        edges=len(edges),
        counts=[(status, counts[status]) for status in EDGE_STATUSES],
        notes=notes,
        # `<` would let a text end the element that the data is in.
        data=Markup(data.replace("<", "\\u003c")),
        script=Markup("".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)),
    )


def draw_page(subject: Subject, trace: Trace | None, folder: Path, name: str) -> dict[str, Any]:
    """Write NAME.html into a folder; the answer describes it, as `--json` has it.

    The edges of the trace, which is that of the subject's path, are tested. ConformError (exit 2) where the
    folder cannot be written to.
    """
    taken = path_edges(subject.graph, trace, list(subject.path)) if trace else set()
    states, edges = web_states(subject.graph, tested=taken)
    note = "Tested are the steps of the trace." if trace else "No trace was given, so no edge is tested."
    file = output_folder(folder) / f"{name}.html"
    write_text(file, web_page(subject.title, states, edges, [note]))
    return {
        "title": subject.title,
        "states": len(states),
        "edges": len(edges),
        "depths": depths(subject.graph),
        "tested": len(taken),
        "group_states": dict(sorted(Counter(state.title for state in states if state.title).items())),
        "files": [str(file)],
    }


class _Table:
    """Texts, each once; others refer to them by number."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        return list(self._numbers)


def _data(title: str, states: Sequence[WebState], edges: Sequence[WebEdge]) -> dict[str, Any]:
    """Data for the page's script: columns of numbers, and the tables that they refer to."""
    present = dict.fromkeys(state.title for state in states)
    titles = _Table([*(name for name in TITLES if name in present), *present])
    depths = _Table()
    for depth in sorted({state.depth for state in states}):
        depths.number(str(depth))
    lines, labels = _Table(), _Table()
    numbers = [[lines.number(line) for line in state.text.split("\n")] for state in states]
    called = [labels.number(edge.label) for edge in edges]
    of_title = [titles.number(state.title) for state in states]
    of_depth = [depths.number(str(state.depth)) for state in states]
    places = layout(of_title, of_depth, [(edge.source, edge.target) for edge in edges])
    return {
        "name": title,
        "titles": titles.texts(),
        "fills": _fills(titles.texts()),
        "depths": depths.texts(),
        "lines": lines.texts(),
        "labels": labels.texts(),
        "lanes": places.lanes,
        "layers": places.layers,
        "stateStatuses": STATE_STATUSES,
        "edgeStatuses": EDGE_STATUSES,
        "states": {
            "title": of_title,
            "layer": of_depth,
            "lines": numbers,
            "x": places.x,
            "y": places.y,
            "status": [STATE_STATUSES.index(status) for status in state_statuses(len(states), edges)],
        },
        "edges": {
            "source": [edge.source for edge in edges],
            "target": [edge.target for edge in edges],
            "label": called,
            "status": [EDGE_STATUSES.index(edge.status) for edge in edges],
        },
    }


def _fills(titles: Sequence[str]) -> list[str]:
    """The colours of the pictures; titles without a colour there share other colours in turn."""
    others = [title for title in titles if title not in FILL]
    return [FILL.get(title) or _OTHER_FILLS[others.index(title) % len(_OTHER_FILLS)] for title in titles]
