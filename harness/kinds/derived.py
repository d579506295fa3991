"""The state of a consumer group, which follows from the rest of its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.kinds.consumer.description import CONSUMER
from harness.replay.compare import Difference
from harness.replay.view import View

_STATES: Final = ("Empty", "Assigning", "Reconciling", "Stable")
_FROM: Final = (
    *("groupEpoch", "assignmentEpoch", "members", "members.memberEpoch", "members.assigned"),
    *("members.pendingRevocation", "members.target"),
)
"""The parts of a description from which the state follows."""


def calls_it_otherwise(kind: str, different: Sequence[Difference], view: View) -> bool:
    """Tell if two descriptions agree in all parts from which the group's state follows, and not in that
    state."""
    if kind != CONSUMER.name or len(different) != 1 or different[0].path != "group.state":
        return False
    return all(map(view.shows, _FROM)) and different[0].expected in _STATES and different[0].got in _STATES
