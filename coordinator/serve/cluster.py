"""The cluster that clients see around the coordinator: one broker, its topics, and records with numbers.

A partition's record at offset n has the text of n as its value. The log of each partition grows by `rate`
records a second, by the clock; so a consumer's output shows if it skipped or repeated a record.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

CLUSTER_ID: Final = "conformance-kit"
BROKER_ID: Final = 0
LEADER_EPOCH: Final = 0
MOST_RECORDS: Final = 500
"""The most records in one batch, whatever size a client asks for."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its name, its id (RFC 4122 text) and its number of partitions."""

    name: str
    id: str
    partitions: int

    def operation(self) -> dict[str, object]:
        """The topic as the coordinator's `set_topics` takes it."""
        return {"name": self.name, "id": self.id, "partitions": self.partitions}


@dataclass(slots=True)
class Cluster:
    """Address and topics of the one broker. Times are in milliseconds of the coordinator's clock; `new_id`
    gives the id of a topic that is created."""

    host: str
    port: int
    started_ms: int
    new_id: Callable[[], str]
    rate: int = 10
    topics: dict[str, Topic] = field(default_factory=dict)
    node: int = BROKER_ID
    """The number of the broker that clients find as the coordinator."""

    def add(self, name: str, partitions: int) -> None:
        """Create a topic, or give a topic more partitions."""
        there = self.topics.get(name)
        self.topics[name] = Topic(name, self.new_id() if there is None else there.id, partitions)

    def restore(self, topics: Iterable[Topic]) -> None:
        """Take over topics with their ids, as a log has them."""
        self.topics |= {topic.name: topic for topic in topics}

    def lookup(self) -> Callable[[str | None, str | None], Topic | None]:
        """A function for one request that gives the topic of a name, or of an id where the id is not null.
        Topics are put in the order of ids once: a request may have thousands of ids."""
        ids: dict[str, str] = {}

        def named(name: str | None, topic_id: str | None) -> Topic | None:
            if topic_id is None:
                return self.topics.get(name or "")
            if not ids:
                ids.update((topic.id, topic.name) for topic in self.topics.values())
            return self.topics.get(ids.get(topic_id, ""))

        return named

    @property
    def partitions(self) -> int:
        """The number of partitions of all topics."""
        return sum(topic.partitions for topic in self.topics.values())

    def end(self, now_ms: int) -> int:
        """The high watermark of each partition."""
        return max(0, now_ms - self.started_ms) * self.rate // 1000

    def ready_ms(self, offset: int) -> int:
        """The time from which a record exists at this offset."""
        return self.started_ms - (-(offset + 1) * 1000 // self.rate) if self.rate else -1

    def batch(self, first: int, end: int, now_ms: int) -> bytes:
        """The record batch (version 2) from the first offset up to, and without, `end`."""
        time = TZAwareMicros.parse(datetime.fromtimestamp(now_ms // 1000, UTC))
        records = tuple(
            Record(
                attributes=i8(0),
                timestamp=time,
                offset=i64(offset),
                key=None,
                value=str(offset).encode(),
                headers=(),
            )
            for offset in range(first, min(end, first + MOST_RECORDS))
        )
        buffer = io.BytesIO()
        write_new_batch(
            buffer,
            NewRecordBatch(
                producer_id=i64(-1),
                producer_epoch=i16(-1),
                partition_leader_epoch=i32(LEADER_EPOCH),
                base_sequence=i32(-1),
                records=records,
                attributes=i16(0),
            ),
        )
        return buffer.getvalue()
