"""Lines beside each other over logarithmic axes as SVG, in the colours of the page, for comparing growth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from harness.pages import template
from harness.report.plot import Axes

_LEFT, _RIGHT, _TOP, _WIDTH, _HEIGHT = 62, 86, 10, 250, 150
_APART: Final = 14.0
"""Between the names of lines that end near each other."""


def lines(curves: Mapping[str, Mapping[int, float]], axes: Axes) -> str:
    """By name, figures above 0 by sizes above 0; one curve at least, each of one point at least."""
    sizes = sorted({size for curve in curves.values() for size in curve})
    figures = [figure for curve in curves.values() for figure in curve.values()]
    low, high = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))
    high = max(high, low + 1)

    def x(size: int) -> float:
        part = math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0]) if len(sizes) > 1 else 0.5
        return round(_LEFT + _WIDTH * part, 1)

    def y(figure: float) -> float:
        return round(_TOP + _HEIGHT * (1 - (math.log10(figure) - low) / (high - low)), 1)

    ends = _apart([y(curve[max(curve)]) for curve in curves.values()])
    drawn = [
        {
            "name": name,
            "number": number,
            "end": end,
            "points": [
                {
                    "x": x(size),
                    "y": y(figure),
                    "hint": f"{name}, {size:,} {axes.across}: {figure:,.1f} {axes.up}",
                }
                for size, figure in sorted(curve.items())
            ],
        }
        for number, ((name, curve), end) in enumerate(zip(curves.items(), ends, strict=True))
    ]
    return template(Path(__file__).parent, "lines.svg.j2").render(
        axes=axes,
        lines=drawn,
        across=[{"x": x(size), "text": f"{size:,}"} for size in sizes],
        up=[{"y": y(10.0**power), "text": f"{10.0**power:,g}"} for power in range(low, high + 1)],
        left=_LEFT,
        right=_LEFT + _WIDTH,
        top=_TOP,
        bottom=_TOP + _HEIGHT,
        width=_LEFT + _WIDTH + _RIGHT,
    )


def _apart(places: Sequence[float]) -> list[float]:
    """The places in their order, moved up or down until names fit between them."""
    spread = list(places)
    order = sorted(range(len(spread)), key=spread.__getitem__)
    for above, below in pairwise(order):
        spread[below] = max(spread[below], spread[above] + _APART)
    return spread
