"""A driver of one group of a coordinator in the words of the tests: partitions are "foo-0", members "m1"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator import Config, Coordinator, Dialect, SimulatedClock

IDS = {
    "foo": "00000000-0000-4000-8000-0000000000f0",
    "bar": "00000000-0000-4000-8000-0000000000ba",
    "foo again": "00000000-0000-4000-8000-0000000000f1",
}
NAMES = {topic_id: name for name, topic_id in IDS.items()}
CLIENT = {"id": "client", "host": "/127.0.0.1", "principal": "User:alice"}
API = "ConsumerGroupHeartbeat"

Json = dict[str, Any]


def topic_partitions(names: Iterable[str]) -> list[Json]:
    """["foo-0", "foo-1"] as on the wire, in no particular order."""
    return [{"topicId": IDS[name.rsplit("-")[0]], "partitions": [int(name.rsplit("-")[1])]} for name in names]


def partition_names(wire: list[Json]) -> list[str]:
    """The wire form as ["foo-0", "foo-1"], sorted."""
    return sorted(f"{NAMES[topic['topicId']]}-{index}" for topic in wire for index in topic["partitions"])


class GroupDriver:
    """A coordinator with topics, and the group "g"."""

    def __init__(
        self,
        dialect: Dialect | str = "kip-848",
        topics: dict[str, int] | None = None,
        config: Config | None = None,
        ids: Iterable[str] = (),
    ) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(
            dialect=Dialect.named(dialect) if isinstance(dialect, str) else dialect,
            clock=self.clock,
            ids=iter(ids) if ids else None,
            config=config,
        )
        self.topics: dict[str, int] = {}
        for name, partitions in ({"foo": 2} if topics is None else topics).items():
            self.topic(name, partitions)
        self._read = 0

    def topic(self, name: str, partitions: int) -> None:
        """Create a topic or add partitions to it."""
        self.coordinator.upsert_topic(name, IDS[name], partitions)
        self.topics[name] = partitions

    def delete_topic(self, name: str) -> None:
        self.coordinator.delete_topic(name)
        del self.topics[name]

    def request(self, **body: Any) -> Json:
        return self.coordinator.request(API, 0, CLIENT, {"groupId": "g", **body})

    def join(self, member: str, *topics: str, **fields: Any) -> Json:
        body = {"memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 5000, "topicPartitions": []}
        return self.request(**{**body, "subscribedTopicNames": list(topics or ("foo",)), **fields})

    def heartbeat(
        self, member: str, epoch: int | None = None, owned: Iterable[str] | None = None, **fields: Any
    ) -> Json:
        """A heartbeat, by default with the member's current epoch; `owned` None is absent, () empty."""
        epoch = self.member(member)["memberEpoch"] if epoch is None else epoch
        if owned is not None:
            fields["topicPartitions"] = topic_partitions(owned)
        return self.request(memberId=member, memberEpoch=epoch, **fields)

    def leave(self, member: str) -> Json:
        return self.request(memberId=member, memberEpoch=-1)

    def script(self, **target: list[str]) -> None:
        """The next target: script(m1=["foo-0"])."""
        self.coordinator.script_target("g", {name: topic_partitions(names) for name, names in target.items()})

    def group(self) -> Json:
        return self.coordinator.describe("g")

    def epochs(self) -> tuple[int, int]:
        """Group epoch and assignment epoch."""
        return self.group()["groupEpoch"], self.group()["assignmentEpoch"]

    def members(self) -> dict[str, Json]:
        return {member["memberId"]: member for member in self.group()["members"]}

    def member(self, name: str) -> Json:
        return self.members()[name]

    def assigned(self, name: str) -> list[str]:
        return partition_names(self.member(name)["assigned"])

    def revoking(self, name: str) -> list[str]:
        return partition_names(self.member(name)["pendingRevocation"])

    def target(self, name: str) -> list[str]:
        return partition_names(self.member(name)["target"])

    def timers(self) -> dict[tuple[str, str], int]:
        """(timer, member) -> deadline."""
        return {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in self.group()["timers"]}

    def new_records(self) -> list[tuple[str, str | None, Json | None]]:
        """(type without ConsumerGroup, member, value) of the records since the last call."""
        records = self.coordinator.records(self._read)
        self._read += len(records)
        return [
            (
                record["key"]["type"].removeprefix("ConsumerGroup"),
                record["key"].get("memberId"),
                record["value"],
            )
            for record in records
        ]

    def two_stable_members(self) -> None:
        """m1 has foo-0, m2 has foo-1, both at epoch 2 and settled."""
        self.script(m1=["foo-0", "foo-1"])
        self.join("m1")
        self.script(m1=["foo-0"], m2=["foo-1"])
        self.join("m2")
        self.heartbeat("m1", owned=["foo-0", "foo-1"])
        self.heartbeat("m1", owned=["foo-0"])
        self.heartbeat("m1", owned=["foo-0"])
        self.heartbeat("m2", owned=[])
        self.heartbeat("m2", owned=["foo-1"])
        assert self.group()["state"] == "Stable"
        assert (self.assigned("m1"), self.assigned("m2")) == (["foo-0"], ["foo-1"])
        self.new_records()

    def m1_revoking(self) -> None:
        """m1 (epoch 1) has foo-0 and must give up foo-1, which is m2's (epoch 2)."""
        self.script(m1=["foo-0", "foo-1"])
        self.join("m1")
        self.script(m1=["foo-0"], m2=["foo-1"])
        self.join("m2")
        self.heartbeat("m1", owned=["foo-0", "foo-1"])
        assert (self.assigned("m1"), self.revoking("m1")) == (["foo-0"], ["foo-1"])
        self.new_records()


def error(response: Json) -> int:
    """The error code; a response without an error has no message, an error has only a message."""
    if response["errorCode"]:
        assert response["errorMessage"].endswith((".", "again.")), response
        assert (response["memberId"], response["memberEpoch"], response["assignment"]) == (None, 0, None)
    else:
        assert response["errorMessage"] is None
    code: int = response["errorCode"]
    return code


def given(response: Json) -> list[str] | None:
    """The assigned partitions of a response; None for one without an assignment."""
    assert error(response) == 0, response
    assignment = response["assignment"]
    return None if assignment is None else partition_names(assignment["assignedTopicPartitions"])


def pending(response: Json) -> list[str]:
    """The pending partitions of a response with an assignment."""
    return partition_names(response["assignment"]["pendingTopicPartitions"])
