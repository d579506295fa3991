"""Packages of the harness that know no kind of group by name: they ask the registry of `harness/kinds/`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from kind_lines import NAMES, ROOT, words

MOVED = ("cli", "engines", "gate", "graph", "pipeline", "report", "scenario/scripts", "validate")
"""Packages that name no kind. The list grows."""
ALLOWED = {
    "gate": {"steps.py: classic", "steps.py: connect", "steps.py: migration"},  # folders of traces
    "report": {
        "matrix.py: migration",  # the title of the requirements M1 to M4
        "coverage.py: harness.kinds.consumer.steps",  # the actions that a result is counted against
    },
}
KINDS = {"classic", "connect", "consumer", "migration"}


def named(tree: ast.Module) -> Iterator[str]:
    """Every name of a kind in the code: in an import, a name, or a text that is nothing else."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, rest = node.module.partition("harness.kinds.")
            if not package and rest.split(".")[0] in KINDS:
                yield node.module
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value] if node.value.lower() in NAMES else []
        else:
            names = []
        yield from (name for name in names if words(name) & NAMES.keys())


@pytest.mark.parametrize("package", MOVED)
def test_a_package_that_was_moved_names_no_kind(package: str) -> None:
    folder = ROOT / "harness" / package
    found = {
        f"{path.relative_to(folder)}: {name}"
        for path in folder.rglob("*.py")
        for name in named(ast.parse(path.read_text()))
    }
    assert found == ALLOWED.get(package, set())


@pytest.mark.parametrize(
    "text",
    [
        "from harness.kinds.classic.state import Reader",
        "from harness.replay import classic",
        "if is_connect(trace): pass",
        'kind = "migration"',
        "class ConsumerThing: pass",
    ],
)
def test_a_name_of_a_kind_is_found(text: str) -> None:
    assert list(named(ast.parse(text))) != []


def test_other_words_are_no_names_of_kinds() -> None:
    text = (
        '"""Connect groups, say."""\nfrom harness.kinds.registry import kind_of\nconnected = "connection"\n'
    )
    assert list(named(ast.parse(text))) == []
