"""Connect groups, described."""

from typing import Final

from harness.kinds.description import Kind

REQUIREMENTS: Final = {
    "PrepareAssignment": ("W4", "W1"),
    "InstallAssignment": ("W4", "W2"),
    "AssignmentTimeout": ("W1",),
}
"""The requirements of a step, by its action."""
WORKER: Final = "worker"
"""The branch of a Connect group's step whose action consumer groups have, too."""


def _exercised(action: str, branch: str, error: str) -> tuple[str, ...]:
    return REQUIREMENTS.get(action, ()) if branch == WORKER or action == "AssignmentTimeout" else ()


CONNECT: Final = Kind(
    name="connect",
    adjective="Connect",
    variables=("work", "call"),
    kept=("work",),
    api="ConnectGroupHeartbeat",
    apis={
        "ConnectGroupHeartbeat": 0,
        "ConnectGroupPrepareAssignment": 0,
        "ConnectGroupInstallAssignment": 0,
    },
    traces=("connect",),
    beside=("group", "topics", "step"),
    exercised=_exercised,
)
