"""The consumer's side of classic groups: eager and cooperative members (C3), sans-IO."""

from coordinator.classic_member.handout import InconsistentAssignment, TwoPhases
from coordinator.classic_member.local import ClassicConsumer
from coordinator.classic_member.machine import ClassicMember, common_protocol
from coordinator.classic_member.types import HearsAssignment, Phase, Request, Settings

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
