"""OffsetDelete over the wire, by Kafka's rules (D1)."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest
from served import ask, broker, frame

from coordinator import Coordinator
from coordinator.classic.embedded import Subscription, write_subscription
from coordinator.core.clock import SimulatedClock
from coordinator.core.storage import SqliteStorage
from coordinator.serve.broker import Broker
from coordinator.serve.cluster import Cluster

DELETED, UNKNOWN_TOPIC, INVALID_GROUP, NON_EMPTY, NO_GROUP, SUBSCRIBED = 0, 3, 24, 68, 69, 86
SUBSCRIBES_TO_FOO = base64.b64encode(write_subscription(Subscription(frozenset({"foo"})))).decode()


def commit(made: Broker, group: str, *topics: str, **member: Any) -> None:
    partitions = [
        {"partitionIndex": index, "committedOffset": 5, "committedMetadata": ""} for index in (0, 1)
    ]
    named = [{"name": topic, "partitions": partitions} for topic in topics]
    for topic in ask(made, 8, 9, {"groupId": group, "topics": named, **member})["topics"]:
        assert [one["errorCode"] for one in topic["partitions"]] == [0, 0]


def committed(made: Broker, group: str = "g") -> set[str]:
    [answer] = ask(made, 9, 8, {"groups": [{"groupId": group, "topics": None}]})["groups"]
    return {
        f"{topic['name']}-{one['partitionIndex']}"
        for topic in answer["topics"]
        for one in topic["partitions"]
    }


def delete(made: Broker, group: str, *topics: str, partitions: tuple[int, ...] = (0, 1)) -> Any:
    """The error of the request, or the error of each topic, which is the same for all its partitions."""
    indexes = [{"partitionIndex": index} for index in partitions]
    named = [{"name": topic, "partitions": indexes} for topic in topics]
    answer = ask(made, 47, 0, {"groupId": group, "topics": named})
    if answer["errorCode"]:
        assert answer["topics"] == []
        return answer["errorCode"]
    errors = {}
    for topic in answer["topics"]:
        assert [one["partitionIndex"] for one in topic["partitions"]] == list(partitions)
        [errors[topic["name"]]] = {one["errorCode"] for one in topic["partitions"]}
    return errors


def join(made: Broker, group: str = "g", epoch: int = 0, **fields: Any) -> int:
    body = {"groupId": group, "memberId": "m", "memberEpoch": epoch, "rebalanceTimeoutMs": 60000}
    body |= {"subscribedTopicNames": ["foo"], "subscribedTopicRegex": None, "topicPartitions": []}
    answer = ask(made, 68, 1, body | fields)
    assert answer["errorCode"] == 0
    return int(answer["memberEpoch"])


@pytest.mark.parametrize(
    "subscription",
    [{}, {"subscribedTopicNames": None, "subscribedTopicRegex": "fo+"}],
    ids=["by name", "by regex"],
)
def test_a_topic_of_a_live_consumer_group_keeps_its_offsets(subscription: dict[str, Any]) -> None:
    made = broker({"foo": 2, "bar": 2})
    epoch = join(made, **subscription)
    commit(made, "g", "foo", "bar", memberId="m", generationIdOrMemberEpoch=epoch)
    assert delete(made, "g", "foo", "bar", "no") == {"foo": SUBSCRIBED, "bar": DELETED, "no": UNKNOWN_TOPIC}
    assert committed(made) == {"foo-0", "foo-1"}
    join(made, epoch=-1)
    assert delete(made, "g", "foo", partitions=(1,)) == {"foo": DELETED}
    assert committed(made) == {"foo-0"}


def classic(made: Broker, clock: SimulatedClock, kind: str, *answer: str) -> None:
    """A classic group "c" whose members have joined, each with the same metadata in all protocols."""
    for metadata in answer:
        protocols = [{"name": name, "metadata": metadata} for name in ("range", "sticky")]
        body = {"groupId": "c", "sessionTimeoutMs": 10000, "rebalanceTimeoutMs": 20000, "memberId": ""}
        body |= {"protocolType": kind, "protocols": protocols}
        member = ask(made, 11, 5, body)["memberId"]
        made.handle(frame(11, 5, {**body, "memberId": member}), "127.0.0.1")
    clock.set(clock.later(9000))
    made.ready()


@pytest.mark.parametrize(
    ("kind", "response", "answer"),
    [
        ("consumer", SUBSCRIBES_TO_FOO, {"foo": SUBSCRIBED, "bar": DELETED}),
        ("consumer", "AAA=", {"foo": SUBSCRIBED, "bar": SUBSCRIBED}),
        ("connect", SUBSCRIBES_TO_FOO, NON_EMPTY),
    ],
    ids=["consumers", "consumers that cannot be read", "another protocol type"],
)
def test_a_live_classic_group(kind: str, response: str, answer: Any) -> None:
    clock = SimulatedClock()
    made = broker({"foo": 2, "bar": 2}, clock=clock)
    commit(made, "c", "foo", "bar")
    classic(made, clock, kind, response)
    before = committed(made, "c")
    assert delete(made, "c", "foo", "bar") == answer
    left = set() if answer == NON_EMPTY else {topic for topic, code in answer.items() if code == DELETED}
    assert committed(made, "c") == {one for one in before if one[:-2] not in left}
    clock.set(clock.later(60000))
    made.ready()
    assert ask(made, 16, 5, {})["groups"][0]["groupState"] == "Empty"
    assert delete(made, "c", "foo") == {"foo": DELETED}, "nobody is left"


def test_groups_that_are_not_there_and_requests_about_nothing() -> None:
    made = broker({"foo": 2})
    assert delete(made, "none", "foo") == NO_GROUP
    assert delete(made, "", "foo") == INVALID_GROUP
    assert delete(made, "none", "no") == {"no": UNKNOWN_TOPIC}, "as in Kafka, which then asks for no group"
    commit(made, "simple", "foo")
    assert delete(made, "simple", "foo", partitions=(0, 0, 7)) == {"foo": DELETED}
    assert committed(made, "simple") == {"foo-1"}


def test_deleted_groups_stay_deleted_after_a_crash(tmp_path: Path) -> None:
    """P3: the tombstones are on the disk before the answer is sent; another server goes on from a copy."""

    def opened(folder: str) -> Broker:
        cluster = Cluster("127.0.0.1", 9092, 0, lambda: "00000000-0000-0000-0000-000000000001", 10)
        cluster.add("foo", 2)
        return Broker(Coordinator(storage=SqliteStorage(str(tmp_path / folder / "log"))), cluster)

    (tmp_path / "first").mkdir()
    made = opened("first")
    commit(made, "g", "foo")
    assert delete(made, "g", "foo", partitions=(1,)) == {"foo": DELETED}
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    assert committed(opened("second")) == {"foo-0"}


def test_a_live_connect_group() -> None:
    made = broker({"foo": 2})
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
    body = {"groupId": "w", "memberId": "m", "rebalanceTimeoutMs": 60000, "connectorsAndTasks": []}
    body |= {"clientAssignors": [offer]}
    for epoch, answer in ((0, NON_EMPTY), (-1, {"foo": DELETED})):
        made._coordinator.request("ConnectGroupHeartbeat", 0, {"id": "c"}, {**body, "memberEpoch": epoch})
        assert delete(made, "w", "foo") == answer
