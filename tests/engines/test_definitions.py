"""The inputs of a result: definitions with their types, without prose."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from harness.definitions import RENAMED, definitions, present_names

SPEC = Path(__file__).parents[2] / "spec"

BASE = """---- MODULE Base ----
EXTENDS Integers
CONSTANT
  \\* How far.
  \\* @type: Int;
  Limit

(* @typeAlias: pair = <<Int, Int>>; *)
Base_aliases == TRUE

\\* Prose, "quoted" (* and half a comment.
\\* @type: (Int) => Int;
After(n) == n + 1

Far(n) ==
  LET far == After(n)
  IN far > Limit

Unused == "After" = "Far"
====
"""
TOP = """---- MODULE Top ----
EXTENDS Base
VARIABLE x
Init == x = 0
Next == x' = After(x)
Safe == ~Far(x)
Other == Unused
====
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "Base.tla").write_text(BASE)
    (tmp_path / "Top.tla").write_text(TOP)
    (tmp_path / "Top.cfg").write_text("INIT Init\nNEXT Next\nCONSTANT Limit = 3 \\* far\n")
    return tmp_path / "Top.tla"


def of(top: Path) -> dict[str, str]:
    return definitions(top, top.with_suffix(".cfg"), ["Safe", 3])


def test_printed_figures_count(top: Path) -> None:
    assert list(of(top)) == ["", "After", "Far", "Init", "Next", "Safe"]
    assert list(definitions(top, top.with_suffix(".cfg"))) == ["", "After", "Init", "Next"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("Prose", "Other prose", []),
        ("How far", "Where it ends", []),
        ('Unused == "After"', 'Unused == "Before"', []),
        ("====", "\\* The end.\nMore(n) == Far(n)\n====", []),
        ("n + 1", "n + 2", ["After"]),
        ("(Int) => Int", "(Int) => Bool", ["After"]),
        ("> Limit", ">= Limit", ["Far"]),
        ("  IN far", "    IN far", []),
        ("@type: Int", "@type: Str", [""]),
        ("<<Int, Int>>", "<<Int, Str>>", [""]),
        ("EXTENDS Integers", "EXTENDS Naturals", [""]),
    ],
)
def test_the_effects_of_a_change(top: Path, old: str, new: str, changed: list[str]) -> None:
    before = of(top)
    base = top.with_name("Base.tla")
    assert old in BASE
    base.write_text(BASE.replace(old, new, 1))
    after = of(top)
    assert [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)] == changed


def test_the_configuration_counts_without_its_comments(top: Path) -> None:
    before, config = of(top), top.with_suffix(".cfg")
    config.write_text(config.read_text().replace("far", "farther"))
    assert of(top) == before
    config.write_text(config.read_text().replace("= 3", "= 4"))
    assert of(top)[""] != before[""]


def test_a_definition_may_move_to_another_module(top: Path) -> None:
    before, definition = of(top), "\\* @type: (Int) => Int;\nAfter(n) == n + 1\n"
    top.with_name("Base.tla").write_text(BASE.replace(definition, ""))
    top.write_text(TOP.replace("Init ==", f"{definition}Init =="))
    assert of(top) == before


def test_where_a_comment_does_not_end_all_counts(top: Path) -> None:
    base = top.with_name("Base.tla")
    base.write_text(BASE.replace("(* @typeAlias", "(* \\* prose *)\n(* @typeAlias"))
    before = of(top)
    base.write_text(base.read_text().replace("n + 1", "n + 2"))
    assert of(top) != before


def test_two_of_one_name_both_count(top: Path) -> None:
    before = of(top)
    top.write_text(TOP.replace("Init ==", "LOCAL After(n) == n\n\nInit =="))
    after = of(top)
    assert {name for name in before if before[name] != after[name]} == {"After"}


def test_an_operator_with_a_new_name_keeps_its_results(top: Path) -> None:
    before = of(top)
    for module in (top, top.with_name("Base.tla")):
        module.write_text(re.sub(r"\bAfter\b(?!\")", "Successor", module.read_text()))
    assert of(top) != before
    top.with_name("renamed.toml").write_text('Successor = "After"\nGone = "Far"\n')
    assert of(top) == before
    assert present_names(top) == {"After": "Successor"}


@pytest.mark.parametrize(
    "table", ['Far = "After"\n', 'Init = "Start"\nNext = "Start"\n'], ids=["still in use", "of two operators"]
)
def test_a_former_name_that_would_confuse_two_operators_does_not_count(top: Path, table: str) -> None:
    before = of(top)
    top.with_name("renamed.toml").write_text(table)
    assert of(top) == before


def test_each_entry_of_the_table_of_new_names_is_in_use() -> None:
    names = set[str]()
    for module in SPEC.glob("*.tla"):
        names.update(re.findall(r"^ *(?:LET )?(\w+)(?:\(.*?\))? *==", module.read_text(), re.MULTILINE))
    assert tomllib.loads((SPEC / RENAMED).read_text()).keys() <= names
