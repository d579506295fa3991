"""The APIs of the coordinator, and the parsers of their requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from coordinator.admin.requests import (
    AdminRequest,
    parse_alter_configs,
    parse_delete_groups,
    parse_describe_configs,
    parse_list_groups,
)
from coordinator.computing.request import PARSERS as CLIENT_PARSERS
from coordinator.computing.request import ComputeRequest
from coordinator.consumer.describe_request import DescribeRequest, parse_describe
from coordinator.consumer.request import HeartbeatRequest, client_of, parse_heartbeat
from coordinator.core.errors import BadInput, ErrorCode
from coordinator.core.fields import Json
from coordinator.kinds import KIND_OF, KINDS, Kind
from coordinator.offsets.request import CommitRequest, FetchRequest, parse_offset_commit, parse_offset_fetch


class OfKind(NamedTuple):
    """A request that only one kind of group has, as that kind has parsed it."""

    kind: Kind[Any]
    request: Any


Request = (
    HeartbeatRequest | ComputeRequest | DescribeRequest | CommitRequest | FetchRequest | AdminRequest | OfKind
)

Changing = HeartbeatRequest | ComputeRequest | CommitRequest
"""Requests that may change a group, one step each."""
Refusal = Callable[[ErrorCode, str], Json]
"""The response to a request that is refused, with the text of the error."""

_PARSERS: Final[dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Request]]] = {
    "ConsumerGroupHeartbeat": parse_heartbeat,
    "ConsumerGroupDescribe": parse_describe,
    "OffsetCommit": parse_offset_commit,
    "OffsetFetch": parse_offset_fetch,
    "ListGroups": parse_list_groups,
    "DeleteGroups": parse_delete_groups,
    "IncrementalAlterConfigs": parse_alter_configs,
    "DescribeConfigs": parse_describe_configs,
    **CLIENT_PARSERS,
}

APIS: Final = {
    "ConsumerGroupHeartbeat": (0, 0),
    "ConsumerGroupDescribe": (0, 0),
    "OffsetCommit": (9, 9),
    "OffsetFetch": (9, 9),
    "ListGroups": (5, 5),
    "DeleteGroups": (2, 2),
    "IncrementalAlterConfigs": (1, 1),
    "DescribeConfigs": (4, 4),
    **dict.fromkeys(CLIENT_PARSERS, (0, 0)),
    **{api: versions for kind in KINDS for api, versions in kind.apis.items()},
}
"""Name of each API -> first and last version."""


def parse(api: str, version: int, client: Mapping[str, Any], body: Mapping[str, Any]) -> Request:
    """The parsed request; BadInput where the body is no request of the API."""
    if api not in APIS:
        raise BadInput(f"this coordinator has no API {api!r}; it has {', '.join(APIS)}")
    first, last = APIS[api]
    if type(version) is not int or not first <= version <= last:
        raise BadInput(f"{api} has the versions {first} to {last}, not {version!r}")
    if api in KIND_OF:
        client_of(client)  # so parsers of kinds need not check the client
        return OfKind(KIND_OF[api], KIND_OF[api].parse(api, client, dict(body)))
    return _PARSERS[api](client, body)
