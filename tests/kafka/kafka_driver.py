"""Short forms of what the tests of Kafka's coordinator do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pytest

from harness.engines.java import find_java
from harness.errors import ConformError
from harness.targets.base import Answer, Json
from harness.targets.kafka.build import find_javac
from harness.targets.kafka.jars import Unavailable, jars
from harness.targets.kafka.target import COORDINATOR
from harness.targets.stdio import StdioTarget

VERSIONS: Final = ("4.0.2", "4.1.2", "4.2.1", "4.3.1", "4.4.0")
WITH_OFFSETS: Final = VERSIONS[1:]
"""The versions whose commits and fetches can name topics by id."""
TOPICS: Final = {
    "foo": "11111111-1111-1111-1111-111111111111",
    "bar": "22222222-2222-2222-2222-222222222222",
    "new foo": "33333333-3333-3333-3333-333333333333",
}
HEARTBEAT: Final = "ConsumerGroupHeartbeat"


def skip_without_jars(version: str) -> None:
    """Skip a test, with the reason, where there is no JDK or the jars cannot be fetched."""
    try:
        find_java()
        find_javac()
    except ConformError as error:
        pytest.skip(error.message)
    try:
        jars(COORDINATOR, version)
    except Unavailable as error:
        pytest.skip(error.message)


def client(member: str) -> Json:
    return {"id": f"client-{member}", "host": "/127.0.0.1", "principal": "User:alice"}


def part(topic: str, *partitions: int) -> Json:
    return {"topicId": TOPICS[topic], "partitions": list(partitions)}


@dataclass
class Driver:
    """One coordinator and the group g."""

    target: StdioTarget

    def say(self, line: str) -> bytes:
        """The answer to one line, as it came."""
        self.target._program.write(line.encode() + b"\n")
        return self.target._program.read(line)

    @property
    def first_epoch(self) -> int:
        """The group epoch after the first join."""
        return 1 if self.target.name < "kafka:4.3" else 2

    def topic(self, name: str, partitions: int, uuid: str | None = None) -> Answer:
        topic = {"name": name, "id": uuid or TOPICS[name], "partitions": partitions}
        return self.target.topics([topic], [], "g")

    def heartbeat(self, member: str, epoch: int, **fields: Any) -> Answer:
        body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, **fields}
        return self.target.request(HEARTBEAT, 0, client(member), body, "g")

    def join(self, member: str, *names: str, **fields: Any) -> Answer:
        joins = {"rebalanceTimeoutMs": 5000, "topicPartitions": [], "subscribedTopicNames": list(names)}
        return self.heartbeat(member, 0, **{**joins, **fields})

    def member(self, name: str) -> Json:
        members: list[Json] = self.target.describe("g")["members"]
        return next(member for member in members if member["memberId"] == name)

    def two_members(self) -> int:
        """m1 is asked to revoke a partition that m2 waits for; the group epoch."""
        self.join("m1", "foo")
        self.target.assign("g", {"m1": [part("foo", 1)], "m2": [part("foo", 0)]})
        epoch = answered(self.join("m2", "foo"))["memberEpoch"]
        self.heartbeat("m1", epoch - 1)
        return int(epoch)

    def state(self) -> tuple[Json, list[Json]]:
        """The whole visible state."""
        return self.target.describe("g"), self.target.records(0)


def answered(answer: Answer) -> Json:
    assert answer.body is not None
    return answer.body


def described(answer: Answer) -> Json:
    assert answer.group is not None
    return answer.group


def kinds(answer: Answer) -> list[str]:
    """The types of the records of an answer, with a minus before tombstones."""
    return [
        ("-" if record["value"] is None else "") + str(record["key"]["type"]) for record in answer.records
    ]
