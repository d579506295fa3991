"""The record that persists a classic group: GroupMetadata, Kafka's key 2, value version 3 (P1).

On the wire: {"offset": n, "key": {"type": "GroupMetadata", "group": g}, "value": {"protocolType",
"generation", "protocol", "leader", "currentStateTimestamp", "members": [{"memberId", "groupInstanceId",
"clientId", "clientHost", "rebalanceTimeout", "sessionTimeout", "subscription", "assignment"}]}}; a
tombstone's value is null.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from coordinator.classic.embedded import read_subscription
from coordinator.classic.model import ClassicGroup, ClassicMember, State
from coordinator.consumer.model import ClassicMetadata
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

GROUP_METADATA: Final = "GroupMetadata"


class SavedMember(NamedTuple):
    """A member in the record: its metadata under the group's protocol, and its assignment."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: str
    assignment: str


class GroupMetadata(NamedTuple):
    """The value; `state_ms` is when it was written, on the coordinator's clock."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_ms: int
    members: tuple[SavedMember, ...]


class ClassicRecord(NamedTuple):
    """One GroupMetadata record; a record without a value is a tombstone."""

    group_id: str
    value: GroupMetadata | None


def saved(group: ClassicGroup, now_ms: int) -> ClassicRecord:
    """Save (P1): the group's record; of each member in a generation it has the metadata under the one
    protocol in use."""
    members = tuple(
        SavedMember(
            name,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(group.protocol or ""),
            member.assignment,
        )
        for name, member in sorted(group.members.items())
    )
    value = GroupMetadata(
        group.protocol_type, group.generation, group.protocol, group.leader, now_ms, members
    )
    return ClassicRecord(group.id, value)


def loaded(group_id: str, value: GroupMetadata) -> ClassicGroup:
    """ClassicAfterFailOver (C2, P2): the group that a record restores. Requests that waited are lost.

    A generation without any assignment is one that the leader has not synchronised yet, unless the group has
    just been converted back: then all members must rejoin, as before (M1). Where no leader is named the first
    member leads. BadInput where the leader is no member.
    """
    state = _state(value)
    members = {
        member.member_id: ClassicMember(
            member.instance_id,
            member.client_id,
            member.client_host,
            member.session_timeout_ms,
            member.rebalance_timeout_ms,
            ((value.protocol or "", member.subscription),),
            member.assignment,
            owes_sync=state == "CompletingRebalance",
        )
        for member in value.members
    }
    return ClassicGroup(
        group_id,
        state,
        value.generation,
        value.protocol_type,
        value.protocol,
        leader_among(members, value.leader, f"the classic group {group_id!r}"),
        members=members,
    )


def leader_among(members: Collection[str], leader: str | None, where: str) -> str | None:
    """The leader, by default the first member: a group with members has one. BadInput for another."""
    if leader is not None and leader not in members:
        raise BadInput(f"the leader of {where} is {leader!r}, which is no member")
    return min(members, default=None) if leader is None else leader


def _state(value: GroupMetadata) -> State:
    if not value.members:
        return "Empty"
    if any(member.assignment for member in value.members):
        return "Stable"
    return "PreparingRebalance" if converted_back(value) else "CompletingRebalance"


def converted_back(value: GroupMetadata) -> bool:
    """ConvertedBack (M1): a consumer group has just become this classic group. Then a member reports that it
    owns partitions of this very generation; a member that joins a generation reports an earlier one."""
    return value.protocol_type == "consumer" and any(
        _has_generation(member.subscription, value.generation) for member in value.members
    )


def _has_generation(subscription: str, generation: int) -> bool:
    try:
        return read_subscription(b64decode(subscription)).generation == generation
    except (ValueError, BadInput):
        return False


def classic_to_wire(record: ClassicRecord, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    key = {"type": GROUP_METADATA, "group": record.group_id}
    value = record.value
    if value is None:
        return {"offset": offset, "key": key, "value": None}
    return {
        "offset": offset,
        "key": key,
        "value": {
            "protocolType": value.protocol_type,
            "generation": value.generation,
            "protocol": value.protocol,
            "leader": value.leader,
            "currentStateTimestamp": value.state_ms,
            "members": [_member_to_wire(member) for member in value.members],
        },
    }


def _member_to_wire(member: SavedMember) -> Json:
    return {
        "memberId": member.member_id,
        "groupInstanceId": member.instance_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "rebalanceTimeout": member.rebalance_timeout_ms,
        "sessionTimeout": member.session_timeout_ms,
        "subscription": member.subscription,
        "assignment": member.assignment,
    }


def classic_from_wire(source: Mapping[str, object]) -> ClassicRecord:
    """The record in the JSON; its offset is ignored. BadInput where the JSON is no such record."""
    where = f"a {GROUP_METADATA} record"
    key = fields.mapping(source, "key", where)
    fields.known(key, ("type", "group"), f"the key of {where}")
    group_id = fields.text(key, "group", f"the key of {where}")
    if source.get("value") is None:
        return ClassicRecord(group_id, None)
    value = fields.mapping(source, "value", where)
    names = ("protocolType", "generation", "protocol", "leader", "currentStateTimestamp", "members")
    fields.known(value, names, where)
    return ClassicRecord(
        group_id,
        GroupMetadata(
            fields.text(value, "protocolType", where),
            fields.integer(value, "generation", where, bits=32),
            fields.optional_text(value, "protocol", where),
            fields.optional_text(value, "leader", where),
            fields.integer(value, "currentStateTimestamp", where, -1),
            tuple(_member_from_wire(entry, where) for entry in fields.items(value, "members", where)),
        ),
    )


_MEMBER_FIELDS: Final = (
    *("memberId", "groupInstanceId", "clientId", "clientHost"),
    *("rebalanceTimeout", "sessionTimeout", "subscription", "assignment"),
)


def _member_from_wire(entry: object, where: str) -> SavedMember:
    member = fields.as_object(entry, f"a member of {where}")
    fields.known(member, _MEMBER_FIELDS, f"a member of {where}")
    return SavedMember(
        fields.text(member, "memberId", where),
        fields.optional_text(member, "groupInstanceId", where) or None,
        fields.text(member, "clientId", where),
        fields.text(member, "clientHost", where),
        fields.integer(member, "rebalanceTimeout", where),
        fields.integer(member, "sessionTimeout", where),
        fields.text(member, "subscription", where),
        fields.text(member, "assignment", where),
    )


def classic_to_json(metadata: ClassicMetadata | None) -> Json:
    """ClassicMemberMetadata of ConsumerGroupMemberMetadata (M1); nothing for a member without it."""
    if metadata is None:
        return {}
    protocols = [{"name": name, "metadata": content} for name, content in metadata.protocols]
    return {
        "classicMemberMetadata": {
            "sessionTimeoutMs": metadata.session_timeout_ms,
            "supportedProtocols": protocols,
        }
    }


def classic_from_json(given: object, where: str) -> ClassicMetadata | None:
    """Read the metadata of a classic member from JSON; None where they were left out."""
    if given is None:
        return None
    where = f"classicMemberMetadata of {where}"
    source = fields.as_object(given, where)
    fields.known(source, ("sessionTimeoutMs", "supportedProtocols"), where)
    entries = [fields.as_object(one, where) for one in fields.items(source, "supportedProtocols", where)]
    return ClassicMetadata(
        fields.integer(source, "sessionTimeoutMs", where),
        tuple((fields.text(one, "name", where), fields.text(one, "metadata", where)) for one in entries),
    )
