"""A group as JSON: the fields of ConsumerGroupDescribe, and all other state that a step may have changed."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.classic.records import classic_to_json
from coordinator.computing.model import IDLE, Computation
from coordinator.consumer.model import NO_TARGET, Group, Member, MemberMetadata, Target, group_state
from coordinator.consumer.records import assignor_to_wire, topics_to_wire
from coordinator.core import wire
from coordinator.core.fields import Json
from coordinator.core.timers import armed_timers
from coordinator.migration.phases import phase


def describe_group(group: Group, configs: Mapping[str, int]) -> Json:
    """The whole state of a group, lists sorted; a group that does not exist is Dead and empty.

    Partitions are in their normal form (wire.py); `deadlineMs` is on the coordinator's clock. `configs` has
    the group's own configurations, and is left out where the group has none (D1).
    """
    own = {"configs": dict(configs)} if configs else {}
    return {
        "groupId": group.id,
        "state": group_state(group),
        "groupEpoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "metadata": topics_to_wire(group.metadata),
        "members": [_describe_member(group, member_id) for member_id in sorted(group.members)],
        "timers": [due.described() for due in armed_timers(group)],
        **describe_computation(group.computation),
        **own,
    }


def describe_computation(computation: Computation) -> Json:
    """The state of a client-side computation (A5): the chosen member, the answer that it got (null before it
    has prepared), and the members that timed out. Empty where no member computes."""
    if computation == IDLE:
        return {}
    base = computation.base
    shown = {
        "chosen": computation.chosen,
        "notified": computation.deadline_ms is not None,
        "tried": sorted(computation.tried),
        "prepared": None if base is None else base.body,
    }
    return {"computation": shown}


def _describe_member(group: Group, member_id: str) -> Json:
    member = group.members[member_id]
    metadata = member.metadata
    target = group.targets.get(member_id, NO_TARGET)
    return {
        "memberId": member_id,
        "instanceId": metadata.instance_id,
        "memberEpoch": member.epoch,
        "previousMemberEpoch": member.previous_epoch,
        "state": _member_state(group, member, target.partitions),
        "assigned": wire.to_wire(member.assigned),
        "pendingRevocation": wire.to_wire(member.revoking),
        "target": wire.to_wire(target.partitions),
        "targetError": target.error,
        "acknowledged": member.acknowledged,
        "subscribedTopicNames": sorted(metadata.subscription),
        "subscribedTopicRegex": metadata.regex,
        "serverAssignor": metadata.server_assignor,
        "rebalanceTimeoutMs": metadata.rebalance_timeout_ms,
        "rackId": metadata.rack_id,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        **_of_client_assignors(metadata, target),
        **_of_classic(member),
    }


def _of_client_assignors(metadata: MemberMetadata, target: Target) -> Json:
    """The assignors of a member (A1) and the user data of its target, if the member has any."""
    shown: Json = {}
    if metadata.client_assignors:
        shown["clientAssignors"] = [assignor_to_wire(assignor) for assignor in metadata.client_assignors]
    if target.metadata_version or target.metadata_bytes:
        shown["targetMetadata"] = {"version": target.metadata_version, "bytes": target.metadata_bytes}
    return shown


def _of_classic(member: Member) -> Json:
    """Further fields of a member that uses the classic protocol (M2)."""
    classic = member.metadata.classic
    return {} if classic is None else {"classicState": phase(member), **classic_to_json(classic)}


def _member_state(group: Group, member: Member, target: frozenset[tuple[str, int]]) -> str:
    """The member's state by Kafka's names: stable, or the event that the member waits for."""
    if member.revoking:
        return "UNREVOKED_PARTITIONS"
    if member.epoch == group.assignment_epoch and member.assigned != target:
        return "UNRELEASED_PARTITIONS"
    return "STABLE"
