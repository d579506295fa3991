"""Clients of the classic protocol on the coordinator, alone and in a live group that migrates (M1, M2)."""

from __future__ import annotations

from typing import Any

from confluent_kafka import ConsumerGroupType, KafkaError
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer
from served import FAST, serving
from test_serve_clients import Reader, described, until

SENT = {(11, 7), (14, 5), (12, 4), (13, 5), (8, 8), (9, 8)}
"""API and version of JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit and OffsetFetch, as seen in
handshakes of kafka-python 3.0."""


class KafkaPython(Reader):
    """A consumer of kafka-python with the interface of librdkafka's."""

    def __init__(self, port: int) -> None:
        self.consumer: Any = KafkaConsumer(
            "foo",
            bootstrap_servers=f"127.0.0.1:{port}",
            group_id="g",
            auto_offset_reset="earliest",
            auto_commit_interval_ms=200,
            heartbeat_interval_ms=150,
            session_timeout_ms=6000,
        )
        self.read: dict[int, list[int]] = {}

    def poll(self) -> None:
        for partition, records in self.consumer.poll(timeout_ms=50).items():
            for record in records:
                assert record.value == str(record.offset).encode()
            self.read.setdefault(partition.partition, []).extend(one.offset for one in records)


def nothing_left_out(first: Reader, second: Reader) -> None:
    """Each consumer read each partition in order; the second went on where the first had committed, or
    before."""
    for reader in (first, second):
        for offsets in reader.read.values():
            assert sorted(set(offsets)) == list(range(min(offsets), max(offsets) + 1))
    for partition, offsets in first.read.items():
        assert min(second.read[partition]) <= max(offsets) + 1


def test_two_consumers_of_kafka_python_share_a_topic() -> None:
    with serving(topics={"foo": 4}, rate=20, settings=FAST) as (made, port):
        first = KafkaPython(port)
        until(lambda: first.owned == {0, 1, 2, 3} and len(first.read) == 4, first)
        second = KafkaPython(port)
        until(lambda: len(first.owned) == len(second.owned) == 2 and len(second.read) == 2, first, second)
        assert first.owned | second.owned == {0, 1, 2, 3}
        assert sorted(map(sorted, described(port))) == sorted(map(sorted, (first.owned, second.owned)))
        first.consumer.close()
        until(lambda: second.owned == {0, 1, 2, 3} and len(second.read) == 4, second)
        second.consumer.close()
        assert made.seen >= SENT, sorted(made.seen)
    nothing_left_out(first, second)


def kind(port: int) -> Any:
    """The type of the group."""
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    [group] = admin.list_consumer_groups().result(30).valid
    return group.type


def test_a_live_group_migrates_to_the_new_protocol_and_back() -> None:
    """M1: a member of a classic group reads. One of the new protocol joins: it is a consumer group, in which
    both read. That one leaves: it is a classic group again."""
    with serving(topics={"foo": 4}, rate=20, settings=FAST) as (_, port):
        old = Reader(port, "classic")
        until(lambda: old.owned == {0, 1, 2, 3} and len(old.read) == 4, old)
        assert kind(port) == ConsumerGroupType.CLASSIC
        new = Reader(port, "consumer")
        until(lambda: len(old.owned) == len(new.owned) == 2 and len(new.read) == 2, old, new)
        assert (kind(port), old.owned | new.owned) == (ConsumerGroupType.CONSUMER, {0, 1, 2, 3})
        moved = set(new.owned)
        read = {partition: len(old.read[partition]) for partition in moved}
        new.consumer.close()
        until(lambda: old.owned == {0, 1, 2, 3} and all(len(old.read[p]) > read[p] for p in moved), old)
        assert kind(port) == ConsumerGroupType.CLASSIC
        old.consumer.close()
    for partition in moved:
        every = old.read[partition] + new.read[partition]
        assert set(every) == set(range(max(every) + 1)), "no record is left out"


def test_a_group_of_kafka_python_stays_a_classic_group() -> None:
    """M2: migration takes version 3 of the embedded consumer protocol, and kafka-python sends version 0. A
    member of the new protocol is refused, and the group goes on."""
    with serving(topics={"foo": 2}, rate=20, settings=FAST) as (_, port):
        old = KafkaPython(port)
        until(lambda: old.owned == {0, 1} and len(old.read) == 2, old)
        refused: list[int] = []
        new = Reader(port, "consumer")
        new.poll = lambda: refused.extend(one.error().code() for one in new.consumer.consume(1, 0.05))
        until(lambda: bool(refused), old, new)
        assert refused == [KafkaError._FATAL]
        before = max(old.read[0])
        until(lambda: max(old.read[0]) > before, old)
        assert (old.owned, kind(port)) == ({0, 1}, ConsumerGroupType.CLASSIC)
        new.consumer.close()
        old.consumer.close()
