"""Recorded results of checks, by content: a record counts only for the question that it answers.

A record is NAME.json with the engine's output in NAME.log. Its key has everything on which the answer
depends: every definition that the run uses and the configuration, with the bounds, the engine with its
version and checksum, the options, and the parser of the output. A reader of a record reads its facts again
from its log, so that no figure can be changed alone. Committed records are in `evidence/` beside the
manifest; those of this machine are in a store (`Records.store`), the latest ones of each model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from harness.definitions import definitions, present_names
from harness.engines.base import EngineError, Result
from harness.engines.registry import ENGINES
from harness.errors import ConformError
from harness.files import output_folder, read_json, read_text, write_text
from harness.manifest import Entry
from harness.modules import config_beside
from harness.spechash import file_hash, spec_files

_FIELDS: Final = {
    *("engine", "version", "program", "parser", "args", "arguments", "files", "definitions"),
    *("facts", "exit_code", "seconds", "recorded", "log_sha256"),
}
STORE: Final = Path("build") / "store" / "results"
"""The folder in which this machine keeps its own results."""
_DEFINITION: Final = "definition "
_SHOWN: Final = 3
_KEPT: Final = 5
"""The number of records of a model in a store: enough versions for going back and forth between them."""


class Status(StrEnum):
    """The possible states of a record."""

    ACCEPTED = "accepted"
    STALE = "stale"
    MISSING = "missing"


@dataclass(frozen=True)
class Evidence:
    """A record and its validity.

    `reasons` name the changes since. `facts` are the record's figures, `recorded` the date of the run
    (YYYY-MM-DD), `result` the content of its log, for a valid record.
    """

    status: Status
    reasons: tuple[str, ...] = ()
    engine: str = ""
    version: str = ""
    facts: dict[str, Any] | None = None
    seconds: float = 0.0
    recorded: str = ""
    result: Result | None = None

    @property
    def counts(self) -> bool:
        """Tell if the record answers today's question."""
        return self.status is Status.ACCEPTED

    @property
    def why(self) -> str:
        """The short reason why the record is not valid: changed definitions rather than the modules that they
        are in."""
        if self.status is Status.MISSING:
            return "no record"
        named = [reason for reason in self.reasons if reason.startswith(_DEFINITION)] or list(self.reasons)
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        return ", ".join(named[:_SHOWN]) + more


@dataclass(frozen=True)
class Records:
    """Places of records: `folder`/evidence (the manifest's folder), and `store`, if there is one."""

    folder: Path
    store: Path | None = None

    def find(self, entry: Entry) -> Evidence:
        """The valid record of an entry, this machine's before the committed one; if there is none, the newest
        record with the reason why it is not valid."""
        own = [verify_file(entry, path) for path in self._local(entry)]
        records = [*own, verify(entry, self.folder)]
        return next((one for one in records if one.counts), records[0])

    def keep(self, entry: Entry, result: Result) -> None:
        """Put a result into the store."""
        if self.store is None:
            return
        place = self.store / entry.name
        data, lines = _record(entry, result)
        key = {name: data[name] for name in ("program", "parser", "args", "arguments", "definitions")}
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
        _write(output_folder(place) / f"{digest}.json", data, lines)
        for old in list(self._local(entry))[_KEPT:]:
            old.unlink(missing_ok=True)
            old.with_suffix(".log").unlink(missing_ok=True)

    def publish(self, entry: Entry) -> Evidence:
        """The committed record, if it is valid; else this machine's record becomes the committed one, if that
        is valid."""
        committed = verify(entry, self.folder)
        for path in () if committed.counts else self._local(entry):
            if verify_file(entry, path).counts:
                _write(self._place(entry), _read(path), read_text(path.with_suffix(".log"), "").splitlines())
                return verify(entry, self.folder)
        return committed

    def _place(self, entry: Entry) -> Path:
        path = evidence_file(entry, self.folder)
        output_folder(path.parent)
        return path

    def _local(self, entry: Entry) -> Iterator[Path]:
        """The records of the store, the newest first."""
        files = self.store.glob(f"{entry.name}/*.json") if self.store else ()
        return iter(sorted(files, key=lambda path: path.stat().st_mtime, reverse=True))


def evidence_file(entry: Entry, folder: Path) -> Path:
    """Path of the committed record of an entry; `folder` is the manifest's."""
    return folder / "evidence" / f"{entry.name}.json"


def record(entry: Entry, result: Result, folder: Path) -> Path:
    """Write the committed record of a check and its log, replacing an earlier one."""
    path = evidence_file(entry, folder)
    output_folder(path.parent)
    _write(path, *_record(entry, result))
    return path


def verify(entry: Entry, folder: Path) -> Evidence:
    """Tell if there is a committed record of this entry and if it is still valid."""
    return verify_file(entry, evidence_file(entry, folder))


def verify_file(entry: Entry, path: Path) -> Evidence:
    """Tell if the record in a file is still valid."""
    if not path.is_file():
        return Evidence(Status.MISSING, (f"there is no {path}",))
    data = _read(path)
    reasons = _changes(entry, data, path)
    result = None
    if not reasons:
        result, reasons = _reread(entry, data, path)
    status = Status.STALE if reasons else Status.ACCEPTED
    facts, seconds = data["facts"], float(data["seconds"])
    return Evidence(
        status, tuple(reasons), data["engine"], data["version"], facts, seconds, data["recorded"], result
    )


def renew(entry: Entry, folder: Path) -> Evidence:
    """Read a committed record again with a parser that has changed since.

    A record of which nothing else has changed, and whose log gives the same facts to the new parser, gets
    that parser's hash.
    """
    path = evidence_file(entry, folder)
    if path.is_file():
        data = _read(path)
        renewed = {**data, "parser": file_hash(ENGINES[entry.engine].parser)}
        if renewed != data and not _changes(entry, renewed, path) and not _reread(entry, renewed, path)[1]:
            write_text(path, _text(renewed))
    return verify(entry, folder)


def _read(path: Path) -> dict[str, Any]:
    data = read_json(path, "The evidence")
    if not isinstance(data, dict) or not data.keys() >= _FIELDS:
        raise ConformError(f"The evidence {path} lacks fields: record it again with --record-evidence.")
    return data


def _record(entry: Entry, result: Result) -> tuple[dict[str, Any], list[str]]:
    """A record without the fields of its log, and the lines of the log."""
    engine = ENGINES[entry.engine]
    lines = read_text(result.log, "The log").splitlines()
    kept = engine.trimmed(lines)
    return {
        "entry": entry.name,
        "engine": result.engine,
        "version": result.version,
        "program": engine.program,
        "parser": file_hash(engine.parser),
        "args": list(result.args),
        "arguments": dict(entry.args),
        "files": _files(entry),
        "definitions": _definitions(entry),
        "facts": result.facts(),
        "exit_code": result.exit_code,
        "seconds": round(result.seconds, 1),
        "processor": round(result.processor, 1),
        "recorded": date.today().isoformat(),
        "log_trimmed": kept != lines,
    }, kept


def _write(path: Path, data: dict[str, Any], lines: Sequence[str]) -> None:
    log = path.with_suffix(".log")
    write_text(log, "".join(f"{line}\n" for line in lines))
    write_text(path, _text({**data, "log": log.name, "log_sha256": file_hash(log)}))


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def _changes(entry: Entry, data: dict[str, Any], path: Path) -> list[str]:
    """The inputs of the record that differ today, as text: files, definitions, engine, arguments."""
    engine = ENGINES[entry.engine]
    reasons = _other(data["files"], _files(entry))
    if reasons:
        current = _definitions(entry)
        names = present_names(entry.module) if current != data["definitions"] else {}
        named = _other(data["definitions"], current, _DEFINITION, names)
        reasons = [*reasons, *named] if named else []
    if data["engine"] != entry.engine or data["arguments"] != entry.args:
        reasons.append("the entry's engine or arguments have changed")
    elif _without_workers(data["args"]) != _without_workers(engine.command(entry.model())):
        reasons.append(f"the options of {entry.engine} have changed")
    elif (data["version"], data["program"]) != (engine.pinned, engine.program):
        reasons.append(f"{entry.engine} {engine.pinned} is used now, not {data['version']}")
    if data["parser"] != file_hash(engine.parser):
        reasons.append(f"{engine.parser.name}, which reads the output, has changed")
    log = path.with_suffix(".log")
    if not log.is_file() or file_hash(log) != data["log_sha256"]:
        reasons.append(f"{log.name} is missing or was edited")
    return reasons


def _reread(entry: Entry, data: dict[str, Any], path: Path) -> tuple[Result | None, list[str]]:
    """The result in the log, and the places where the record differs from the log."""
    log = path.with_suffix(".log")
    try:
        lines = read_text(log, "The log").splitlines()
        result = ENGINES[entry.engine].reread(entry.model(), lines, log)
    except EngineError as error:
        return None, [error.message]
    read = result.facts()
    reasons = [
        f"{what} is {data['facts'].get(what)} in {path.name} and {read.get(what)} in its log"
        for what in sorted(read.keys() | data["facts"].keys())
        if data["facts"].get(what) != read.get(what)
    ]
    return replace(result, seconds=float(data["seconds"]), version=data["version"]), reasons


def _without_workers(args: Sequence[str]) -> list[str]:
    """A command line without TLC's number of workers, on which the answer does not depend."""
    after = {position + 1 for position, word in enumerate(args) if word == "-workers"}
    return [word for position, word in enumerate(args) if word != "-workers" and position not in after]


def _other(
    recorded: dict[str, str], current: dict[str, str], kind: str = "", names: dict[str, str] | None = None
) -> list[str]:
    """The differences in words; `names` has the present names of definitions that are recorded under a former
    one."""
    present = names or {}
    return [
        f"{kind + present.get(name, name) if name else 'a declaration'} has changed"
        if name in recorded and name in current
        else f"{kind}{present.get(name, name)} was added or removed"
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
