"""Step 1 of the heartbeat, UpdateMember: members join, change and leave (E1, H1, H2, H8)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from coordinator.assignors import LooksAtRacks
from coordinator.computing import select
from coordinator.computing.model import IDLE
from coordinator.consumer.metadata import refresh_group, write_group
from coordinator.consumer.model import ClientAssignor, Group, MemberMetadata
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    MemberUpdate,
)
from coordinator.consumer.request import HeartbeatRequest
from coordinator.consumer.subscription import shared
from coordinator.consumer.target import select_assignor, update_target
from coordinator.core.dialect import Dialect
from coordinator.core.step import Env, Result, Step, Timer


def new_member_metadata(request: HeartbeatRequest) -> MemberMetadata:
    """The metadata of a joining member (H1)."""
    return MemberMetadata(
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        subscription=shared(request.subscription or frozenset()),
        regex=request.regex or None,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        server_assignor=request.server_assignor,
        client_assignors=request.client_assignors or (),
    )


def add_member(step: Step, member_id: str, metadata: MemberMetadata) -> None:
    """UpdateMember of a join or of a rejoin that replaces: a fresh member (E1)."""
    dialect = step.env.dialect
    if member_id in step.group.members:
        step.replaced = member_id
    subscribes = bool(metadata.subscription or metadata.regex)
    starts = not step.epoch and dialect.FirstGroupEpoch == 1
    bumps = starts or subscribes or dialect.JoinWithEmptySubscriptionBumps
    write_member(step, member_id, metadata, bumps)


def reported_by(request: HeartbeatRequest, known: MemberMetadata) -> MemberMetadata:
    """ReportedBy (H7): the fields of the request replace the known ones; an absent field means unchanged.

    An empty regular expression removes the expression. A member has assignors of one side: offered
    client-side assignors replace the server-side one, and the other way round (H3).
    """
    server_side = None if request.client_assignors else known.server_assignor
    client_side = () if request.server_assignor is not None else known.client_assignors
    return MemberMetadata(
        instance_id=known.instance_id if request.instance_id is None else request.instance_id,
        rack_id=known.rack_id if request.rack_id is None else request.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        subscription=known.subscription if request.subscription is None else shared(request.subscription),
        regex=known.regex if request.regex is None else request.regex or None,
        rebalance_timeout_ms=(
            known.rebalance_timeout_ms if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms
        ),
        server_assignor=server_side if request.server_assignor is None else request.server_assignor,
        client_assignors=client_side if request.client_assignors is None else request.client_assignors,
    )


def update_subscription(step: Step, member_id: str, known: MemberMetadata, request: HeartbeatRequest) -> None:
    """UpdateMember of a heartbeat (UpdateSubscription, H7)."""
    dialect = step.env.dialect
    metadata = reported_by(request, known)
    if metadata != known:
        write_member(step, member_id, metadata, bumps_group_epoch(dialect, known, metadata))
    elif dialect.MetadataChange == "next-heartbeat":
        refresh_group(step, changed=False)
        write_group(step)


def bumps_group_epoch(dialect: Dialect, known: MemberMetadata, metadata: MemberMetadata) -> bool:
    """BumpsGroupEpoch, OffersChanged (E1): a new subscription or new assignors, with their reasons and
    metadata, bump the group epoch. No other field does, nor metadata that an assignor of the classic protocol
    adds (M2)."""
    return (
        (metadata.subscription, metadata.regex) != (known.subscription, known.regex)
        or _offers(metadata) != _offers(known)
        or (dialect.AssignorChangeBumps == "always" and metadata.server_assignor != known.server_assignor)
    )


def _offers(metadata: MemberMetadata) -> tuple[ClientAssignor, ...]:
    """The offers that count: user data of the classic protocol may change at each rejoin, and does not
    count."""
    return metadata.client_assignors if metadata.classic is None else ()


def preference_changed(step: Step) -> bool:
    """PreferenceChanged (E1): has the preferred assignor changed? False in dialects without this rule."""
    if step.env.dialect.AssignorChangeBumps != "if-preferred":
        return False
    assignors = step.env.assignors
    before = (member.metadata for member in step.group.members.values())
    now = step.metadata_of_members().values()
    return select_assignor(assignors, before).name != select_assignor(assignors, now).name


def rack_counts(step: Step, known: MemberMetadata | None, metadata: MemberMetadata) -> bool:
    """E1: does another rack change the input of the assignor? Only for an assignor that looks at racks
    (A2)."""
    if known is None or metadata.rack_id == known.rack_id:
        return False
    members = step.metadata_of_members()
    if select.selected(members):
        return False
    assignor = select_assignor(step.env.assignors, members.values())
    return isinstance(assignor, LooksAtRacks) and assignor.looks_at_racks


def write_member(step: Step, member_id: str, metadata: MemberMetadata, bumps: bool) -> None:
    step.members = {**step.metadata_of_members(), member_id: metadata}
    before = step.group.members.get(member_id)
    racks = rack_counts(step, None if before is None else before.metadata, metadata)
    refresh_group(step, bumps or preference_changed(step) or racks)
    step.write(MEMBER_METADATA, member_id, MemberUpdate(step.epoch, metadata))
    write_group(step)


def remove_member(step: Step, member_id: str) -> None:
    """RemoveMember: a member that left, was fenced or timed out. Its partitions are free at once (E1, E2)."""
    remove_members(step, [member_id])


def remove_members(step: Step, member_ids: Collection[str]) -> None:
    """RemoveMember of several members at once. A member that goes computes nothing any more, also where the
    next target waits for a heartbeat (A5)."""
    _remove(step, member_ids)
    if step.computation != IDLE:
        select.settle(step)


def _remove(step: Step, member_ids: Collection[str]) -> None:
    """Write the removal of members: one bump of the group epoch (E1)."""
    dialect = step.env.dialect
    members = dict(step.metadata_of_members())
    for member_id in member_ids:
        for kind in (CURRENT_ASSIGNMENT, TARGET_MEMBER, MEMBER_METADATA):
            step.write(kind, member_id, None)
        del members[member_id]
    step.members = members
    step.result.gone = frozenset(member_ids)
    refresh_group(step, changed=True)
    write_group(step)
    if not members:
        deadline_ms = step.now_ms + step.env.config.empty_retention_ms
        step.result.timers.append(Timer("group", "", deadline_ms))
    if dialect.TargetOnRemoval == "at-once" or (dialect.LastLeaveAdvancesAssignmentEpoch and not members):
        update_target(step)


def session_timeout(env: Env, group: Group, member_id: str, now_ms: int) -> Result:
    """SessionTimeout (H8): no heartbeat came within the session time-out; the member is removed."""
    step = Step(env, group, now_ms)
    remove_member(step, member_id)
    return step.result


def rebalance_timeout(env: Env, group: Group, member_id: str, now_ms: int) -> Result:
    """RebalanceTimeout (R4): a revocation was not acknowledged in time; the member is removed. A member that
    uses the classic protocol, and did not rejoin or send its SyncGroup in time, is removed, too (M2)."""
    step = Step(env, group, now_ms)
    remove_member(step, member_id)
    return step.result


def computation_timeout(env: Env, group: Group, member_id: str, now_ms: int) -> Result:
    """ComputationTimeout (A5): no assignment was installed in time; another member computes."""
    step = Step(env, group, now_ms)
    select.computation_timeout(step)
    return step.result


def delete_group(env: Env, group: Group, now_ms: int) -> Result:
    """DeleteGroup (E5 DEAD): the group was empty for the configured time. All of its records are deleted,
    also the target of a member that does not exist, as a log that was changed by hand may have."""
    step = Step(env, group, now_ms)
    for member_id in sorted(group.targets):
        step.write(TARGET_MEMBER, member_id, None)
    for kind in (TARGET_METADATA, PARTITION_METADATA, GROUP_METADATA):
        step.write(kind, None, None)
    return step.result


TIMEOUTS: Final = {
    "session": session_timeout,
    "rebalance": rebalance_timeout,
    "join": rebalance_timeout,
    "sync": rebalance_timeout,
    "computation": computation_timeout,
}
"""Timer's name -> the function that runs when this timer of a member runs out."""
