"""Which kind of group a log is of, and what validates it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.replay import wire
from harness.validate.classic.kind import ClassicGroupKind
from harness.validate.classic.read import ClassicLogReader
from harness.validate.connect.kind import ConnectGroupKind
from harness.validate.connect.read import ConnectLogReader
from harness.validate.consumer import ConsumerKind
from harness.validate.kind import Recorded
from harness.validate.log import lines_of
from harness.validate.read import ConsumerReader


def read_log(path: Path, group: str | None = None) -> Recorded[Any]:
    """Read a log; of several groups the one that is named, else the first, whose first request says what kind
    of group it is.

    ConformError (exit 2) with the line for what is no log, and for one in which nothing can be judged.
    """
    named, api = _first(path, group)
    if api in wire.CLASSIC_VERSIONS:
        return ClassicLogReader(path, named, ClassicGroupKind()).whole()
    if api in wire.CONNECT_VERSIONS:
        return ConnectLogReader(path, named, ConnectGroupKind()).whole()
    return ConsumerReader(path, named, ConsumerKind()).whole()


def _first(path: Path, group: str | None) -> tuple[str, str]:
    """The group, and which API its first request is of."""
    known = {wire.HEARTBEAT, *wire.CLASSIC_VERSIONS, *wire.CONNECT_VERSIONS}
    for _, said in lines_of(path):
        body: Any = said.get("body") if isinstance(said, dict) and said.get("op") == "request" else None
        named = body.get("groupId") if isinstance(body, dict) else None
        if named and said.get("api") in known and named == (group or named):
            return str(named), str(said["api"])
    return group or "", ""
