"""A storage that loses unsynced writes, as a machine without power does."""

from __future__ import annotations

import random
from collections.abc import Sequence

Frame = tuple[int, str | None]
"""One write: its transaction, and an entry or None for the mark that ends the transaction."""


class PowerCut(BaseException):
    """An error that no handler may catch: the machine is gone."""


class FakeDisk:
    """Keeps entries like a write-ahead log: frames, then a mark, then a sync.

    Every write and every sync is a point at which the power may be cut, at the `cut_at`-th (from 0); `points`
    counts them.
    """

    def __init__(self, entries: Sequence[str] = (), cut_at: int | None = None) -> None:
        self._synced: list[list[str]] = [[entry] for entry in entries]
        self._frames: list[Frame] = []
        self._transactions = 0
        self._cut_at = cut_at
        self.points = 0

    def read(self) -> Sequence[str]:
        return [entry for transaction in self._synced for entry in transaction]

    def append(self, entries: Sequence[str]) -> None:
        self._write(entries)
        self._synced.append(list(entries))
        self._frames.clear()

    def rewrite(self, entries: Sequence[str]) -> None:
        self._write(entries)
        self._synced = [list(entries)]
        self._frames.clear()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _write(self, entries: Sequence[str]) -> None:
        self._transactions += 1
        for entry in (*entries, None):
            self._point()
            self._frames.append((self._transactions, entry))
        self._point()

    def _point(self) -> None:
        self.points += 1
        if self._cut_at == self.points - 1:
            raise PowerCut

    def after_the_cut(self, rng: random.Random) -> FakeDisk:
        """The disk after the cut: all synced frames, and any of the others.

        A transaction counts only with its mark and all of its frames, as checksums would show.
        """
        everything = [frame for frame in self._frames if frame[1] is not None]
        survives = rng.choice((0.0, 0.5, 1.0))
        results = [frame for frame in self._frames if rng.random() < survives]
        entries = [entry for _, entry in results if entry is not None]
        whole = bool(results) and results[-1][1] is None and len(entries) == len(everything)
        return FakeDisk([*self.read(), *(entries if whole else ())])
