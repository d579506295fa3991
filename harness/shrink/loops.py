"""A behaviour without steps that lead back to a state: the result is a behaviour without any engine's help.

Where two states of a behaviour are equal in all variables except the one with the last step, every
continuation of the later one is possible after the earlier one, and so the steps between them can be left
out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from harness.generate import STEP_VARIABLE
from harness.itf import Trace


def without_loops(trace: Trace, fails: Callable[[Trace], bool]) -> tuple[Trace, int]:
    """The trace without the loops that its failure does not need, and the number of tried ones; its last step
    stays."""
    tried = 0
    left = loops(trace)
    while left:
        start, end = left.pop(0)
        shorter = replace(
            trace,
            states=[*trace.states[: start + 1], *trace.states[end + 1 :]],
            actions=trace.actions[: start + 1] + trace.actions[end + 1 :],
        )
        tried += 1
        if fails(shorter):
            trace, left = shorter, loops(shorter)
    return trace, tried


def loops(trace: Trace) -> list[tuple[int, int]]:
    """Indices of equal states before the last step, the longest loop first: of each state the first and the
    last time, and each time with the next."""
    places: dict[frozenset[tuple[str, object]], list[int]] = {}
    for index, state in enumerate(trace.states[:-1]):
        key = frozenset((name, value) for name, value in state.items() if name != STEP_VARIABLE)
        places.setdefault(key, []).append(index)
    pairs = {pair for at in places.values() for pair in [*pairwise(at), (at[0], at[-1])] if pair[0] < pair[1]}
    return sorted(pairs, key=lambda pair: (pair[0] - pair[1], pair))
