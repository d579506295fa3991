"""DescribeGroups: classic groups (C1) in Kafka's form. Groups of other kinds are Dead there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from coordinator.core.errors import RequestRejected
from coordinator.core.fields import Json

DESCRIBE_GROUPS: Final = 15
GROUP_ID_NOT_FOUND: Final = 69
NAMES_ERROR: Final = 6
"""The version from which a group that does not exist is an error, and not only Dead."""


def describe_groups(describe: Callable[[str], Json], version: int, body: Json) -> Json:
    """The response, with each group once; `describe` gives the whole state of a group, as
    `Coordinator.describe` does for the client."""
    return {"groups": [_group(describe, group_id, version) for group_id in dict.fromkeys(body["groups"])]}


def _group(describe: Callable[[str], Json], group_id: str, version: int) -> Json:
    try:
        group = describe(group_id)
    except RequestRejected as rejected:
        refused = {"errorCode": int(rejected.code), "errorMessage": rejected.message}
        return {"groupId": group_id, "groupState": "", **refused}
    if group.get("type") != "classic" or group["state"] == "Dead":
        refused = {"errorCode": GROUP_ID_NOT_FOUND, "errorMessage": f"There is no classic group {group_id}."}
        return {"groupId": group_id, "groupState": "Dead", **(refused if version >= NAMES_ERROR else {})}
    stable = group["state"] == "Stable"
    return {
        "groupId": group_id,
        "groupState": group["state"],
        "protocolType": group["protocolType"],
        "protocolData": (group["protocol"] or "") if stable else "",
        "members": [_member(member, group["protocol"] if stable else None) for member in group["members"]],
    }


def _member(member: Json, protocol: str | None) -> Json:
    """A member; the metadata under the group's protocol, and the assignment, only in a stable group, as in
    Kafka."""
    metadata = {one["name"]: one["metadata"] for one in member["protocols"]}
    return {
        "memberId": member["memberId"],
        "groupInstanceId": member["instanceId"],
        "clientId": member["clientId"],
        "clientHost": member["clientHost"],
        "memberMetadata": metadata.get(protocol or "", ""),
        "memberAssignment": (member["assignment"] or "") if protocol else "",
    }
