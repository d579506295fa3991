"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of members in a consumer group, translated (M2, M3).

JoinGroup updates the group and reports owned partitions; SyncGroup gets the assignment; Heartbeat tells when
to rejoin. A JoinGroup is answered at once: no barrier, and no leader. It acknowledges a revocation and asks
for the next one in one request: partitions that an eager member gave up before it rejoins need no revocation.
"""

from __future__ import annotations

import dataclasses

from coordinator.classic.embedded import NO_GENERATION
from coordinator.classic.model import RequestId
from coordinator.classic.request import HeartbeatRequest as ClassicHeartbeat
from coordinator.classic.request import JoinRequest, LeaveRequest, SyncRequest
from coordinator.classic.response import heartbeat_response, join_error, leave_response
from coordinator.consumer.heartbeat import Kind, accept, is_retry
from coordinator.consumer.membership import add_member, bumps_group_epoch, remove_members, write_member
from coordinator.consumer.metadata import refresh_group, write_group
from coordinator.consumer.model import NO_TARGET, Group, Member, MemberMetadata
from coordinator.consumer.request import JOIN_EPOCH, HeartbeatRequest
from coordinator.consumer.static_members import take_place
from coordinator.core.errors import BadInput, ErrorCode, RequestRejected
from coordinator.core.step import Env, Result, Step, Timer
from coordinator.migration.downgrade import downgraded
from coordinator.migration.phases import phase
from coordinator.migration.protocol import (
    CONSUMER,
    ProtocolData,
    assignment_bytes,
    metadata_of,
    read_protocols,
)


def join_group(
    env: Env, group: Group, request: JoinRequest, made_id: str, waits: RequestId, now_ms: int
) -> Result:
    """JoinGroup (M2). `made_id` is for a join without a member id; `waits` names the request where it waits,
    because it converts the group to a classic one. Raises RequestRejected."""
    data = _protocol_data(env, group, request)
    metadata = _metadata(request, data)
    if not request.member_id:
        if request.instance_id is None:
            return Result(group.id, response=join_error(made_id, ErrorCode.MEMBER_ID_REQUIRED))
        holder = group.instances.get(request.instance_id)
        if holder is None:
            return _joined(env, group, request, made_id, data, metadata, now_ms)
        return _replaced(env, group, request, holder, made_id, data, metadata, waits, now_ms)
    if request.instance_id is None and request.member_id not in group.members:
        if data.generation != NO_GENERATION or not group.members:
            raise RequestRejected(
                ErrorCode.UNKNOWN_MEMBER_ID, "The member was removed; join without generation."
            )
        return _joined(env, group, request, request.member_id, data, metadata, now_ms)
    member = classic_member(group, request.member_id, request.instance_id)
    if data.generation == NO_GENERATION:
        return _joined(env, group, request, request.member_id, data, metadata, now_ms)
    kept = metadata._replace(instance_id=member.metadata.instance_id)  # S2: given once, at the join
    return _rejoined(env, group, request, member, data, kept, now_ms)


def _protocol_data(env: Env, group: Group, request: JoinRequest) -> ProtocolData:
    """Read the protocols of a request. INCONSISTENT_GROUP_PROTOCOL where they are not those of a consumer,
    are too old, or have none in common with all other members that use the classic protocol."""
    named = request.instance_id
    replaced = request.member_id if named is None else group.instances.get(named, request.member_id)
    common = {name for name, _ in request.protocols}
    for name in group.classic - {request.member_id, replaced}:
        classic = group.members[name].metadata.classic
        common &= {protocol for protocol, _ in classic.protocols} if classic is not None else common
    if request.protocol_type != CONSUMER or not common:
        raise RequestRejected(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "Name a protocol that all members have.")
    try:
        return read_protocols(env, request.protocols)
    except BadInput as error:
        raise RequestRejected(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"Unreadable: {error}.") from None


def _metadata(request: JoinRequest, data: ProtocolData) -> MemberMetadata:
    timeouts = request.session_timeout_ms, request.rebalance_timeout_ms
    client = request.client_id, request.client_host
    return metadata_of(data, request.protocols, *timeouts, request.instance_id, client)


def classic_member(group: Group, member_id: str, instance_id: str | None) -> Member:
    """The member with this id, and perhaps with this instance id. Raises RequestRejected with
    UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID (S2)."""
    if instance_id is not None:
        holder = group.instances.get(instance_id)
        if holder not in (None, member_id):
            raise RequestRejected(ErrorCode.FENCED_INSTANCE_ID, f"{instance_id} is member {holder}'s now.")
        if holder is None:
            raise RequestRejected(
                ErrorCode.UNKNOWN_MEMBER_ID, f"No member has the instance id {instance_id}."
            )
    if member_id not in group.classic:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID, f"{member_id!r} is no member of the classic protocol."
        )
    return group.members[member_id]


def _joined(
    env: Env,
    group: Group,
    request: JoinRequest,
    member_id: str,
    data: ProtocolData,
    metadata: MemberMetadata,
    now_ms: int,
) -> Result:
    """A member that is new, or has lost its generation and so owns nothing (H1)."""
    if member_id not in group.members and len(group.members) >= env.config.group_max_size:
        raise RequestRejected(ErrorCode.GROUP_MAX_SIZE_REACHED, f"Group {group.id} is full.")
    step = Step(_revoking_if_owned(env), group, now_ms)
    add_member(step, member_id, metadata)
    return _accepted(step, Member(metadata), _translated(request, member_id, data), "join", metadata)


def _replaced(
    env: Env,
    group: Group,
    request: JoinRequest,
    holder: str,
    member_id: str,
    data: ProtocolData,
    metadata: MemberMetadata,
    waits: RequestId,
    now_ms: int,
) -> Result:
    """ReplaceByClassic (S1, M1): a process with the instance id of a member takes its place, whatever
    protocol that member uses. Where that member was the last of the consumer protocol the group is converted
    back."""
    if group.members.keys() - group.classic == {holder}:
        members = {name: one.metadata for name, one in group.members.items() if name != holder}
        joining = member_id, waits
        return downgraded(env, group, {**members, member_id: metadata}, now_ms, joining=joining)
    step = Step(_revoking_if_owned(env), group, now_ms)
    take_place(step, holder, member_id, metadata)
    return _accepted(step, Member(metadata), _translated(request, member_id, data), "join", metadata)


def _rejoined(
    env: Env,
    group: Group,
    request: JoinRequest,
    member: Member,
    data: ProtocolData,
    metadata: MemberMetadata,
    now_ms: int,
) -> Result:
    """A member joins again: in its current generation, in the one before because the answer was lost (H6), or
    ILLEGAL_GENERATION. New user data does not bump the group epoch (E1)."""
    member_id, translated = request.member_id, _translated(request, request.member_id, data)
    kind: Kind = "current"
    if data.generation != member.epoch:
        if not is_retry(env, member, group.targets.get(member_id, NO_TARGET), translated):
            raise RequestRejected(ErrorCode.ILLEGAL_GENERATION, "Join again without a generation.")
        kind = "retry"
    step, known = Step(_revoking_if_owned(env), group, now_ms), member.metadata
    if metadata != known:
        write_member(step, member_id, metadata, bumps_group_epoch(env.dialect, known, metadata))
    elif env.dialect.MetadataChange == "next-heartbeat":
        refresh_group(step, changed=False)
        write_group(step)
    return _accepted(step, member, translated, kind, metadata)


def _revoking_if_owned(env: Env) -> Env:
    """R1: a JoinGroup always reports the owned partitions, so that the coordinator need not ask for more
    revocations."""
    return dataclasses.replace(env, dialect=dataclasses.replace(env.dialect, RevocationAsked="if-owned"))


def _translated(request: JoinRequest, member_id: str, data: ProtocolData) -> HeartbeatRequest:
    """The ConsumerGroupHeartbeat with the same meaning."""
    return HeartbeatRequest(
        request.group_id,
        member_id,
        JOIN_EPOCH if data.generation == NO_GENERATION else data.generation,
        request.instance_id,
        data.rack_id,
        request.rebalance_timeout_ms,
        data.subscription,
        None,
        None,
        data.assignors,
        data.owned,
        request.client_id,
        request.client_host,
        "",
        sorted(data.subscription),
        sorted(data.owned),
    )


def _accepted(
    step: Step, member: Member, translated: HeartbeatRequest, kind: Kind, metadata: MemberMetadata
) -> Result:
    """Steps 2 and 3 of the heartbeat, as the response of a JoinGroup; the member owes its SyncGroup."""
    result = accept(step, member, translated, kind)
    member_id, classic = translated.member_id, metadata.classic
    if result.response is None or classic is None:
        raise AssertionError("an accepted JoinGroup has a response and says its protocols")
    generation = result.response["memberEpoch"]
    result.timers += [
        Timer("session", member_id, step.now_ms + classic.session_timeout_ms),
        Timer("sync", member_id, step.now_ms + metadata.rebalance_timeout_ms),
    ]
    result.response = {
        **join_error(member_id, ErrorCode.NONE),
        "generationId": generation,
        "protocolType": CONSUMER,
        "protocolName": classic.protocols[0][0],
    }
    return result


def _of_generation(
    group: Group, member_id: str, instance_id: str | None, generation: int
) -> tuple[Member, int, tuple[tuple[str, str], ...]]:
    """The member, its session time-out and its protocols. Raises RequestRejected."""
    member = classic_member(group, member_id, instance_id)
    if generation != member.epoch:
        raise RequestRejected(
            ErrorCode.ILLEGAL_GENERATION, f"The generation of {member_id} is {member.epoch}."
        )
    classic = member.metadata.classic
    if classic is None:
        raise AssertionError(f"{member_id} is in `classic`")
    return member, classic.session_timeout_ms, classic.protocols


def sync_group(env: Env, group: Group, request: SyncRequest, now_ms: int) -> Result:
    """SyncGroup (M2): the member gets the partitions that it may use now; a member that is behind its target
    gets only those that are in its target, too. A member that must rejoin must still do so. Raises
    RequestRejected."""
    member_id = request.member_id
    member, session_ms, protocols = _of_generation(group, member_id, request.instance_id, request.generation)
    named = request.protocol_type in (None, CONSUMER) and request.protocol in (None, protocols[0][0])
    if not named:
        raise RequestRejected(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "Name the protocol of the JoinGroup.")
    if env.dialect.refuses_sync_behind and group.epoch > member.epoch and not member.revoking:
        raise RequestRejected(ErrorCode.REBALANCE_IN_PROGRESS, "Join again.")
    target = group.targets.get(member_id, NO_TARGET)
    usable = member.assigned & target.partitions if member.epoch < group.assignment_epoch else member.assigned
    response = {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "protocolType": CONSUMER,
        "protocolName": protocols[0][0],
        "assignment": assignment_bytes(usable, target, protocols, env.names_by_id),
    }
    timers = [Timer("session", member_id, now_ms + session_ms), Timer("sync", member_id, None)]
    return Result(group.id, response=response, timers=timers)


def heartbeat(group: Group, request: ClassicHeartbeat, now_ms: int) -> Result:
    """Heartbeat (M2, H8): the answer tells if the member must rejoin; the session starts anew. Raises
    RequestRejected."""
    member_id = request.member_id
    member, session_ms, _ = _of_generation(group, member_id, request.instance_id, request.generation)
    rejoin = phase(member) == "PreparingRebalance"
    response = heartbeat_response(ErrorCode.REBALANCE_IN_PROGRESS if rejoin else ErrorCode.NONE)
    return Result(group.id, response=response, timers=[Timer("session", member_id, now_ms + session_ms)])


def leave_group(env: Env, group: Group, request: LeaveRequest, now_ms: int) -> Result:
    """LeaveGroup (M2): members leave, or an administrator removes static members of either protocol by their
    instance ids alone. Several members that leave at once bump the group epoch once (E1)."""
    leaving: dict[str, None] = {}
    answers = []
    for member_id, instance_id in request.members:
        error = ErrorCode.NONE
        leaver = member_id or ("" if instance_id is None else group.instances.get(instance_id, ""))
        try:
            if member_id or not leaver:
                classic_member(group, member_id, instance_id)
            if leaver in leaving:
                raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, "It has left already.")
            leaving[leaver] = None
        except RequestRejected as rejected:
            error = rejected.code
        answers.append((member_id, instance_id, error))
    step = Step(env, group, now_ms)
    if leaving:
        remove_members(step, list(leaving))
    step.result.response = leave_response(ErrorCode.NONE, answers)
    return step.result
