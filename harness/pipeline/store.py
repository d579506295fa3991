"""Place of the tables: a folder given as a path or a URI, with a ledger of the work that is finished.

A unit of work has a name and a key of everything that its result depends on. It is done when the ledger has
that name with that key; the entry is written after the unit's tables, in one move, so a run that was killed
finds either all of a unit or does it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyarrow import ArrowInvalid
from pyarrow.fs import FileSelector, FileSystem, FileType

from harness.errors import ConformError

_LEDGER: Final = "ledger"


def file_system(uri: str) -> tuple[FileSystem, str]:
    """The file system of a path or URI and the path in it. ConformError for a scheme that is not known."""
    try:
        if "://" not in uri:
            uri = Path(uri).resolve().as_uri()
        found, path = FileSystem.from_uri(uri)
    except (ArrowInvalid, OSError, ValueError) as error:
        raise ConformError(f"The place {uri} cannot be used: {error}.") from None
    return found, path


class Store:
    """A folder of tables and its ledger."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/") if "://" in uri else Path(uri).resolve().as_uri()
        self.files, self.root = file_system(self.uri)
        try:
            self.files.create_dir(f"{self.root}/{_LEDGER}", recursive=True)
        except OSError as error:
            raise ConformError(f"The output {uri} cannot be written to: {error}.") from None

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
        """The counts that were entered for a finished unit of this name and key."""
        path = self._entry(unit)
        if self.files.get_file_info(path).type != FileType.File:
            return None
        with self.files.open_input_stream(path) as stream:
            entry = json.loads(stream.read())
        return entry["counts"] if entry["key"] == key else None

    def enter(self, unit: str, key: str, counts: Mapping[str, int]) -> None:
        """Say that a unit is finished."""
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
