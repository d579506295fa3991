"""Names of scenario files and of the traces beside them: the part of scenarios that `conform replay` needs
where none is played."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SUFFIX: Final = ".yaml"


def trace_beside(path: Path) -> Path:
    """Path of the trace of a scenario file."""
    return path.with_name(f"{path.stem}.itf.json")
