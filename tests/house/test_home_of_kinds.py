"""Packages of the harness that know no kind of group by name: they ask the registry of `harness/kinds/`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from kind_lines import NAMES, ROOT, words

MOVED = (
    *("cli", "diff", "doctor", "engines", "gate", "graph", "pipeline", "replay", "report", "scenario"),
    *("shrink", "simulate", "validate", "requirements.py"),
)
"""Packages and modules that name no kind."""
ALLOWED = {
    "doctor": {
        "shape.py: computation",  # a field of a description that a target may leave out
    },
    "graph": {
        "layout.py: share",  # a part of the width of a picture
        "layout.py: _LEAST_SHARE",
    },
    "report": {
        "matrix.py: migration",  # the title of the requirements M1 to M4
    },
}
CLIENTS = {"simulate"}
"""Packages in which a consumer is a client, and a computation is what a group shows of it."""
FOLDERS = {path.parent.name for path in (ROOT / "harness" / "kinds").glob("*/__init__.py")}
"""The kinds, and the features that several have."""
KINDS = FOLDERS - {"features"}


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


def imported_kinds(tree: ast.Module) -> set[str]:
    """The modules of a kind or a feature that a module imports by name."""
    result = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        parts = (name.split(".") for name in names if name.startswith("harness.kinds."))
        result |= {".".join(part[:4]) for part in parts if part[2] in FOLDERS}
    return result


def test_only_the_registry_imports_a_kind_by_name() -> None:
    """Outside of `harness/kinds/` a module asks the registry, so that a new kind changes none of them."""
    harness = ROOT / "harness"
    results = {
        path.relative_to(harness).as_posix(): imported_kinds(ast.parse(path.read_text()))
        for path in harness.rglob("*.py")
        if "kinds" not in path.relative_to(harness).parts[:1]
    }
    assert {path for path, kinds in results.items() if kinds} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from harness.kinds.consumer.steps import HANDLERS", {"harness.kinds.consumer.steps"}),
        ("from harness.kinds.features import commits", {"harness.kinds.features.commits"}),
        ("def late():\n    import harness.kinds.connect.wire", {"harness.kinds.connect.wire"}),
        ("from harness.kinds import classic", {"harness.kinds.classic"}),
        ("from harness.kinds.registry import kind_of", set()),
        ("from harness.kinds.fields import Partition", set()),
    ],
)
def test_an_import_of_a_kind_fails(text: str, names: set[str]) -> None:
    assert imported_kinds(ast.parse(text)) == names


@pytest.mark.parametrize("package", MOVED)
def test_a_package_that_was_moved_names_no_kind(package: str) -> None:
    folder = ROOT / "harness" / package
    files = [folder] if package.endswith(".py") else [*folder.rglob("*.py")]
    assert files, f"{package} has moved"
    others = NAMES.keys() - ({"consumer", "computation"} if package in CLIENTS else set())
    results = {
        f"{path.relative_to(folder)}: {name}"
        for path in files
        for name in named(ast.parse(path.read_text()))
        if words(name) & others
    }
    assert results == ALLOWED.get(package, set())


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
def test_a_name_of_a_kind_fails(text: str) -> None:
    assert list(named(ast.parse(text))) != []


def test_other_words_are_no_names_of_kinds() -> None:
    text = (
        '"""Connect groups, say."""\nfrom harness.kinds.registry import kind_of\nconnected = "connection"\n'
    )
    assert list(named(ast.parse(text))) == []
