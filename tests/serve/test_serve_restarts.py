"""librdkafka on the coordinator: static members that restart, patterns of topics, a fail-over."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from served import FAST, Recorded, serving
from test_serve_clients import Reader, until

PROTOCOLS = pytest.mark.parametrize("protocol", ["consumer", "classic"])
LONG = FAST | {"group.consumer.session.timeout.ms": 45_000}


def epoch_of(made: Recorded) -> int:
    """The epoch of a consumer group, or the generation of a classic group."""
    group = made.group("g")
    return int(group["groupEpoch"] if "groupEpoch" in group else group["generation"])


@PROTOCOLS
def test_a_static_member_that_restarts_has_its_partitions_back(protocol: str) -> None:
    """S1: another process of the same instance id gets the partitions of the first one; no partition is taken
    from another member, and there is no rebalance."""
    with serving(topics={"foo": 4}, rate=20, settings=LONG) as (made, port):
        first = Reader(port, protocol, **{"group.instance.id": "one"})
        other = Reader(port, protocol, **{"group.instance.id": "two"})
        until(lambda: len(first.owned) == len(other.owned) == 2 and len(first.read) > 1, first, other)
        owned, taken, epoch = set(first.owned), other.taken, epoch_of(made)
        first.consumer.close()
        again = Reader(port, protocol, **{"group.instance.id": "one"})
        until(lambda: again.owned == owned and set(again.read) == owned, again, other)
        assert (other.taken, len(other.owned & owned), epoch_of(made)) == (taken, 0, epoch)
        for reader in (again, other):
            reader.consumer.close()
    for partition in owned:
        assert min(again.read[partition]) <= max(first.read.get(partition, [0])) + 1, "no record is left out"


@PROTOCOLS
def test_a_pattern_matches_topics_that_come_later(protocol: str) -> None:
    """T1: the coordinator matches the pattern of a consumer group, and the client that of a classic group."""
    with serving(topics={"foo": 1, "bar": 1}, settings=FAST) as (_, port):
        reader = Reader(port, protocol, "^fo.*", **{"topic.metadata.refresh.interval.ms": 200})
        until(lambda: reader.topics == {"foo"}, reader)
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        for name in ("fool", "barn"):
            admin.create_topics([NewTopic(name, 1)])[name].result(30)
        until(lambda: reader.topics == {"foo", "fool"}, reader)
        reader.consumer.close()


@PROTOCOLS
def test_offsets_outlive_a_fail_over(protocol: str) -> None:
    """P2: another coordinator loads the group from its log. The member reads on, keeps its partitions, and
    the next member goes on where the group had committed."""
    with serving(topics={"foo": 2}, rate=20, settings=LONG) as (made, port):
        first = Reader(port, protocol)
        until(lambda: first.owned == {0, 1} and len(first.read) == 2, first)
        made.todo.append(made.fail_over)
        until(lambda: not made.todo, first)
        before = {partition: max(offsets) for partition, offsets in first.read.items()}
        until(lambda: all(max(first.read[partition]) > before[partition] + 10 for partition in before), first)
        assert (first.taken, first.owned) == (0, {0, 1})
        first.consumer.close()
        made.todo.append(made.fail_over)
        second = Reader(port, protocol)
        until(lambda: second.owned == {0, 1} and len(second.read) == 2, second)
        second.consumer.close()
    for partition, offsets in first.read.items():
        assert offsets == list(range(offsets[-1] + 1))
        assert 0 < min(second.read[partition]) <= max(offsets) + 1
