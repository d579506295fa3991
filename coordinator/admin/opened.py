"""A coordinator on the log in a file, for the length of one command; none of its timers fires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from coordinator.core.clock import SystemClock
from coordinator.core.dialect import Dialect
from coordinator.core.storage import SqliteStorage
from coordinator.service import Coordinator


class _Copy:
    """The entries of a log as they were when it was opened; appended entries are discarded."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries = entries

    def read(self) -> Sequence[str]:
        return self._entries

    def append(self, entries: Sequence[str]) -> None:
        """Discard the entries."""

    def rewrite(self, entries: Sequence[str]) -> None:
        """Discard the entries."""

    def close(self) -> None:
        """Do nothing: there is no file to close."""


@contextmanager
def coordinator_on(path: str, dialect: str, changes: bool) -> Iterator[Coordinator]:
    """The coordinator that the log in this file makes. The file is written only if the command `changes`
    something.

    BadInput where there is no such log, or where a coordinator runs with it (storage.py).
    """
    spoken = Dialect.named(dialect)
    storage = SqliteStorage(path, create=False)
    try:
        kept = storage if changes else _Copy(storage.read())
        yield Coordinator(dialect=spoken, clock=SystemClock(), storage=kept)
    finally:
        storage.close()
