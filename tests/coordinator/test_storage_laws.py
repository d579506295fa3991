"""A law of the log's file on a disk that is full now and then (P3)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator import AppendFailed
from coordinator.core.storage import SqliteStorage

LARGE = 10_000
"""Characters of an entry, which no page of the file has room for."""
MUCH = 2**20
"""Pages that a disk with space has room for."""


@settings(max_examples=40, derandomize=True, deadline=None)
@given(batches=st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=8))
def test_o15_the_log_has_what_was_acknowledged_and_nothing_else(
    batches: list[tuple[int, bool, bool]],
) -> None:
    """P3: each batch of so many entries is appended, or replaces the whole log, while the disk is full or has
    space."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "log.db")
        storage = SqliteStorage(path)
        acknowledged: list[str] = []
        for number, (size, full, anew) in enumerate(batches):
            entries = [f"{number}-{n} " + "x" * LARGE for n in range(size)]
            (pages,) = storage._database.execute("PRAGMA page_count").fetchone()
            storage._database.execute(f"PRAGMA max_page_count = {pages if full else MUCH}")
            try:
                (storage.rewrite if anew else storage.append)(entries)
            except AppendFailed:
                assert full
            else:
                acknowledged = entries if anew else [*acknowledged, *entries]
            assert storage.read() == acknowledged
        storage.close()
        again = SqliteStorage(path)
        assert again.read() == acknowledged
        again.close()
