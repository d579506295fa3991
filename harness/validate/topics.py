"""The topics of a log, by the specification's names; connectors are topics, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from harness.kinds.fields import Partition
from harness.replay import wire
from harness.targets.base import Json


class Change(NamedTuple):
    """A topic that an operation changed: the action, and its number of partitions afterwards (-1:
    deleted)."""

    does: str
    topic: str
    partitions: int


class Topics:
    """The topics; `counts` has the partitions of every topic that ever existed: -1 is a deleted one."""

    def __init__(self, given: Iterable[Mapping[str, Any]] = ()) -> None:
        self._ids_of: dict[str, str] = {}  # topic id on the wire -> topic of the specification
        self.counts: dict[str, int] = {}
        for topic in given:
            self.counts[self._topic_of(topic)] = topic["partitions"]

    @property
    def existing(self) -> dict[str, int]:
        """The topics that exist, with their numbers of partitions."""
        return {topic: count for topic, count in self.counts.items() if count > 0}

    def partitions(self, topics: Iterable[Mapping[str, Any]]) -> frozenset[Partition]:
        """[{"topicId", "partitions"}] in the specification's form."""
        return frozenset(
            (self._ids_of.setdefault(topic["topicId"], topic["topicId"]), index)
            for topic in topics
            for index in topic["partitions"]
        )

    def sizes(self, metadata: Iterable[Mapping[str, Any]]) -> frozenset[Partition]:
        """[{"topicId", "numPartitions"}] as topics with their numbers of partitions."""
        return frozenset(
            (self._ids_of.setdefault(topic["topicId"], topic["topicId"]), topic["numPartitions"])
            for topic in metadata
        )

    def change(self, content: Json) -> list[Change]:
        """Changes by an operation `topics`, step by step. E1, T2: a new topic takes the place of one with its
        name."""
        changes = [Change("DeleteTopic", self._live(name), -1) for name in content.get("delete", ())]
        changes = [one for one in changes if self.counts.get(one.topic, 0) > 0]
        for given in content.get("upsert", ()):
            topic = self._topic_of(given)
            does = "AddPartitions" if self.counts.get(topic, 0) > 0 else "CreateTopic"
            if self.counts.get(topic, 0) != given["partitions"]:
                changes.append(Change(does, topic, given["partitions"]))
        for does, topic, count in changes:
            if does == "CreateTopic":
                name = wire.topic_name(topic)
                self.counts |= {other: -1 for other in self.counts if wire.topic_name(other) == name}
            self.counts[topic] = count
        return changes

    def _topic_of(self, given: Mapping[str, Any]) -> str:
        """The specification's topic of a name and id (T2): the second topic of a name is another one."""
        uuid, name = given["id"], given["name"]
        if uuid not in self._ids_of:
            earlier = sum(wire.topic_name(topic) == name for topic in self._ids_of.values())
            self._ids_of[uuid] = f"{name}#{earlier + 1}" if earlier else name
        return self._ids_of[uuid]

    def _live(self, name: str) -> str:
        named = [topic for topic in self.counts if wire.topic_name(topic) == name]
        return named[-1] if named else name
