"""Topics and groups of a live broker: created, waited for, and deleted again. The names are the broker's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from coordinator.serve.forms import GROUP_RESOURCE
from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Json
from harness.targets.broker.connection import Connection
from harness.targets.broker.forms import DESCRIBE, HEARTBEAT

PAUSE_S: Final = 0.01
"""The pause between two looks at background work of a broker."""
NOT_YET: Final = frozenset({14, 15, 16})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
WAIT_MS: Final = 20_000
"""The time that a broker may take over a change of topics before it answers."""
UNKNOWN_TOPIC: Final = 3
_NON_EMPTY_GROUP: Final = 68
GROUP_ID_NOT_FOUND: Final = 69
DESCRIBE_GROUPS: Final = "DescribeGroups"
LEAVE: Final = "LeaveGroup"
ALTER: Final = "IncrementalAlterConfigs"
DESCRIBE_CONFIGS: Final = "DescribeConfigs"
SESSION_TIMEOUT: Final = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "consumer.heartbeat.interval.ms"
_SET, _DELETE = 0, 1
_TRIES: Final = 300
"""The number of attempts, `SETTLE_S` apart, to delete a group that a member joins again: a busy broker takes
seconds to write a join, and shows the new member only then."""
SETTLE_S: Final = 0.1
"""The time between the moment when a broker shows a configuration and that when its coordinator surely has
it."""


class Denied(ConformError):
    """An error: the broker did not do an operation (exit 3)."""


def wait_until(done: Callable[[], bool], address: str, timeout_s: float, what: str) -> None:
    """Wait for background work of a broker; `what` follows "did not". ConformError (exit 3) if it takes too
    long."""
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            raise ConformError(
                f"The broker {address} did not {what} within {timeout_s:g} s: see its log.", ENGINE_FAILED
            )
        time.sleep(PAUSE_S)


def create_topic(broker: Connection, name: str, partitions: int) -> str:
    """Create a topic with the broker's default replication; its id. ConformError if that is refused."""
    wanted = {"name": name, "numPartitions": partitions, "replicationFactor": -1}
    [answer] = broker.call("CreateTopics", 7, {"topics": [wanted], "timeoutMs": WAIT_MS})["topics"]
    _check(broker, f"create the topic {name}", answer)
    return str(answer["topicId"])


def grow_topic(broker: Connection, name: str, partitions: int) -> None:
    """Add partitions up to that number. ConformError if that is refused."""
    wanted = {"name": name, "count": partitions, "assignments": None}
    [answer] = broker.call("CreatePartitions", 3, {"topics": [wanted], "timeoutMs": WAIT_MS})["results"]
    _check(broker, f"give the topic {name} {partitions} partitions", answer)


def delete_topic(broker: Connection, name: str) -> None:
    """Delete a topic; a missing one is no error. ConformError if the broker refuses."""
    [answer] = broker.call("DeleteTopics", 6, {"topics": [{"name": name}], "timeoutMs": WAIT_MS})["responses"]
    if answer["errorCode"] != UNKNOWN_TOPIC:
        _check(broker, f"delete the topic {name}", answer)


def topics(broker: Connection) -> dict[str, int]:
    """The number of partitions with leaders of each topic, by name."""
    answer = broker.call("Metadata", 12, {"topics": None, "allowAutoTopicCreation": False})
    return {
        topic["name"]: sum(partition["leaderId"] >= 0 for partition in topic["partitions"])
        for topic in answer["topics"]
    }


def groups(broker: Connection) -> set[str]:
    """The ids of all groups of a broker, of any kind."""
    return {group["groupId"] for group in broker.call("ListGroups", 4, {})["groups"]}


def wait_for_topics(
    broker: Connection, there: Mapping[str, int], gone: Iterable[str], timeout_s: float
) -> None:
    """Wait until a broker shows others these topics, with so many partitions, and none of the old ones."""
    absent = set(gone)

    def seen() -> bool:
        known = topics(broker)
        return there.items() <= known.items() and not absent & known.keys()

    names = ", ".join(sorted({*there, *absent}))
    wait_until(seen, broker.address, timeout_s, f"show a change of the topics {names}")


def wait_for_coordinator(broker: Connection, group: str, timeout_s: float) -> tuple[str, int]:
    """Host and port of the coordinator of a group, once there is one."""
    body = {"keyType": 0, "coordinatorKeys": [group]}
    coordinators: list[Json] = []

    def ready() -> bool:
        coordinators[:] = broker.call("FindCoordinator", 4, body)["coordinators"]
        return coordinators[0]["errorCode"] not in NOT_YET

    wait_until(ready, broker.address, timeout_s, "have a group coordinator")
    _check(broker, f"name the coordinator of {group}", coordinators[0])
    return str(coordinators[0]["host"]), int(coordinators[0]["port"])


def wait_for_group(coordinator: Connection, group: str, timeout_s: float) -> None:
    """Wait until a coordinator answers for a new group."""
    wait_until(
        lambda: describe_group(coordinator, group)["errorCode"] not in NOT_YET,
        coordinator.address,
        timeout_s,
        f"load the group {group}",
    )


def describe_group(coordinator: Connection, group: str) -> Json:
    """A group in the form of ConsumerGroupDescribe, its error included."""
    version = 1 if coordinator.has(DESCRIBE, 1) else 0
    [answer] = coordinator.call(DESCRIBE, version, {"groupIds": [group]})["groups"]
    described: Json = answer
    return described


def describe_classic(coordinator: Connection, group: str) -> Json:
    """A group in the form of DescribeGroups: Dead where there is none, or it is of another kind."""
    if not coordinator.has(DESCRIBE_GROUPS, 5):
        return {"groupState": "Dead", "members": []}
    [answer] = coordinator.call(DESCRIBE_GROUPS, 5, {"groups": [group]})["groups"]
    described: Json = answer
    return described


def empty_classic(coordinator: Connection, group: str, made: Sequence[str]) -> None:
    """Let every member of a classic group leave; `made` are member ids that may not have joined."""
    members = describe_classic(coordinator, group)["members"]
    named = dict.fromkeys(made) | {one["memberId"]: one["groupInstanceId"] for one in members}
    if named:
        leaving = [{"memberId": one, "groupInstanceId": named[one], "reason": None} for one in named]
        coordinator.call(LEAVE, 5, {"groupId": group, "members": leaving})


def wait_for_empty(coordinator: Connection, group: str, timeout_s: float) -> None:
    """Wait until a classic group that all members have left is Empty: a group whose first rebalance is
    delayed is not yet."""

    def seen() -> bool:
        return describe_classic(coordinator, group)["groupState"] in ("Empty", "Dead")

    wait_until(seen, coordinator.address, timeout_s, f"let all members leave the group {group}")


def delete_group(coordinator: Connection, group: str) -> None:
    """Let every member leave, and delete the group. ConformError if the broker refuses.

    A join that was under way when the run was stopped may be accepted after the members have left: then the
    deletion is repeated.
    """
    for _ in range(_TRIES):
        for member in describe_group(coordinator, group)["members"]:
            leave = {"groupId": group, "memberId": member["memberId"], "memberEpoch": -1}
            coordinator.call(HEARTBEAT, 0, leave)
        [answer] = coordinator.call("DeleteGroups", 2, {"groupsNames": [group]})["results"]
        if answer["errorCode"] != _NON_EMPTY_GROUP:
            break
        time.sleep(SETTLE_S)
    if answer["errorCode"] != GROUP_ID_NOT_FOUND:
        _check(coordinator, f"delete the group {group}", answer)


def configure_group(
    broker: Connection, group: str, values: Mapping[str, int | None], timeout_s: float
) -> None:
    """Give a group configurations of its own, or remove those that are None, and wait until that is in force.
    Denied if the broker refuses."""
    changes = [
        {"name": name, "configOperation": _DELETE if value is None else _SET, "value": _text(value)}
        for name, value in values.items()
    ]
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configs": changes}
    body = {"resources": [resource], "validateOnly": False}
    if not broker.has(ALTER, 1):
        raise Denied(f"The broker {broker.address} does not have version 1 of {ALTER}.", ENGINE_FAILED)
    [answer] = broker.call(ALTER, 1, body)["responses"]
    _check(broker, f"configure the group {group}", answer)
    wanted = {name: _text(value) for name, value in values.items() if value is not None}
    if wanted:
        wait_until(
            lambda: wanted.items() <= group_settings(broker, group).items(),
            broker.address,
            timeout_s,
            f"show the configurations of the group {group}",
        )
        time.sleep(SETTLE_S)


def group_settings(broker: Connection, group: str) -> dict[str, str | None]:
    """The configurations of a group, also those that it has from the broker; none where the broker does not
    tell."""
    if not broker.has(DESCRIBE_CONFIGS, 4):
        return {}
    resource = {"resourceType": GROUP_RESOURCE, "resourceName": group, "configurationKeys": None}
    body = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
    [answer] = broker.call(DESCRIBE_CONFIGS, 4, body)["results"]
    return {one["name"]: one["value"] for one in answer["configs"] or ()}


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def assigned_alone(coordinator: Connection, group: str, names: list[str]) -> dict[str, int]:
    """The partitions that the only member of a new group gets of these topics: topic id -> number of
    partitions.

    This shows the coordinator's knowledge: it learns of topics later than the broker tells clients.
    """
    join = {
        "groupId": group,
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 10_000,
        "subscribedTopicNames": names,
        "topicPartitions": [],
    }
    assignment = coordinator.call(HEARTBEAT, 0, join)["assignment"] or {"topicPartitions": []}
    delete_group(coordinator, group)
    return {topic["topicId"]: len(topic["partitions"]) for topic in assignment["topicPartitions"]}


def _check(broker: Connection, what: str, answer: Json) -> None:
    if code := answer["errorCode"]:
        raise Denied(
            f"The broker {broker.address} would not {what}: error {code}, "
            f"{answer.get('errorMessage') or 'without a message'}. See whether this client may do that.",
            ENGINE_FAILED,
        )
