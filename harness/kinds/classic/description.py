"""Classic groups (JoinGroup, SyncGroup), described."""

from typing import Final

from harness.kinds.description import Kind

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
)
