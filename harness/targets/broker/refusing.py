"""Operations that no broker lets its clients do."""

from __future__ import annotations

from collections.abc import Sequence

from harness.targets.base import Answer, Assignments, Json, Refused


class Refusing:
    """The operations of `harness.targets.base.Target` that a target over the wire does not have."""

    name: str

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Refused: the clock is the broker's own."""
        raise self._cannot("advance")

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Refused: a broker's timers are internal."""
        raise self._cannot("fire")

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Refused: targets are computed by the broker's assignors."""
        raise self._cannot("assign")

    def records(self, since: int) -> list[Json]:
        """Refused: a broker's log is internal."""
        raise self._cannot("records")

    def restart(self, keep: int | None = None) -> Answer:
        """Refused: this process may not end a broker."""
        raise self._cannot("restart")

    def ids(self, following: Sequence[str]) -> None:
        """Refused: member ids are drawn by the broker."""
        raise self._cannot("ids")

    def configure(self, settings: Json) -> None:
        """Refused: a broker is configured when it starts."""
        raise self._cannot("configure")

    def commit(self, mode: str) -> None:
        """Refused: writes are made durable by the broker's configuration."""
        raise self._cannot("commit")

    def background(self) -> Answer:
        """Refused: queued work runs at the broker's own times."""
        raise self._cannot("background")

    def _cannot(self, operation: str) -> Refused:
        return Refused(self.name, operation, "a broker does not let its clients do that")


def check_topics(target: str, upsert: Sequence[Json]) -> None:
    """Refused for topics without a name, an id or a number of partitions, before anything is changed."""
    for topic in upsert:
        count = topic.get("partitions")
        if not topic.get("name") or not topic.get("id") or type(count) is not int or count < 1:
            raise Refused(target, "topics", f"a topic has name, id and partitions, which {topic} has not")
