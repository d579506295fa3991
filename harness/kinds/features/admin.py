"""Requests of an administrator (D1) on the wire: handlers of the actions, and the expected responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from harness.kinds.consumer.state import Admin, SpecState
from harness.replay import wire
from harness.replay.calls import Call, SendRequest
from harness.targets.base import Json

Handler: TypeAlias = Callable[[SpecState, SpecState], Call]
"""A function from the states before and after a step to its call; ValueError, in words, if they contradict
the call."""

GROUP_RESOURCE: Final = 16
"""KIP-848's number of the resource type GROUP; Kafka's own is 32 (`coordinator/serve/forms.py`)."""
GROUP_CONFIG: Final = 8
DEFAULT_CONFIG: Final = 5
INT: Final = 3
"""Kafka's numbers of the sources of a value, and of its type."""
SET: Final = 0
DELETE: Final = 1
"""Operations on a configuration."""
NAMES: Final = (wire.SESSION_TIMEOUT, wire.HEARTBEAT_INTERVAL)
"""The configurations that a group may have (D3)."""
CLIENT: Final = {"id": "admin", "host": wire.CLIENT_HOST, "principal": "User:admin"}
_PROTOCOL: Final = {"consumer": "consumer", "classic": ""}
"""Type of a group -> protocol type of a group without a join, or of one that uses KIP-848's protocol."""


def _of(state: SpecState) -> Admin:
    if state.admin is None:
        raise ValueError(f"a step {state.step.action} is in a trace without the variable admin")
    return state.admin


def _list_groups(before: SpecState, after: SpecState) -> Call:
    """D1: the filters of states and types."""
    admin = _of(after)
    if admin.listed and not (before.group.exists or before.offsets):
        raise ValueError("a group is listed, but there is none")
    body = {"statesFilter": sorted(admin.states), "typesFilter": sorted(admin.types)}
    return SendRequest(wire.LIST, CLIENT, body)


def _delete_groups(before: SpecState, after: SpecState) -> Call:
    """D1: the group is deleted with its offsets, or stays as it is."""
    deleted = after.step.response.error == "NONE"
    if deleted and (before.group.members or after.group.exists or after.offsets):
        raise ValueError("the group is deleted, but had members, or something of it is left")
    if not deleted and before.key != after.key:
        raise ValueError(f"the group is not deleted ({after.step.response.error}), but something changes")
    return SendRequest(wire.DELETE, CLIENT, {"groupsNames": [wire.GROUP]})


def _alter_configs(before: SpecState, after: SpecState) -> Call:
    """D1: one configuration is set, or removed."""
    admin = _of(after)
    change = {
        "name": admin.name,
        "configOperation": DELETE if admin.value is None else SET,
        "value": None if admin.value is None else str(admin.value),
    }
    if after.configs != before.configs and after.configs.get(admin.name) != admin.value:
        raise ValueError(f"{admin.name} is changed to {admin.value}, but is {after.configs.get(admin.name)}")
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": wire.GROUP, "configs": [change]}
    return SendRequest(wire.ALTER, CLIENT, {"resources": [resource], "validateOnly": False})


def _describe_configs(before: SpecState, after: SpecState) -> Call:
    """D1: the configurations of the group, whether or not it exists."""
    if _of(after).own != before.configs.keys():
        raise ValueError(f"the group has {sorted(before.configs)} of its own, not {sorted(_of(after).own)}")
    resource = {
        "resourceType": GROUP_RESOURCE,
        "resourceName": wire.GROUP,
        "configurationKeys": list(NAMES),
    }
    return SendRequest(wire.CONFIGS, CLIENT, {"resources": [resource]})


HANDLERS: Final[Mapping[str, Handler]] = {
    "ListGroups": _list_groups,
    "DeleteGroups": _delete_groups,
    "AlterConfigs": _alter_configs,
    "DescribeConfigs": _describe_configs,
}


def _listed(after: SpecState) -> Json:
    groups = [
        {"groupId": wire.GROUP, "protocolType": _PROTOCOL[kind], "groupState": state, "groupType": kind}
        for state, kind in _of(after).listed
    ]
    return {"throttleTimeMs": 0, "errorCode": wire.ERROR_CODES[after.step.response.error], "groups": groups}


def _deleted(after: SpecState) -> Json:
    result = {"groupId": wire.GROUP, "errorCode": wire.ERROR_CODES[after.step.response.error]}
    return {"throttleTimeMs": 0, "results": [result]}


def _altered(after: SpecState) -> Json:
    response = {
        "errorCode": wire.ERROR_CODES[after.step.response.error],
        "errorMessage": None,
        "resourceType": GROUP_RESOURCE,
        "resourceName": wire.GROUP,
    }
    return {"throttleTimeMs": 0, "responses": [response]}


def _described(after: SpecState) -> Json:
    admin = _of(after)
    shown = dict(admin.shown)
    configs: list[Json] = [
        {
            "name": name,
            "value": str(shown[name]),
            "readOnly": False,
            "configSource": GROUP_CONFIG if name in admin.own else DEFAULT_CONFIG,
            "isSensitive": False,
            "synonyms": [],
            "configType": INT,
            "documentation": None,
        }
        for name in sorted(NAMES)
    ]
    result = {
        "errorCode": 0,
        "errorMessage": None,
        "resourceType": GROUP_RESOURCE,
        "resourceName": wire.GROUP,
        "configs": configs,
    }
    return {"throttleTimeMs": 0, "results": [result]}


RESPONSES: Final[Mapping[str, Callable[[SpecState], Json]]] = {
    "ListGroups": _listed,
    "DeleteGroups": _deleted,
    "AlterConfigs": _altered,
    "DescribeConfigs": _described,
}
"""The body of the response of each action."""
