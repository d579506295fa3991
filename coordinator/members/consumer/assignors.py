"""Client-side assignors of a member (A5): the application's code that computes the target of the whole group.

KIP-848's PartitionAssignor in Python, and the exchange with the coordinator around it: when told to compute,
the member prepares, runs the assignor and installs its result. An error ends the exchange; then the
coordinator tells this member again, or chooses another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from coordinator.members.consumer import codes
from coordinator.members.consumer.types import (
    NOTHING,
    GroupMetadata,
    Json,
    Partitions,
    from_wire,
    to_wire,
)

PREPARE = "ConsumerGroupPrepareAssignment"
INSTALL = "ConsumerGroupInstallAssignment"


class Metadata(NamedTuple):
    """User data of an assignor for the same assignor of another member; bytes as text. `reason` is the
    assignor's own number for the reason of a change (E1)."""

    version: int = 0
    content: str = ""
    reason: int = 0


class AssignedMember(NamedTuple):
    """A member as the assignor gets it: its topics by id, its part of the current target."""

    instance_id: str | None
    rack_id: str | None
    topics: frozenset[str]
    metadata: Metadata
    partitions: Partitions


class AssignedTopic(NamedTuple):
    """A topic as the assignor gets it."""

    name: str
    partitions: int


class AssignedPart(NamedTuple):
    """A member's part of an assignment, with metadata for it."""

    partitions: Partitions
    metadata: Metadata = Metadata()


@dataclass(frozen=True, slots=True)
class Assignment:
    """Parts by member id; with an `error` other than 0 the group keeps its target, and all members get the
    error."""

    members: Mapping[str, AssignedPart] = field(default_factory=dict)
    error: int = 0


class PartitionAssignor(Protocol):
    """An assignor that group.local.assignors names. Its result must depend only on its arguments."""

    name: str
    minimum_version: int
    maximum_version: int

    def metadata(self) -> Metadata:
        """The user data for the member that computes; a changed answer bumps the group epoch."""

    def assign(
        self, members: Mapping[str, AssignedMember], topics: Mapping[str, AssignedTopic]
    ) -> Assignment:
        """All partitions of `topics` (by id), each to one member that subscribes to it."""

    def on_assignment(
        self, error: int, metadata: Metadata, partitions: Partitions, group: GroupMetadata
    ) -> None:
        """Take this member's part, with the partitions that are not released yet (K3): once for each epoch,
        when the member moves to it, before the listener gets the partitions to use."""


def offered(assignor: PartitionAssignor, metadata: Metadata) -> Json:
    """An entry of ClientAssignors."""
    return {
        "name": assignor.name,
        "minimumVersion": assignor.minimum_version,
        "maximumVersion": assignor.maximum_version,
        "reason": metadata.reason,
        "metadataVersion": metadata.version,
        "metadataBytes": metadata.content,
    }


_NO_ASSIGNMENT: Final[tuple[int, Metadata, Partitions]] = (0, Metadata(), NOTHING)


class Computer:
    """The member's next step in a computation: none, to prepare, or to install the assignor's result."""

    FAILED = 1
    """The error of an assignor that raised an exception."""

    def __init__(self, assignors: tuple[PartitionAssignor, ...]) -> None:
        self._assignors = {assignor.name: assignor for assignor in assignors}
        self._metadata = {name: Metadata() for name in self._assignors}
        """The last user data of each assignor."""
        self._sent: list[Json] = []
        self.due = ""
        """The API of the request to send, "" for none."""
        self._install: Json = {}
        self._last: tuple[int, Metadata, Partitions] = _NO_ASSIGNMENT

    def offers_to_send(self, everything: bool) -> tuple[Json, Exception | None]:
        """ClientAssignors of a heartbeat, or no such field where the offers are as they were sent (H7). The
        heartbeat must not wait for an assignor that raises (A7): its last user data stay, and the exception
        of the last such assignor is returned."""
        failure = None
        for name, assignor in self._assignors.items():
            try:
                self._metadata[name] = assignor.metadata()
            except Exception as error:  # the application's assignor may raise anything
                failure = error
        offers = [offered(assignor, self._metadata[name]) for name, assignor in self._assignors.items()]
        if not offers or (offers == self._sent and not everything):
            return {}, failure
        self._sent = offers
        return {"clientAssignors": offers}, failure

    def begin(self) -> None:
        """Begin on ShouldComputeAssignment, unless a computation is under way."""
        self.due = self.due or PREPARE

    def stop(self) -> None:
        """Stop because the member is out: the task is no longer its own, and it gets all data anew."""
        self.due, self._last = "", _NO_ASSIGNMENT

    def body(self, group_id: str, member_id: str, epoch: int) -> Json:
        """The request that is due."""
        head = {"groupId": group_id, "memberId": member_id, "memberEpoch": epoch}
        return head if self.due == PREPARE else {**head, **self._install}

    def answered(self, body: Mapping[str, Any]) -> None:
        """KIP-848 "Response Handling": a stale request is tried again at the next epoch. A coordinator that
        cannot prepare now gets the request again; after any other error of an install the exchange is over
        (A9)."""
        error, api = body["errorCode"], self.due
        if error == codes.STALE_MEMBER_EPOCH or (api == PREPARE and error in codes.RETRIABLE):
            return
        self.due = ""
        if api == PREPARE and error == codes.NONE and body["assignorName"] in self._assignors:
            self._install = self._assign(self._assignors[body["assignorName"]], body)
            self.due = INSTALL

    def _assign(self, assignor: PartitionAssignor, body: Mapping[str, Any]) -> Json:
        members = {one["memberId"]: _shown(one) for one in body["members"]}
        topics = {
            topic["topicId"]: AssignedTopic(topic["topicName"], topic["numPartitions"])
            for topic in body["topics"]
        }
        try:
            assignment = assignor.assign(members, topics)
            parts, error = (
                [_installed(*part) for part in sorted(assignment.members.items())],
                assignment.error,
            )
        except Exception:
            # The group must go on without this assignor's answer (A7), whatever its code does or returns.
            parts, error = [], self.FAILED
        return {"groupEpoch": body["groupEpoch"], "error": error, "members": parts}

    def epoch_rose(self, assignment: Mapping[str, Any] | None, group: GroupMetadata) -> list[Exception]:
        """Pass the assignment of the member's new epoch to the assignors (K3); the exceptions that they
        raise, after which the member goes on (C6). Without an assignment in the response that is the last
        one. An assignment that comes while the member keeps its epoch is not passed on: it has the same
        target, or asks for a revocation before the next one."""
        if assignment is not None:
            metadata = Metadata(assignment.get("metadataVersion", 0), assignment.get("metadataBytes", ""))
            partitions = from_wire(assignment["assignedTopicPartitions"])
            partitions |= from_wire(assignment.get("pendingTopicPartitions", []))
            self._last = assignment.get("error", 0), metadata, partitions
        errors: list[Exception] = []
        for assignor in self._assignors.values():
            try:
                assignor.on_assignment(*self._last, group)
            except Exception as error:  # the application's assignor may raise anything
                errors.append(error)
        return errors


def _installed(member_id: str, part: AssignedPart) -> Json:
    return {
        "memberId": member_id,
        "partitions": to_wire(part.partitions),
        "metadataVersion": part.metadata.version,
        "metadataBytes": part.metadata.content,
    }


def _shown(one: Mapping[str, Any]) -> AssignedMember:
    data = one["assignor"]
    return AssignedMember(
        one["instanceId"],
        one["rackId"],
        frozenset(one["subscribedTopicIds"]),
        Metadata(data["metadataVersion"], data["metadataBytes"], data["reason"]),
        from_wire(one["topicPartitions"]),
    )
