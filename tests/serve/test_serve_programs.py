"""Consumers in Java and JavaScript on the coordinator: restarts, patterns, a topic that is shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from programs_of_consumers import Program, java_consumer, kafkajs_consumer
from served import FAST, serving
from test_serve_clients import until
from test_serve_restarts import LONG, PROTOCOLS, epoch_of

pytestmark = pytest.mark.maven
Start = Callable[..., Program]
ALL = {f"foo-{index}" for index in range(4)}
SENT_BY_JAVA = {
    "consumer": {(68, 1), (8, 10), (9, 10), (1, 16), (3, 12), (18, 4), (10, 5)},
    "classic": {(11, 9), (14, 5), (12, 4), (8, 9), (9, 9), (1, 16), (3, 12), (18, 4), (10, 5)},
}
"""Requests of kafka-clients 4.3.1 by Kafka's numbers of API and version, seen in its handshakes."""
SENT_BY_KAFKAJS = {(11, 5), (14, 3), (12, 3), (13, 3), (8, 5), (9, 4)}
"""The versions that kafkajs 2.2.4 sends, of the group APIs alone."""


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return java_consumer(tmp_path_factory.mktemp("consumer"))


@pytest.fixture(scope="module")
def kafkajs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return kafkajs_consumer(tmp_path_factory.mktemp("kafkajs"))


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts programs, which end with the test."""
    running: list[Program] = []

    def started(*command: Any) -> Program:
        running.append(Program(*command))
        return running[-1]

    yield started
    for program in running:
        program.end()


def nothing_left_out(first: Program, second: Program, partitions: set[str]) -> None:
    """The second one went on where the first had committed, or before."""
    for partition in partitions:
        assert min(second.read[partition]) <= max(first.read.get(partition, [-1])) + 1


@PROTOCOLS
def test_a_static_member_in_java_that_restarts_has_its_partitions_back(
    protocol: str, java: list[str], start: Start
) -> None:
    """S1: no partition is taken from the other member, and there is no rebalance."""
    with serving(topics={"foo": 4}, rate=20, settings=LONG) as (made, port):
        given = (*java, port, protocol, "topic", "foo")
        first, other = start(*given, "one"), start(*given, "two")
        until(
            lambda: len(first.owned) == len(other.owned) == 2 and first.owned <= set(first.read), first, other
        )
        owned, taken, epoch = set(first.owned), other.taken, epoch_of(made)
        first.close()
        again = start(*given, "one")
        until(lambda: again.owned == owned == set(again.read), again, other)
        assert (other.taken, other.owned, epoch_of(made)) == (taken, ALL - owned, epoch)
        assert made.seen >= SENT_BY_JAVA[protocol], sorted(made.seen)
    nothing_left_out(first, again, owned)


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [("consumer", "server-pattern"), ("consumer", "client-pattern"), ("classic", "client-pattern")],
)
def test_a_pattern_in_java_matches_topics_that_come_later(
    protocol: str, kind: str, java: list[str], start: Start
) -> None:
    """T1: the coordinator matches, or the client does."""
    with serving(topics={"foo": 1, "bar": 1}, settings=FAST) as (_, port):
        reader = start(*java, port, protocol, kind, "fo.*", "-")
        until(lambda: reader.topics == {"foo"}, reader)
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        for name in ("fool", "barn"):
            admin.create_topics([NewTopic(name, 1)])[name].result(30)
        until(lambda: reader.topics == {"foo", "fool"}, reader)
        reader.close()


def test_two_consumers_of_kafkajs_share_a_topic(kafkajs: list[str], start: Start) -> None:
    """By the classic protocol: partitions come back when a member leaves, and no record is left out."""
    with serving(topics={"foo": 4}, rate=20, settings=FAST) as (made, port):
        first = start(*kafkajs, port, "foo")
        until(lambda: first.owned == ALL == set(first.read), first)
        second = start(*kafkajs, port, "foo")
        until(lambda: len(first.owned) == len(second.owned) == 2 == len(second.read), first, second)
        assert first.owned | second.owned == ALL
        first.close()
        until(lambda: second.owned == ALL == set(second.read), second)
        second.close()
        assert made.seen >= SENT_BY_KAFKAJS, sorted(made.seen)
    nothing_left_out(first, second, ALL)
