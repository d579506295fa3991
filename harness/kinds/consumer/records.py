"""The records that a step must write (P1), from the specification's states before and after it.

KIP-848 "Records": only differences are written; a removed member's tombstones, then the group (members,
partition metadata, group epoch last), then the target assignment (members, assignment epoch last), then the
current assignment of the reconciled member. Offsets are records of their own (O1).
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from harness.kinds.classic import wire as classic
from harness.kinds.consumer.state import Group, Member, SpecState
from harness.kinds.features.commits import LEADER_EPOCH, CommitState
from harness.kinds.features.computing import recorded
from harness.kinds.fields import Partition
from harness.replay import wire
from harness.replay.dialects import TEXT, Forms
from harness.targets.base import Json


def created(group: Group, forms: Forms) -> Group:
    """The group; a new empty one where it does not exist."""
    if group.exists:
        return group
    return replace(group, epoch=forms.initial_epoch, assignment_epoch=forms.initial_epoch)


def written(
    before: SpecState,
    after: SpecState,
    now_ms: int,
    forms: Forms = TEXT,
    untargeted: Set[str] = frozenset(),
) -> list[Json]:
    """The records of a step at `now_ms`, without their own offsets, in P1's order; members by their ids.

    `untargeted` are members that joined after the last target was computed: they have no target record yet.
    """
    if before.group.exists and not after.group.exists:
        return [*offset_records(before, after, now_ms), *deletion()]
    new = after.group
    old = created(before.group, forms) if new.exists else before.group
    fresh = _fresh(old, after, forms)
    returned = after.step.member if after.step.action == "Return" and fresh else None
    left = after.step.action == "LeaveTemporarily" and after.step.response.error == "NONE"
    anew = {*fresh, after.step.member} if left and forms.away_runs_on else fresh
    return [
        *offset_records(before, after, now_ms),
        *_removals(old, new),
        *_group(old, new, fresh, not before.group.exists),
        *_target(old, new, fresh | untargeted, returned),
        *_current(old, new, anew, forms),
    ]


def still_untargeted(untargeted: Set[str], before: Group, after: SpecState) -> frozenset[str]:
    """The members, after a step, without a record of a target assignment, from those before it (E2).

    The target of a member that takes another's place (S1) is written with the return, and is not due again.
    """
    new = after.group
    if new.assignment_epoch != before.assignment_epoch:
        return frozenset()
    joined = new.members.keys() - before.members.keys()
    if after.step.action == "Return":
        joined -= {after.step.member}
    return frozenset((untargeted | joined) & new.members.keys())


def _fresh(before: Group, after: SpecState, forms: Forms) -> set[str]:
    """The members of which everything is written anew, changed or not.

    A member that rejoins is replaced (H1); a member that returns takes another's place (S1), perhaps after
    its own was given up, unless it kept its member id and only changes are written.
    """
    fresh = {name for name in after.group.members if name not in before.members}
    step = after.step
    if step.response.error == "NONE" and (
        (step.action == "Rejoin" and not forms.rejoin_keeps)
        or (
            step.action == "Return"
            and (forms.return_whole or before.holder(step.request.instance) != step.member)
        )
    ):
        fresh.add(step.member)
    return fresh


def whole(state: SpecState, forms: Forms = TEXT) -> list[Json]:
    """The records of a state as one log that was never written step by step: the input of `load`."""
    offsets = [committed_record(partition, offset, 0) for partition, offset in sorted(state.offsets.items())]
    group = state.group
    if not group.exists:
        return offsets
    everyone = set(group.members)
    nothing = Group(epoch=0, assignment_epoch=-1, targets={}, metadata={}, members={})
    return [
        *offsets,
        *_group(nothing, group, everyone, True),
        *_target(nothing, group, everyone, None),
        *(_with_epochs(record, state, forms) for record in _current(nothing, group, everyone, forms)),
    ]


def _with_epochs(record: Json, state: SpecState, forms: Forms) -> Json:
    """A member's record with the epoch at which the member was given each partition (O2), where the state and
    its dialect have these."""
    name = record["key"]["memberId"]
    if not (forms.partition_epochs and state.since and state.group.members[name].held):
        return record
    at: dict[int, list[Partition]] = {}
    for partition in state.group.members[name].held:
        at.setdefault(state.since.get(name, {}).get(partition, 0), []).append(partition)
    given = [
        {"assignmentEpoch": epoch, "topicPartitions": wire.topic_partitions(at[epoch])}
        for epoch in sorted(at)
    ]
    return {**record, "value": {**record["value"], "assignmentEpochs": given}}


def offset_records(before: CommitState, after: CommitState, now_ms: int) -> Iterator[Json]:
    """A commit, and tombstones of offsets that were deleted with their topic or group; by topic and index
    (O1)."""
    if before.offsets is after.offsets and after.step.action != "OffsetCommit":
        return
    for partition in sorted(before.offsets.keys() - after.offsets.keys()):
        yield {"key": offset_key(partition), "value": None}
    committed = after.step.partition if after.step.action == "OffsetCommit" else None
    for partition, offset in sorted(after.offsets.items()):
        accepted = partition == committed and after.step.response.error == "NONE"
        if accepted or before.offsets.get(partition) != offset:
            yield committed_record(partition, offset, now_ms)


def offset_key(partition: Partition) -> Json:
    """The key of a partition's offset: it has the topic's name, not its id (O1)."""
    topic, index = partition
    return {
        "type": "OffsetCommit",
        "groupId": wire.GROUP,
        "topic": wire.topic_name(topic),
        "partition": index,
    }


def committed_record(partition: Partition, offset: int, now_ms: int) -> Json:
    """OffsetCommitValue, version 4 (P4)."""
    value = {
        "offset": offset,
        "leaderEpoch": LEADER_EPOCH,
        "metadata": "",
        "commitTimestamp": now_ms,
        "topicId": wire.topic_id(partition[0]),
    }
    return {"key": offset_key(partition), "value": value}


def group_key(kind: str, member: str | None) -> Json:
    """The key of a record of the group, or of one of its members (P1)."""
    key: Json = {"type": kind, "groupId": wire.GROUP}
    if member is not None:
        key["memberId"] = member
    return key


def _record(kind: str, member: str | None, value: Json | None) -> Json:
    return {"key": group_key(kind, member), "value": value}


def deletion() -> list[Json]:
    """E5 DEAD: tombstones for the records of an empty group."""
    return [
        _record("ConsumerGroupTargetAssignmentMetadata", None, None),
        _record("ConsumerGroupPartitionMetadata", None, None),
        _record("ConsumerGroupMetadata", None, None),
    ]


def _removals(before: Group, after: Group) -> Iterator[Json]:
    for name in before.members:
        if name not in after.members:
            yield _record("ConsumerGroupCurrentMemberAssignment", name, None)
            yield _record("ConsumerGroupTargetAssignmentMember", name, None)
            yield _record("ConsumerGroupMemberMetadata", name, None)


def _group(before: Group, after: Group, fresh: set[str], starts: bool) -> Iterator[Json]:
    for name, member in after.members.items():
        known = before.members.get(name)
        if (
            name in fresh
            or known is None
            or (known is not member and _described(member) != _described(known))
        ):
            yield _record("ConsumerGroupMemberMetadata", name, _member_metadata(after, name, member))
    bumped = after.epoch != before.epoch
    if after.metadata != before.metadata or (starts and bumped):
        value = {"epoch": after.epoch, "topics": wire.metadata(after.metadata)}
        yield _record("ConsumerGroupPartitionMetadata", None, value)
    if bumped:
        yield _record("ConsumerGroupMetadata", None, {"epoch": after.epoch})


def _described(member: Member) -> tuple[object, ...]:
    """The fields of a member's metadata."""
    protocols = member.classic and member.classic[1:]
    return member.instance, member.subscription, member.regex, member.assignor, member.offers, protocols


def _member_metadata(group: Group, name: str, member: Member) -> Json:
    return {
        "groupEpoch": group.epoch,
        "instanceId": member.instance or None,
        "rackId": None,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
        "subscribedTopicNames": sorted(member.subscription),
        "subscribedTopicRegex": member.regex or None,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "serverAssignor": member.assignor or None,
        "assignors": [*map(recorded, member.offers)],
        **({} if member.classic is None else classic.member_metadata(member.classic)),
    }


def _target(before: Group, after: Group, fresh: set[str], returned: str | None) -> Iterator[Json]:
    """A computed target; the part that `returned` took over is written under its id in any case (S1)."""
    computed = after.assignment_epoch != before.assignment_epoch
    if not computed and returned is None:
        return
    for name, member in after.members.items():
        changed = after.target(name) != before.target(name) or (
            name in before.members and member.told != before.members[name].told
        )
        if name == returned or (computed and (name in fresh or changed)):
            yield _record(
                "ConsumerGroupTargetAssignmentMember", name, _target_assignment(member, after.target(name))
            )
    if computed:
        epoch = {"assignmentEpoch": after.assignment_epoch}
        yield _record("ConsumerGroupTargetAssignmentMetadata", None, epoch)


def _current(before: Group, after: Group, anew: set[str], forms: Forms) -> Iterator[Json]:
    for name, member in after.members.items():
        known = before.members.get(name)
        if known is member and name not in anew:
            continue  # unchanged members are the same object
        value = _assignment(member, forms)
        if name in anew or known is None or value != _assignment(replace(known, told=member.told), forms):
            yield _record("ConsumerGroupCurrentMemberAssignment", name, value)


def _assignment(member: Member, forms: Forms) -> Json:
    """The partitions of a member at its epoch; where recorded, also its revocations and previous epoch."""
    if forms.recorded:
        return {
            "memberEpoch": member.epoch,
            "previousMemberEpoch": member.previous_epoch,
            "assignedPartitions": wire.expected_partitions(member.assigned),
            "partitionsPendingRevocation": wire.expected_partitions(member.revoking),
        }
    return {"memberEpoch": member.epoch, **_target_assignment(member, member.held)}


def _target_assignment(member: Member, partitions: frozenset[Partition]) -> Json:
    """Partitions with the assignor's data for the member."""
    return {
        "error": member.told.error,
        "topicPartitions": wire.expected_partitions(partitions),
        "metadataVersion": member.told.version,
        "metadataBytes": member.told.metadata,
    }
