"""The value of `--dialect`: a name, or a file with a name, which `conform identify --out` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.errors import USAGE, ConformError
from harness.files import read_text
from harness.replay.dialects import known_name

METAVAR: Final = "NAME|FILE"


def named(given: str) -> str:
    """The name of a dialect, read from the file if there is a file of that name. ConformError (exit 2) for a
    name that no dialect has, and for a file without a name."""
    path = Path(given)
    if "=" in given or not path.is_file():
        return known_name(given)
    lines = (line.partition("#")[0].strip() for line in read_text(path, "The dialect").splitlines())
    names = [line for line in lines if line]
    if len(names) != 1:
        raise ConformError(
            f"The file {path} must have one line with the name of a dialect, as conform identify --out "
            f"writes it; it has {len(names)}.",
            USAGE,
        )
    return known_name(names[0])
