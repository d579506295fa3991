"""A share group as a value, and its steps, with the names of spec/ShareGroups.tla."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from coordinator.consumer.model import NOTHING, Partitions, Topics
from coordinator.consumer.request import HeartbeatRequest
from coordinator.core.fields import Json


class ShareMember(NamedTuple):
    """A member; `description` is the value of its record, and `assigned` are the partitions that it was told
    to use, at its epoch."""

    epoch: int = 0
    previous_epoch: int = 0
    description: Json = {}  # noqa: RUF012 - read only
    target: Partitions = NOTHING
    assigned: Partitions = NOTHING

    @property
    def subscription(self) -> frozenset[str]:
        """The names of topics."""
        return frozenset(self.description.get("subscribedTopicNames", ()))


NO_MEMBER: Final = ShareMember()


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """A group; `metadata` has the existing topics that some member subscribes to (Q3)."""

    epoch: int = 0
    assignment_epoch: int = 0
    metadata: Topics = field(default_factory=dict)
    members: Mapping[str, ShareMember] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """ShareState (Q6)."""
        return "Stable" if self.members else "Empty"

    def member(self, member_id: str) -> ShareMember:
        """A member; one of epoch 0 is not in the group."""
        return self.members.get(member_id, NO_MEMBER)

    def having(self, member_id: str, member: ShareMember) -> ShareGroup:
        """The group with another state of a member, or without a member of which nothing is left."""
        members = {**self.members, member_id: member}
        if member == NO_MEMBER:
            del members[member_id]
        return replace(self, members=members)


NO_GROUP: Final = ShareGroup()


def _metadata_of(members: Mapping[str, ShareMember], topics: Topics) -> Topics:
    """MetadataOf (Q3)."""
    names = frozenset().union(*(member.subscription for member in members.values()))
    return {name: topics[name] for name in sorted(names & topics.keys())}


def _everything(subscription: frozenset[str], metadata: Topics) -> Partitions:
    """Everything (Q4): the simple assignor, which gives each member all partitions of its topics."""
    images = [metadata[name] for name in subscription & metadata.keys()]
    return frozenset((image.id, number) for image in images for number in range(image.partitions))


def without(group: ShareGroup, topics: Topics, member_id: str) -> ShareGroup:
    """Without (Q6): remove a member; no target is computed."""
    left = group.having(member_id, NO_MEMBER)
    return replace(left, epoch=group.epoch + 1, metadata=_metadata_of(left.members, topics))


def heard(group: ShareGroup, topics: Topics, request: HeartbeatRequest) -> ShareGroup:
    """AcceptHeartbeat (Q1, Q2, Q5): a join or heartbeat that is not refused."""
    return _reconciled(_targeted(_updated(group, topics, request)), request.member_id)


def _updated(group: ShareGroup, topics: Topics, request: HeartbeatRequest) -> ShareGroup:
    """Updated (Q3): the member's metadata, and the group epoch. A new rack or client bumps nothing."""
    before = group.member(request.member_id)
    names = before.subscription if request.subscription is None else request.subscription
    description = {
        "rackId": before.description.get("rackId") if request.rack_id is None else request.rack_id,
        "clientId": request.client_id,
        "clientHost": request.client_host,
        "subscribedTopicNames": sorted(names),
    }
    members = {**group.members, request.member_id: before._replace(description=description)}
    metadata = _metadata_of(members, topics)
    same = before.epoch and names == before.subscription and metadata == group.metadata
    return replace(group, epoch=group.epoch + (not same), metadata=metadata, members=members)


def _targeted(group: ShareGroup) -> ShareGroup:
    """Targeted (Q4): the target of every member, once the group epoch has moved on."""
    if group.epoch == group.assignment_epoch:
        return group
    members = {
        name: member._replace(target=_everything(member.subscription, group.metadata))
        for name, member in group.members.items()
    }
    return replace(group, assignment_epoch=group.epoch, members=members)


def _reconciled(group: ShareGroup, member_id: str) -> ShareGroup:
    """Reconciled (Q5): a member that is behind gets its target and the assignment epoch, at once."""
    member, epoch = group.member(member_id), group.assignment_epoch
    if member.epoch == epoch:
        return group
    at_once = member._replace(epoch=epoch, previous_epoch=member.epoch, assigned=member.target)
    return group.having(member_id, at_once)


def includes_assignment(before: ShareMember, after: ShareMember, request: HeartbeatRequest) -> bool:
    """IncludesAssignment (Q5): does the answer have the assignment? Yes, where the member cannot know it."""
    unaware = request.member_epoch in (0, before.previous_epoch) or request.subscription is not None
    return unaware or before.assigned != after.assigned
