"""The coordinator in front of another broker: groups are answered here, data comes from the broker."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from served import FAST, broker, serving
from test_serve_command import COMMAND, program

from coordinator.core.errors import AppendFailed, BadInput
from coordinator.serve.connection import AHEAD
from coordinator.serve.frames import request_frame
from harness.errors import ConformError
from harness.targets.broker.connection import Connection
from harness.targets.broker.local import free_port

TOPIC, GROUP = 2, 32
"""Types of resources that have configurations."""
NEW = "99999999-9999-9999-9999-999999999999"
"""The id of a topic that comes."""


def until(done: Callable[[], bool], act: Callable[[], object] = lambda: None) -> None:
    """The bound is for a server that hangs, not a measure."""
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        act()
        time.sleep(0.01)


def topics_of(connection: Connection) -> dict[str, int]:
    answer = connection.call("Metadata", 12, {"topics": None, "allowAutoTopicCreation": False})
    return {topic["name"]: len(topic["partitions"]) for topic in answer["topics"]}


def test_consumers_read_the_brokers_records_in_groups_that_are_here() -> None:
    """A topic grows while librdkafka consumes; the group is not known to the broker behind."""
    with (
        serving(topics={"foo": 1}, rate=20) as (_, behind),
        serving(topics={}, settings=FAST, upstream=behind) as (_, port),
    ):
        here = {"bootstrap.servers": f"127.0.0.1:{port}"}
        settings = {"group.id": "g", "group.protocol": "consumer", "auto.offset.reset": "earliest"}
        consumer = Consumer({**here, **settings})
        consumer.subscribe(["foo"])
        read: dict[int, list[int]] = {}

        def poll() -> None:
            message = consumer.poll(0.05)
            if message is not None:
                assert message.error() is None and message.value() == str(message.offset()).encode()
                read.setdefault(message.partition(), []).append(message.offset())

        until(lambda: set(read) == {0}, poll)
        admin = AdminClient(here)
        admin.create_partitions([NewPartitions("foo", 3)])["foo"].result(30)
        until(lambda: set(read) == {0, 1, 2}, poll)
        groups = admin.list_consumer_groups().result(30).valid
        behind_it = AdminClient({"bootstrap.servers": f"127.0.0.1:{behind}"})
        assert [group.group_id for group in groups] == ["g"]
        assert behind_it.list_consumer_groups().result(30).valid == []
        brokers = admin.list_topics(timeout=30).brokers.values()
        assert [(broker.host, broker.port) for broker in brokers] == [("127.0.0.1", port)]
        consumer.close()
    assert all(offsets == list(range(len(offsets))) for offsets in read.values()), "in order, none left out"


def test_the_coordinator_has_the_topics_of_the_broker() -> None:
    """A topic that is created, deleted and created anew, with another id, through either of the two."""
    with (
        serving(topics={"foo": 1}) as (_, behind),
        serving(topics={}, upstream=behind) as (made, port),
    ):
        known = made._coordinator.topics
        assert {name: topic.partitions for name, topic in known.items()} == {"foo": 1}
        first = known["foo"].id
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        admin.create_topics([NewTopic("bar", 2)])["bar"].result(30)
        until(lambda: set(made._coordinator.topics) == {"foo", "bar"})
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{behind}"})
        admin.delete_topics(["foo"])["foo"].result(30)
        admin.create_topics([NewTopic("foo", 2)])["foo"].result(30)
        until(lambda: made._coordinator.topics.get("foo", known["foo"]).id != first)
        assert made._coordinator.topics["foo"].partitions == 2


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("behind_it", [False, True])
def test_requests_of_a_client_that_went_are_handled(behind_it: bool, answered: bool) -> None:
    """A producer with acks=0 closes its connection after the last record. More requests come than are read
    ahead."""
    names = [f"topic-{number}" for number in range(3 * AHEAD)]
    with (
        serving(topics={}) as (there, behind),
        serving(topics={}, upstream=behind if behind_it else None) as (here, port),
    ):
        with socket.create_connection(("127.0.0.1", port)) as client:
            sent = b""
            for name in names:
                topic = {"name": name, "numPartitions": 1, "replicationFactor": 1, "assignments": []}
                body = {"topics": [topic | {"configs": []}], "timeoutMs": 1000, "validateOnly": False}
                request = request_frame("c", "CreateTopics", 5, 0, body)
                sent += len(request).to_bytes(4, "big") + request
            client.sendall(sent)  # at once: a client that leaves answers unread resets its connection
            client.shutdown(socket.SHUT_WR)
            answers = client.makefile("rb")
            for _ in names if answered else ():
                assert len(answers.read(int.from_bytes(answers.read(4), "big"))) > 4
            assert not answered or answers.read() == b""
        made = there if behind_it else here
        until(lambda: made.has_topic(names[-1], 1))
        assert all(made.has_topic(name, 1) for name in names)


def test_each_request_goes_where_it_is_answered() -> None:
    """Configurations of groups are here, those of topics the broker's; so are addresses."""
    with (
        serving(topics={"foo": 1}) as (there, behind),
        serving(topics={}, upstream=behind) as (_, port),
    ):
        connection = Connection("127.0.0.1", port)
        there.seen.clear()

        def configs(kind: int, name: str) -> Any:
            resource = {"resourceType": kind, "resourceName": name, "configurationKeys": None}
            body = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
            return connection.call("DescribeConfigs", 4, body)["results"][0]

        assert configs(GROUP, "g")["errorCode"] == 0 and not there.seen
        configs(TOPIC, "foo")
        assert {key for key, _ in there.seen} == {32}
        [result] = connection.call("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["g"]})[
            "coordinators"
        ]
        assert (result["host"], result["port"], result["nodeId"]) == ("127.0.0.1", port, 0)
        assert topics_of(connection) == {"foo": 1}
        offered = {one["apiKey"] for one in connection.call("ApiVersions", 3, {})["apiKeys"]}
        assert {0, 1, 3, 11, 68} <= offered
        connection.close()


def test_a_broker_that_went_and_came_back(caplog: pytest.LogCaptureFixture) -> None:
    """Requests of groups are answered meanwhile; a request for the broker closes its connection."""
    behind = free_port()
    with program("--topic", "foo:1", port=behind) as run, serving(topics={}, upstream=behind) as (made, port):
        groups, data = Connection("127.0.0.1", port), Connection("127.0.0.1", port)
        assert topics_of(data) == {"foo": 1}
        run.kill()
        run.wait()
        with pytest.raises(ConformError):
            topics_of(data)
        until(lambda: "cannot be read" in caplog.text)
        assert groups.call("ListGroups", 4, {"statesFilter": []})["groups"] == []
        with program("--topic", "foo:2", port=behind):
            until(lambda: made._coordinator.topics["foo"].partitions == 2)
            again = Connection("127.0.0.1", port)
            assert topics_of(again) == {"foo": 2}
            for connection in (again, groups, data):
                connection.close()


def test_a_broker_that_lags_behind_is_read_again(caplog: pytest.LogCaptureFixture) -> None:
    """One of the brokers behind an address answers fewer partitions than another: nothing changes then, and
    the topics are read again."""
    with (
        serving(topics={"foo": 6}) as (there, behind),
        serving(topics={}, upstream=behind) as (made, port),
    ):
        topics, foo = there._cluster.topics, there._cluster.topics["foo"]
        there._cluster.topics = {"foo": replace(foo, partitions=5), "new": replace(foo, name="new", id=NEW)}
        until(lambda: "foo' has 6 partitions and never fewer" in caplog.text)
        assert made.has_topic("foo", 6) and not made.has_topic("new", 6)
        assert made._coordinator.topics["foo"].partitions == 6
        with pytest.raises(ConformError):
            topics_of(Connection("127.0.0.1", port))
        assert "closed the connection from 127.0.0.1: topic 'foo' has 6 partitions" in caplog.text
        there._cluster.topics = topics | {"foo": replace(foo, partitions=7)}
        until(lambda: made._coordinator.topics["foo"].partitions == 7)
        assert made.has_topic("foo", 7)
        connection = Connection("127.0.0.1", port)
        assert topics_of(connection) == {"foo": 7}
        connection.close()
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("refuses", [False, True], ids=["fewer partitions", "the log refuses"])
def test_topics_that_are_not_taken_over_change_nothing(refuses: bool) -> None:
    made = broker({"foo": 6, "bar": 1})
    before = dict(made._cluster.topics)
    foo = before["foo"]
    made._coordinator.fail_appends(refuses)
    with pytest.raises(AppendFailed if refuses else BadInput):
        made.take_topics([replace(foo, partitions=7 if refuses else 5), replace(foo, name="new", id=NEW)])
    assert made._cluster.topics == before and set(made._coordinator.topics) == set(before)
    made._coordinator.fail_appends(False)
    made.take_topics([replace(foo, partitions=7)])
    assert set(made._coordinator.topics) == {"foo"} and made.has_topic("foo", 7)


def test_a_broker_with_fewer_partitions_than_the_log_is_named(tmp_path: Path) -> None:
    log = str(tmp_path / "groups.db")
    with serving(topics={"foo": 2}) as (there, behind):
        with program("--log", log, "--upstream", f"127.0.0.1:{behind}", port=free_port()):
            pass
        there._cluster.topics = {"foo": replace(there._cluster.topics["foo"], partitions=1)}
        words = ["--listen", f"127.0.0.1:{free_port()}", "--log", log, "--upstream", f"127.0.0.1:{behind}"]
        ended = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60)
    sentence = f"the topics of 127.0.0.1:{behind} cannot be taken over: topic 'foo' has 2 partitions"
    assert (ended.returncode, sentence in ended.stderr) == (3, True), ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--upstream", "127.0.0.1:1"], 3, "no broker of Kafka answers at 127.0.0.1:1"),
        (["--upstream", "127.0.0.1"], 2, "--upstream is HOST:PORT"),
        (
            ["--upstream", "127.0.0.1:1", "--topic", "foo:1"],
            2,
            "--topic and --rate do not go with --upstream",
        ),
    ],
)
def test_a_wrong_upstream_is_a_sentence(words: list[str], code: int, sentence: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, "--listen", f"127.0.0.1:{free_port()}", *words], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == code
    assert sentence in run.stderr and "Traceback" not in run.stderr
