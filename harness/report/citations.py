"""The requirements, with the places that cite each: operators of the specification, functions, tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

TABLE: Final = "REQUIREMENTS.md"
ROW: Final = re.compile(
    r"^\| ([A-Z]\d{1,2}) \| (.*) \| (done|partly|out of scope)(?:: (.*))? \|$", re.MULTILINE
)
"""Rows of the table: ID, sentence, state, missing parts."""
_WHERE: Final = re.compile(r"^\| ([A-Z]\d{1,2}) \| (`.+`) \| (`.+`) \| `(\S+)`: (.+) \|$", re.MULTILINE)
_ELSEWHERE: Final = re.compile(r"^\| ([A-Z]\d{1,2}) \| (`[^|]+/[^|]+`) \| (`tests/[^|]+`) \|$", re.MULTILINE)
"""Rows of requirements that no behaviour of the protocol shows: files or their definitions, and tests."""
_PLACE: Final = re.compile(r"`([^`]+)`")
_NAME: Final = re.compile(r"`([\w.]+)`")
_ID: Final = re.compile(r"\b[A-Z]\d{1,2}\b")
_DEFINITION: Final = re.compile(r"(?:LOCAL )?(\w+)(?:\(.*\))? ==")
_CONSTANT: Final = re.compile(r"  (\w+),?$")

Parts: TypeAlias = Callable[[Path, str], Iterable[tuple[str, str]]]
"""The function that gives the places in a file, and the words of each."""


@dataclass(frozen=True)
class Requirement:
    """A row of the table: the sentence, the state ("" for done, or the missing parts), and the places that
    cite it.

    `spec` has operators ("Coordinator.Revoke"), or a module whose head cites it; `code` functions of the
    coordinator ("reconcile.revoke"), or places of requirements that no behaviour of the protocol shows,
    `tests` files. `trace` is the committed one that the table names, with a `step` that exercises it.
    """

    name: str
    sentence: str
    missing: str
    spec: Sequence[str] = ()
    code: Sequence[str] = ()
    tests: Sequence[str] = ()
    trace: str = ""
    step: str = ""

    @property
    def letter(self) -> str:
        """The letter of an ID: E epochs, R reconciliation …"""
        return self.name[0]


def requirements(root: Path) -> list[Requirement]:
    """The rows of REQUIREMENTS.md in a folder, with citations in `spec`, `coordinator` and `tests` beside it.

    None where there is no such table; missing folders cite nothing.
    """
    table = root / TABLE
    if not table.is_file():
        return []
    text = table.read_text(encoding="utf-8")
    rows = ROW.findall(text)
    where = {name: places for name, *places in _WHERE.findall(text)}
    elsewhere = {name: places for name, *places in _ELSEWHERE.findall(text)}
    known = {name for name, *_ in rows}
    spec = _cited(known, (root / "spec").glob("*.tla"), in_module)
    code = _cited(known, (root / "coordinator").rglob("*.py"), lambda path, text: in_python(path, text, root))
    tests = _cited(known, (root / "tests").rglob("test_*.py"), lambda path, text: ((path.stem, text),))
    listed = []
    for name, sentence, _, missing in rows:
        operators, functions, trace, step = where.get(name, ("", "", "", ""))
        places, checks = (_PLACE.findall(cell) for cell in elsewhere.get(name, ("", "")))
        files = [Path(check.partition("::")[0]).stem for check in checks]
        listed.append(
            Requirement(
                name,
                sentence,
                missing,
                _merged(_NAME.findall(operators), spec.get(name, ())),
                places or _merged(_NAME.findall(functions), code.get(name, ())),
                list(dict.fromkeys([*files, *tests.get(name, ())])),
                trace,
                step,
            )
        )
    return listed


def _merged(first: Sequence[str], others: Sequence[str]) -> list[str]:
    """Places that the table itself names, in their cited form if they are cited, then the other places."""
    cited = {place.rpartition(".")[2]: place for place in reversed(others)}
    return list(dict.fromkeys([*(cited.get(name.rpartition(".")[2], name) for name in first), *others]))


def _cited(known: set[str], paths: Iterable[Path], parts: Parts) -> Mapping[str, Sequence[str]]:
    """Requirement -> the places that cite it, in order."""
    citations: dict[str, dict[str, None]] = {}
    for path in sorted(paths):
        for place, words in parts(path, path.read_text(encoding="utf-8")):
            for name in sorted(known & set(_ID.findall(words))):
                citations.setdefault(name, {})[place] = None
    return {name: list(places) for name, places in citations.items()}


def in_module(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """The comments of a TLA+ module: over a definition or a constant, or in it; comments in boxes belong to
    the module."""
    module = place = path.stem
    above: list[str] = []
    boxed = False
    for line in text.splitlines():
        boxed = boxed or line.lstrip().startswith("(*")
        definition = _DEFINITION.match(line)
        if boxed:
            yield module, line
            boxed = "*)" not in line
        elif line.lstrip().startswith("\\*"):
            above.append(line)
            continue
        elif definition:
            place = f"{module}.{definition[1]}"
        elif above and (constant := _CONSTANT.match(line)):
            yield f"{module}.{constant[1]}", " ".join(above)
            above = []
        yield place, " ".join([*above, line.partition("\\*")[2]])
        above = []


def in_python(path: Path, text: str, root: Path) -> Iterator[tuple[str, str]]:
    """The lines of a Python file, each with its function or class."""
    relative = path.relative_to(root).with_suffix("").parts[1:]
    module = ".".join(part for part in relative if part != "__init__") or path.parent.name
    places = [module] * (len(text.splitlines()) + 1)
    for node, name in _definitions(ast.parse(text), module):
        places[node.lineno : (node.end_lineno or node.lineno) + 1] = [name] * (
            (node.end_lineno or node.lineno) + 1 - node.lineno
        )
    for number, line in enumerate(text.splitlines(), start=1):
        yield places[number], line


def _definitions(tree: ast.AST, name: str) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, str]]:
    """Functions and classes, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, f"{name}.{node.name}"
            yield from _definitions(node, f"{name}.{node.name}")
