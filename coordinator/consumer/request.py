"""The request of ConsumerGroupHeartbeat (H10), read from JSON.

A value that Kafka's schema cannot express (a string for a number, null for what is not nullable, a number
that does not fit) is BadInput: no client can send it. A request that a client can send is judged in
validation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from coordinator.consumer.model import ClientAssignor, Partition, Partitions
from coordinator.core import fields, wire
from coordinator.core.errors import BadInput

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1


class HeartbeatRequest(NamedTuple):
    """ConsumerGroupHeartbeat. None means absent, which is not the same as empty (H7)."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    """-1 means unchanged."""
    subscription: frozenset[str] | None
    regex: str | None
    server_assignor: str | None
    client_assignors: tuple[ClientAssignor, ...] | None
    owned: Partitions | None
    client_id: str
    client_host: str
    principal: str
    topic_names: list[str]
    """`subscription` as the request has it, with repeated names."""
    topic_partitions: list[Partition]
    """`owned` as the request has it, with repeated partitions."""


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
_WHERE: Final = "ConsumerGroupHeartbeat"


def parse_heartbeat(client: Mapping[str, Any], body: Mapping[str, Any]) -> HeartbeatRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    for name, value in body.items():
        kinds = _FIELDS.get(name)
        if kinds is None:
            raise BadInput(f"{_WHERE} has no field {name!r}; it has {', '.join(_FIELDS)}")
        kind = type(value)
        if kind not in kinds:
            raise BadInput(f"{name!r} of {_WHERE} cannot be {fields.shown(value)}")
        if kind is str:
            if not value.isascii():  # rare, and a call for each string would cost time
                fields.encodable(value, name, _WHERE)
        elif kind is int:
            fields.fits(value, 32, name, _WHERE)
    for name in ("groupId", "memberEpoch"):
        if name not in body:
            raise BadInput(f"{_WHERE} needs the field {name!r}")
    get = body.get
    subscribed, assignors, owned = get("subscribedTopicNames"), get("clientAssignors"), get("topicPartitions")
    names = [] if subscribed is None else fields.names(body, "subscribedTopicNames", _WHERE)
    partitions = wire.partitions_given(owned, "topicPartitions") if owned else []
    return HeartbeatRequest(
        body["groupId"],
        get("memberId", ""),
        body["memberEpoch"],
        get("instanceId"),
        get("rackId"),
        get("rebalanceTimeoutMs", -1),
        None if subscribed is None else frozenset(names),
        get("subscribedTopicRegex"),
        get("serverAssignor"),
        None if assignors is None else tuple(client_assignor(assignor) for assignor in assignors),
        None if owned is None else frozenset(partitions),
        *client_of(client),
        names,
        partitions,
    )


def client_assignor(
    value: object,
    where: str = "clientAssignors",
    version: str = "metadataVersion",
    metadata: str = "metadataBytes",
) -> ClientAssignor:
    """An entry of ClientAssignors; `version` and `metadata` are the names of two of its fields. BadInput
    where it is malformed."""
    source = fields.as_object(value, f"an entry of {where}")
    bits = {"minimumVersion": 16, "maximumVersion": 16, version: 16, "reason": 8}
    fields.known(source, ("name", *bits, metadata), where)
    number = {
        name: fields.integer({"reason": 0, **source}, name, where, None, width)
        for name, width in bits.items()
    }
    return ClientAssignor(
        fields.text(source, "name", where),
        number["minimumVersion"],
        number["maximumVersion"],
        number["reason"],
        number[version],
        fields.text({metadata: "", **source}, metadata, where),
    )


_CLIENT: Final = frozenset({"id", "host", "principal"})


def client_of(client: Mapping[str, Any]) -> tuple[str, str, str]:
    """The sender of a request: client id, host and principal, "" where they are left out."""
    for name in client:
        if name not in _CLIENT:
            fields.known(client, _CLIENT, "client")
    id, host, principal = client.get("id", ""), client.get("host", ""), client.get("principal", "")
    if type(id) is type(host) is type(principal) is str and (id + host + principal).isascii():
        return id, host, principal  # nearly all requests
    for name, value in (("id", id), ("host", host), ("principal", principal)):
        if type(value) is not str:
            raise BadInput(f"{name!r} of client must be a string, not {fields.shown(value)}")
        if not value.isascii():
            fields.encodable(value, name, "client")
    return id, host, principal
