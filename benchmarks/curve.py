"""Curves over a logarithmic axis as SVG: the cost of a heartbeat in groups of growing size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATE = "curve.svg.j2"
_COLORS = ("#1f6feb", "#bf3989")
_LEFT, _TOP, _WIDTH, _HEIGHT = 70, 50, 480, 200


def heartbeat_curves(curves: Mapping[str, Mapping[int, float]]) -> str:
    """The picture: by title, microseconds of the processor by the number of members, at least one of them."""
    powers = [math.log10(members) for curve in curves.values() for members in curve]
    low, high = min(powers), max(powers)
    top_us = _round_up(max(cost for curve in curves.values() for cost in curve.values()))

    def x(members: int) -> float:
        return round(_LEFT + _WIDTH * ((math.log10(members) - low) / (high - low) if high > low else 0.5), 1)

    def y(cost: float) -> float:
        return round(_TOP + _HEIGHT * (1 - cost / top_us), 1)

    lines = [
        {
            "title": title,
            "color": color,
            "points": [
                {"x": x(members), "y": y(cost), "us": f"{cost:.1f}"} for members, cost in curve.items()
            ],
        }
        for (title, curve), color in zip(curves.items(), _COLORS, strict=False)
    ]
    sizes = sorted({members for curve in curves.values() for members in curve})
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template(_TEMPLATE).render(
        lines=lines,
        sizes=[{"x": x(members), "members": f"{members:,}"} for members in sizes],
        ticks=[{"y": y(top_us * part / 4), "us": f"{top_us * part / 4:g}"} for part in range(5)],
        left=_LEFT,
        right=_LEFT + _WIDTH,
        bottom=_TOP + _HEIGHT,
    )


def _round_up(value: float) -> float:
    """The next of 1, 2, 4 and 8 times a power of ten, with room above the curve."""
    room = value * 1.2
    power = 10.0 ** math.floor(math.log10(room))
    return power * next(factor for factor in (1, 2, 4, 8, 10) if factor * power >= room)
