"""The cause of a step of a coordinator, and a member after the step before: the input of invariants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from harness.simulate.groups.parts import Partitions, SubscriberView
from harness.targets.base import Json

UNKNOWN_MEMBER_ID: Final = 25
INVALID_REQUEST: Final = 42
FENCED_MEMBER_EPOCH: Final = 110
UNRELEASED_INSTANCE_ID: Final = 111
LEAVE: Final = -1
"""The epoch of a request to leave (H2)."""
AWAY: Final = -2
"""The epoch of a static member that is gone for a while (S1)."""
NOTHING: Final[Partitions] = frozenset()
NOBODY: Final = 0
"""No incarnation."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a step: "request", "install", "timer", "topics", "fail-over" or "deletion".

    A heartbeat has: the member (for a join, the answered member id), the epoch, the partitions that the
    member reports as owned, and a flag for its acceptance. An installed assignment has the body of the
    request.
    """

    kind: str
    member: str = ""
    epoch: int = 0
    owned: Partitions | None = None
    accepted: bool = False
    error: int = 0
    body: Json = field(default_factory=dict)

    @property
    def joins(self) -> bool:
        """Tell if a new incarnation of the member came of the step (H1)."""
        return self.kind == "request" and self.epoch == 0 and self.accepted


TIMER: Final = Cause("timer")
TOPICS: Final = Cause("topics")
FAIL_OVER: Final = Cause("fail-over")
DELETION: Final = Cause("deletion")


@dataclass(slots=True)
class Seen:
    """A member after the last step."""

    incarnation: int
    """NOBODY while it is away (S1)."""
    epoch: int
    held: Partitions
    assigned: Partitions
    revoking: Partitions
    subscriber: SubscriberView
    previous: int = 0
    """The epoch before, as far as the coordinator must know it (H6): a fail-over forgets it."""
