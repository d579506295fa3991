"""The timers that run out in a trace, with the step that arms each, from the deadlines in the trace."""

from __future__ import annotations

from harness.replay.calls import FireTimer, SendRequest
from harness.replay.prepared import DecodedTrace
from harness.targets.base import Json
from harness.targets.waiting import Due


def due(trace: DecodedTrace) -> list[Due]:
    """The sessions and rebalance time-outs of members that run out, in the order of the trace.

    A timer that runs at the start of the trace is left out: no step of this trace can make it short. Among
    the timers `join` of classic groups, those that a target with a longer rebalance time-out prolongs are
    marked.
    """
    described = [trace.initial, *(step.expected.group or {} for step in trace.steps)]
    timeouts = []
    for index, step in enumerate(trace.steps):
        if not isinstance(step.call, FireTimer):
            continue
        if step.call.timer == "join":
            timeouts += [Due("join", "", index, index)] if _is_prolonged_no_more(described, index) else []
            continue
        armed = index
        deadline_ms = _deadline_ms(described[index], step.call)
        while armed and _deadline_ms(described[armed - 1], step.call) == deadline_ms:
            armed -= 1
        call = trace.steps[armed - 1].call
        if armed and isinstance(call, SendRequest):
            timeouts.append(Due(step.call.timer, str(call.client["id"]), armed - 1, index))
    return timeouts


def _is_prolonged_no_more(described: list[Json], index: int) -> bool:
    """Tell if the initial delay ends at this step although another member has joined since it began."""
    if described[index].get("delayRemainingMs") != 0:
        return False
    began = index
    while began and described[began - 1].get("delayRemainingMs") == 0:
        began -= 1
    return len(described[index]["members"]) > len(described[began]["members"])


def _deadline_ms(group: Json, fired: FireTimer) -> int | None:
    for timer in group.get("timers", ()):
        if (timer["timer"], timer["member"]) == (fired.timer, fired.member):
            deadline: int = timer["deadlineMs"]
            return deadline
    return None
