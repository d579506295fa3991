"""Data of members of the classic protocol and of their leader, in the form of spec/Conversions.tla (M2).

They are read from the bytes of Kafka's ConsumerProtocolSubscription and ConsumerProtocolAssignment.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final

from harness.kinds.classic.recorded_log import Words
from harness.kinds.classic.state import Assignment
from harness.kinds.classic.wire import MIGRATING, partitions_of
from harness.kinds.fields import Partition


class MigrationWords(Words):
    """The reader of such data. A subscription is its topics and, from version 3 on, "owns foo 0" for an owned
    partition and "generation 1" for its generation; bytes that are no subscription are one text. An
    assignment is its partitions."""

    def subscription(self, protocols: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The subscription of the first protocol: all protocols have the same (see `differ`)."""
        return next((_subscription(one["metadata"]) for one in protocols), frozenset())

    def assignment(self, text: str) -> Assignment:
        """An assignment; malformed bytes become partition 0 of a topic that does not exist."""
        try:
            return partitions_of(text) if text else None
        except (struct.error, ValueError):
            return super().assignment(text)

    def given(self, assignment: Assignment) -> object:
        """The partitions of an assignment, if there are bytes."""
        return assignment

    def of(self, protocols: set[str], subscription: frozenset[str]) -> list[str]:
        """The whole subscription: it belongs to every protocol."""
        return sorted(subscription)


def differ(protocols: Iterable[Mapping[str, Any]]) -> bool:
    """Tell if the protocols have different subscriptions."""
    return len({_subscription(one["metadata"]) for one in protocols}) > 1


def _subscription(text: str) -> frozenset[str]:
    try:
        reader = _Reader(base64.b64decode(text))
        version = reader.number(_SHORT)
        topics = {reader.text() for _ in range(reader.number(_INT))}
        if version < MIGRATING:
            return frozenset(topics)
        reader.skip(max(reader.number(_INT), 0))
        owned = {f"owns {name} {index}" for name, index in reader.partitions()}
        return frozenset({*topics, *owned, f"generation {reader.number(_INT)}"})
    except (struct.error, ValueError):
        return frozenset({text})


_SHORT: Final = struct.Struct(">h")
_INT: Final = struct.Struct(">i")


class _Reader:
    """Takes one field after the other. struct.error at the end of the bytes."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def number(self, form: struct.Struct) -> int:
        (number,) = form.unpack_from(self._content, self._at)
        self._at += form.size
        return int(number)

    def skip(self, size: int) -> bytes:
        self._at += size
        return self._content[self._at - size : self._at]

    def text(self) -> str:
        return self.skip(max(self.number(_SHORT), 0)).decode()

    def partitions(self) -> frozenset[Partition]:
        partitions = set()
        for _ in range(self.number(_INT)):
            name = self.text()
            partitions |= {(name, self.number(_INT)) for _ in range(self.number(_INT))}
        return frozenset(partitions)
