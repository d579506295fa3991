"""The place of the tables: a folder given as a path or a URI, with a ledger of finished work.

A unit of work has a name and a key of everything on which its result depends. The unit is done when the
ledger has that name with that key; the entry is written after the unit's tables, in one move, so that after a
kill the next run finds either the whole unit or does the unit again.
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pyarrow import ArrowInvalid
from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

from harness.errors import ConformError

_LEDGER: Final = "ledger"
_LOCK: Final = "lock"
"""The file that the run has locked which writes to the folder; it stays there."""


_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
"""The beginning of a URI: Spark writes some with one slash; a single letter is a drive."""
_SAME: Final = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss"}
"""Names of Hadoop -> pyarrow's names of the same."""
_DBFS: Final = "/dbfs"
"""The path at which Databricks shows workers and driver its file system."""


def scheme_of(place: str) -> str:
    """The scheme of a URI; "" for a path of this machine."""
    match = _SCHEME.match(place)
    return match[1].lower() if match else ""


def absolute(place: str) -> str:
    """A path as a URI in the form of Spark, which takes every character for itself; a URI unchanged, without
    slashes at its end."""
    return place.rstrip("/") if scheme_of(place) else f"file://{Path(place).resolve()}"


def file_system(place: str) -> tuple[FileSystem, str]:
    """The file system of a path or URI and the path in it. ConformError for an unknown scheme."""
    uri = absolute(place)
    scheme, rest = scheme_of(uri), uri.partition(":")[2]
    try:
        if scheme == "dbfs":
            if not Path(_DBFS).is_dir():
                raise ValueError(f"{_DBFS} is not there, where a Databricks cluster shows dbfs:/")
            return LocalFileSystem(), f"{_DBFS}/{rest.lstrip('/')}"
        if scheme == "file" and (path := rest.removeprefix("//")).startswith("/"):
            return LocalFileSystem(), path
        system, path = FileSystem.from_uri(f"{_SAME.get(scheme, scheme)}:{rest}")
    except (ArrowInvalid, OSError, ValueError) as error:
        raise ConformError(
            f"The pipeline's own files cannot be at {place}: {error}. Spark's other file systems are for "
            "--input and --tables."
        ) from None
    return system, path


class Store:
    """A folder of tables and its ledger."""

    def __init__(self, uri: str) -> None:
        self.uri = absolute(uri)
        self.files, self.root = file_system(self.uri)
        try:
            self.files.create_dir(f"{self.root}/{_LEDGER}", recursive=True)
        except OSError as error:
            raise ConformError(f"The output {uri} cannot be written to: {error}.") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of a folder of this machine. ConformError (exit 2) if one writes to it."""
        if not isinstance(self.files, LocalFileSystem):
            yield
            return
        with Path(self.root, _LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConformError(
                    f"Another run writes to {self.root}: wait for it, or give another --out."
                ) from None
            except OSError:  # a mounted file system without locks
                pass
            try:
                yield
            finally:  # closing the file is not enough: a forked child would keep the lock
                with suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_UN)

    def table(self, name: str, *below: str) -> str:
        """The URI of a table, or of a folder in it."""
        return "/".join((self.uri, name, *below))

    def remove(self, name: str, *below: str) -> None:
        """Remove a folder or file, if it is there."""
        path = "/".join((self.root, name, *below))
        kind = self.files.get_file_info(path).type
        if kind == FileType.Directory:
            self.files.delete_dir(path)
        elif kind == FileType.File:
            self.files.delete_file(path)

    def done(self, unit: str, key: str) -> dict[str, int] | None:
        """The counts of a finished unit of this name and key."""
        path = self._entry(unit)
        if self.files.get_file_info(path).type != FileType.File:
            return None
        with self.files.open_input_stream(path) as stream:
            entry = json.loads(stream.read())
        return entry["counts"] if entry["key"] == key else None

    def enter(self, unit: str, key: str, counts: Mapping[str, int]) -> None:
        """Enter a unit as finished."""
        path = self._entry(unit)
        self._write(f"{path}.new", json.dumps({"unit": unit, "key": key, "counts": dict(counts)}) + "\n")
        self.files.move(f"{path}.new", path)

    def forget(self, unit: str) -> None:
        """Strike a unit and those below it."""
        for info in self.files.get_file_info(FileSelector(f"{self.root}/{_LEDGER}")):
            if info.base_name.startswith(f"{_file(unit)}."):
                self.files.delete_file(info.path)

    def write(self, name: str, content: str) -> None:
        """Write a text file of the store, in a folder."""
        self.files.create_dir(f"{self.root}/{name.rpartition('/')[0]}", recursive=True)
        self._write(f"{self.root}/{name}", content)

    def has(self, name: str, *below: str) -> bool:
        """Tell if there is such a folder."""
        path = "/".join((self.root, name, *below))
        return bool(self.files.get_file_info(path).type == FileType.Directory)

    def _write(self, path: str, content: str) -> None:
        with self.files.open_output_stream(path) as stream:
            stream.write(content.encode())

    def _entry(self, unit: str) -> str:
        return f"{self.root}/{_LEDGER}/{_file(unit)}.json"


def _file(unit: str) -> str:
    return unit.replace("/", ".")
