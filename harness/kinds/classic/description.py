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
)
