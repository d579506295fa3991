"""Places for the states of a big graph: columns by depth, lanes by title, so that it reads left to right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_ASPECT: Final = 1.3
"""Width by height of the whole, about as a screen beside the panel is."""
_LEAST_SHARE: Final = 14
"""The least part of all rows that a lane has, so that the names of lanes do not touch."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Places on a grid whose unit is the place of one state; x to the right, y down.

    `lanes` and `layers` are the first and the last row of each title, and column of each depth.
    """

    x: Sequence[int]
    y: Sequence[int]
    lanes: Sequence[tuple[int, int]]
    layers: Sequence[tuple[int, int]]


def layout(titles: Sequence[int], depths: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place states with these numbers of titles and depths; edges are pairs of states.

    The numbers are from 0 without gaps. A layer may be several columns wide. Inside a lane of it, states are
    ordered by the mean row of those before them (the barycentre), so that edges cross less. The same input
    gives the same places.
    """
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for state, cell in enumerate(zip(depths, titles, strict=True)):
        cells[cell].append(state)
    sizes = {cell: len(states) for cell, states in cells.items()}
    heights = _heights(sizes)
    lanes, bottom = [], 0
    for height in heights:
        lanes.append((bottom, bottom + height - 1))
        bottom += height + 1 + sum(heights) // 40
    widths = _widths(sizes, heights)
    layers, right = [], 0
    for width in widths:
        layers.append((right, right + width - 1))
        right += width + _gap(widths)
    x, y = _places(cells, lanes, layers, _before(len(titles), edges))
    return Layout(x, y, lanes, layers)


def _heights(sizes: Mapping[tuple[int, int], int]) -> list[int]:
    """Rows of each lane, about in proportion to its states, so that the whole fits a screen."""
    totals: dict[int, int] = defaultdict(int)
    for (_, title), size in sizes.items():
        totals[title] += size
    rows, heights = 0, [1] * len(totals)
    while True:
        widths = _widths(sizes, heights)
        width = sum(widths) + _gap(widths) * (len(widths) - 1)
        if width <= _ASPECT * sum(heights) or max(widths, default=1) == 1:
            return heights
        rows += 1
        share = rows / sum(totals.values())
        least = max(1, rows // _LEAST_SHARE)
        heights = [max(least, round(totals[title] * share)) for title in sorted(totals)]


def _widths(sizes: Mapping[tuple[int, int], int], heights: Sequence[int]) -> list[int]:
    """Columns of each layer."""
    widths: dict[int, int] = defaultdict(int)
    for (depth, title), size in sizes.items():
        widths[depth] = max(widths[depth], -(-size // heights[title]))
    return [widths[depth] for depth in sorted(widths)]


def _gap(widths: Sequence[int]) -> int:
    """Columns between layers, for the edges."""
    return 1 + max(widths, default=0) // 4


def _before(states: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in range(states)]
    for source, target in edges:
        if source != target:
            before[target].append(source)
    return before


def _places(
    cells: Mapping[tuple[int, int], Sequence[int]],
    lanes: Sequence[tuple[int, int]],
    layers: Sequence[tuple[int, int]],
    before: Sequence[Sequence[int]],
) -> tuple[list[int], list[int]]:
    x, y = [0] * len(before), [-1] * len(before)
    for depth, title in sorted(cells):
        states = cells[depth, title]
        top, bottom = lanes[title]
        left, right = layers[depth]
        columns = -(-len(states) // (bottom - top + 1))
        top += (bottom - top + 1 - -(-len(states) // columns)) // 2
        left += (right - left + 1 - columns) // 2

        def barycentre(state: int, middle: int = (top + bottom) // 2) -> float:
            rows = [y[one] for one in before[state] if y[one] >= 0]
            return sum(rows) / len(rows) if rows else middle

        for place, state in enumerate(sorted(states, key=lambda state: (barycentre(state), state))):
            x[state], y[state] = left + place % columns, top + place // columns
    return x, y
