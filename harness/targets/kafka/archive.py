"""An archive of the classes that the program loads, by which a JVM starts in half the time.

Java makes the archive itself (class data sharing) while the program answers `SESSION`, at the first use of a
program by a JVM. The archive is beside the program, under a name that says of which JVM it is and how large.
It appears whole or not at all; a JVM that has no use for it goes on without. A JVM that cannot make one
leaves an empty file, so that it is asked once only.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.targets.base import Json

MADE_WITHIN_S: Final = 120.0
"""How long the making of an archive may take; after that the program runs without one."""
QUIET: Final = ("-Xlog:disable", "-Xlog:all=warning:stderr")
"""A JVM warns of an archive that does not fit; not on the standard output, which is the line protocol's."""

_TOPIC: Final = {"name": "foo", "id": "11111111-1111-1111-1111-111111111111", "partitions": 2}
_CLIENT: Final = {"id": "client", "host": "/127.0.0.1", "principal": "User:client"}


def _sent(api: str, version: int, **body: object) -> Json:
    operation = {"op": "request", "id": 1, "api": api, "version": version, "client": _CLIENT}
    return {**operation, "body": body, "observe": str(body.get("groupId", "g"))}


def _heartbeat(member: str, epoch: int, owned: Sequence[Json] | None, joins: bool = False) -> Json:
    timeout, topics = (300_000, ["foo"]) if joins else (-1, None)
    said = {"memberId": member, "memberEpoch": epoch, "topicPartitions": owned}
    given = {"rebalanceTimeoutMs": timeout, "subscribedTopicNames": topics}
    return _sent("ConsumerGroupHeartbeat", 0, groupId="g", **said, **given)


_PROTOCOL: Final = {"name": "range", "metadata": "AAEAAAABAANmb28AAAAAAAAAAAAAAAA="}
SESSION: Final[Sequence[Json]] = (
    {"op": "hello"},
    {"op": "configure", "group.consumer.session.timeout.ms": 45_000},
    {"op": "load", "records": [], "topics": [], "volatile": {"clockMs": 0, "groups": {}}},
    {"op": "topics", "upsert": [_TOPIC], "delete": [], "observe": "g"},
    {"op": "assign", "group": "g", "target": {"m1": [{"topicId": _TOPIC["id"], "partitions": [0, 1]}]}},
    _heartbeat("m1", 0, [], joins=True),
    {"op": "advance", "ms": 1},
    _heartbeat("m2", 0, [], joins=True),
    _heartbeat("m1", 1, [{"topicId": _TOPIC["id"], "partitions": [0]}]),
    _heartbeat("m1", 9, None),
    _heartbeat("m2", -1, None),
    {"op": "topics", "upsert": [{**_TOPIC, "partitions": 3}], "delete": [], "observe": "g"},
    {"op": "fire", "timer": "session", "group": "g", "member": "m1", "observe": "g"},
    {"op": "records", "since": 0},
    {"op": "restart"},
    _sent("JoinGroup", 9, groupId="c", memberId="", protocolType="consumer", protocols=[_PROTOCOL]),
    _sent("ListGroups", 5, statesFilter=[], typesFilter=[]),
    {"op": "describe", "group": "g"},
    {"op": "background"},
)
"""What the program is told while the archive is made. The answers do not matter; what is loaded does."""


def archive_options(java: Path, words: Sequence[str], folder: Path) -> list[str]:
    """The options by which `java` runs `words` with an archive in `folder`; none of them where there is no
    archive and none can be made."""
    identity = _identity(java, words)
    with suppress(OSError):  # a folder that cannot be written to: the program only starts more slowly
        file = _whole(folder, identity) or _made(java, words, folder, identity)
        if file.stat().st_size:
            return [f"-XX:SharedArchiveFile={file}", *QUIET]
    return []


def _whole(folder: Path, identity: str) -> Path | None:
    """The archive of that identity, if it has the size that its name says: a JVM dies of one that was cut
    off."""
    for file in sorted(folder.glob(f"{identity}-*.jsa")):
        if file.stem == f"{identity}-{file.stat().st_size}":
            return file
    return None


def _identity(java: Path, words: Sequence[str]) -> str:
    """Another JVM and other options have another archive: a JVM refuses one that is not its own."""
    program = java.resolve()
    home = program.parents[1]
    parts = [program, home / "release", home / "lib" / "modules"]
    stats = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in parts if one.is_file()]
    return hashlib.sha256(repr((stats, list(words))).encode()).hexdigest()[:16]


def _made(java: Path, words: Sequence[str], folder: Path, identity: str) -> Path:
    lines = "".join(f"{json.dumps(operation)}\n" for operation in SESSION).encode()
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        made = Path(beside) / "made.jsa"
        command = [str(java), f"-XX:ArchiveClassesAtExit={made}", *QUIET, *words]
        try:
            ended = subprocess.run(command, input=lines, capture_output=True, timeout=MADE_WITHIN_S)
            whole = ended.returncode == 0 and made.is_file()
        except subprocess.TimeoutExpired:
            whole = False
        if not whole:
            made.unlink(missing_ok=True)
            made.touch()
        return made.replace(folder / f"{identity}-{made.stat().st_size}.jsa")
