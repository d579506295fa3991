"""A Connect group as JSON: the whole state that a step may have changed, and apart from it the state that no
record holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.computing.load import check_prepared
from coordinator.connect import wire
from coordinator.connect.model import Prepared, Work, lost_by, target_is_due
from coordinator.connect.records import assignors_to_wire, connectors_from_wire, connectors_to_wire
from coordinator.consumer.model import NO_TARGET, Group, group_state
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.core.timers import Due, armed_timers

ASSIGNMENT: Final = "assignment"
"""The timer of the chosen worker, which must install a target in time (W1)."""


def timers_of(group: Group, work: Work, assignment_ms: int | None) -> list[Due]:
    """The armed timers: those of every group, and that of the computing worker."""
    timers = armed_timers(group)
    if assignment_ms is not None and work.chosen and target_is_due(group):
        timers.append(Due(assignment_ms, group.id, ASSIGNMENT, work.chosen))
    return timers


def describe_connect(group: Group, work: Work, assignment_ms: int | None) -> Json:
    """The state, lists sorted; `deadlineMs` is on the coordinator's clock."""
    tasks = {name: image.partitions - 1 for name, image in group.metadata.items()}
    return {
        "groupId": group.id,
        "type": "connect",
        "state": group_state(group),
        "groupEpoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "connectors": connectors_to_wire(tasks),
        "members": [_member(group, name) for name in sorted(group.members)],
        "lost": _lost(work),
        "chosen": work.chosen or None,
        "prepared": _prepared(work.prepared),
        "timers": [
            {
                "timer": due.timer,
                "group": due.group_id,
                "member": due.member_id,
                "deadlineMs": due.deadline_ms,
            }
            for due in timers_of(group, work, assignment_ms)
        ],
    }


def _member(group: Group, name: str) -> Json:
    member = group.members[name]
    target = group.targets.get(name)
    return {
        "memberId": name,
        "memberEpoch": member.epoch,
        "previousMemberEpoch": member.previous_epoch,
        "assigned": wire.to_wire(member.assigned),
        "pendingRevocation": wire.to_wire(member.revoking),
        "target": None if target is None else wire.to_wire(target.partitions),
        "targetError": (target or NO_TARGET).error,
        "acknowledged": member.acknowledged,
        "assignors": assignors_to_wire(member.metadata),
        "rebalanceTimeoutMs": member.metadata.rebalance_timeout_ms,
        "clientId": member.metadata.client_id,
        "clientHost": member.metadata.client_host,
    }


def _lost(work: Work) -> list[Json]:
    return [
        {"memberId": name, "connectorsAndTasks": wire.to_wire(lost_by(work.lost, name))}
        for name in sorted({*work.lost.values()})
    ]


def _prepared(prepared: Prepared | None) -> Json | None:
    if prepared is None:
        return None
    tasks = {name: count - 1 for name, count in prepared.metadata.items()}
    members = sorted(prepared.workers)
    return {"groupEpoch": prepared.epoch, "members": members, "connectors": connectors_to_wire(tasks)}


def volatile_of(group: Group, work: Work, assignment_ms: int | None) -> Json:
    """The state that no record holds, in the form of `restore`."""
    return {
        "emptyDeadlineMs": group.empty_deadline_ms,
        "assignmentDeadlineMs": assignment_ms,
        "chosen": work.chosen,
        "prepared": _prepared(work.prepared),
        "members": {
            name: {
                "previousMemberEpoch": member.previous_epoch,
                "pendingRevocation": wire.to_wire(member.revoking),
                "acknowledged": member.acknowledged,
                "sessionDeadlineMs": member.session_deadline_ms,
                "rebalanceDeadlineMs": member.rebalance_deadline_ms,
            }
            for name, member in sorted(group.members.items())
        },
    }


_MEMBER_FIELDS: Final = (
    *("previousMemberEpoch", "pendingRevocation", "acknowledged"),
    *("sessionDeadlineMs", "rebalanceDeadlineMs"),
)


def restore(group: Group, work: Work, given: Mapping[str, object], shift_ms: int) -> tuple[Work, int | None]:
    """Give a group its state that no record holds. BadInput where the JSON is no such state."""
    where = f"volatile Connect group {group.id!r}"
    fields.known(given, ("emptyDeadlineMs", "assignmentDeadlineMs", "chosen", "prepared", "members"), where)
    members = fields.mapping(given, "members", where)
    if members.keys() != group.members.keys() or fields.text(given, "chosen", where) not in ("", *members):
        raise BadInput(f"{where} must name the workers that its records have: {sorted(group.members)}")
    for name, member in group.members.items():
        known = fields.mapping(members, name, where)
        fields.known(known, _MEMBER_FIELDS, f"{name!r} of {where}")
        member.previous_epoch = fields.integer(known, "previousMemberEpoch", where)
        member.acknowledged = fields.boolean(known, "acknowledged", where)
        member.revoking = wire.from_wire(known.get("pendingRevocation"), where)
        if not member.revoking <= member.held:
            raise BadInput(f"pendingRevocation of {name!r} in {where} has work that its record does not have")
        member.assigned = member.held - member.revoking
        member.session_deadline_ms = fields.integer(known, "sessionDeadlineMs", where) + shift_ms
        rebalance_ms = _shifted(known, "rebalanceDeadlineMs", where, shift_ms)
        if (rebalance_ms is not None) != bool(member.revoking):
            raise BadInput(
                f"{name!r} of {where} has a rebalanceDeadlineMs exactly while its pendingRevocation is not "
                "empty; give both or none"
            )
        member.rebalance_deadline_ms = rebalance_ms
    empty_ms = _shifted(given, "emptyDeadlineMs", where, shift_ms)
    if not group.members and empty_ms is not None:
        group.empty_deadline_ms = empty_ms
    prepared = None
    if given.get("prepared") is not None:
        source = fields.mapping(given, "prepared", where)
        fields.known(source, ("groupEpoch", "members", "connectors"), f"'prepared' of {where}")
        metadata = {name: count + 1 for name, count in connectors_from_wire(source, where).items()}
        workers = frozenset(fields.names(source, "members", where))
        prepared = Prepared(fields.integer(source, "groupEpoch", where), workers, metadata)
        check_prepared(group, prepared.epoch)
    restored = work._replace(chosen=fields.text(given, "chosen", where), prepared=prepared)
    return restored, _shifted(given, "assignmentDeadlineMs", where, shift_ms)


def _shifted(given: Mapping[str, object], name: str, where: str, shift_ms: int) -> int | None:
    value = fields.optional_integer(given, name, where)
    return None if value is None else value + shift_ms
