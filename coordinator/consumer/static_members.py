"""Static membership (KIP-345 in KIP-848; S1, S2): a member that leaves for a while and returns to its place.

KIP-848's text says (InstanceChecked has the other ways):

instance id of the request       epoch 0          epoch -2            any other epoch
held by another member, away     Return           UNRELEASED_...      UNRELEASED_...
held by another member           UNRELEASED_...   UNRELEASED_...      UNRELEASED_...
held by the member itself        Return if        LeaveTemporarily    as without
                                 away, else Rejoin
held by nobody                   Join, Rejoin     UNKNOWN_MEMBER_ID   a heartbeat takes it
"""

from __future__ import annotations

from coordinator.computing.select import settle
from coordinator.consumer.membership import (
    bumps_group_epoch,
    new_member_metadata,
    preference_changed,
    rack_counts,
    reported_by,
)
from coordinator.consumer.metadata import refresh_group, write_group
from coordinator.consumer.model import AWAY, NO_TARGET, NOTHING, Group, Member, MemberMetadata
from coordinator.consumer.reconcile import Reconciled, write_current
from coordinator.consumer.records import CURRENT_ASSIGNMENT, MEMBER_METADATA, TARGET_MEMBER, MemberUpdate
from coordinator.consumer.request import JOIN_EPOCH, HeartbeatRequest
from coordinator.core.dialect import Dialect
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.step import Step, Timer, Volatile


def returns_to(group: Group, request: HeartbeatRequest) -> str | None:
    """Returns (S1): the member that is away and has the instance id of this join; None if there is none.

    A member that uses the classic protocol cannot leave for a while: it is replaced (M1).
    """
    if request.member_epoch != JOIN_EPOCH or request.instance_id is None:
        return None
    holder = group.instances.get(request.instance_id)
    if holder is None:
        return None
    return holder if group.members[holder].epoch == AWAY or holder in group.classic else None


def check_instance(dialect: Dialect, group: Group, request: HeartbeatRequest) -> None:
    """InstanceError (S2): may this request carry its instance id? Raises RequestRejected where it may not."""
    if request.instance_id is None or returns_to(group, request) is not None:
        return
    holder = group.instances.get(request.instance_id)
    if dialect.InstanceChecked == "fenced" and request.member_epoch != JOIN_EPOCH:
        if holder is None:
            raise RequestRejected(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"No member of group {group.id} has the instance id {request.instance_id}; join with it.",
            )
        if holder != request.member_id:
            raise RequestRejected(
                ErrorCode.FENCED_INSTANCE_ID,
                f"InstanceId {request.instance_id} is member {holder}'s now; stop, or join with another one.",
            )
        return
    if holder is None or (holder == request.member_id and dialect.InstanceChecked == "unreleased"):
        return
    raise RequestRejected(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        f"InstanceId {request.instance_id} is still used by member {holder}; stop that member, "
        "or use another instance id.",
    )


def keep_place(step: Step, member_id: str, member: Member) -> None:
    """KeepPlace (S1): the member is away; partitions that it was told to revoke are free, the others stay its
    own."""
    recorded = step.env.dialect.RevocationRecorded
    previous_epoch = member.previous_epoch if recorded else 0
    if recorded or (member.epoch, member.held) != (AWAY, member.assigned):
        write_current(step, member_id, Reconciled(AWAY, previous_epoch, member.assigned, NOTHING))
    step.result.volatile.append(Volatile(member_id, previous_epoch, NOTHING, False))
    if step.env.dialect.AwaySession == "renewed":
        deadline_ms = step.now_ms + step.env.session_timeout_ms(step.group.id)
        step.result.timers.append(Timer("session", member_id, deadline_ms))
    if member.rebalance_deadline_ms is not None:
        step.result.timers.append(Timer("rebalance", member_id, None))
    if step.computation.chosen == member_id:
        settle(step, gone={member_id})


def returning_member(dialect: Dialect, place: MemberMetadata, request: HeartbeatRequest) -> MemberMetadata:
    """ReturningMember (S1): the metadata of a member that returns to its place, with no epoch and no
    partitions yet."""
    return (
        new_member_metadata(request) if dialect.ReturnLeftOut == "forgotten" else reported_by(request, place)
    )


def take_place(step: Step, holder: str, member_id: str, metadata: MemberMetadata) -> None:
    """TakePlace (S1): the member gets the target of `holder`, which was away, and may get its partitions.

    The group epoch is bumped only if the subscription, the assignor or the topics differ (E1), or if the
    member was in the group under another instance id: the member of that id is removed.
    """
    known = step.group.members[holder].metadata
    members = dict(step.metadata_of_members())
    removes = member_id != holder and member_id in members
    if member_id != holder:
        del members[holder]
        for kind in (CURRENT_ASSIGNMENT, TARGET_MEMBER, MEMBER_METADATA):
            step.write(kind, holder, None)
        targets = dict(step.targets)
        targets[member_id] = targets.pop(holder, NO_TARGET)
        step.targets = targets
    whole = member_id != holder or step.env.dialect.ReturnWritten == "whole"
    if whole:
        step.replaced = member_id
    members[member_id] = metadata
    step.members = members
    step.place_of = holder
    changed = bumps_group_epoch(step.env.dialect, known, metadata) or preference_changed(step)
    refresh_group(step, removes or changed or rack_counts(step, known, metadata))
    if whole or metadata != known:
        step.write(MEMBER_METADATA, member_id, MemberUpdate(step.epoch, metadata))
    write_group(step)
