"""The consumer's side of classic groups: eager and cooperative members (C3), sans-IO."""

from coordinator.classic_member.assignor import Assignor, RebalanceProtocol, common_protocol
from coordinator.classic_member.handout import InconsistentAssignment, TwoPhases
from coordinator.classic_member.local import ClassicConsumer, ClassicListener
from coordinator.classic_member.machine import ClassicMember
from coordinator.classic_member.types import Phase, Request, Settings

__all__ = [
    "Assignor",
    "ClassicConsumer",
    "ClassicListener",
    "ClassicMember",
    "InconsistentAssignment",
    "Phase",
    "RebalanceProtocol",
    "Request",
    "Settings",
    "TwoPhases",
    "common_protocol",
]
