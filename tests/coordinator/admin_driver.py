"""ListGroups, DeleteGroups and configurations of groups in the words of the tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator import Coordinator, ErrorCode
from coordinator.apis import APIS

Json = dict[str, Any]
SESSION = "group.consumer.session.timeout.ms"
INTERVAL = "group.consumer.heartbeat.interval.ms"
GROUP = 16
BROKER = 4


def ask(coordinator: Coordinator, api: str, principal: str = "User:admin", **body: Any) -> Json:
    return coordinator.request(api, APIS[api][1], {"principal": principal}, body)


def listed(
    coordinator: Coordinator, states: Iterable[str] = (), types: Iterable[str] = (), **client: str
) -> list[str]:
    """["g consumer Stable"], as ListGroups has them."""
    result = ask(coordinator, "ListGroups", statesFilter=list(states), typesFilter=list(types), **client)
    assert result["errorCode"] == 0
    return [f"{group['groupId']} {group['groupType']} {group['groupState']}" for group in result["groups"]]


def delete(coordinator: Coordinator, *group_ids: str, **client: str) -> dict[str, str]:
    """Group id -> the name of its error."""
    results = ask(coordinator, "DeleteGroups", groupsNames=list(group_ids), **client)["results"]
    assert len({result["groupId"] for result in results}) == len(results)
    return {result["groupId"]: ErrorCode(result["errorCode"]).name for result in results}


def change(name: str, value: str | None, operation: int = 0) -> Json:
    return {"name": name, "configOperation": operation, "value": value}


def alter(
    coordinator: Coordinator,
    *changes: Json,
    group: str = "g",
    kind: int = GROUP,
    only: bool = False,
    **client: str,
) -> tuple[str, str]:
    """The name of the error and its message."""
    resource = {"resourceType": kind, "resourceName": group, "configs": list(changes)}
    (response,) = ask(
        coordinator, "IncrementalAlterConfigs", resources=[resource], validateOnly=only, **client
    )["responses"]
    assert (response["resourceType"], response["resourceName"]) == (kind, group)
    return ErrorCode(response["errorCode"]).name, response["errorMessage"] or ""


def configs(coordinator: Coordinator, group: str = "g", kind: int = GROUP, **request: Any) -> dict[str, Json]:
    """Name -> the configuration as DescribeConfigs has it."""
    resource = {"resourceType": kind, "resourceName": group, "configurationKeys": request.pop("names", None)}
    (result,) = ask(coordinator, "DescribeConfigs", resources=[resource], **request)["results"]
    assert result["errorCode"] == 0, result
    return {config["name"]: config for config in result["configs"]}


def values(coordinator: Coordinator, group: str = "g") -> list[tuple[str, int]]:
    """The session time-out and the heartbeat interval, each with its source."""
    results = configs(coordinator, group)
    return [(results[name]["value"], results[name]["configSource"]) for name in (SESSION, INTERVAL)]
