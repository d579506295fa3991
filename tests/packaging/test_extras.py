"""The extras of the package: those that documents and messages name exist, and the pinned libraries are
pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from documents import ROOT, all_text

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
NAMED = re.compile(r"(?:group-conformance|\.whl|'\.|-e '?\.)\[([\w,]+)\]")
PINNED = ("confluent-kafka", "jgo", "kio", "mutmut")
"""Libraries whose unpromised parts are used, too."""


def named(text: str) -> set[str]:
    return {extra for several in NAMED.findall(text) for extra in several.split(",")}


def test_documents_and_messages_name_extras_that_there_are() -> None:
    sources = [path for path in (ROOT / "harness").rglob("*.py") if "carried" not in path.parts]
    messages = named("\n".join(path.read_text() for path in sources))
    assert messages == {"java", "mock", "mutate", "spark"}
    assert named(all_text()) <= set(EXTRAS)


def test_the_page_of_the_installation_has_a_row_for_each_extra() -> None:
    page = (ROOT / "docs/install.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(EXTRAS) - {"dev"}


def test_all_has_every_extra_and_dev_has_all() -> None:
    assert set(EXTRAS) - {"all", "dev"} == named("\n".join(EXTRAS["all"]))
    assert "all" in named("\n".join(EXTRAS["dev"]))


@pytest.mark.parametrize("name", PINNED)
def test_a_library_whose_insides_are_used_is_pinned_to_its_minor_version(name: str) -> None:
    (wanted,) = {
        line
        for lines in (PROJECT["dependencies"], *EXTRAS.values())
        for line in lines
        if line.startswith(name)
    }
    bounds = re.fullmatch(rf"{name}>=(\d+)\.(\d+)(?:\.\d+)?,<(\d+)\.(\d+)", wanted)
    assert bounds, wanted
    major, minor, below_major, below_minor = map(int, bounds.groups())
    assert (below_major, below_minor) == (major, minor + 1)


def test_the_sdist_has_what_setup_py_reads() -> None:
    manifest = Path(ROOT / "MANIFEST.in").read_text()
    assert "graft spec" in manifest and "graft traces" in manifest
