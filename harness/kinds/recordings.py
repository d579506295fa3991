"""The kind of group in a log, and its validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.dialect_name import base_of
from harness.errors import USAGE, ConformError
from harness.kinds.classic.description import CLASSIC
from harness.kinds.classic.recorded import ClassicRecording
from harness.kinds.classic.recorded_log import ClassicLogReader
from harness.kinds.connect.description import CONNECT
from harness.kinds.connect.recorded import ConnectRecording
from harness.kinds.connect.recorded_log import ConnectLogReader
from harness.kinds.consumer.client_log import ClientReader
from harness.kinds.consumer.client_log import Run as ClientRun
from harness.kinds.consumer.client_recorded import ClientRecording
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.recorded import ConsumerRecording
from harness.kinds.consumer.recorded_log import ConsumerReader
from harness.kinds.migration.description import MIGRATION
from harness.kinds.migration.recorded import KafkaMigrationRecording, MigrationRecording
from harness.kinds.migration.recorded_log import MigrationLogReader
from harness.kinds.registry import KINDS
from harness.kinds.share.description import SHARE
from harness.kinds.share.recorded import ShareLogReader, ShareRecording
from harness.plugins import parts
from harness.replay import wire
from harness.replay.dialects import TEXT
from harness.validate.form import check_form
from harness.validate.log import LogReader, lines_of
from harness.validate.recording import Recorded


def read_log(path: Path, group: str | None = None, dialect: str | None = None) -> Recorded[Any]:
    """Read a log; of several groups the named one, else the first. Its first run decides the kind of group; a
    group for which both protocols are used, there or in a later run where the first one is of a classic
    group, migrates in the way of its dialect.

    ConformError (exit 2) with the line where the log is malformed, and for a log in which nothing can be
    judged.
    """
    first = _first(path, group)
    kind = MIGRATION if first.migrates else next((kind for kind in KINDS if first.api in kind.apis), CONSUMER)
    reader = READERS.get(kind.name)
    if reader is None:
        raise ConformError(f"{path} is of a {kind.adjective} group, whose logs cannot be judged.", USAGE)
    return reader(path, first.group, dialect or first.dialect).whole()


def read_clients(path: Path, group: str | None = None) -> Recorded[ClientRun]:
    """Read the clients in the log of a consumer group; groups of another kind have none."""
    first = _first(path, group)
    kind = ClientRecording()
    if first.migrates or first.api != wire.HEARTBEAT:
        return Recorded(path, first.group, first.dialect, kind)
    read = ClientReader(path, first.group, kind).whole()
    read.dialect = first.dialect
    return read


def names_clients(path: Path) -> bool:
    """Tell if a log names the client of a request, as that of `conform proxy` does."""
    return any(isinstance(line, dict) and "listener" in line for _, line in lines_of(path))


def _migration(path: Path, group: str, dialect: str) -> LogReader[Any]:
    """The kind of a group that migrates, in the way of its dialect."""
    is_text = base_of(dialect) == TEXT.name
    return MigrationLogReader(path, group, MigrationRecording() if is_text else KafkaMigrationRecording())


READERS: Final[Mapping[str, Callable[[Path, str, str], LogReader[Any]]]] = {
    CLASSIC.name: lambda path, group, _: ClassicLogReader(path, group, ClassicRecording()),
    CONNECT.name: lambda path, group, _: ConnectLogReader(path, group, ConnectRecording()),
    SHARE.name: lambda path, group, _: ShareLogReader(path, group, ShareRecording()),
    CONSUMER.name: lambda path, group, _: ConsumerReader(path, group, ConsumerRecording()),
    MIGRATION.name: _migration,
    **parts("reader"),
}
"""By the name of each kind: a reader of the log of a group, in a dialect."""


@dataclass
class _First:
    """The beginning of a group in a log: its first request, a flag for a request to a classic group, and a
    flag for runs with both protocols."""

    group: str
    dialect: str = TEXT.name
    api: str = ""
    classic: bool = False
    both: bool = False

    @property
    def migrates(self) -> bool:
        return self.both and (self.classic or self.api == wire.HEARTBEAT)


def _first(path: Path, group: str | None) -> _First:
    known = {api for kind in KINDS for api in kind.apis}
    first, used = _First(group or ""), set[str]()
    lines = lines_of(path)
    for number, line in lines:
        check_form(f"{path}, line {number}", line)
    for _, line in lines:
        operation = line.get("op") if isinstance(line, dict) else None
        if operation == "hello":
            answer = line.get("answer")
            first.dialect = (isinstance(answer, dict) and answer.get("dialect")) or first.dialect
        if operation == "load":
            if first.api and not first.classic:
                break
            used = {f"classic {name}" for name in (line.get("volatile") or {}).get("classic", ())}
        body: Any = line.get("body") if operation == "request" else None
        named = body.get("groupId") if isinstance(body, dict) else None
        if not named or line.get("api") not in known or named != (first.group or named):
            continue
        used.add(f"classic {named}" if line["api"] in CLASSIC.apis else line["api"])
        is_classic = f"classic {named}" in used
        if not first.api:
            first.group, first.api, first.classic = str(named), str(line["api"]), is_classic
        first.both = first.both or (is_classic and wire.HEARTBEAT in used)
    return first
