"""A count of the lines of the harness that belong to one kind of group, and of the rest.

    python tests/house/kind_lines.py

A file belongs to a kind if its path names the kind. In all other files a definition (a function, a method, a
class, a constant) belongs to a kind if its code names one; imports and texts do not count.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
NAMES: Final = {
    **{name: name for name in ("classic", "connect", "migration", "share", "consumer")},
    **dict.fromkeys(("migrates", "migrating"), "migration"),
    **dict.fromkeys(("computed", "computing", "computation"), "computation"),
}
"""Words of a path, or of a name in the code, to kinds; computation by members is a feature of several."""
ELSEWHERE: Final = "in files of several kinds"
REST: Final = "rest"


def words(text: str) -> set[str]:
    """The words of a name or a path: MigrationRecording has migration and kind."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


def kind_of_file(path: str) -> str:
    """The kind that a file of the harness belongs to, "" for a file of several kinds."""
    results = sorted(words(path.partition(".")[0]) & NAMES.keys())
    return NAMES[results[0]] if results else ""


def _definitions(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The definitions of a module; of a class its methods, unless its own name names a kind."""
    for statement in body:
        if isinstance(statement, ast.ClassDef) and not words(statement.name) & NAMES.keys():
            yield from _definitions(statement.body)
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement


def _names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def lines_about_kinds(text: str) -> int:
    """The number of lines, in a module of several kinds, of definitions that name a kind."""
    return sum(
        (statement.end_lineno or 0) - statement.lineno + 1
        for statement in _definitions(ast.parse(text).body)
        if any(words(name) & NAMES.keys() for name in _names(statement))
    )


def counted(harness: Path) -> Counter[str]:
    """Lines by kind, those of a kind in other files, and the rest."""
    result: Counter[str] = Counter()
    for path in sorted((*harness.rglob("*.py"), *harness.rglob("*.j2"))):
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if kind := kind_of_file(path.relative_to(harness).as_posix()):
            result[kind] += lines
            continue
        named = lines_about_kinds(text) if path.suffix == ".py" else 0
        result += Counter({ELSEWHERE: named, REST: lines - named})
    return result


def main() -> None:
    """Print the table."""
    result = counted(ROOT / "harness")
    beside = sum(result.values()) - result["consumer"] - result[REST]
    for name in ("classic", "connect", "migration", "share", "computation", ELSEWHERE):
        print(f"{result[name]:7,}  {name}")
    print(f"{beside:7,}  beside the consumer group")
    print(f"{result['consumer']:7,}  consumer")
    print(f"{result[REST]:7,}  {REST}")


if __name__ == "__main__":
    main()
