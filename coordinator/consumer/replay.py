"""Replay of the records of consumer groups: the only way in which a group's durable state changes."""

from __future__ import annotations

from coordinator.consumer.model import (
    NOTHING,
    UNKNOWN_METADATA,
    Group,
    Member,
    MemberMetadata,
    Partitions,
    Target,
    exists,
)
from coordinator.consumer.records import (
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    AssignmentEpoch,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    Record,
)


def replay(groups: dict[str, Group], record: Record, initial_epoch: int) -> None:
    """Apply one record. The result is a function of the last record of each key alone.

    A group starts at `initial_epoch`, and so does its target. Any compaction leaves the same state (P3), and
    the records of one group may come in any order.
    """
    group = groups.get(record.group_id)
    value = record.value
    if value is None:
        if group is not None:
            _replay_tombstone(group, record)
            if not exists(group):
                del groups[group.id]
        return
    if group is None:
        group = groups[record.group_id] = Group(record.group_id, initial_epoch, initial_epoch)
    if isinstance(value, CurrentAssignment):
        _hold(group, record, value.member_epoch, value.held)
        if value.previous_epoch is not None and value.revoking is not None:
            _recorded(group.members[record.member_id or ""], value.previous_epoch, value.revoking)
        group.members[record.member_id or ""].given = value.given
    elif isinstance(value, Target):
        group.targets[record.member_id or ""] = value
    elif isinstance(value, AssignmentEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, GroupEpoch):
        group.epoch = value.epoch
    elif isinstance(value, MemberUpdate):
        _set_metadata(group, record, value.metadata)
    else:
        group.metadata = value.topics


def _replay_tombstone(group: Group, record: Record) -> None:
    member_id = record.member_id or ""
    if record.type == GROUP_METADATA:
        group.epoch = 0
    elif record.type == PARTITION_METADATA:
        group.metadata = {}
    elif record.type == TARGET_METADATA:
        group.assignment_epoch = 0
    elif record.type == TARGET_MEMBER:
        group.targets.pop(member_id, None)
    elif member_id in group.members:
        if record.type == MEMBER_METADATA:
            _set_metadata(group, record, UNKNOWN_METADATA)
        else:
            _hold(group, record, 0, NOTHING)
        member = group.members[member_id]
        if member.metadata is UNKNOWN_METADATA and not member.epoch:
            del group.members[member_id]


def _member(group: Group, member_id: str) -> Member:
    member = group.members.get(member_id)
    if member is None:
        member = group.members[member_id] = Member(UNKNOWN_METADATA)
    return member


def _hold(group: Group, record: Record, epoch: int, held: Partitions) -> None:
    """Set the partitions that a member holds. After compaction the release of a former owner may come after
    its successor's gain."""
    member_id = record.member_id or ""
    member = _member(group, member_id)
    for partition in member.held - held:
        if group.owners.get(partition) == member_id:
            del group.owners[partition]
    group.owners.update(dict.fromkeys(held, member_id))
    member.epoch = epoch
    member.held = held
    member.assigned = held - member.revoking


def _recorded(member: Member, previous_epoch: int, revoking: Partitions) -> None:
    """RevocationRecorded: the fields that are volatile in KIP-848's text."""
    member.previous_epoch = previous_epoch
    member.revoking = revoking
    member.assigned = member.held - revoking


def _set_metadata(group: Group, record: Record, metadata: MemberMetadata) -> None:
    """Set a member's metadata, and the indexes of it; records may come in any order, as in `_hold`."""
    member_id = record.member_id or ""
    member = _member(group, member_id)
    old, subscriptions = member.metadata, group.subscriptions
    member.metadata = metadata
    if old.instance_id is not None and group.instances.get(old.instance_id) == member_id:
        del group.instances[old.instance_id]
    if metadata.instance_id is not None:
        group.instances[metadata.instance_id] = member_id
    if metadata.classic is None:
        group.classic.discard(member_id)
    else:
        group.classic.add(member_id)
    if old is not UNKNOWN_METADATA:
        before = (old.subscription, old.regex)
        subscriptions[before] -= 1
        if not subscriptions[before]:
            del subscriptions[before]
    if metadata is not UNKNOWN_METADATA:
        now = (metadata.subscription, metadata.regex)
        subscriptions[now] = subscriptions.get(now, 0) + 1
