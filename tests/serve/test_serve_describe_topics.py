"""DescribeTopicPartitions of the served coordinator, and the APIs that clients need of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from served import broker, serving
from test_serve_broker import ask

from coordinator.serve.broker import VERSIONS
from coordinator.serve.frames import NUMBERS
from harness.engines.java import find_java
from harness.errors import ConformError
from harness.targets.kafka import jars

PROGRAM = "org.apache.kafka.tools.TopicCommand"
VERSION = "4.3.1"
NEEDED = (
    *("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"),
    *("OffsetCommit", "OffsetFetch", "OffsetDelete", "DescribeGroups", "ListGroups", "DeleteGroups"),
    *("FindCoordinator", "ApiVersions", "Metadata", "DescribeCluster", "DescribeTopicPartitions"),
    *("OffsetForLeaderEpoch", "DescribeConfigs", "IncrementalAlterConfigs", "CreateTopics", "DeleteTopics"),
    *("CreatePartitions", "ListOffsets", "Fetch", "Produce"),
)
"""The APIs that consumers and administrators use; those of SASL are offered where there are users."""


def described(made: Any, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Any:
    begins = None if cursor is None else {"topicName": cursor[0], "partitionIndex": cursor[1]}
    body = {"topics": [{"name": name} for name in names], "responsePartitionLimit": limit, "cursor": begins}
    answer = ask(made, 75, 0, body)
    after = answer["nextCursor"]
    return (
        [
            (one["name"], one["errorCode"], [each["partitionIndex"] for each in one["partitions"]])
            for one in answer["topics"]
        ],
        after and (after["topicName"], after["partitionIndex"]),
    )


def test_the_apis_are_those_that_clients_need() -> None:
    assert {NUMBERS[name] for name in NEEDED} == set(VERSIONS)
    assert NUMBERS["GetTelemetrySubscriptions"] not in VERSIONS


def test_topics_are_described_in_the_order_of_their_names() -> None:
    made = broker({"foo": 2, "bar": 1})
    assert described(made) == ([("bar", 0, [0]), ("foo", 0, [0, 1])], None)
    assert described(made, "foo", "none") == ([("foo", 0, [0, 1]), ("none", 3, [])], None)


def test_pages_have_each_partition_once() -> None:
    made = broker({"bar": 1, "baz": 2, "foo": 5})
    pages, cursor = [], None
    while True:
        result, cursor = described(made, limit=2, cursor=cursor)
        pages.append([(name, partitions) for name, _, partitions in result])
        if cursor is None:
            break
    assert pages == [
        [("bar", [0]), ("baz", [0])],
        [("baz", [1]), ("foo", [0])],
        [("foo", [1, 2])],
        [("foo", [3, 4])],
    ]


def test_a_page_that_ends_with_a_topic_begins_with_the_next() -> None:
    assert described(broker({"bar": 1, "foo": 1}), limit=1) == ([("bar", 0, [0])], ("foo", 0))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_page_has_one_partition_at_least(limit: int) -> None:
    assert described(broker({"foo": 2}), limit=limit) == ([("foo", 0, [0])], ("foo", 1))


def test_a_cursor_before_the_first_partition_is_refused() -> None:
    assert described(broker({"foo": 2}), "foo", cursor=("foo", -1)) == ([("foo", 42, [])], None)


def test_settings_of_a_topic_beside_those_of_a_group() -> None:
    made = broker({"foo": 2})
    resources = [
        {"resourceType": kind, "resourceName": name, "configurationKeys": None}
        for kind, name in ((2, "foo"), (2, "none"), (32, "g"))
    ]
    answer = ask(made, 32, 4, {"resources": resources})
    results = {
        (one["resourceType"], one["resourceName"]): (one["errorCode"], bool(one["configs"]))
        for one in answer["results"]
    }
    assert results == {(2, "foo"): (0, False), (2, "none"): (3, False), (32, "g"): (0, True)}


@pytest.mark.maven
def test_kafka_topics_of_apaches_distribution_describes() -> None:
    """Kafka's AdminClient asks by DescribeTopicPartitions where a broker has the API."""
    try:
        needed = (
            jars.jars(f"org.apache.kafka:{name}", VERSION)
            for name in ("kafka-tools", "kafka-group-coordinator")
        )
        classes = os.pathsep.join(str(jar) for entry in needed for jar in entry)
        java: Path | str = find_java()
    except jars.Unavailable as error:
        pytest.skip(error.message)
    except ConformError as error:
        pytest.skip(error.message)
    with serving(topics={"foo": 2, "bar": 1}) as (_, port):
        done = subprocess.run(
            [
                *(str(java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, PROGRAM),
                *("--bootstrap-server", f"127.0.0.1:{port}", "--describe"),
                *("--partition-size-limit-per-response", "1"),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    rows = [line.split() for line in done.stdout.splitlines() if "Leader:" in line]
    assert sorted((row[1], row[3]) for row in rows) == [("bar", "0"), ("foo", "0"), ("foo", "1")], done
