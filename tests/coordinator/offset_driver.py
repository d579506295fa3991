"""Commits and fetches of the group "g" in the words of the tests: partitions are "foo-0", offsets numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from group_driver import CLIENT, IDS, NAMES, GroupDriver

from coordinator import Coordinator

Json = dict[str, Any]


def commit_body(
    member: str, epoch: int, offsets: Mapping[str, int], by_name: bool = False, **fields: Any
) -> Json:
    """OffsetCommit: commit_body("m1", 1, {"foo-0": 5}); `fields` go into every partition."""
    topics = []
    for partition, offset in offsets.items():
        name, index = partition.rsplit("-")
        committed = {"partitionIndex": int(index), "committedOffset": offset, **fields}
        topics.append({**topic(name, by_name), "partitions": [committed]})
    return {"groupId": "g", "memberId": member, "generationIdOrMemberEpoch": epoch, "topics": topics}


def fetch_body(
    partitions: Iterable[str] | None, member: str = "", epoch: int = -1, by_name: bool = False
) -> Json:
    """OffsetFetch of one group; None asks for everything."""
    topics = None
    if partitions is not None:
        names = [partition.rsplit("-") for partition in partitions]
        topics = [{**topic(name, by_name), "partitionIndexes": [int(index)]} for name, index in names]
    groups = [{"groupId": "g", "topics": topics}]
    return {"memberId": member, "generationIdOrMemberEpoch": epoch, "groups": groups, "requireStable": True}


def topic(name: str, by_name: bool) -> Json:
    return {"name": name} if by_name else {"topicId": IDS[name]}


class Committer:
    """A client that commits and fetches offsets of a driver's group."""

    def __init__(self, group: GroupDriver) -> None:
        self.group = group

    def commit(
        self, member: str, epoch: int, offsets: Mapping[str, int], by_name: bool = False, **fields: Any
    ) -> dict[str, int]:
        """The error of each partition: {"foo-0": 0}."""
        return errors(send(self.group.coordinator, commit_body(member, epoch, offsets, by_name, **fields)))

    def fetch(
        self, *partitions: str, member: str = "", epoch: int = -1, by_name: bool = False
    ) -> dict[str, int] | int:
        """The committed offsets, of all partitions if none is named; or the error of the group."""
        (answer,) = fetched(
            self.group.coordinator, fetch_body(partitions or None, member, epoch, by_name)
        ).values()
        return answer


def send(coordinator: Coordinator, body: Json) -> Json:
    return coordinator.request("OffsetCommit", 9, CLIENT, body)


def errors(response: Json) -> dict[str, int]:
    return {
        f"{name_of(topic)}-{partition['partitionIndex']}": partition["errorCode"]
        for topic in response["topics"]
        for partition in topic["partitions"]
    }


def fetched(coordinator: Coordinator, body: Json) -> dict[str, dict[str, int] | int]:
    """Group id -> its offsets, -1 for none, or its error."""
    answers = coordinator.request("OffsetFetch", 9, CLIENT, body)["groups"]
    return {
        answer["groupId"]: answer["errorCode"]
        or {
            f"{name_of(topic)}-{partition['partitionIndex']}": partition["committedOffset"]
            for topic in answer["topics"]
            for partition in topic["partitions"]
        }
        for answer in answers
    }


def name_of(topic: Json) -> str:
    return str(topic["name"] or NAMES[topic["topicId"]])


def state(coordinator: Coordinator) -> tuple[Any, ...]:
    """Everything that a request could change."""
    everything = fetched(coordinator, fetch_body(None))
    return coordinator.records(), coordinator.volatile(), coordinator.describe("g"), everything


def joined(**options: Any) -> tuple[GroupDriver, Committer]:
    """m1 at epoch 1 has foo-0 and foo-1."""
    g = GroupDriver(**options)
    g.join("m1")
    g.new_records()
    return g, Committer(g)
