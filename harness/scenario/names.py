"""How scenario files and the traces beside them are called: what `conform replay` needs of scenarios where
there are none to play."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SUFFIX: Final = ".yaml"


def trace_beside(path: Path) -> Path:
    """Where the trace of a scenario file is kept."""
    return path.with_name(f"{path.stem}.itf.json")
