"""The drawn graph in graphviz's terms: colours, tables in nodes, labels of edges, a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import networkx as nx

from harness.graph.card import Card
from harness.graph.fold import Drawn, StepKind
from harness.words import counted, noun

FILL: Final = {
    "Dead": "#d9dde3",
    "Empty": "#ffffff",
    "Assigning": "#d9ccf5",
    "Reconciling": "#ffe1ad",
    "PreparingRebalance": "#d9ccf5",
    "CompletingRebalance": "#ffe1ad",
    "Stable": "#c3ebc8",
}
"""Colours of group states; each node says its state in words, too."""
_OTHER_FILL: Final = "#edf2f9"
_BORDER: Final = "#5b6472"
_EDGE: Final = "#7b8494"
_QUIET: Final = "#5b6472"
_PATH: Final = "#0b57d0"
_FONT: Final = "Helvetica"
_TIMES: Final = "\u00d7"
_MOST_STEPS: Final = 4
"""The number of kinds of steps that an edge or a node lists; of further ones it has the number."""


@dataclass(frozen=True)
class Titles:
    """The words over a picture: its subject, group states for the legend, the meaning of words on nodes."""

    title: str
    subtitle: str
    legend: Sequence[str] = ()
    notes: Sequence[str] = ()


def to_graphviz(drawn: Drawn, titles: Titles) -> nx.DiGraph:
    """The drawn graph with graphviz's attributes on graph, nodes and edges, as networkx gives it to pydot."""
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
    """Steps of the path, from 1, that go from node to node."""
    steps: dict[tuple[int, int], list[int]] = {}
    for index in range(1, len(path)):
        steps.setdefault((path[index - 1], path[index]), []).append(index)
    return steps


def _heading(titles: Titles, has_path: bool) -> str:
    cells = [
        f'<TD BGCOLOR="{FILL[title]}" BORDER="1" COLOR="{_BORDER}">{_text(title)}</TD>'
        for title in titles.legend
    ]
    if has_path:
        cells.append(f'<TD><FONT COLOR="{_PATH}"><B>━━ path, numbered by step</B></FONT></TD>')
    row = f'<TABLE BORDER="0" CELLSPACING="6" CELLPADDING="4"><TR>{"".join(cells)}</TR></TABLE>'
    legend = f"<TR><TD>{row}</TD></TR>" if cells else ""
    quiet = [titles.subtitle, *([" · ".join(titles.notes)] if titles.notes else [])]
    lines = "".join(
        f'<TR><TD><FONT POINT-SIZE="11" COLOR="{_QUIET}">{_text(line)}</FONT></TD></TR>' for line in quiet
    )
    return (
        '<<TABLE BORDER="0" CELLSPACING="2">'
        f'<TR><TD><FONT POINT-SIZE="16"><B>{_text(titles.title)}</B></FONT></TD></TR>'
        f"{lines}{legend}</TABLE>>"
    )


def _node(attributes: dict[str, object], drawn: Drawn, on_path: bool, here: Sequence[int]) -> str:
    card, states, stays = attributes["card"], attributes["states"], attributes["stays"]
    assert isinstance(card, Card) and isinstance(states, int) and isinstance(stays, Counter)
    whole = not drawn.folded_by
    rows = [f"<B>{_text(card.title)}</B>"] if card.title else []
    rows += [_text(line) for line in card.lines]
    if not whole:
        rows.append(f"<B>{counted(states, 'state')}</B>")
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
    inside = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{body}</TABLE>'
    return (
        f'<<TABLE STYLE="ROUNDED" BORDER="{width}" COLOR="{colour}" BGCOLOR="{fill}" '
        f'CELLBORDER="0" CELLSPACING="0" CELLPADDING="6"><TR><TD>{inside}</TD></TR></TABLE>>'
    )


def _table(card: Card) -> str:
    quiet = f'<FONT POINT-SIZE="9" COLOR="{_QUIET}">'
    rows = [_row(f"{quiet}{_text(name)}</FONT>" for name in card.head)] if card.head else []
    for number, row in enumerate(card.rows):
        cells = enumerate(_text(cell) or " " for cell in row)
        rows.append(_row(f"<B>{cell}</B>" if (number, at) in card.changed else cell for at, cell in cells))
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4" CELLPADDING="1">{"".join(rows)}</TABLE>'


def _row(cells: Iterable[str]) -> str:
    inside = "".join(f'<TD ALIGN="LEFT">{cell}</TD>' for cell in cells)
    return f"<TR>{inside}</TR>"


def _edge(counts: Counter[StepKind], on_path: Sequence[int], whole: bool) -> dict[str, str]:
    lines = [_text(line) for line in _listed(counts, whole)]
    attributes = {}
    if on_path:
        lines.insert(0, f'<FONT COLOR="{_PATH}"><B>{_text(_numbers(on_path))}</B></FONT>')
        attributes = {"color": _PATH, "penwidth": "2.5"}
    rows = "".join(f'<TR><TD ALIGN="LEFT">&#160;{line}&#160;</TD></TR>' for line in lines)
    return {
        **attributes,
        "label": f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">{rows}</TABLE>>',
    }


def _numbers(steps: Sequence[int], most: int = 4) -> str:
    """Numbers of steps in words, those that follow each other as ranges."""
    ranges: list[list[int]] = []
    for step in steps:
        if ranges and ranges[-1][-1] == step - 1:
            ranges[-1].append(step)
        else:
            ranges.append([step])
    words = [str(one[0]) if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in ranges[:most]]
    more = sum(len(one) for one in ranges[most:])
    return f"{noun(len(steps), 'step')} {', '.join(words)}{f' and {more} more' if more else ''}"


def _listed(kinds: Counter[StepKind], whole: bool) -> list[str]:
    """The kinds of steps, the most frequent first, with their numbers where several states are one node."""
    counts: Counter[str] = Counter()
    for (action, branch, member), count in kinds.items():
        words = (action or "step", member if whole else "", f"({branch})" if branch else "")
        counts[" ".join(word for word in words if word)] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = ordered if len(ordered) <= _MOST_STEPS + 1 else ordered[:_MOST_STEPS]
    lines = [name if whole and count == 1 else f"{name} {_TIMES}{count:,}" for name, count in shown]
    if rest := ordered[len(shown) :]:
        lines.append(f"and {len(rest)} more kinds {_TIMES}{sum(count for _, count in rest):,}")
    return lines


def _text(words: str) -> str:
    """Words for a label; graphviz would read two backslashes as one."""
    return escape(words, quote=True).replace("\\", "\\\\")
