"""Unmodified clients on the coordinator, and the kit's own judgement of it over the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient
from served import FAST, ROOT, serving

from harness.identify.judge import identify
from harness.identify.probes import read_probes
from harness.replay.files import replay_files, trace_files
from harness.targets import open_unchecked

SENT = {
    "consumer": {"ApiVersions 3", "ConsumerGroupHeartbeat 1", "Fetch 16", "FindCoordinator 2"},
    "classic": {"ApiVersions 3", "Fetch 16", "FindCoordinator 2", "Heartbeat 3", "JoinGroup 5"},
}
"""Requests of librdkafka 2.16 for each protocol, seen in its handshakes with this broker."""
NAMES = {1: "Fetch", 10: "FindCoordinator", 11: "JoinGroup", 12: "Heartbeat", 18: "ApiVersions"}
NAMES |= {
    68: "ConsumerGroupHeartbeat",
    8: "OffsetCommit",
    9: "OffsetFetch",
    13: "LeaveGroup",
    14: "SyncGroup",
}


class Reader:
    """A consumer that remembers its records, its assignment, and how often a partition was taken from it."""

    def __init__(self, port: int, protocol: str, topic: str = "foo", **more: Any) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "group.id": "g",
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 200,
        }
        if protocol == "classic":
            settings |= {"heartbeat.interval.ms": 150, "partition.assignment.strategy": "cooperative-sticky"}
        self.read: dict[int, list[int]] = {}
        self.taken = 0
        self.consumer = Consumer(settings | more)
        self.consumer.subscribe([topic], on_revoke=self._revoked, on_lost=self._revoked)

    def poll(self) -> None:
        message = self.consumer.poll(0.05)
        if message is not None:
            assert message.error() is None, message.error()
            assert message.value() == str(message.offset()).encode()
            self.read.setdefault(message.partition(), []).append(message.offset())

    def _revoked(self, _consumer: Consumer, partitions: Sequence[Any]) -> None:
        self.taken += bool(partitions)

    @property
    def owned(self) -> set[int]:
        return {one.partition for one in self.consumer.assignment()}

    @property
    def topics(self) -> set[str]:
        return {one.topic for one in self.consumer.assignment()}


def until(done: Callable[[], bool], *readers: Reader) -> None:
    """Let consumers poll until the condition holds. The bound is for a broker that hangs, not a measure."""
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, [(reader.owned, reader.read) for reader in readers]
        for reader in readers:
            reader.poll()


def described(port: int) -> list[set[int]]:
    """The partitions of each member, as librdkafka's administrator reads them."""
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    group = admin.describe_consumer_groups(["g"])["g"].result(30)
    return [{one.partition for one in member.assignment.topic_partitions} for member in group.members]


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_two_consumers_of_librdkafka_share_a_topic(protocol: str) -> None:
    """One joins and reads; another joins, half of the partitions move, and no record is left out; the first
    leaves, and the second has all."""
    with serving(topics={"foo": 4}, rate=20, settings=FAST) as (made, port):
        first = Reader(port, protocol)
        until(lambda: first.owned == {0, 1, 2, 3} and len(first.read) == 4, first)
        second = Reader(port, protocol)
        until(lambda: len(first.owned) == len(second.owned) == 2 and len(second.read) == 2, first, second)
        assert first.owned | second.owned == {0, 1, 2, 3}
        assert described(port) == [first.owned, second.owned] or described(port) == [
            second.owned,
            first.owned,
        ]
        first.consumer.close()
        until(lambda: second.owned == {0, 1, 2, 3} and len(second.read) == 4, second)
        second.consumer.close()
        sent = {f"{NAMES[key]} {version}" for key, version in made.seen if key in NAMES}
    for reader in (first, second):
        for offsets in reader.read.values():
            assert offsets == list(range(offsets[0], offsets[0] + len(offsets))), "in order, none left out"
    for partition, offsets in first.read.items():
        later = second.read[partition]
        assert min(later) <= max(offsets) + 1, "the second goes on where the first committed, or before"
    assert sent >= SENT[protocol]


@pytest.mark.parametrize("interval_ms", [5000, 150])
def test_the_kit_judges_it_over_the_wire(interval_ms: int) -> None:
    """The traces of Kafka 4.2's dialect hold on the served coordinator, as on any broker of that version; its
    heartbeat interval is its own."""
    settings = FAST | {"group.consumer.heartbeat.interval.ms": interval_ms}
    with serving(topics={}, dialect="kafka-4.2", settings=settings) as (_, port):
        files = trace_files([ROOT / "traces/dialects/kafka-4.2"])
        result = replay_files(files, f"broker:127.0.0.1:{port}", "kafka-4.2")
    assert (result.differences, result.judged > 100) == (0, True)


@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.2", "kafka-4.4"])
def test_the_dialect_is_identified_over_the_wire(dialect: str) -> None:
    """The wire leaves some departures undecided, and no probe that was tried contradicts the dialect."""
    with serving(topics={}, dialect=dialect, settings={}) as (_, port):
        opened = open_unchecked(f"broker:127.0.0.1:{port}")
        try:
            result = identify(opened, read_probes())
        finally:
            opened.close()
    assert dialect in (result.dialect, *result.as_well, *result.not_told_apart)
    assert (result.unknown, result.inconsistent) == ({}, {})
    assert {"RevocationRestart", "LastLeaveAdvancesAssignmentEpoch"} <= set(result.undecided)
