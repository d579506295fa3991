"""The drawn graph in graphviz's terms: colours, tables in nodes, labels of edges, a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import networkx as nx

from harness.graph.fold import Drawn, StepKind
from harness.graph.states import Card

FILL: Final = {
    "Dead": "#d9dde3",
    "Empty": "#ffffff",
    "Assigning": "#d9ccf5",
    "Reconciling": "#ffe1ad",
    "Stable": "#c3ebc8",
}
"""Colours of group states; each node says its state in words, too."""
_OTHER_FILL: Final = "#edf2f9"
_BORDER: Final = "#5b6472"
_EDGE: Final = "#7b8494"
_QUIET: Final = "#5b6472"
_PATH: Final = "#0b57d0"
_FONT: Final = "Helvetica"
_MOST_STEPS: Final = 4
"""Kinds of steps that an edge or a node lists; of more it says how many there are."""


@dataclass(frozen=True)
class Titles:
    """The words over a picture: what it shows, and how."""

    title: str
    subtitle: str
    legend: Sequence[str]


def to_graphviz(drawn: Drawn, titles: Titles) -> nx.DiGraph:
    """The drawn graph with graphviz's attributes on the graph, nodes and edges (networkx's form for pydot)."""
    graph = nx.DiGraph()
    graph.graph["graph"] = {
        "rankdir": "TB",
        "nodesep": "0.5",
        "ranksep": "0.55",
        "pad": "0.25",
        "bgcolor": "white",
        "fontname": _FONT,
        "labelloc": "t",
        "label": _heading(titles, bool(drawn.path)),
    }
    graph.graph["node"] = {"shape": "plain", "fontname": _FONT, "fontsize": "11"}
    graph.graph["edge"] = {"fontname": _FONT, "fontsize": "10", "arrowsize": "0.7", "color": _EDGE}
    steps = _steps_of_path(drawn.path)
    visited = set(drawn.path)
    for node, attributes in drawn.graph.nodes(data=True):
        here = steps.get((node, node), [])
        label = _node(attributes, drawn, node in visited, here)
        graph.add_node(f"n{node}", label=label)
        if attributes["initial"]:
            graph.add_node(f"i{node}", label="", shape="point", width="0.13")
            graph.add_edge(f"i{node}", f"n{node}")
    for source, target, counts in drawn.graph.edges(data="steps"):
        on_path = steps.get((source, target), [])
        graph.add_edge(f"n{source}", f"n{target}", **_edge(counts, on_path, not drawn.folded_by))
    return graph


def _steps_of_path(path: Sequence[int]) -> dict[tuple[int, int], list[int]]:
    """Which steps of the path, from 1, go from node to node."""
    steps: dict[tuple[int, int], list[int]] = {}
    for index in range(1, len(path)):
        steps.setdefault((path[index - 1], path[index]), []).append(index)
    return steps


def _heading(titles: Titles, has_path: bool) -> str:
    cells = [
        f'<TD BGCOLOR="{FILL[title]}" BORDER="1" COLOR="{_BORDER}">{_text(title)}</TD>' for title in titles.legend
    ]
    if has_path:
        cells.append(f'<TD><FONT COLOR="{_PATH}"><B>━━ path, numbered by step</B></FONT></TD>')
    legend = f'<TR><TD><TABLE BORDER="0" CELLSPACING="6" CELLPADDING="4"><TR>{"".join(cells)}</TR></TABLE></TD></TR>'
    return (
        '<<TABLE BORDER="0" CELLSPACING="2">'
        f'<TR><TD><FONT POINT-SIZE="16"><B>{_text(titles.title)}</B></FONT></TD></TR>'
        f'<TR><TD><FONT POINT-SIZE="11" COLOR="{_QUIET}">{_text(titles.subtitle)}</FONT></TD></TR>'
        f"{legend if cells else ''}</TABLE>>"
    )


def _node(attributes: dict[str, object], drawn: Drawn, on_path: bool, here: Sequence[int]) -> str:
    card, states, stays = attributes["card"], attributes["states"], attributes["stays"]
    assert isinstance(card, Card) and isinstance(states, int) and isinstance(stays, Counter)
    whole = not drawn.folded_by
    rows = [f"<B>{_text(card.title)}</B>"] if card.title else []
    rows += [_text(line) for line in card.lines]
    if not whole:
        rows.append(f"<B>{states:,} state{'s' if states > 1 else ''}</B>")
    body = "".join(f"<TR><TD>{row}</TD></TR>" for row in rows)
    if card.rows:
        body += f"<TR><TD>{_table(card)}</TD></TR>"
    quiet = _listed(stays, whole)
    if quiet:
        body += (
            f'<TR><TD><FONT POINT-SIZE="9" COLOR="{_QUIET}">stays: '
            f"{'<BR/>'.join(_text(line) for line in quiet)}</FONT></TD></TR>"
        )
    if here:
        body += f'<TR><TD><FONT COLOR="{_PATH}"><B>{_text(_numbers(here))} here</B></FONT></TD></TR>'
    colour, width = (_PATH, 3) if on_path else (_BORDER, 1)
    fill = FILL.get(card.title, _OTHER_FILL)
    return (
        f'<<TABLE STYLE="ROUNDED" BORDER="{width}" COLOR="{colour}" BGCOLOR="{fill}" '
        f'CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{body}</TABLE>>'
    )


def _table(card: Card) -> str:
    def row(cells: Iterable[str], style: str) -> str:
        inside = "".join(f'<TD ALIGN="LEFT">{style.format(_text(cell) or " ")}</TD>' for cell in cells)
        return f"<TR>{inside}</TR>"

    head = row(card.head, f'<FONT POINT-SIZE="9" COLOR="{_QUIET}">{{}}</FONT>') if card.head else ""
    body = "".join(row(cells, "{}") for cells in card.rows)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3">{head}{body}</TABLE>'


def _edge(counts: Counter[StepKind], on_path: Sequence[int], whole: bool) -> dict[str, str]:
    lines = [f'<TR><TD ALIGN="LEFT">{_text(line)}</TD></TR>' for line in _listed(counts, whole)]
    attributes = {}
    if on_path:
        number = f'<TR><TD ALIGN="LEFT"><FONT COLOR="{_PATH}"><B>{_text(_numbers(on_path))}</B></FONT></TD></TR>'
        lines.insert(0, number)
        attributes = {"color": _PATH, "penwidth": "2.5"}
    table = f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">{"".join(lines)}</TABLE>>'
    return {**attributes, "label": table}


def _numbers(steps: Sequence[int], most: int = 6) -> str:
    shown = ", ".join(str(step) for step in steps[:most])
    more = f" and {len(steps) - most} more" if len(steps) > most else ""
    return f"step{'s' if len(steps) > 1 else ''} {shown}{more}"


def _listed(kinds: Counter[StepKind], whole: bool) -> list[str]:
    """The kinds of steps, the most frequent first, with their numbers where several states are one node."""
    counts: Counter[str] = Counter()
    for (action, branch, member), count in kinds.items():
        words = (action, member if whole else "", f"({branch})" if branch else "")
        counts[" ".join(word for word in words if word)] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = ordered if len(ordered) <= _MOST_STEPS + 1 else ordered[:_MOST_STEPS]
    lines = [name if whole and count == 1 else f"{name} ×{count:,}" for name, count in shown]
    if rest := ordered[len(shown) :]:
        lines.append(f"and {len(rest)} more kinds ×{sum(count for _, count in rest):,}")
    return lines


def _text(words: str) -> str:
    return escape(words, quote=True)
