"""The member's side in the form of spec/ClosedGroup.tla: a process, its knowledge and its partitions (K1,
K2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from line_protocol import (
    COORDINATOR_NOT_AVAILABLE,
    GROUP,
    UNRELEASED_INSTANCE_ID,
    Json,
    Partitions,
    partitions_of,
    to_wire,
)
from reference_group import AWAY, NOTHING

REBALANCE_MS: Final = 5_000


@dataclass(frozen=True)
class Sent:
    """A response in flight: the end of the log for which it waited, and its incarnation."""

    body: Json
    end: int
    incarnation: int


@dataclass(repr=False)
class Process:
    """A consumer. A static one that ended is followed by another, with another member id (S1)."""

    member_id: str
    """"" until the coordinator has made one (H1)."""
    instance: str | None
    names: list[str] | None
    regex: str | None
    assignor: str | None
    epoch: int = 0
    owned: Partitions = NOTHING
    assigned: Partitions = NOTHING
    full: bool = True
    """H7: all fields next time."""
    response: Sent | None = None
    incarnation: int = 0
    epochs: list[int] = field(default_factory=list)
    """All epochs that this incarnation was told (E4)."""

    def __repr__(self) -> str:
        return f"{self.member_id or 'without id'} at epoch {self.epoch}"

    @property
    def revoking(self) -> bool:
        return not self.owned <= self.assigned

    def heartbeat(self, reports: bool = False) -> Json:
        """The next request (H7): full, or a keep-alive that perhaps `reports` its partitions.

        A process that has not carried out its last assignment reports nothing (R9: the report could be
        misunderstood).
        """
        body: Json = {"groupId": GROUP, "memberId": self.member_id, "memberEpoch": self.epoch}
        if self.full:
            body |= {
                "instanceId": self.instance,
                "rebalanceTimeoutMs": REBALANCE_MS,
                "subscribedTopicNames": [] if self.names is None and self.epoch else self.names,
                "subscribedTopicRegex": self.regex or ("" if self.epoch else None),
                "serverAssignor": self.assignor,
            }
        if (self.full or reports) and not self.revoking:
            body["topicPartitions"] = to_wire(self.owned)
        return body

    def leave(self, epoch: int) -> Json:
        """Leave for good (-1), or for a while (-2) (H2)."""
        instance = {"instanceId": self.instance} if epoch == AWAY else {}
        return {"groupId": GROUP, "memberId": self.member_id, "memberEpoch": epoch, **instance}

    def receive(self, sent: Sent) -> bool:
        """K1 to K3: the effect of an answer; False: the process ends."""
        body = sent.body
        if body["errorCode"] == COORDINATOR_NOT_AVAILABLE:
            self.full = True
            return True
        if body["errorCode"]:
            self.epoch, self.owned, self.assigned, self.full, self.epochs = 0, NOTHING, NOTHING, True, []
            return bool(body["errorCode"] != UNRELEASED_INSTANCE_ID)
        if sent.incarnation != self.incarnation:
            self.epochs = []
        self.incarnation = sent.incarnation
        self.member_id, self.epoch = body["memberId"] or self.member_id, body["memberEpoch"]
        self.epochs.append(self.epoch)
        assert self.epochs == sorted(self.epochs), f"E4: {self.member_id} was told the epochs {self.epochs}"
        if body["assignment"] is not None:
            self.assigned = partitions_of(body["assignment"]["assignedTopicPartitions"])
        if not self.revoking:
            self.owned = self.assigned
        self.full = body["assignment"] is not None and not self.revoking
        return True

    def finish_revocation(self) -> None:
        """K2: the partitions are given up; the next heartbeat reports that."""
        self.owned, self.full = self.assigned, True
