"""Server-side assignors: `uniform` and `range` behind one pluggable interface (A2)."""

from __future__ import annotations

from typing import Final

from coordinator.assignors.checked import checked
from coordinator.assignors.range import RangeAssignor
from coordinator.assignors.spec import (
    AssignmentSpec,
    GroupAssignment,
    LooksAtRacks,
    MemberSubscription,
    PartitionAssignor,
    PartitionAssignorError,
    TopicPartition,
)
from coordinator.assignors.uniform import UniformAssignor

BUILT_IN: Final = (UniformAssignor, RangeAssignor)
"""Assignors whose assignments tests prove legal: the coordinator does not check them again."""

ASSIGNORS: Final[dict[str, PartitionAssignor]] = {
    assignor.name: assignor for assignor in (one() for one in BUILT_IN)
}
"""The built-in assignors by name, the default of group.consumer.assignors first (D3)."""

__all__ = [
    "ASSIGNORS",
    "BUILT_IN",
    "AssignmentSpec",
    "GroupAssignment",
    "LooksAtRacks",
    "MemberSubscription",
    "PartitionAssignor",
    "PartitionAssignorError",
    "RangeAssignor",
    "TopicPartition",
    "UniformAssignor",
    "checked",
]
