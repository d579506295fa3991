"""Server-side assignors: `uniform` and `range` behind one pluggable interface (A2)."""

from __future__ import annotations

from typing import Final

from coordinator.assignors.range import RangeAssignor
from coordinator.assignors.spec import (
    AssignmentSpec,
    GroupAssignment,
    MemberSubscription,
    PartitionAssignor,
    PartitionAssignorError,
    TopicPartition,
)
from coordinator.assignors.uniform import UniformAssignor

ASSIGNORS: Final[dict[str, PartitionAssignor]] = {
    assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())
}
"""The built-in assignors by name, the default of group.consumer.assignors first (D3)."""

__all__ = [
    "ASSIGNORS",
    "AssignmentSpec",
    "GroupAssignment",
    "MemberSubscription",
    "PartitionAssignor",
    "PartitionAssignorError",
    "RangeAssignor",
    "TopicPartition",
    "UniformAssignor",
]
