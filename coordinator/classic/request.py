"""The requests of classic groups: their fields, and the checks that need no group.

The versions are the newest: JoinGroup 9, SyncGroup 5, Heartbeat 4, LeaveGroup 5. Bytes are text in base64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from coordinator.consumer.request import client_of
from coordinator.consumer.validation import is_too_long
from coordinator.core import fields
from coordinator.core.config import Config
from coordinator.core.errors import BadInput, ErrorCode

CLASSIC_APIS: Final = {"JoinGroup": (9, 9), "SyncGroup": (5, 5), "Heartbeat": (4, 4), "LeaveGroup": (5, 5)}
"""Name of each API -> first and last version."""


class JoinRequest(NamedTuple):
    """JoinGroup. Times are in milliseconds; `member_id` is "" for a member without an id."""

    group_id: str
    member_id: str
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[tuple[str, str], ...]
    client_id: str
    client_host: str


class SyncRequest(NamedTuple):
    """SyncGroup; `assignments` are member id -> bytes."""

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: Mapping[str, str]


class HeartbeatRequest(NamedTuple):
    """Heartbeat."""

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int


class LeaveRequest(NamedTuple):
    """LeaveGroup: each member by its id, or a static one by its instance id alone."""

    group_id: str
    members: list[tuple[str, str | None]]


ClassicRequest: TypeAlias = JoinRequest | SyncRequest | HeartbeatRequest | LeaveRequest


def parse_classic(api: str, client: Mapping[str, Any], body: Mapping[str, Any]) -> ClassicRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    group_id = fields.text(body, "groupId", api)
    if api == "LeaveGroup":
        fields.known(body, ("groupId", "members"), api)
        return LeaveRequest(group_id, [_leaving(entry) for entry in fields.items(body, "members", api)])
    member_id = fields.text(body, "memberId", api)
    instance_id = fields.optional_text(body, "groupInstanceId", api)
    if api == "JoinGroup":
        return _join(group_id, member_id, instance_id, client, body)
    names = ("groupId", "generationId", "memberId", "groupInstanceId")
    generation = fields.integer(body, "generationId", api, None, 32)
    if api == "Heartbeat":
        fields.known(body, names, api)
        return HeartbeatRequest(group_id, member_id, instance_id, generation)
    fields.known(body, (*names, "protocolType", "protocolName", "assignments"), api)
    return SyncRequest(
        group_id,
        member_id,
        instance_id,
        generation,
        fields.optional_text(body, "protocolType", api),
        fields.optional_text(body, "protocolName", api),
        dict(
            _named_bytes(entry, "memberId", "assignment", api)
            for entry in fields.items(body, "assignments", api)
        ),
    )


def _join(
    group_id: str, member_id: str, instance_id: str | None, client: Mapping[str, Any], body: Mapping[str, Any]
) -> JoinRequest:
    where = "JoinGroup"
    own = ("sessionTimeoutMs", "rebalanceTimeoutMs", "protocolType", "protocols", "reason")
    fields.known(body, ("groupId", "memberId", "groupInstanceId", *own), where)
    fields.optional_text(body, "reason", where)
    session_ms, rebalance_ms = (
        fields.integer(body, name, where, None, 32) for name in ("sessionTimeoutMs", "rebalanceTimeoutMs")
    )
    if rebalance_ms < 0:
        rebalance_ms = session_ms  # C1: version 0 has no rebalance time-out; -1 is the schema's default
    client_id, client_host, _ = client_of(client)
    protocols = tuple(
        _named_bytes(entry, "name", "metadata", where) for entry in fields.items(body, "protocols", where)
    )
    if len(dict(protocols)) != len(protocols):
        raise BadInput(f"{where} names a protocol twice")
    protocol_type = fields.text(body, "protocolType", where)
    times = session_ms, rebalance_ms
    return JoinRequest(
        group_id, member_id, instance_id, *times, protocol_type, protocols, client_id, client_host
    )


def _leaving(entry: object) -> tuple[str, str | None]:
    where = "a member of LeaveGroup"
    member = fields.as_object(entry, where)
    fields.known(member, ("memberId", "groupInstanceId", "reason"), where)
    fields.optional_text(member, "reason", where)
    return fields.text(member, "memberId", where), fields.optional_text(member, "groupInstanceId", where)


def _named_bytes(entry: object, name: str, content: str, api: str) -> tuple[str, str]:
    where = f"an entry of {api}"
    source = fields.as_object(entry, where)
    fields.known(source, (name, content), where)
    given = fields.text(source, content, where)
    try:
        fields.from_base64(given)
    except ValueError as error:
        raise BadInput(f"{content!r} of {where} must be bytes in base64: {error}") from None
    return fields.text(source, name, where), given


def invalid(request: ClassicRequest, config: Config) -> ErrorCode:
    """The error of a request that no group would accept: a group id that no group can have, and of a
    JoinGroup a session time-out out of range, or texts that no member can have.

    Other requests only compare their texts with those of members, and so find no member.
    """
    if not request.group_id or is_too_long(request.group_id):
        return ErrorCode.INVALID_GROUP_ID
    if isinstance(request, JoinRequest):
        least_ms, most_ms = config.classic_session_min_ms, config.classic_session_max_ms
        if not least_ms <= request.session_timeout_ms <= most_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        if _has_odd_texts(request):
            return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def _has_odd_texts(request: JoinRequest) -> bool:
    """Tell if the instance id or a protocol's name is empty, or a text is too long for Kafka's strings (H3).

    The leader gets the instance ids of all members, perhaps in an older version, whose strings are shorter.
    An empty instance id is none in a consumer group's record, and an empty name no assignor's (M4).
    """
    names = [name for name, _ in request.protocols]
    if request.instance_id == "" or "" in names:
        return True
    return any(
        map(is_too_long, (request.member_id, request.instance_id or "", request.protocol_type, *names))
    )
