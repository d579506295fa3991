"""Recorded results of checks: for engines that a machine does not have, and checks that take too long.

`evidence/NAME.json` beside the manifest, with the engine's unedited output in `evidence/NAME.log`. A record
counts only while the log and the entry's arguments are the same, and every module and configuration involved,
or at least every definition in them that the run depends on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.definitions import definitions
from harness.engines.base import Result
from harness.errors import ConformError
from harness.files import output_folder, read_text, write_text
from harness.manifest import Entry
from harness.modules import config_beside
from harness.spechash import file_hash, spec_files

_FIELDS = {"engine", "version", "facts", "arguments", "files", "log_sha256", "args", "exit_code", "seconds"}


class Status(StrEnum):
    """What a record is worth."""

    ACCEPTED = "accepted"
    STALE = "stale"
    MISSING = "missing"


@dataclass(frozen=True)
class Evidence:
    """A record and what it is worth: `reasons` names what has changed since, `facts` is what was found."""

    status: Status
    reasons: tuple[str, ...] = ()
    engine: str = ""
    version: str = ""
    facts: dict[str, Any] | None = None
    seconds: float = 0.0


def evidence_file(entry: Entry, folder: Path) -> Path:
    """Where the record of an entry is; `folder` is the manifest's."""
    return folder / "evidence" / f"{entry.name}.json"


def record(entry: Entry, result: Result, folder: Path) -> Path:
    """Write the record of a check and its log, replacing an earlier one."""
    path = evidence_file(entry, folder)
    output_folder(path.parent)
    log = path.with_suffix(".log")
    write_text(log, read_text(result.log, "The log"))
    data = {
        "entry": entry.name,
        "engine": result.engine,
        "version": result.version,
        "args": list(result.args),
        "exit_code": result.exit_code,
        "facts": result.facts(),
        "seconds": round(result.seconds, 1),
        "arguments": dict(entry.args),
        "files": _files(entry),
        "definitions": _definitions(entry),
        "log": log.name,
        "log_sha256": file_hash(log),
    }
    write_text(path, json.dumps(data, indent=2, sort_keys=True) + "\n")
    return path


def verify(entry: Entry, folder: Path) -> Evidence:
    """Say whether there is a record of this entry and whether it still counts."""
    path = evidence_file(entry, folder)
    if not path.is_file():
        return Evidence(Status.MISSING, (f"there is no {path}",))
    try:
        data = json.loads(read_text(path, "The evidence"))
    except json.JSONDecodeError as error:
        raise ConformError(f"The evidence {path} is not JSON: line {error.lineno}: {error.msg}.") from None
    if not isinstance(data, dict) or not data.keys() >= _FIELDS:
        raise ConformError(f"The evidence {path} lacks fields: record it again with --record-evidence.")
    reasons = _changes(entry, data, path)
    status = Status.STALE if reasons else Status.ACCEPTED
    return Evidence(
        status, tuple(reasons), data["engine"], data["version"], data["facts"], float(data["seconds"])
    )


def _changes(entry: Entry, data: dict[str, Any], path: Path) -> list[str]:
    reasons = _other(data["files"], _files(entry))
    if reasons and "definitions" in data:
        named = _other(data["definitions"], _definitions(entry))
        reasons = [*reasons, *named] if named else []
    if data["engine"] != entry.engine or data["arguments"] != entry.args:
        reasons.append("the entry's engine or arguments have changed")
    log = path.with_suffix(".log")
    if not log.is_file() or file_hash(log) != data["log_sha256"]:
        reasons.append(f"{log.name} is missing or was edited")
    return reasons


def _other(recorded: dict[str, str], current: dict[str, str]) -> list[str]:
    return [
        f"{name or 'a declaration'} has changed"
        if name in recorded and name in current
        else f"{name} was added or removed"
        for name in sorted(recorded.keys() | current.keys())
        if recorded.get(name) != current.get(name)
    ]


def _config(entry: Entry) -> Path | None:
    if entry.config is None and entry.engine == "tlc":
        return config_beside(entry.module)
    return entry.config


def _files(entry: Entry) -> dict[str, str]:
    return spec_files(entry.module, _config(entry))


def _definitions(entry: Entry) -> dict[str, str]:
    return definitions(entry.module, _config(entry), entry.args.values())
