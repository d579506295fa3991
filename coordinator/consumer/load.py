"""Groups from records (P2), and the volatile state that records do not hold.

The volatile state of a coordinator, as `load` takes it and `volatile` gives it:

    {"clockMs": 0, "groups": {"g": {"emptyDeadlineMs": null, "targetComputedMs": 0, "members": {"m1": {
        "previousMemberEpoch": 1, "pendingRevocation": [], "acknowledged": true,
        "sessionDeadlineMs": 45000, "rebalanceDeadlineMs": null}}}},
     "configs": {"g": {"group.consumer.session.timeout.ms": 60000}}}

A group may also have "computation", of its target by a member (A5): {"chosen": "m1", "deadlineMs": 45000,
"tried": [], "prepared": null or the answer of PrepareAssignment}.

Beside "groups", "classic" has classic groups as `describe` gives them (classic/describe.py), and "connect"
for Connect groups what "groups" has, and who computes (connect/describe.py).

Every field may be left out. Deadlines are read relative to clockMs. A field that is left out is as a new
coordinator assumes after a fail-over: all timers start anew, there is no previous epoch, nothing is
acknowledged, and what a member holds beyond its target is being revoked, but not by one that is away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from coordinator.admin.configs import changed_configs
from coordinator.computing.load import restored, volatile_computation
from coordinator.consumer.model import AWAY, NO_TARGET, NOTHING, UNKNOWN_METADATA, Group, Member
from coordinator.consumer.records import Record
from coordinator.consumer.replay import replay
from coordinator.core import fields, wire
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.core.step import Env, GroupConfigs

_MEMBER_FIELDS: Final = (
    "previousMemberEpoch",
    "pendingRevocation",
    "acknowledged",
    "sessionDeadlineMs",
    "rebalanceDeadlineMs",
    "joinDeadlineMs",
    "syncDeadlineMs",
)


def groups_from(records: Iterable[Record], initial_epoch: int) -> dict[str, Group]:
    """The groups that the records leave. BadInput where a member's metadata is missing, or an epoch is ahead
    of its group's (E4).

    A group of which tombstones alone are left is none (P3), also where a group begins at an epoch above 0.
    """
    groups: dict[str, Group] = {}
    values: dict[tuple[str, str, str | None], bool] = {}
    for record in records:
        replay(groups, record, initial_epoch)
        values[record.group_id, record.type, record.member_id] = record.value is not None
    kept = {group_id for (group_id, _, _), has_value in values.items() if has_value}
    groups = {group_id: group for group_id, group in groups.items() if group_id in kept}
    for group in groups.values():
        for member_id, member in group.members.items():
            if member.metadata is UNKNOWN_METADATA:
                raise BadInput(
                    f"the records give member {member_id!r} of group {group.id!r} an assignment "
                    "but no ConsumerGroupMemberMetadata"
                )
        check_epochs(
            group.id, group.epoch, [group.assignment_epoch, *(one.epoch for one in group.members.values())]
        )
        _check_protocols(group)
    return groups


def check_epochs(group_id: str, group_epoch: int, others: Iterable[int]) -> None:
    """BadInput where the epoch of the assignment, or of a member, is ahead of the group's (E4)."""
    ahead = max(others)
    if ahead > group_epoch:
        raise BadInput(
            f"the records give group {group_id!r} the epoch {group_epoch}, and its assignment or a member "
            f"the epoch {ahead}, which is ahead of it"
        )


def _check_protocols(group: Group) -> None:
    """M2: members of the classic protocol have one in common, as the classic group of them must (M1)."""
    classic = [group.members[member_id].metadata.classic for member_id in group.classic]
    names = [{name for name, _ in one.protocols} for one in classic if one is not None]
    if names and not set.intersection(*names):
        raise BadInput(
            f"the members of group {group.id!r} with classicMemberMetadata have no protocol in common"
        )


def restore_volatile(
    groups: Mapping[str, Group],
    volatile: Mapping[str, object],
    env: Env,
    now_ms: int,
    recorded: bool = False,
) -> None:
    """Set the volatile state of freshly replayed groups. BadInput for what is not of the form above.

    `recorded` says that the records have what members revoke (RevocationRecorded).
    """
    shift_ms = now_ms - (fields.optional_integer(volatile, "clockMs", "volatile") or 0)
    given = fields.mapping(volatile, "groups", "volatile") if "groups" in volatile else {}
    for group_id in given:
        if group_id not in groups:
            raise BadInput(f"volatile names the group {group_id!r}, which the records do not have")
    for group_id, group in groups.items():
        known = fields.as_object(given.get(group_id, {}), f"volatile group {group_id!r}")
        _restore_group(group, known, env, shift_ms, now_ms, recorded)


def _restore_group(group: Group, given: Json, env: Env, shift_ms: int, now_ms: int, recorded: bool) -> None:
    where = f"volatile group {group.id!r}"
    fields.known(given, ("emptyDeadlineMs", "targetComputedMs", "members", "computation"), where)
    if "computation" in given:
        group.computation = restored(fields.mapping(given, "computation", where), group, shift_ms)
    computed_ms = fields.optional_integer(given, "targetComputedMs", where)
    group.target_computed_ms = None if computed_ms is None else computed_ms + shift_ms
    if not group.members:
        deadline_ms = fields.optional_integer(given, "emptyDeadlineMs", where)
        group.empty_deadline_ms = (
            now_ms + env.config.empty_retention_ms if deadline_ms is None else deadline_ms + shift_ms
        )
    members = fields.mapping(given, "members", where) if "members" in given else {}
    for member_id in members:
        if member_id not in group.members:
            raise BadInput(f"{where} names the member {member_id!r}, which the records do not have")
    session_timeout_ms = env.session_timeout_ms(group.id)
    for member_id, member in group.members.items():
        target = group.targets.get(member_id, NO_TARGET).partitions
        if not recorded:
            member.revoking = NOTHING if member.epoch == AWAY else member.held - target
        where_member = f"volatile member {member_id!r}"
        _restore_member(member, fields.as_object(members.get(member_id, {}), where_member), where_member)
        _restore_timers(
            member, members.get(member_id, {}), where_member, session_timeout_ms, shift_ms, now_ms
        )


def _restore_member(member: Member, given: Json, where: str) -> None:
    fields.known(given, _MEMBER_FIELDS, where)
    if "previousMemberEpoch" in given:
        member.previous_epoch = fields.integer(given, "previousMemberEpoch", where, least=AWAY)
    member.acknowledged = "acknowledged" in given and fields.boolean(given, "acknowledged", where)
    if "pendingRevocation" in given:
        member.revoking = wire.from_wire(given["pendingRevocation"], f"pendingRevocation of {where}")
    if not member.revoking <= member.held:
        raise BadInput(f"pendingRevocation of {where} has partitions that the records do not give it")
    member.assigned = member.held - member.revoking


def _restore_timers(
    member: Member, given: Json, where: str, session_timeout_ms: int, shift_ms: int, now_ms: int
) -> None:
    if member.metadata.classic is not None:
        session_timeout_ms = member.metadata.classic.session_timeout_ms
        join_ms = fields.optional_integer(given, "joinDeadlineMs", where)
        sync_ms = fields.optional_integer(given, "syncDeadlineMs", where)
        member.join_deadline_ms = None if join_ms is None else join_ms + shift_ms
        member.sync_deadline_ms = None if sync_ms is None else sync_ms + shift_ms
    session_ms = fields.optional_integer(given, "sessionDeadlineMs", where)
    member.session_deadline_ms = now_ms + session_timeout_ms if session_ms is None else session_ms + shift_ms
    rebalance_ms = fields.optional_integer(given, "rebalanceDeadlineMs", where)
    if not member.revoking:
        member.rebalance_deadline_ms = None
    elif rebalance_ms is None:
        member.rebalance_deadline_ms = now_ms + member.metadata.rebalance_timeout_ms
    else:
        member.rebalance_deadline_ms = rebalance_ms + shift_ms


def _volatile_classic(member: Member) -> Json:
    return {"joinDeadlineMs": member.join_deadline_ms, "syncDeadlineMs": member.sync_deadline_ms}


def configs_of(volatile: Mapping[str, object]) -> GroupConfigs:
    """The groups' own configurations in `volatile`: no group need exist to have some (D1)."""
    given = fields.mapping(volatile, "configs", "volatile") if "configs" in volatile else {}
    configs: GroupConfigs = {}
    for group_id, values in given.items():
        configs = changed_configs(configs, {"group": group_id, "values": values})
    return configs


def volatile_of(groups: Iterable[Group], now_ms: int, configs: GroupConfigs) -> Json:
    """The volatile state of these groups, in the form above."""
    known: Json = {"clockMs": now_ms, "groups": {group.id: _volatile_group(group) for group in groups}}
    if configs:
        known["configs"] = {group_id: dict(values) for group_id, values in configs.items()}
    return known


def _volatile_group(group: Group) -> Json:
    return {
        "emptyDeadlineMs": group.empty_deadline_ms,
        "targetComputedMs": group.target_computed_ms,
        **volatile_computation(group.computation),
        "members": {
            member_id: {
                "previousMemberEpoch": member.previous_epoch,
                "pendingRevocation": wire.to_wire(member.revoking),
                "acknowledged": member.acknowledged,
                "sessionDeadlineMs": member.session_deadline_ms,
                "rebalanceDeadlineMs": member.rebalance_deadline_ms,
                **({} if member.metadata.classic is None else _volatile_classic(member)),
            }
            for member_id, member in sorted(group.members.items())
        },
    }
