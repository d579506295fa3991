"""`kafka-consumer-groups` of Apache's distribution on the served coordinator (D1)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from served import FAST, serving
from test_serve_clients import Reader, until

from harness.engines.java import find_java
from harness.errors import ConformError
from harness.targets.kafka import jars

pytestmark = pytest.mark.maven
PROGRAM = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
VERSION = "4.3.1"


@pytest.fixture(scope="module")
def program() -> list[str]:
    try:
        classes = os.pathsep.join(map(str, jars.jars("org.apache.kafka:kafka-tools", VERSION)))
        java: Path | str = find_java()
    except jars.Unavailable as error:
        pytest.skip(error.message)
    except ConformError as error:
        pytest.skip(error.message)
    return [str(java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, PROGRAM]


def test_it_lists_describes_and_deletes(program: list[str]) -> None:
    """Offsets of a topic that a member reads stay; those of another go, and the group when it is empty."""

    def rows(*arguments: str) -> list[list[str]]:
        done = subprocess.run(
            [*program, "--bootstrap-server", f"127.0.0.1:{port}", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return [line.split() for line in done.stdout.splitlines() if line.strip()]

    with serving(topics={"foo": 2, "bar": 1}, settings=FAST) as (_, port):
        reader = Reader(port, "consumer")
        until(lambda: reader.owned == {0, 1}, reader)
        offsets = [TopicPartition("foo", 0, 5), TopicPartition("bar", 0, 7)]
        reader.consumer.commit(offsets=offsets, asynchronous=False)
        member = reader.consumer.memberid()
        assert rows("--list", "--state", "--type")[1:] == [["g", "Consumer", "Stable"]]
        shown = rows("--describe", "--group", "g")[1:]
        places = {(row[1], row[2]): (row[3], row[6]) for row in shown}
        assert places["bar", "0"] == ("7", "-")
        assert {place: who for place, (_, who) in places.items()} == {
            **{("foo", "0"): member, ("foo", "1"): member},
            ("bar", "0"): "-",
        }
        [[*_, epoch, owned, _, target]] = rows("--describe", "--group", "g", "--members", "--verbose")[1:]
        assert (epoch, owned, target) == ("1", "foo:0,1", "foo:0,1")
        deleted = rows("--delete-offsets", "--group", "g", "--topic", "foo", "--topic", "bar")
        assert {(row[0], "GroupSubscribedToTopicException" in " ".join(row)) for row in deleted[2:]} == {
            ("foo", True),
            ("bar", False),
        }
        assert ["bar", "0", "Successful"] in deleted
        assert {row[1] for row in rows("--describe", "--group", "g")[1:]} == {"foo"}
        assert "GroupNotEmptyException" in str(rows("--delete", "--group", "g"))
        reader.consumer.close()
        assert "successful" in str(rows("--delete", "--group", "g"))
        assert rows("--list") == []
