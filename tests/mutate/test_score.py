"""The committed score and the arguments for equivalence are of the code as it is."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from harness.mutate.equivalent import read_equivalent, stale
from harness.mutate.mutant import Only
from harness.mutate.run import all_mutants

ROOT = Path(__file__).parents[2]
MUTANTS = ROOT / "tests" / "mutants"
KNOWN = read_equivalent(MUTANTS / "equivalent.toml")
SCORE: dict[str, Any] = json.loads((MUTANTS / "score.json").read_text())


@cache
def lines(path: str) -> frozenset[str]:
    return frozenset(line.strip() for line in (ROOT / path).read_text().splitlines())


def test_what_is_argued_equivalent_is_still_a_mutant() -> None:
    mutants = all_mutants(ROOT, [Only(Path(path)) for path in {one.path for one in KNOWN}])
    assert list(stale(KNOWN, mutants, [])) == []


def test_survivors_of_the_score_are_still_there() -> None:
    for row in (*SCORE["survivors"], *SCORE["equivalent"]):
        taken_out = [line[1:].strip() for line in row["diff"] if line.startswith("-")]
        assert lines(row["path"]) >= set(taken_out), f"make mutate: {row['path']}:{row['line']} has changed"


def test_the_score_knows_what_is_argued() -> None:
    argued = {(one.path, one.reason) for one in KNOWN}
    told = {(row["path"], row["reason"]) for row in SCORE["equivalent"]}
    assert told <= argued, "make mutate"
    assert SCORE["stale"] == []


def test_the_score_says_of_how_many_it_is() -> None:
    for row in (SCORE["total"], *SCORE["folders"], *SCORE["files"]):
        outcomes = ("killed", "survived", "equivalent", "unviable")
        assert row["judged"] == sum(row[name] for name in outcomes) <= row["mutants"]
    assert SCORE["total"]["survived"] == len(SCORE["survivors"])
