"""The states of share groups as typed records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, TypeAlias

from harness.kinds.features.sessions import PlainReader, PlainState, PlainStep
from harness.kinds.fields import Fields, Partition
from harness.kinds.rows import Row, record_of
from harness.kinds.share.description import SHARE

REQUESTS: Final = ("ShareJoin", "ShareHeartbeat", "ShareLeave")
"""The actions of a ShareGroupHeartbeat."""
Partitions: TypeAlias = frozenset[Partition]


@dataclass(frozen=True, slots=True)
class ShareMember:
    """A member of the group."""

    member: Annotated[str, Row(json="memberId")]
    epoch: Annotated[int, Row(json="memberEpoch")]
    previous_epoch: Annotated[int, Row(json="previousMemberEpoch")]
    subscription: Annotated[frozenset[str], Row(json="subscribedTopicNames")]
    target: Annotated[Partitions, Row(json="target")]
    assigned: Annotated[Partitions, Row(json="assigned")]


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """The group; `metadata` has each topic that it knows, with the number of its partitions."""

    epoch: int
    assignment_epoch: int
    metadata: Partitions
    members: frozenset[ShareMember]

    @property
    def title(self) -> str:
        """ShareState."""
        return "Stable" if self.members else "Empty" if self.epoch else "Dead"

    @property
    def named(self) -> Mapping[str, ShareMember]:
        """The members by their ids."""
        return {one.member: one for one in sorted(self.members, key=lambda one: one.member)}


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """ShareGroupHeartbeat."""

    epoch: int
    subscription: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class ShareResponse:
    """The answer to a request; an event's answer has no error."""

    error: str
    epoch: int
    assigned: Partitions | None


@dataclass(frozen=True, slots=True)
class ShareStep(PlainStep[ShareRequest, ShareResponse]):
    """The variable `step`."""

    request: ShareRequest
    response: ShareResponse


ShareState: TypeAlias = PlainState[ShareGroup, ShareStep]


def _group(fields: Fields) -> ShareGroup:
    members = (one for one in fields.records("members", "member") if one.get("epoch", int))
    return ShareGroup(
        fields.get("epoch", int),
        fields.get("assignmentEpoch", int),
        frozenset(fields.metadata("metadata").items()),
        frozenset(map(record_of(ShareMember).read, members)),
    )


ShareReader: Final = partial(PlainReader[ShareGroup, ShareStep], SHARE, _group, ShareStep)
"""Reads the states of traces."""
