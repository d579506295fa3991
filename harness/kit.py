"""Folders of the specification and the traces: in the current folder, or in the installed package.

A checkout has them beside `harness/` and is the current folder; a wheel has them in `harness/carried/`, where
setup.py puts them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_CARRIED: Final = Path(__file__).parent / "carried"
_KNOWN_BY: Final = {"spec": "manifest.json", "traces": "golden"}
"""Folder -> a file that it must have: a vendor's repository may well have a folder `spec` of its own."""


def kit_folder(name: str) -> Path:
    """The folder `spec` or `traces`: the one here if it is the kit's, else the package's.

    Where neither exists it is the one here, so that the error of opening it names the missing folder.
    """
    here = Path(name)
    for folder in (here, carried(name)):
        if (folder / _KNOWN_BY[name]).exists():
            return folder
    return here


def kit_path(path: Path) -> Path:
    """A path that a user names, as `traces/golden`: the one here, or, where there is none, that part of the
    installed package."""
    if path.is_absolute() or not path.parts or path.parts[0] not in _KNOWN_BY:
        return path
    if len(path.parts) == 1:
        return kit_folder(path.parts[0])
    inside = _CARRIED / path
    return inside if not path.exists() and inside.exists() else path


def kit_name(path: Path) -> str:
    """The shortest name that `kit_path` accepts for a file: `traces/golden/…` for one of the package."""
    if not path.is_relative_to(_CARRIED):
        return str(path)
    inside = path.relative_to(_CARRIED)
    return str(inside if kit_path(inside) == path else path)


def carried(name: str) -> Path:
    """Path of that folder in an installed package."""
    return _CARRIED / name


def is_carried(folder: Path) -> bool:
    """Tell if this folder came with an installed package, and no checkout is at hand."""
    return folder.resolve().is_relative_to(_CARRIED.resolve())
