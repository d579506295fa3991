"""A classic group as JSON: the whole state that a step may have changed, and the same state read again.

The description also has state that no record holds (members that wait at the barrier, pending ids), so that
`load` takes the description as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast, get_args

from coordinator.classic.model import ClassicGroup, ClassicMember, RequestId, State, candidates
from coordinator.classic.records import leader_among
from coordinator.classic.timers import Deadlines, armed
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.core.timers import Due

GROUP_FIELDS: Final = (
    *("groupId", "type", "state", "generation", "protocolType", "protocol", "leader"),
    *("delayRemainingMs", "newMember", "pending", "members", "timers"),
)


def describe_classic(group: ClassicGroup, deadlines: Deadlines) -> Json:
    """The state, lists sorted; `deadlineMs` is on the coordinator's clock."""
    return {
        "groupId": group.id,
        "type": "classic",
        "state": group.state,
        "generation": group.generation,
        "protocolType": group.protocol_type,
        "protocol": group.protocol,
        "leader": group.leader,
        "delayRemainingMs": group.remaining_ms,
        "newMember": group.new_member,
        "pending": sorted(group.pending),
        "members": [_member(name, member) for name, member in sorted(group.members.items())],
        "timers": [
            Due(deadlines[timer, member], group.id, timer, member).described()
            for timer, member in armed(group)
        ],
    }


def _member(name: str, member: ClassicMember) -> Json:
    return {
        "memberId": name,
        "instanceId": member.instance_id,
        "protocols": [{"name": protocol, "metadata": metadata} for protocol, metadata in member.protocols],
        "assignment": member.assignment,
        "isNew": member.fresh,
        "awaitingJoin": member.joining,
        "awaitingSync": member.syncing,
        "owesSync": member.owes_sync,
        "sessionTimeoutMs": member.session_timeout_ms,
        "rebalanceTimeoutMs": member.rebalance_timeout_ms,
        "clientId": member.client_id,
        "clientHost": member.client_host,
    }


def described(given: Mapping[str, Any], group_id: str, shift_ms: int) -> tuple[ClassicGroup, Deadlines]:
    """The group of a description, with deadlines later by `shift_ms`. BadInput where the JSON is no
    description."""
    where = f"volatile classic group {group_id!r}"
    fields.known(given, GROUP_FIELDS, where)
    state = fields.text(given, "state", where)
    if state not in get_args(State):
        raise BadInput(f"'state' of {where} must be one of {', '.join(get_args(State))}, not {state!r}")
    members = [_read_member(entry, where) for entry in fields.items(given, "members", where)]
    group = ClassicGroup(
        group_id,
        cast(State, state),
        fields.integer(given, "generation", where, bits=32),
        fields.text(given, "protocolType", where),
        fields.optional_text(given, "protocol", where),
        leader_among(dict(members), fields.optional_text(given, "leader", where), where),
        fields.optional_integer(given, "delayRemainingMs", where),
        fields.boolean(given, "newMember", where),
        dict(members),
        frozenset(fields.names(given, "pending", where)),
    )
    if members and not candidates(group.members.values()):
        raise BadInput(f"the members of {where} have no protocol in common")
    if group.state in ("CompletingRebalance", "Stable"):
        for member_id, member in members:
            if (group.protocol or "") not in member.names():
                raise BadInput(f"{where} has the protocol {group.protocol!r}, which {member_id!r} lacks")
    deadlines: Deadlines = {}
    for entry in fields.items(given, "timers", where):
        timer = fields.as_object(entry, f"a timer of {where}")
        key = fields.text(timer, "timer", where), fields.text(timer, "member", where)
        deadlines[key] = fields.integer(timer, "deadlineMs", where) + shift_ms
    if sorted(deadlines) != sorted(armed(group)):
        raise BadInput(f"'timers' of {where} must be those that its state has: {armed(group)}")
    return group, deadlines


def _read_member(entry: object, where: str) -> tuple[str, ClassicMember]:
    source = fields.as_object(entry, f"a member of {where}")
    protocols = [fields.as_object(one, where) for one in fields.items(source, "protocols", where)]
    return fields.text(source, "memberId", where), ClassicMember(
        fields.optional_text(source, "instanceId", where) or None,
        fields.text(source, "clientId", where),
        fields.text(source, "clientHost", where),
        fields.integer(source, "sessionTimeoutMs", where),
        fields.integer(source, "rebalanceTimeoutMs", where),
        tuple((fields.text(one, "name", where), fields.text(one, "metadata", where)) for one in protocols),
        fields.text(source, "assignment", where),
        fields.boolean(source, "isNew", where),
        _request_id(source, "awaitingJoin", where),
        _request_id(source, "awaitingSync", where),
        fields.boolean(source, "owesSync", where),
    )


def _request_id(source: Mapping[str, object], name: str, where: str) -> RequestId | None:
    value = source.get(name)
    if value is None or type(value) is int or type(value) is str:
        return value
    raise BadInput(f"{name!r} of {where} must be a request's id or null, not {fields.shown(value)}")
