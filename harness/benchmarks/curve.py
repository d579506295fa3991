"""A curve over a logarithmic axis as SVG: what a heartbeat costs in groups of growing size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATE = "curve.svg.j2"
_LEFT, _TOP, _WIDTH, _HEIGHT = 70, 50, 480, 200


def heartbeat_curve(cpu_us: Mapping[int, float]) -> str:
    """The picture: microseconds of the processor by the number of members, at least one of them."""
    powers = [math.log10(members) for members in cpu_us]
    low, high = min(powers), max(powers)
    top_us = _round_up(max(cpu_us.values()))

    def x(power: float) -> float:
        return _LEFT + _WIDTH * ((power - low) / (high - low) if high > low else 0.5)

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (1 - value / top_us)

    points = [
        {"x": round(x(power), 1), "y": round(y(value), 1), "members": f"{members:,}", "us": f"{value:.1f}"}
        for power, (members, value) in zip(powers, cpu_us.items(), strict=True)
    ]
    ticks = [{"y": y(top_us * part / 4), "us": f"{top_us * part / 4:g}"} for part in range(5)]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template(_TEMPLATE).render(
        points=points, ticks=ticks, left=_LEFT, right=_LEFT + _WIDTH, bottom=_TOP + _HEIGHT
    )


def _round_up(value: float) -> float:
    """The next of 1, 2, 4 and 8 times a power of ten, with room above the curve."""
    room = value * 1.2
    power = 10.0 ** math.floor(math.log10(room))
    return power * next(factor for factor in (1, 2, 4, 8, 10) if factor * power >= room)
