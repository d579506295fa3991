"""Small plots as SVG, in the colours of the page: curves that grow, and bars.

They are made by a template rather than by a library that draws: a line and some numbers need none, and their
SVG follows the reader's dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.pages import template

_LEFT, _RIGHT, _TOP, _WIDTH, _HEIGHT = 46, 10, 8, 264, 92
_ACROSS: Final = 4
_NEAR: Final = 0.6
"""The number of numbers on an axis beside 0, and the part of the distance between two of them that is too
little."""
_BARS: Final = 40
"""The number of bars that stand apart; more bars touch each other."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The quantities on the two axes."""

    across: str
    up: str


def curve(points: Sequence[tuple[int, int]], axes: Axes) -> str:
    """A line from zero through points with rising x."""
    most, top = max(x for x, _ in points), round_up(max(y for _, y in points))
    places = [(_x(x / most), _y(y / top)) for x, y in points]
    hints = [f"{y:,} {axes.up} after {x:,} {axes.across}" for x, y in points]
    line = [(_x(0), _y(0)), *places]
    return _draw(axes, most, 0, top, line=line, hints=list(zip(places, hints, strict=True)))


def bars(counts: Sequence[int], axes: Axes) -> str:
    """A bar for each of 0, 1, 2 …"""
    top = round_up(max(counts))
    width = _WIDTH / len(counts)
    gap = min(2.0, width / 4) if len(counts) <= _BARS else 0.0
    places = [
        (round(_LEFT + width * number + gap / 2, 2), _y(count / top), round(width - gap, 2))
        for number, count in enumerate(counts)
    ]
    hints = [f"{count:,} {axes.up} at {axes.across} {number}" for number, count in enumerate(counts)]
    return _draw(axes, len(counts) - 1, width / 2, top, bars=list(zip(places, hints, strict=True)))


def round_up(value: int) -> int:
    """The next round number whose half is round, too: 2, 4, 6, 8, 10, 20, 30, 40, 60, 80, 100 …"""
    power: int = 10 ** max(math.ceil(math.log10(max(value, 1))) - 1, 0)
    factors = (2, 4, 6, 8, 10) if power == 1 else (1, 2, 3, 4, 6, 8, 10)
    return next(factor * power for factor in factors if factor * power >= value)


def evenly(most: int) -> list[int]:
    """Numbers from 0 to `most`, evenly apart; `most` itself unless it is too near the one before."""
    apart = max(1, math.ceil(most / _ACROSS))
    numbers = list(range(0, most + 1, apart))
    return numbers if most - numbers[-1] < _NEAR * apart else [*numbers, most]


def _x(part: float) -> float:
    return round(_LEFT + _WIDTH * part, 1)


def _y(part: float) -> float:
    return round(_TOP + _HEIGHT * (1 - part), 1)


def _draw(axes: Axes, most: int, inset: float, top: int, **drawn: object) -> str:
    """Draw the plot; `inset` is the distance of the first and the last number from the ends of the axis."""
    numbers = evenly(most)
    return template(Path(__file__).parent, "plot.svg.j2").render(
        axes=axes,
        width=_LEFT + _WIDTH + _RIGHT,
        left=_LEFT,
        right=_LEFT + _WIDTH,
        bottom=_TOP + _HEIGHT,
        across=[
            {
                "x": round(_LEFT + inset + (_WIDTH - 2 * inset) * (one / most if most else 0), 1),
                "text": f"{one:,}",
            }
            for one in numbers
        ],
        up=[{"y": _y(part / 2), "text": f"{top * part / 2:,.0f}"} for part in range(3)],
        **{"line": [], "hints": [], "bars": [], **drawn},
    )
