"""A classic group becomes a consumer group when the first member joins with the consumer protocol (M1).

The group epoch is the generation; target and current assignments are the partitions that the members may own
at that time. The records of the conversion are in one batch with those of the join, which bumps the epoch as
any join.
"""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.classic.model import ClassicGroup, ClassicMember
from coordinator.classic.rebalance import ClassicStep, unanswered
from coordinator.classic.records import ClassicRecord, GroupMetadata
from coordinator.consumer.model import Group, MemberMetadata, Partition, Partitions, Target, TopicImage
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    AssignmentEpoch,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
)
from coordinator.consumer.replay import replay
from coordinator.core.errors import BadInput, ErrorCode, RequestRejected
from coordinator.core.step import Env, Timer
from coordinator.migration.protocol import CONSUMER, ProtocolData, assigned_to, metadata_of, read_protocols
from coordinator.record_kinds import AnyRecord


def upgraded(
    env: Env, group: ClassicGroup, saved: GroupMetadata | None
) -> tuple[Group | None, list[AnyRecord]]:
    """The consumer group that a classic group becomes, None for a group without any generation, and the
    records of the conversion. `saved` is the last record of the classic group.

    Raises RequestRejected: INVALID_REQUEST for a group whose members are no consumers (H5: the heartbeat has
    no GROUP_ID_NOT_FOUND, which is Kafka's answer), and where their subscriptions or assignments cannot be
    translated.
    """
    if group.members and group.protocol_type != CONSUMER:
        raise RequestRejected(
            ErrorCode[env.dialect.OtherKindError],
            f"Group {group.id} is a classic group of {group.protocol_type}.",
        )
    try:
        records: list[AnyRecord] = [ClassicRecord(group.id, None), *_records(env, group, saved)]
    except BadInput as error:
        raise RequestRejected(
            ErrorCode.INVALID_REQUEST, f"Group {group.id} cannot be converted: {error}."
        ) from None
    groups: dict[str, Group] = {}
    for record in records:
        if isinstance(record, Record):
            replay(groups, record, env.dialect.initial_epoch)
    return groups.get(group.id), records


def _records(env: Env, group: ClassicGroup, saved: GroupMetadata | None) -> list[Record]:
    """P1, in the order of a new group: members, topics, epoch, target, and the partitions that each member
    holds.

    A member that has not been in a generation has no state to convert: it joins again.
    """
    if not group.generation:
        return []
    members = {name: one for name, one in sorted(group.members.items()) if not one.fresh}
    data = {name: read_protocols(env, one.protocols) for name, one in members.items()}
    held = held_at_conversion(env, group, saved, data)
    topics = _subscribed(env, data)
    epoch = group.generation
    return [
        *(
            Record(MEMBER_METADATA, group.id, name, MemberUpdate(epoch, _metadata(members[name], data[name])))
            for name in members
        ),
        Record(PARTITION_METADATA, group.id, None, PartitionMetadata(epoch, topics)),
        Record(GROUP_METADATA, group.id, None, GroupEpoch(epoch)),
        *(Record(TARGET_MEMBER, group.id, name, Target(held[name], 0)) for name in members),
        Record(TARGET_METADATA, group.id, None, AssignmentEpoch(epoch)),
        *(Record(CURRENT_ASSIGNMENT, group.id, name, _current(env, epoch, held[name])) for name in members),
    ]


def _subscribed(env: Env, data: Mapping[str, ProtocolData]) -> dict[str, TopicImage]:
    names = frozenset[str]().union(*(one.subscription for one in data.values()))
    return {name: env.topics[name] for name in sorted(names & env.topic_names)}


def _metadata(member: ClassicMember, data: ProtocolData) -> MemberMetadata:
    timeouts = member.session_timeout_ms, member.rebalance_timeout_ms
    client = member.client_id, member.client_host
    return metadata_of(data, member.protocols, *timeouts, member.instance_id, client)


def _current(env: Env, epoch: int, held: Partitions) -> CurrentAssignment:
    if env.dialect.RevocationRecorded:
        return CurrentAssignment(epoch, held, epoch, frozenset())
    return CurrentAssignment(epoch, held)


def held_at_conversion(
    env: Env, group: ClassicGroup, saved: GroupMetadata | None, data: Mapping[str, ProtocolData]
) -> dict[str, Partitions]:
    """HeldAtConversion (M1, R7): the partitions that each member may own, so that no other member gets them.

    A member may own its assignment, which is in the log since the leader sent it, unless the member has
    rejoined since; and the partitions that its last JoinGroup reported, as it may not have given them up yet.
    A partition that several members report belongs to the one of the latest generation.
    """
    assigned = {one.member_id: one.assignment for one in saved.members} if saved is not None else {}
    owners: dict[Partition, str] = {}
    claims: list[tuple[int, str, Partitions]] = []
    for name, one in data.items():
        claims.append((one.generation, name, one.owned))
        if group.members[name].joining is None:
            claims.append((group.generation + 1, name, assigned_to(env, assigned.get(name, ""))))
    for _, name, partitions in sorted(claims, key=lambda claim: (-claim[0], claim[1])):
        for partition in partitions:
            owners.setdefault(partition, name)
    held: dict[str, set[Partition]] = {name: set() for name in data}
    for partition, owner in owners.items():
        held[owner].add(partition)
    return {name: frozenset(partitions) for name, partitions in held.items()}


def sessions(group: Group, now_ms: int) -> list[Timer]:
    """H8: every member's session starts anew, with its own time-out."""
    return [
        Timer("session", name, now_ms + member.metadata.classic.session_timeout_ms)
        for name, member in sorted(group.members.items())
        if member.metadata.classic is not None
    ]


def dissolved(step: ClassicStep) -> None:
    """Dissolve the classic group: every waiting request is told to join again."""
    for name in sorted(step.group.members):
        unanswered(step, name, name, ErrorCode.REBALANCE_IN_PROGRESS)
    step.group = ClassicGroup(step.group.id)
