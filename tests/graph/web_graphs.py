"""Graphs of any size for the page, the same every time."""

from __future__ import annotations

from harness.graph.web import FAILED, NOT_REACHED, TESTED, WebEdge, WebState
from harness.kinds.consumer.card import GROUP_STATES

LAYERS = 24


def synthetic(states: int, out: int = 5) -> tuple[list[WebState], list[WebEdge]]:
    """A graph of `states` states with `out` edges out of each: some tested, few failed, most not reached."""
    depths = [0, *sorted(1 + number * 7919 % (LAYERS - 1) for number in range(1, states))]
    made = [
        WebState(
            GROUP_STATES[number % 7 % len(GROUP_STATES)],
            f"group epoch {depth}\nm1: epoch {number % 11}\nm2: epoch {number % 13}\nserial {number // 4}",
            depth,
        )
        for number, depth in enumerate(depths)
    ]
    edges = []
    for number in range(states):
        for way in range(out):
            target = (number * (way + 1) + way * 37 + 1) % states
            order = number * out + way
            status = FAILED if order % 5003 == 7 else TESTED if order % 9 == 0 else NOT_REACHED
            edges.append(
                WebEdge(number, target, f"Heartbeat {('stable', 'narrow')[way % 2]} m{1 + way % 3}", status)
            )
    return made, edges
