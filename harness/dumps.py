"""State graphs that TLC has dumped, shared by runs of verbs that need the same graph.

`make` names a folder in CONFORM_DUMPS; there a dump stands under the key of all its inputs: the text of its
modules and configuration, TLC and its options. A dump whose key is there is taken, and the log names it.
Elsewhere TLC writes each dump anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness.engines.base import Progress
from harness.files import output_folder, write_text

FOLDER: Final = "CONFORM_DUMPS"
"""The environment variable with the folder; without it nothing is shared."""
KEPT: Final = 16
"""The number of dumps that stay in the folder, the newest; each has some ten megabytes."""


def shares_dumps() -> bool:
    """Tell if dumps are shared."""
    return bool(os.environ.get(FOLDER))


def shared_dump(
    dot: Path, depends: Iterable[str], write: Callable[[], int], *, log: Path, progress: Progress
) -> int:
    """Put a dump at `dot`: the one in the folder with the same key, or the one that `write` makes; its
    states.

    Raises the errors of `write`, and ConformError if the folder cannot be written to.
    """
    if not (named := os.environ.get(FOLDER)):
        return write()
    key = hashlib.sha256("\0".join(depends).encode()).hexdigest()[:32]
    folder = output_folder(Path(named))
    if dump := next(folder.glob(f"{key}-*.dot"), None):
        with suppress(FileNotFoundError):  # another process removes the oldest dumps meanwhile
            return _take(dump, dot, log, progress)
    states = write()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for file, suffix in ((log, ".log"), (dot, ".dot")):  # the dump comes last: where it is, all files are
            shutil.copyfile(file, whole := Path(place) / suffix)
            whole.replace(folder / f"{key}-{states}{suffix}")
    _remove_oldest(folder)
    return states


def _take(dump: Path, dot: Path, log: Path, progress: Progress) -> int:
    """Copy a dump of the folder to `dot`, its log to `log`; the number of its states.

    Raises FileNotFoundError if the dump is removed meanwhile.
    """
    when = datetime.fromtimestamp(dump.stat().st_mtime, UTC).isoformat(" ", "seconds")
    text = dump.with_suffix(".log").read_text()
    shutil.copyfile(dump, dot)
    sentence = f"The state graph {dump} of {when} is taken: TLC wrote the same model then.\n"
    progress(sentence.rstrip())
    write_text(log, sentence + text)
    return int(dump.stem.rpartition("-")[2])


def _remove_oldest(folder: Path) -> None:
    """Remove all dumps but the newest; several processes may do so at once."""
    ages = {}
    for dump in folder.glob("*.dot"):
        with suppress(FileNotFoundError):
            ages[dump] = dump.stat().st_mtime
    for old in sorted(ages, key=lambda dump: ages[dump])[:-KEPT]:
        for file in (old, old.with_suffix(".log")):
            file.unlink(missing_ok=True)
