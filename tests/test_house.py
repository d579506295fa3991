"""The rules of the house that CONTRIBUTING.md states: who may import whom, and what cites a requirement."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ID = re.compile(r"\b(?:[ERHASTOPMCKWD]\d{1,2})\b")
ROW = re.compile(r"^\| ([A-Z]\d{1,2}) \| .* \| (done|partly: .*) \|$", re.MULTILINE)
NOT_REQUIREMENTS = re.compile(r"\bRFC \d+|\bC[0-3] controls?\b|\bT\d{2}:|#[0-9A-Fa-f]{3,8}\b")


def requirements() -> dict[str, str]:
    """ID to status, from the tables of REQUIREMENTS.md."""
    return dict(ROW.findall((ROOT / "REQUIREMENTS.md").read_text()))


def sources(folder: str, suffix: str) -> list[Path]:
    return sorted((ROOT / folder).rglob(f"*{suffix}"))


def imports(path: Path) -> set[str]:
    """The modules that a Python file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def cited(paths: list[Path]) -> set[str]:
    """The requirement IDs in comments and docstrings of some files."""
    return {name for path in paths for name in ID.findall(NOT_REQUIREMENTS.sub("", path.read_text()))}


def test_the_coordinator_knows_nothing_of_the_harness() -> None:
    for path in sources("coordinator", ".py"):
        assert not any(name.split(".")[0] in {"harness", "tests"} for name in imports(path)), path


def test_only_one_module_of_the_harness_touches_the_coordinator() -> None:
    users = {
        str(path.relative_to(ROOT))
        for path in sources("harness", ".py")
        if any(name.split(".")[0] == "coordinator" for name in imports(path))
    }
    assert users == {"harness/targets/python.py"}


def test_only_the_command_line_imports_the_command_line() -> None:
    for path in sources("harness", ".py"):
        if path.parent.name != "cli" and path.name not in {"bench.py", "__main__.py"}:
            assert not any(name.startswith("harness.cli") for name in imports(path)), path


def test_every_requirement_has_a_row_of_its_own() -> None:
    rows = ROW.findall((ROOT / "REQUIREMENTS.md").read_text())
    assert len(rows) > 30
    assert len(rows) == len(dict(rows))


@pytest.mark.parametrize(("folder", "suffix"), [("spec", ".tla"), ("coordinator", ".py"), ("harness", ".py")])
def test_what_is_cited_is_in_the_table(folder: str, suffix: str) -> None:
    assert cited(sources(folder, suffix)) <= requirements().keys()


def test_what_is_done_is_cited_by_spec_code_and_tests() -> None:
    spec, code = cited(sources("spec", ".tla")), cited(sources("coordinator", ".py"))
    tests = cited([path for path in sources("tests", ".py") if path != Path(__file__)])
    for name, status in requirements().items():
        if status == "done":
            missing = [
                place for place, ids in [("spec", spec), ("code", code), ("tests", tests)] if name not in ids
            ]
            assert not missing, f"{name} is claimed as done, but is not cited in: {', '.join(missing)}"


@pytest.mark.parametrize(
    "path", [*sources("coordinator", ".py"), *sources("harness", ".py"), *sources("spec", ".tla")]
)
def test_a_file_can_be_held_in_the_head(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 450
