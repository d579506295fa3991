"""Modules of the harness import each other in one direction: there is no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent.parent


def module_of(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> Iterator[str]:
    """Every name that a file imports, in a function, for types or at the top."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def circles(root: Path, package: str) -> list[list[str]]:
    """The modules that import each other, a list a circle."""
    files = {module_of(path, root): path for path in (root / package).rglob("*.py")}
    graph = nx.DiGraph()
    for module, path in files.items():
        graph.add_edges_from((module, name) for name in imported(path) if name in files and name != module)
    return [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def test_no_modules_of_the_harness_import_each_other_in_a_circle() -> None:
    assert circles(ROOT, "harness") == []


def test_a_circle_of_imports_fails(tmp_path: Path) -> None:
    folder = tmp_path / "harness"
    folder.mkdir()
    (folder / "one.py").write_text("from harness import two\n")
    (folder / "two.py").write_text("def late():\n    from harness.three import name\n")
    (folder / "three.py").write_text("import harness.one\n")
    assert circles(tmp_path, "harness") == [["harness.one", "harness.three", "harness.two"]]
