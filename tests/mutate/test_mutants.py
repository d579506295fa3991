"""The making of mutants: one small change each, at its place, and none in texts for people."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.mutate.mutant import Mutant, read_only
from harness.mutate.python import python_mutants
from harness.mutate.tla import SWAPS, tla_mutants, tokens

ROOT = Path(__file__).parents[2]
SOURCE = '''"""What it is for: a < b and c."""

from typing import Literal

Kind = Literal["a b"]


def f(a: int, b: frozenset[int], *, c: bool = False) -> int:
    """a + 1 - 2."""
    # a < b
    if a < 1 and not c:
        g(b - {1})
        raise ValueError("a person reads this")
    return a
'''
MODULE = r"""---- MODULE M ----
\* A /\ B, in words: x = 1.
CONSTANT S
\* \A m \in S : TRUE.
Holds(g) ==
  /\ \A m \in S : g[m] # {}
  /\ IF g.epoch = 0 THEN TRUE ELSE g.left \cup g.right \subseteq S
Next(g) == [g EXCEPT !.epoch = 1, !.left[1] = {p \in S : p < 2} \ g.right]
=====
"""


def changes(mutants: list[Mutant]) -> set[tuple[int, str]]:
    return {(mutant.line, mutant.after) for mutant in mutants}


def test_mutants_of_python() -> None:
    mutants = python_mutants("f.py", SOURCE)
    made = changes(mutants)
    assert (11, "if a <= 1 and not c:") in made
    assert (11, "if a < 1 or not c:") in made
    assert (11, "if a < 1:") in made
    assert (11, "if not (a < 1 and not c):") in made
    assert (12, "g(b)") in made
    assert (12, "pass") in made
    assert (14, "return None") in made
    assert {mutant.line for mutant in mutants} == {8, 11, 12, 14}
    assert not any("XX" in mutant.after for mutant in mutants), "a text for a person stays"
    assert len({mutant.id for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        ast.parse(mutant.text)


def test_mutants_of_tla() -> None:
    mutants = tla_mutants("M.tla", MODULE)
    made = changes(mutants)
    assert (6, "/\\ \\E m \\in S : g[m] # {}") in made
    assert (6, "/\\ \\A m \\in S : g[m] = {}") in made
    assert (6, "") in made, "a conjunct is dropped"
    assert (7, "/\\ IF ~(g.epoch = 0) THEN TRUE ELSE g.left \\cup g.right \\subseteq S") in made
    assert (7, "/\\ IF g.epoch = 0 THEN TRUE ELSE g.left \\subseteq S") in made
    assert (8, "Next(g) == [g EXCEPT !.epoch = 1, !.left[1] = {p \\in S : p <= 2} \\ g.right]") in made
    assert (8, "Next(g) == [g EXCEPT !.epoch = 1, !.left[1] = {p \\in S : p < 2}]") in made
    assert not any("\\notin S :" in mutant.after for mutant in mutants), "bound variables stay"
    assert not any("epoch # 1" in mutant.after for mutant in mutants), "EXCEPT stays what it is"
    assert {mutant.line for mutant in mutants} == {6, 7, 8}, "comments and declarations stay"


def test_the_first_bullet_of_a_list_says_nothing() -> None:
    """`\\/ a` is `a`, and so is the text after another list's bullet; later bullets join."""
    module = "A ==\n  /\\ S = 1\n  /\\ \\/ S = 2\n     \\/ (/\\ S = 3)\n"
    module += "B == S = 4 /\\ IF S = 5 THEN \\/ S = 6 ELSE S = 7"
    swapped = [one for one in tla_mutants("M.tla", module) if one.operator in ("swap /\\", "swap \\/")]
    assert [one.after for one in swapped] == [
        "\\/ \\/ S = 2",
        "/\\ (/\\ S = 3)",
        "B == S = 4 \\/ IF S = 5 THEN \\/ S = 6 ELSE S = 7",
    ]


def test_tokens_of_the_specification_are_at_their_places() -> None:
    source = (ROOT / "spec" / "Coordinator.tla").read_text()
    results = tokens(source)
    assert all(source[token.start : token.end] == token.text for token in results)
    assert {token.text for token in results} >= SWAPS.keys() - {"<"} | {"IF", "CASE"}


@pytest.mark.parametrize("text", ["nowhere.py", "tests/conftest.py:x", "tests/conftest.py:3-y"])
def test_only_of_what_is_not_there(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(ConformError):
        read_only(text)


def test_only_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    path = "coordinator/core/topics.py"
    mutants = python_mutants(path, (ROOT / path).read_text())
    some = [mutant for mutant in mutants if read_only(f"{path}:20-43").covers(mutant)]
    assert {mutant.line for mutant in some} <= set(range(20, 44))
    assert some
