"""The topics of one run on a live broker: those of the specification, under names and ids of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.targets.base import Json
from harness.targets.broker import admin
from harness.targets.broker.connection import Connection
from harness.targets.broker.names import Names


@dataclass(slots=True)
class _Topic:
    """A topic that this run made: its id in the specification, the broker's id, and its partitions."""

    ours: str
    theirs: str
    partitions: int


@dataclass
class RunTopics:
    """Topics that this run made and has not deleted. ConformError (exit 3) whenever the broker fails.

    `assigned` gives the partitions of topics that a new member of a new group gets, see
    `admin.assigned_alone`.
    """

    broker: Connection
    names: Names
    assigned: Callable[[list[str]], dict[str, int]]
    timeout_s: float
    _there: dict[str, _Topic] = field(default_factory=dict)

    def left(self) -> list[str]:
        """The broker's names of all existing topics."""
        return [self.names.topic(name) for name in self._there]

    def change(self, upsert: Sequence[Json], delete: Sequence[str]) -> None:
        """Create, grow, recreate and delete topics, and wait until the coordinator has noticed."""
        changed = [*delete, *(topic["name"] for topic in upsert)]
        for name in delete:
            self._delete(name)
        for topic in upsert:
            self._upsert(topic["name"], topic["id"], topic["partitions"])
        if changed:
            self._wait(changed)

    def renew(self, wanted: Sequence[Json]) -> None:
        """Have these topics and no others, for a new group: an existing topic may serve under another id,
        since no group has an offset in it."""
        partitions = {topic["name"]: topic["partitions"] for topic in wanted}
        kept = {
            name: topic for name, topic in self._there.items() if topic.partitions == partitions.get(name)
        }
        self.names.forget_topics()
        for topic in wanted:
            if (same := kept.get(topic["name"])) is not None:
                same.ours = topic["id"]
                self.names.bind(topic["name"], same.ours, same.theirs)
        self.change(
            [topic for topic in wanted if topic["name"] not in kept],
            [name for name in self._there if name not in kept],
        )

    def delete_all(self) -> None:
        """Delete them, and wait until the broker shows them no more."""
        gone = self.left()
        for name in list(self._there):
            self._delete(name)
        if gone:
            admin.wait_for_topics(self.broker, {}, gone, self.timeout_s)

    def _upsert(self, name: str, ours: str, partitions: int) -> None:
        there = self._there.get(name)
        if there is not None and there.ours == ours:
            if partitions != there.partitions:
                admin.grow_topic(self.broker, self.names.topic(name), partitions)
                there.partitions = partitions
            return
        if there is not None:
            self._delete(name)
        self._there[name] = made = _Topic(ours, "", partitions)  # it may exist after an interruption
        try:
            made.theirs = admin.create_topic(self.broker, self.names.topic(name), partitions)
        except admin.Denied:
            del self._there[name]
            raise
        self.names.bind(name, ours, made.theirs)

    def _delete(self, name: str) -> None:
        if name in self._there:
            admin.delete_topic(self.broker, self.names.topic(name))
            del self._there[name]

    def _wait(self, changed: Sequence[str]) -> None:
        """Wait first for the broker's own view, then for the coordinator's, which is later."""
        live = {name: self._there[name] for name in changed if name in self._there}
        gone = [self.names.topic(name) for name in changed if name not in live]
        there = {self.names.topic(name): topic.partitions for name, topic in live.items()}
        admin.wait_for_topics(self.broker, there, gone, self.timeout_s)
        expected = {topic.theirs: topic.partitions for topic in live.values()}
        admin.wait_until(
            lambda: self.assigned([*there, *gone]) == expected,
            self.broker.address,
            self.timeout_s,
            f"tell its coordinator of the topics {', '.join([*there, *gone])}",
        )
