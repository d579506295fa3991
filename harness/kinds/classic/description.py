"""Classic groups (JoinGroup, SyncGroup), described."""

from typing import Final

from harness.kinds.description import Kind

DELAY: Final = "group.initial.rebalance.delay.ms"
"""The configuration of the time that a new group waits for further members (C1)."""
REQUIREMENTS: Final = {
    "JoinGroup": ("C1",),
    "SyncGroup": ("C1",),
    "ClassicHeartbeat": ("C1", "H8"),
    "LeaveGroup": ("C1",),
    "JoinTimeout": ("C1",),
    "SyncTimeout": ("C1",),
}
"""The requirements of a step, by its action, for actions that consumer groups do not have."""


def _exercised(action: str, branch: str, error: str) -> tuple[str, ...]:
    return REQUIREMENTS.get(action, ())


CLASSIC: Final = Kind(
    name="classic",
    adjective="classic",
    variables=("group", "step"),
    group_field="generation",
    kept=(),
    api="JoinGroup",
    apis={"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5},
    traces=("classic", "cooperative"),
    beside=("offsets",),
    exercised=_exercised,
    unshown=(DELAY,),
    stage="harness.kinds.classic.simulated.stage",
)
