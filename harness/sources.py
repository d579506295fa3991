"""Sources of a recorded run: the programs that ran, with their imports, and the check that they are
unchanged."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Mapping
from modulefinder import ModuleFinder
from pathlib import Path

import msgspec

from harness.errors import EVIDENCE_MISSING, ConformError
from harness.files import read_json
from harness.forms import formed
from harness.spechash import file_hash


class _Evidence(msgspec.Struct):
    """The part of a record that has the hashes of sources."""

    files: dict[str, str]


class _WithoutProse(ast.NodeTransformer):
    """A transformer that removes docstrings from a program."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def code_hash(path: Path) -> str:
    """SHA-256 of the parts of a source that Python runs: comments, layout and docstrings do not count. For a
    file in another language, SHA-256 of its text."""
    if path.suffix != ".py":
        return file_hash(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return hashlib.sha256(ast.unparse(_WithoutProse().visit(tree)).encode()).hexdigest()


def imported(root: Path, program: Path, never: Iterable[str] = ()) -> set[Path]:
    """Files below the root that a program imports, also within a function; the program is one of them.

    `never` names modules whose import a run does not reach. Files that are imported by a computed name are
    not found.
    """
    finder = ModuleFinder([str(root), str(program.parent)], excludes=list(never))
    finder.run_script(str(program))
    names = (getattr(module, "__file__", None) for module in finder.modules.values())
    files = {Path(name) for name in names if name}
    return {file for file in files if file.is_relative_to(root)}


def hashes(root: Path, patterns: Iterable[str], *programs: str, never: Iterable[str] = ()) -> dict[str, str]:
    """`code_hash` of every file that a result depends on, by its path below the root.

    These are the files that a pattern matches; of those in Python, the ones that a program imports."""
    run = set[Path]().union(*(imported(root, root / program, never) for program in programs))
    matched = {path for pattern in patterns for path in root.glob(pattern)}
    sources = sorted(path for path in matched if path in run or path.suffix != ".py")
    return {path.relative_to(root).as_posix(): code_hash(path) for path in sources}


def verify(record: Path, current: Mapping[str, str]) -> int:
    """Print on one line if a record still counts: exit code 0, or 12 if it is missing or stale."""
    if not record.is_file():
        print(f"there is no evidence {record}: record it with --evidence", file=sys.stderr)
        return EVIDENCE_MISSING
    try:
        recorded = formed(read_json(record, "The evidence"), _Evidence, f"The evidence {record}:").files
    except ConformError as error:
        print(f"{error.message} Record it with --evidence.", file=sys.stderr)
        return EVIDENCE_MISSING
    changed = sorted(
        name for name in recorded.keys() | current.keys() if recorded.get(name) != current.get(name)
    )
    print(f"stale: changed since are {', '.join(changed)}" if changed else "accepted")
    return EVIDENCE_MISSING if changed else 0
