"""Hashes change with every input of a result, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.modules import declared_variables, dependencies, strip_comments
from harness.spechash import spec_files, spec_hash


@pytest.fixture
def model(tmp_path: Path) -> Path:
    texts = {
        "Top": "EXTENDS Naturals, Middle\nM == INSTANCE Low WITH c <- 1\nVARIABLE a, b \\* , not\n",
        "Middle": "(* EXTENDS Commented (* nested *) *)\nEXTENDS\n  Base,\n  Sequences\n"
        "VARIABLES\n  c,\n  (* d *)\n  e\n",
        "Low": 'LOCAL INSTANCE Lowest\ntext == "INSTANCE Quoted"\nVARIABLE inner\n',
        "Lowest": "VARIABLES deep",
        **dict.fromkeys(["Base", "Commented", "Quoted", "Other"], "x == 1"),
    }
    for name, body in texts.items():
        (tmp_path / f"{name}.tla").write_text(f"---- MODULE {name} ----\n{body}\n====\n")
    (tmp_path / "Top.cfg").write_text("SPECIFICATION Spec\n")
    return tmp_path / "Top.tla"


def test_dependencies_are_followed(model: Path) -> None:
    names = [path.stem for path in dependencies(model)]
    assert names == ["Top", "Base", "Low", "Lowest", "Middle"]


def test_variables_are_those_of_the_module_not_of_instances(model: Path) -> None:
    assert declared_variables(model) == ["a", "b", "c", "e"]


@pytest.mark.parametrize("name", ["Top.tla", "Base.tla", "Low.tla", "Lowest.tla", "Middle.tla", "Top.cfg"])
def test_the_hash_depends_on_every_file_involved(model: Path, name: str) -> None:
    before = spec_hash(model, model.with_suffix(".cfg"))
    path = model.with_name(name)
    path.write_text(path.read_text() + "\\* more\n")
    assert spec_hash(model, model.with_suffix(".cfg")) != before


def test_the_hash_does_not_depend_on_other_files_or_line_ends(model: Path) -> None:
    before = spec_hash(model, None)
    for name in ("Other.tla", "Quoted.tla"):
        model.with_name(name).write_text("changed")
    model.write_bytes(model.read_bytes().replace(b"\n", b"\r\n"))
    assert spec_hash(model, None) == before
    assert set(spec_files(model, None)) == {"Top.tla", "Base.tla", "Low.tla", "Lowest.tla", "Middle.tla"}


def test_a_missing_module(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"The module .*None\.tla does not exist"):
        spec_hash(tmp_path / "None.tla", None)


def test_comments_are_stripped_but_strings_kept() -> None:
    assert strip_comments('a \\* b\n(* c (* d *) e *)f "\\* (* g"') == 'a \nf "\\* (* g"'
