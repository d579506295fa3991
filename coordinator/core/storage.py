"""The store of a log: an interface, and SQLite behind it, so that acknowledged records survive (P3).

A storage knows nothing of records: it keeps entries of text, one for each batch.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from coordinator.core.errors import AppendFailed, BadInput

APPLICATION_ID: Final = 0x4B384C47
"""The number in the header of a file that marks it as such a log."""
FORMAT: Final = 1
"""The version of the file's contents."""


class LogStorage(Protocol):
    """Entries in the order in which they were appended. Only one process uses a storage at a time."""

    def read(self) -> Sequence[str]:
        """All entries, the oldest first. BadInput where some are damaged."""

    def append(self, entries: Sequence[str]) -> None:
        """Keep these entries: all of them are on disk when the call returns, or AppendFailed and none of
        them."""

    def rewrite(self, entries: Sequence[str]) -> None:
        """Replace all entries by these, or AppendFailed and nothing has changed."""

    def close(self) -> None:
        """Release the storage for other processes."""


class SqliteStorage:
    """An SQLite file with a write-ahead log; every append is a transaction that is synced before it returns.

    BadInput where there is no such file and none can be made or may be made (`create`), where another process
    uses the file, where the file is no log of a coordinator, has another version, or is damaged. The file
    stays unchanged then.
    """

    def __init__(self, path: str, create: bool = True) -> None:
        self._path = path
        if not create:
            _check_there(Path(path))
        try:
            self._database = sqlite3.connect(path, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise BadInput(f"the log {path} cannot be opened: {error}; name another file") from None
        try:
            self._take()
            self._end = self._check()
        except sqlite3.OperationalError as error:
            self._database.close()
            raise BadInput(self._why_not(error)) from None
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise BadInput(
                f"the log {path} is no log of this coordinator: {error}; name another file"
            ) from None
        except BadInput:
            self._database.close()
            raise

    def _why_not(self, error: sqlite3.OperationalError) -> str:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"another process has the log {self._path}: stop it first, or name another file"
        return f"the log {self._path} cannot be opened: {error}; name another file"

    def _take(self) -> None:
        """Check that the file is a log before anything in it changes, and lock the file until it is
        closed."""
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        application_id, version = self._pragma("application_id"), self._pragma("user_version")
        tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application_id != APPLICATION_ID and (application_id or version or tables):
            raise BadInput(f"{self._path} is a database, but no log of this coordinator; name another file")
        if application_id and version != FORMAT:
            raise BadInput(
                f"the log {self._path} has the format {version}, and this coordinator reads {FORMAT}: "
                "use the version that wrote it, or name another file"
            )
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA fullfsync = ON")
        run("BEGIN IMMEDIATE")
        if not application_id:
            run("CREATE TABLE batch (id INTEGER PRIMARY KEY, entry TEXT NOT NULL, crc32 INTEGER NOT NULL)")
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {FORMAT}")
        run("COMMIT")

    def _pragma(self, name: str) -> int:
        value: int = self._database.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    def _check(self) -> int:
        """The number of entries. BadInput where SQLite finds damage."""
        ((problem, *_), *_) = self._database.execute("PRAGMA quick_check(1)").fetchall()
        if problem != "ok":
            raise BadInput(f"the log {self._path} is damaged: {problem}; restore it from a copy")
        return len(self.read())

    def read(self) -> Sequence[str]:
        """All entries. BadInput where an entry is missing or differs from the written one."""
        entries: list[str] = []
        for number, entry, checksum in self._database.execute(
            "SELECT id, entry, crc32 FROM batch ORDER BY id"
        ):
            if number != len(entries) + 1 or checksum != zlib.crc32(entry.encode()):
                raise BadInput(
                    f"the log {self._path} is damaged at batch {len(entries) + 1}; restore it from a copy"
                )
            entries.append(entry)
        return entries

    def append(self, entries: Sequence[str]) -> None:
        """One transaction, synced."""
        self._write(entries, self._end)

    def rewrite(self, entries: Sequence[str]) -> None:
        """One transaction, synced."""
        self._write(entries, 0)

    def _write(self, entries: Sequence[str], after: int) -> None:
        rows = [
            (number, entry, zlib.crc32(entry.encode())) for number, entry in enumerate(entries, after + 1)
        ]
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("DELETE FROM batch WHERE id > ?", (after,))
            self._database.executemany("INSERT INTO batch VALUES (?, ?, ?)", rows)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                with suppress(sqlite3.Error):
                    self._database.execute("ROLLBACK")
            raise AppendFailed(f"the log {self._path} took no records: {error}") from None
        self._end = after + len(rows)

    def close(self) -> None:
        """Release the file."""
        self._database.close()


def _check_there(path: Path) -> None:
    """BadInput where no coordinator can have made the file: reading must not turn an empty file into a
    log."""
    if path.is_dir():
        files = ", ".join(sorted(file.name for file in path.glob("*.db"))) or "there is no .db"
        raise BadInput(f"{path} is a folder; name the log in it ({files})")
    if not path.exists():
        raise BadInput(f"there is no log {path}; name the FILE of a coordinator's --log FILE")
    if not path.stat().st_size:
        raise BadInput(f"{path} is empty, and so no log; name the FILE of a coordinator's --log FILE")
