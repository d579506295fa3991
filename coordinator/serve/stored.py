"""The size of a log, so that a server that runs for long compacts it in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from coordinator.core.storage import LogStorage


class Size(NamedTuple):
    """The size of a log: its entries, and the characters in them."""

    entries: int
    characters: int


class CountedStorage:
    """A storage that knows its size. An entry may be a change of topics or configurations, which is no
    record of the coordinator."""

    def __init__(self, storage: LogStorage) -> None:
        self._storage = storage
        self.size = _size(storage.read())

    def read(self) -> Sequence[str]:
        """All entries, as the storage gives them."""
        return self._storage.read()

    def append(self, entries: Sequence[str]) -> None:
        """Keep these entries, too."""
        self._storage.append(entries)
        more = _size(entries)
        self.size = Size(self.size.entries + more.entries, self.size.characters + more.characters)

    def rewrite(self, entries: Sequence[str]) -> None:
        """Keep these entries and no others."""
        self._storage.rewrite(entries)
        self.size = _size(entries)

    def close(self) -> None:
        """Release the storage."""
        self._storage.close()


def _size(entries: Sequence[str]) -> Size:
    return Size(len(entries), sum(map(len, entries)))
