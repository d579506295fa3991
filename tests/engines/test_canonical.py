"""The meaning of a definition depends neither on its layout, nor on branches that its dialect rules out."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.canonical import canonical
from harness.definitions import definitions

TEXT = {"Restart": '"narrow"', "Removed": "TRUE", "First": "1"}


def same(one: str, other: str, dialect: dict[str, str] = TEXT) -> bool:
    return canonical(one, dialect) == canonical(other, {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A == f(x,\n       y)", "A == f(x, y)"),
        ("A ==\n  /\\ a\n  /\\ \\/ b\n     \\/ c", "A == /\\ a\n     /\\ \\/ b\n        \\/ c"),
        ("A ==\n  /\\ a\n     => b\n  /\\ c", "A ==\n  /\\ a => b\n  /\\ c"),
    ],
)
def test_layout_alone_says_nothing(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A ==\n  /\\ a\n  /\\ \\/ b\n     \\/ c", "A ==\n  /\\ a\n  /\\ b\n  \\/ c"),
        ("A ==\n  /\\ a => /\\ b\n          /\\ c", "A ==\n  /\\ a => /\\ b\n  /\\ c"),
        ("A ==\n  \\/ a\n  \\/ b", "A ==\n  /\\ a\n  /\\ b"),
        ("A == /\\ a\n     /\\ b => c", "A == a /\\ b => c"),
        ("A == ~ /\\ a\n       \\/ b", "A == ~ /\\ a\n         \\/ b"),
        ("ASSUME /\\ a\n       /\\ \\/ b\n          \\/ c", "ASSUME /\\ a\n       /\\ b\n       \\/ c"),
        ('A == "a b"', 'A == "a  b"'),
    ],
)
def test_the_end_of_a_list_is_marked(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    ("departed", "text"),
    [
        ('A(g) == IF Dialect.Restart = "waits" THEN g ELSE h /\\ g', "A(g) == h /\\ g"),
        ('A(g) == IF Dialect.Restart # "waits" THEN h /\\ g ELSE g', "A(g) == h /\\ g"),
        ("A == IF Dialect.Removed THEN IF p THEN q ELSE r ELSE s", "A == IF p THEN q ELSE r"),
        ("A == IF Dialect.First = 2 THEN s ELSE LET x == 1 IN x", "A == LET x == 1 IN x"),
        (
            "A == IF Dialect.Removed THEN LET x == IF p THEN 1 ELSE 2 IN x ELSE s",
            "A == LET x == IF p THEN 1 ELSE 2 IN x",
        ),
        (
            "A ==\n  /\\ a\n  /\\ IF Dialect.Removed THEN b ELSE\n       /\\ c\n       /\\ d\n  /\\ e",
            "A ==\n  /\\ a\n  /\\ b\n  /\\ e",
        ),
        (
            'A == f(IF Dialect.Restart = "waits" THEN g ELSE h, IF Dialect.Removed THEN i ELSE j)',
            "A == f(h, i)",
        ),
        (
            'A == CASE p -> IF Dialect.Restart = "waits" THEN g ELSE h [] q -> i [] OTHER -> j',
            "A == CASE p -> h [] q -> i [] OTHER -> j",
        ),
        (
            'A == IF Dialect.Restart = "waits" THEN g ELSE IF Dialect.Restart = "narrow" THEN h ELSE i',
            "A == h",
        ),
        ('A == LET x == IF Dialect.Restart = "waits" THEN 1 ELSE 2 IN x', "A == LET x == 2 IN x"),
    ],
)
def test_a_branch_that_the_dialect_does_not_take_is_not_listed(departed: str, text: str) -> None:
    assert same(departed, text)
    assert not same(departed, text, {}), "without a dialect all branches count"


@pytest.mark.parametrize(
    "text",
    [
        "A == a /\\ IF Dialect.Removed THEN b => c ELSE d",
        "A == x = IF Dialect.Removed THEN b /\\ c ELSE d",
        "A == IF Dialect.Removed /\\ p THEN b ELSE c",
        "A == IF Dialect.Restart = p THEN b ELSE c",
        "A == IF Dialect.Unknown THEN b ELSE c",
        "A == IF p THEN Dialect.Removed ELSE c",
        "A == LET x == IF Dialect.Removed THEN 1 ELSE 2 y == 3 IN x + y",
        "A == LET x == IF Dialect.Removed THEN 1 ELSE 2 y(z) == 3 IN x + y(1)",
        "A == IF Dialect.Removed THEN b",
    ],
)
def test_names_that_may_be_read_stay(text: str) -> None:
    """Parentheses would be needed, another condition decides, or the end of the IF cannot be found."""
    assert same(text, text)


MODULE = """---- MODULE Top ----
(* @typeAlias: dialect = { Restart: Str, Removed: Bool }; *)
CONSTANT
  \\* @type: $dialect;
  Dialect
Text == [
  Restart |-> "narrow", Removed |-> TRUE
]
Kafka == [Text EXCEPT !.Restart = "waits"]
Other == Kafka
Waits(x) == x
Narrow(x) == x + 1
Init == x = IF p THEN 1 ELSE 2
Next == IF Dialect.Restart = "waits" THEN Waits(x) ELSE Narrow(x)
Safe == Dialect.Removed
====
"""


def of(folder: Path, text: str, dialect: str = "Text") -> dict[str, str]:
    (folder / "Top.tla").write_text(text)
    (folder / "Top.cfg").write_text(f"INIT Init\nNEXT Next\nINVARIANT Safe\nCONSTANT Dialect <- {dialect}\n")
    return definitions(folder / "Top.tla", folder / "Top.cfg")


def changed(folder: Path, old: str, new: str, dialect: str = "Text") -> set[str]:
    assert old in MODULE
    before, after = of(folder, MODULE, dialect), of(folder, MODULE.replace(old, new), dialect)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_rules_that_count_under_a_dialect(tmp_path: Path) -> None:
    assert list(of(tmp_path, MODULE)) == ["", "Dialect.Removed", "Init", "Narrow", "Next", "Safe"]
    assert list(of(tmp_path, MODULE, "Other")) == ["", "Dialect.Removed", "Init", "Next", "Safe", "Waits"]


@pytest.mark.parametrize("dialect", ["Text", "Other"])
def test_a_departure_that_is_not_taken_costs_nothing(tmp_path: Path, dialect: str) -> None:
    taken, other = ("Narrow", "Waits") if dialect == "Text" else ("Waits", "Narrow")
    assert changed(tmp_path, f"{taken}(x) ==", f"{taken}(x) == 2 *", dialect) == {taken}
    assert changed(tmp_path, f"{other}(x) ==", f"{other}(x) == 2 *", dialect) == set()
    assert changed(tmp_path, 'Restart |-> "narrow"', 'New |-> 1, Restart |-> "narrow"', dialect) == set()
    assert changed(tmp_path, "Removed |-> TRUE", "Removed |-> FALSE", dialect) == {"Dialect.Removed"}
    assert changed(tmp_path, "Restart: Str,", "Restart: Str, New: Int,", dialect) == set()


def test_a_change_of_what_decides_is_a_change(tmp_path: Path) -> None:
    assert changed(tmp_path, 'Restart |-> "narrow"', 'Restart |-> "waits"') == {"Next", "Narrow", "Waits"}
    assert changed(tmp_path, '= "waits" THEN', '= "narrow" THEN') == {"Next", "Narrow", "Waits"}
    assert changed(tmp_path, "Safe == Dialect.Removed", "Safe == Dialect = Text") >= {
        "Safe",
        "Dialect.Restart",
        "Text",
    }
    assert changed(tmp_path, "  Restart |->", "  Restart |-> p \\o") >= {
        "Next",
        "Text",
        "Waits",
    }
