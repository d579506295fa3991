"""The called functions of the coordinator, and a check if a bug is in one of them.

A copy of the coordinator notes its calls; a bug in functions that nothing calls cannot show.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

NOTES: Final = "called.py"
"""The module that is put into the copy; its set CALLED has the names of `functions`."""


def note_calls(root: Path) -> None:
    """Make every function of the copy `root`/coordinator note its calls, and every module its imports."""
    for path in (root / "coordinator").rglob("*.py"):
        name, tree = str(path.relative_to(root)), ast.parse(path.read_text(encoding="utf-8"))
        for node in list(ast.walk(tree)):
            if isinstance(node, ast.FunctionDef):
                node.body[:0] = ast.parse(f"_CALLED.add({_name(name, node)!r})").body
        noted = ast.parse(f"from coordinator.called import CALLED as _CALLED\n_CALLED.add({name!r})").body
        first = [isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body]
        at = first.index(True) + 1 if True in first else 0
        tree.body[at:at] = noted
        path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    (root / "coordinator" / NOTES).write_text("CALLED: set[str] = set()\n", encoding="utf-8")


def changes(root: Path, copy: Path, called: Container[str]) -> bool:
    """Tell if the coordinators below two folders differ in a function that is called, or in a module that is
    imported outside its functions."""
    sources = [path.relative_to(root) for path in sorted((root / "coordinator").rglob("*.py"))]
    return any(_at(root, str(name), line) in called for name in sources for line in _places(root, copy, name))


def _places(root: Path, copy: Path, name: Path) -> Iterator[int]:
    """The lines of a file that the copy does not have, or beside which it has another line."""
    before, after = ((folder / name).read_text(encoding="utf-8").splitlines() for folder in (root, copy))
    if before == after:
        return
    for how, start, end, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "insert":
            yield from (start, start + 1)
        elif how != "equal":
            yield from range(start + 1, end + 1)


def _at(root: Path, name: str, line: int) -> str:
    """The name of the innermost function at a line, or of the module."""
    tree = ast.parse((root / name).read_text(encoding="utf-8"))
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    here = [node for node in defined if node.lineno <= line <= (node.end_lineno or 0)]
    return _name(name, max(here, key=lambda node: node.lineno)) if here else name


def _name(path: str, function: ast.FunctionDef) -> str:
    return f"{path}:{function.lineno} {function.name}"
