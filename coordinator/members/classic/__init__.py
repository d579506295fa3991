"""The consumer's side of classic groups: eager and cooperative members (C3), sans-IO."""

from coordinator.members.classic.handout import InconsistentAssignment, TwoPhases, common_protocol
from coordinator.members.classic.local import ClassicConsumer
from coordinator.members.classic.machine import ClassicMember
from coordinator.members.classic.types import HearsAssignment, Phase, Request, Settings

__all__ = [
    "ClassicConsumer",
    "ClassicMember",
    "HearsAssignment",
    "InconsistentAssignment",
    "Phase",
    "Request",
    "Settings",
    "TwoPhases",
    "common_protocol",
]
