"""An archive of the classes that a Java program loads (class data sharing), which makes the start faster.

Java makes the archive itself, while the program does a small piece of work, at the first use of a program by
a JVM. The name of the archive has the identity of the JVM and the program, and its size. The archive appears
whole or not at all; a JVM without a use for an archive runs without. A JVM that cannot make one leaves an
empty file, so that it tries only once.

While it makes an archive, Java compiles nothing. A method that waits for the compiler when the archive is
written is marked as waiting in the archive, too, and no run with that archive ever compiles it. TLC then
takes 4 to 20 times as long (measured with OpenJDK 17).
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MADE_WITHIN_S: Final = 120.0
"""The most seconds that the making of an archive may take; after that the program runs without one."""
INTERPRETED: Final = "-Xint"
QUIET: Final = ("-Xlog:disable", "-Xlog:all=warning:stderr")
"""The option that keeps warnings off the standard output, which the kit reads: a JVM warns of an archive that
does not fit."""


@dataclass(frozen=True)
class Work:
    """The piece of work that a program does while its archive is made.

    `arguments` come after the program's words, `lines` are its standard input, `folder` is its working
    folder.
    """

    arguments: tuple[str, ...] = ()
    lines: bytes = b""
    folder: Path | None = None


def archive_options(java: Path, words: Sequence[str], folder: Path, work: Work) -> list[str]:
    """The options with which `java` runs `words` with an archive in `folder`; none where there is no archive
    and none can be made."""
    identity = _identity(java, words)
    with suppress(OSError):  # a folder that cannot be written to only makes the program start more slowly
        file = _whole(folder, identity) or _made(java, words, folder, identity, work)
        if file.stat().st_size:
            return [f"-XX:SharedArchiveFile={file}", *QUIET]
    return []


def _whole(folder: Path, identity: str) -> Path | None:
    """The archive with that identity, if its size is that in its name: a JVM crashes on an archive that was
    cut off."""
    for file in sorted(folder.glob(f"{identity}-*.jsa")):
        if file.stem == f"{identity}-{file.stat().st_size}":
            return file
    return None


def _identity(java: Path, words: Sequence[str]) -> str:
    """The name of the archive for a JVM and its options: a JVM refuses the archive of another JVM."""
    program = java.resolve()
    home = program.parents[1]
    parts = [program, home / "release", home / "lib" / "modules"]
    stats = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in parts if one.is_file()]
    return hashlib.sha256(repr((stats, INTERPRETED, list(words))).encode()).hexdigest()[:16]


def _made(java: Path, words: Sequence[str], folder: Path, identity: str, work: Work) -> Path:
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        made = Path(beside) / "made.jsa"
        command = [
            str(java),
            f"-XX:ArchiveClassesAtExit={made}",
            INTERPRETED,
            *QUIET,
            *words,
            *work.arguments,
        ]
        try:
            ended = subprocess.run(
                command, input=work.lines, capture_output=True, timeout=MADE_WITHIN_S, cwd=work.folder
            )
            whole = ended.returncode == 0 and made.is_file()
        except subprocess.TimeoutExpired:
            whole = False
        if not whole:
            made.unlink(missing_ok=True)
            made.touch()
        return made.replace(folder / f"{identity}-{made.stat().st_size}.jsa")
