"""The served coordinator in front of Apache Kafka: Kafka has the records, the coordinator the groups."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from served import FAST, serving

from harness.targets.broker.local import LocalBroker

pytestmark = pytest.mark.maven
RECORDS = 300


class Reader:
    def __init__(self, here: dict[str, Any], protocol: str, topic: str) -> None:
        group = {"group.id": f"group of {topic}", "group.protocol": protocol, "auto.offset.reset": "earliest"}
        self.consumer = Consumer({**here, **group, "auto.commit.interval.ms": 200})
        self.consumer.subscribe([topic])
        self.read: list[bytes] = []

    def poll(self) -> None:
        message = self.consumer.poll(0.05)
        if message is not None:
            assert message.error() is None, message.error()
            self.read.append(message.value())


@pytest.mark.parametrize("protocol", ["consumer", "classic"])
def test_kafka_keeps_the_records_and_knows_no_group(kafka: LocalBroker, protocol: str) -> None:
    """An idempotent producer and one that wants no answer write through the coordinator; two consumers of one
    group share the records."""
    topic, numbers = f"behind-{protocol}", count()
    with serving(topics={}, settings=FAST, upstream=kafka.port) as (_, port):
        here = {"bootstrap.servers": f"127.0.0.1:{port}"}
        admin = AdminClient(here)
        admin.create_topics([NewTopic(topic, 4)])[topic].result(30)

        def produce(settings: dict[str, Any]) -> None:
            producer = Producer({**here, **settings})
            for _ in range(RECORDS // 2):
                number = next(numbers)
                producer.produce(topic, str(number).encode(), partition=number % 4)
            assert producer.flush(60) == 0

        readers = [Reader(here, protocol, topic) for _ in range(2)]
        end = time.monotonic() + 60  # for a server that hangs, not a measure
        while not all(len(reader.consumer.assignment()) == 2 for reader in readers):
            assert time.monotonic() < end
            for reader in readers:
                reader.poll()
        produce({"enable.idempotence": True})
        produce({"acks": 0})
        while len({value for reader in readers for value in reader.read}) < RECORDS:
            assert time.monotonic() < end
            for reader in readers:
                reader.poll()
        groups = [group.group_id for group in admin.list_consumer_groups().result(30).valid]
        behind = AdminClient({"bootstrap.servers": f"127.0.0.1:{kafka.port}"})
        assert groups == [f"group of {topic}"]
        assert f"group of {topic}" not in {
            one.group_id for one in behind.list_consumer_groups().result(30).valid
        }
        for reader in readers:
            reader.consumer.close()
    read = sorted(int(value) for reader in readers for value in reader.read)
    assert read == list(range(RECORDS)), "each record once: nothing moved while they read"
