"""Members of classic and Connect groups, in the fields of ConsumerGroupDescribe, which covers consumer groups
alone (D2).

KIP-848, "Admin#describeConsumerGroups": the current assignment of a member is "Provided for both generic
group and consumer group", its target for consumer groups only.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from coordinator.admin.groups import CLASSIC, CONNECT, CONSUMER
from coordinator.classic.embedded import read_assignment
from coordinator.core.fields import Json

_IDENTITY: Final = ("memberId", "instanceId", "clientId", "clientHost")


def other_group(group: Json) -> Json:
    """The epoch, the assignor and the members of a group, read from `Coordinator.describe`; nothing for a
    group of another kind."""
    if group.get("type") == CLASSIC:
        return {
            "groupEpoch": group["generation"],
            "assignorName": group["protocol"],
            "members": [_classic(group, member) for member in group["members"]],
        }
    if group.get("type") == CONNECT:
        epochs = {name: group[name] for name in ("groupEpoch", "assignmentEpoch")}
        return {**epochs, "members": [_worker(member) for member in group["members"]]}
    return {}


def _classic(group: Json, member: Json) -> Json:
    metadata = {name: member[name] for name in _IDENTITY}
    readable = group["protocolType"] == CONSUMER and member["assignment"]
    assignment = _read(member["assignment"]) if readable else None
    return {
        **metadata,
        "memberEpoch": group["generation"],
        "assignment": assignment,
        "targetAssignment": None,
    }


def _read(assignment: str) -> Json | None:
    """An assignment in the embedded consumer protocol; None for bytes that are not an assignment."""
    try:
        given = read_assignment(b64decode(assignment)).partitions
    except ValueError:
        return None
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(given):
        topics.setdefault(topic, []).append(index)
    return {
        "topicPartitions": [{"topicName": topic, "partitions": indexes} for topic, indexes in topics.items()]
    }


def _worker(member: Json) -> Json:
    metadata = {name: member.get(name) for name in _IDENTITY}
    names = {"assignment": "assigned", "targetAssignment": "target"}
    assignments = {name: {"connectorsAndTasks": member[field] or []} for name, field in names.items()}
    return {**metadata, "memberEpoch": member["memberEpoch"], **assignments}
