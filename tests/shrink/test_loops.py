"""Steps that lead back to a state are left out of a behaviour where it fails without them."""

from __future__ import annotations

from harness.itf import Trace
from harness.shrink.loops import loops, without_loops


def trace(*groups: int) -> Trace:
    """A behaviour that goes through these states of a group."""
    states = [{"group": group, "step": number} for number, group in enumerate(groups)]
    return Trace({}, ("group", "step"), states, tuple(map(str, groups)))  # type: ignore[arg-type]


def groups(shortened: Trace) -> list[object]:
    assert shortened.actions == tuple(str(state["group"]) for state in shortened.states)
    return [state["group"] for state in shortened.states]


def test_the_longest_loop_goes_first_and_the_last_step_stays() -> None:
    whole = trace(0, 1, 2, 1, 1, 3, 1)
    assert loops(whole) == [(1, 4), (1, 3), (3, 4)]
    short, tried = without_loops(whole, lambda one: True)
    assert (groups(short), tried) == ([0, 1, 3, 1], 1)


def test_steps_that_the_failure_needs_stay() -> None:
    def fails(one: Trace) -> bool:
        return any(state["group"] == 2 for state in one.states)

    short, tried = without_loops(trace(0, 0, 1, 2, 1, 1, 3), fails)
    assert groups(short) == [0, 1, 2, 1, 3] and tried > 2


def test_without_two_equal_states_nothing_goes() -> None:
    assert without_loops(trace(0, 1, 2, 0), lambda one: True) == (trace(0, 1, 2, 0), 0)
