"""The embedded consumer protocol (C5): the bytes that members and leader of a classic group exchange.

The coordinator passes the bytes on and does not read them. Subscription and assignment are an int16 version
and then the fields of Kafka's schemas ConsumerProtocolSubscription and ConsumerProtocolAssignment,
big-endian. A version only adds fields at the end, so that a reader of an older version reads the fields that
it knows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from coordinator.assignors.spec import TopicPartition
from coordinator.core import fields
from coordinator.core.errors import BadInput

NEWEST: Final = 3
"""The newest version; a newer one is read as this version."""

NO_GENERATION: Final = -1


@dataclass(frozen=True, slots=True)
class Subscription:
    """The subscription of a member that joins; fields that an older version does not have get their
    defaults."""

    topics: frozenset[str]
    user_data: bytes | None = None
    """The user data of its assignor."""
    owned: frozenset[TopicPartition] = frozenset()
    """Since version 1: the partitions that the member has not given up."""
    generation: int = NO_GENERATION
    """Since version 2: the generation in which the member was assigned the partitions that it owns."""
    rack_id: str | None = None
    """Since version 3."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The assignment that the leader gives a member."""

    partitions: frozenset[TopicPartition]
    user_data: bytes | None = None


def version_of(data: bytes, what: str = "subscription") -> int:
    """The version in the bytes. BadInput where the version is missing or negative."""
    version = Reader(data, what).int16("version")
    if version < 0:
        raise BadInput(f"the {what} has a version from 0, not {version}")
    return version


def read_subscription(data: bytes) -> Subscription:
    """The subscription in the bytes; bytes after the fields of its version are ignored.

    BadInput where they are cut off, have a negative length or version, or text that is not UTF-8.
    """
    version = version_of(data, "subscription")
    reader = Reader(data, "subscription", skip=2)
    topics = frozenset(reader.text("topics") for _ in range(reader.count("topics")))
    user_data = reader.optional_bytes("userData")
    owned = reader.partitions("ownedPartitions") if version >= 1 else frozenset()
    generation = reader.int32("generationId") if version >= 2 else NO_GENERATION
    rack_id = reader.optional_text("rackId") if version >= 3 else None
    return Subscription(topics, user_data, owned, generation, rack_id)


def write_subscription(subscription: Subscription, version: int = NEWEST) -> bytes:
    """The bytes of a subscription, topics and partitions sorted; fields that the version does not have are
    left out.

    BadInput for a version that does not exist, or text that is not valid or too long.
    """
    where = "a subscription"
    parts = [_header(version, where), _int32(len(subscription.topics))]
    parts += [_text(topic, "topics", where) for topic in sorted(subscription.topics)]
    parts.append(_optional_bytes(subscription.user_data))
    if version >= 1:
        parts.append(write_partitions(subscription.owned, "ownedPartitions", where))
    if version >= 2:
        parts.append(_int32(fields.fits(subscription.generation, 32, "generationId", where)))
    if version >= 3:
        rack_id = subscription.rack_id
        parts.append(struct.pack(">h", -1) if rack_id is None else _text(rack_id, "rackId", where))
    return b"".join(parts)


def read_assignment(data: bytes) -> Assignment:
    """The assignment in the bytes; BadInput as for a subscription.

    No bytes at all are an empty assignment: the leader did not name the member.
    """
    if not data:
        return Assignment(frozenset())
    version_of(data, "assignment")
    reader = Reader(data, "assignment", skip=2)
    return Assignment(reader.partitions("assignedPartitions"), reader.optional_bytes("userData"))


def write_assignment(assignment: Assignment, version: int = NEWEST) -> bytes:
    """The bytes of an assignment, partitions sorted; all versions have the same fields. BadInput as for a
    subscription."""
    where = "an assignment"
    partitions = write_partitions(assignment.partitions, "assignedPartitions", where)
    return _header(version, where) + partitions + _optional_bytes(assignment.user_data)


def write_partitions(partitions: Iterable[TopicPartition], name: str, where: str) -> bytes:
    """Partitions by topic, sorted: [Topic [Partition]]."""
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        topics.setdefault(topic, []).append(index)
    parts = [_int32(len(topics))]
    for topic, indexes in topics.items():
        parts.append(_text(topic, name, where) + _int32(len(indexes)))
        parts += [_int32(fields.fits(index, 32, name, where)) for index in indexes]
    return b"".join(parts)


def _header(version: int, where: str) -> bytes:
    if not 0 <= version <= NEWEST:
        raise BadInput(f"{where} has a version from 0 to {NEWEST}, not {version}")
    return struct.pack(">h", version)


def _int32(value: int) -> bytes:
    return struct.pack(">i", value)


def _text(value: str, name: str, where: str) -> bytes:
    encoded = fields.encodable(value, name, where).encode()
    if len(encoded) >= 1 << 15:
        raise BadInput(f"{name!r} of {where} has at most 32767 bytes of text, not {len(encoded)}")
    return struct.pack(">h", len(encoded)) + encoded


def _optional_bytes(value: bytes | None) -> bytes:
    return _int32(-1) if value is None else _int32(len(value)) + value


class Reader:
    """A reader that takes fields off bytes, one after the other; BadInput names the field that is missing."""

    def __init__(self, data: bytes, what: str, skip: int = 0) -> None:
        self._data = data
        self._what = what
        self._at = skip

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def int16(self, name: str) -> int:
        """A signed number of 2 bytes."""
        return int.from_bytes(self._take(2, name), "big", signed=True)

    def int32(self, name: str) -> int:
        """A signed number of 4 bytes."""
        return int.from_bytes(self._take(4, name), "big", signed=True)

    def count(self, name: str) -> int:
        """The number of entries that follow."""
        count = self.int32(name)
        if count < 0:
            raise self._negative(name, count)
        return count

    def text(self, name: str) -> str:
        """Text in UTF-8."""
        text = self.optional_text(name)
        if text is None:
            raise self._negative(name, -1)
        return text

    def optional_text(self, name: str) -> str | None:
        """Text, or None."""
        length = self.int16(name)
        if length == -1:
            return None
        try:
            return self._take(length, name).decode()
        except UnicodeDecodeError as error:
            raise BadInput(f"{name!r} of the {self._what} is not UTF-8: {error.reason}") from None

    def optional_bytes(self, name: str) -> bytes | None:
        """Bytes, or None."""
        length = self.int32(name)
        return None if length == -1 else self._take(length, name)

    def partitions(self, name: str) -> frozenset[TopicPartition]:
        """Partitions by topic."""
        partitions: set[TopicPartition] = set()
        for _ in range(self.count(name)):
            topic = self.text(name)
            partitions.update((topic, self.int32(name)) for _ in range(self.count(name)))
        return frozenset(partitions)

    def _take(self, size: int, name: str) -> bytes:
        if size < 0:
            raise self._negative(name, size)
        if size > self.left:
            needs = f"{name!r} needs {size} bytes, and {self.left} are left"
            raise BadInput(f"the {self._what} is cut off: {needs}")
        self._at += size
        return self._data[self._at - size : self._at]

    def _negative(self, name: str, length: int) -> BadInput:
        return BadInput(f"{name!r} of the {self._what} has a negative length: {length}")
