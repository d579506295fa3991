"""The request of ConsumerGroupHeartbeat: its fields (H10) and their validation (H3, H4)."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final, NamedTuple

from coordinator import wire
from coordinator.errors import BadInput, ErrorCode, RequestRejected
from coordinator.model import Partitions

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1


class HeartbeatRequest(NamedTuple):
    """ConsumerGroupHeartbeat. None says absent, which is not the same as empty (H7)."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    """-1 says unchanged."""
    subscription: frozenset[str] | None
    regex: str | None
    server_assignor: str | None
    client_assignors: list[Any] | None
    owned: Partitions | None
    client_id: str
    client_host: str


_TEXT: Final = (str,)
_OPTIONAL_TEXT: Final = (str, type(None))
_NUMBER: Final = (int,)
_OPTIONAL_LIST: Final = (list, type(None))

_FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "groupId": _TEXT,
    "memberId": _TEXT,
    "memberEpoch": _NUMBER,
    "instanceId": _OPTIONAL_TEXT,
    "rackId": _OPTIONAL_TEXT,
    "rebalanceTimeoutMs": _NUMBER,
    "subscribedTopicNames": _OPTIONAL_LIST,
    "subscribedTopicRegex": _OPTIONAL_TEXT,
    "serverAssignor": _OPTIONAL_TEXT,
    "clientAssignors": _OPTIONAL_LIST,
    "topicPartitions": _OPTIONAL_LIST,
}


def parse_heartbeat(client: Mapping[str, Any], body: Mapping[str, Any]) -> HeartbeatRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    for name, value in body.items():
        kinds = _FIELDS.get(name)
        if kinds is None:
            raise BadInput(f"ConsumerGroupHeartbeat has no field {name!r}; it has {', '.join(_FIELDS)}")
        if type(value) not in kinds:
            raise BadInput(f"{name!r} of ConsumerGroupHeartbeat cannot be {value!r}")
    for name in ("groupId", "memberEpoch"):
        if name not in body:
            raise BadInput(f"ConsumerGroupHeartbeat needs the field {name!r}")
    get = body.get
    subscribed = get("subscribedTopicNames")
    owned = get("topicPartitions")
    return HeartbeatRequest(
        body["groupId"],
        get("memberId", ""),
        body["memberEpoch"],
        get("instanceId"),
        get("rackId"),
        get("rebalanceTimeoutMs", -1),
        None if subscribed is None else _topic_names(subscribed),
        get("subscribedTopicRegex"),
        get("serverAssignor"),
        get("clientAssignors"),
        None if owned is None else wire.from_wire(owned, "topicPartitions"),
        _client_text(client, "id"),
        _client_text(client, "host"),
    )


def _topic_names(names: list[Any]) -> frozenset[str]:
    for name in names:
        if type(name) is not str:
            raise BadInput(f"subscribedTopicNames must hold strings, not {name!r}")
    return frozenset(names)


def _client_text(client: Mapping[str, Any], name: str) -> str:
    value = client.get(name, "")
    if type(value) is not str:
        raise BadInput(f"{name!r} of client must be a string, not {value!r}")
    return value


def validate_heartbeat(request: HeartbeatRequest, assignors: Container[str]) -> None:
    """H3 and H4. Raises RequestRejected with INVALID_REQUEST or UNSUPPORTED_ASSIGNOR."""
    joins = request.member_epoch == JOIN_EPOCH
    if not request.group_id:
        raise _invalid("GroupId must not be empty.")
    if not request.member_id and not joins:
        raise _invalid("MemberId must not be empty, except on the first join.")
    if request.member_epoch < LEAVE_EPOCH:
        raise _invalid(f"MemberEpoch {request.member_epoch} is not valid; the least is {LEAVE_EPOCH}.")
    if request.instance_id is not None:
        raise _invalid("InstanceId must be absent: this coordinator has no static membership.")
    if request.regex:
        raise _invalid("SubscribedTopicRegex must be absent: this coordinator has no regular expressions.")
    if joins and request.rebalance_timeout_ms <= 0:
        raise _invalid("RebalanceTimeoutMs must be larger than zero in a join.")
    if joins and request.subscription is None:
        raise _invalid("SubscribedTopicNames must be given in a join.")
    if request.client_assignors:
        if request.server_assignor is not None:
            raise _invalid("ServerAssignor and ClientAssignors cannot be used together.")
        raise _unsupported("ClientAssignors are not supported: assignors are server-side here.")
    if request.server_assignor == "":
        raise _invalid("ServerAssignor must not be empty.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise _unsupported(f"ServerAssignor {request.server_assignor} is not one of this coordinator's.")


def _invalid(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.INVALID_REQUEST, message)


def _unsupported(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.UNSUPPORTED_ASSIGNOR, message)
