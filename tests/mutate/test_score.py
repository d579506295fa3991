"""The committed score and the arguments for equivalence are of the present code."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from merge_score import merged

from harness.mutate.equivalent import Equivalent, read_equivalent, stale
from harness.mutate.mutant import Mutant
from harness.mutate.python import python_mutants
from harness.mutate.tla import tla_mutants

ROOT = Path(__file__).parents[2]
MUTANTS = ROOT / "tests" / "mutants"
KNOWN = read_equivalent(MUTANTS / "equivalent.toml")
SCORE: dict[str, Any] = json.loads((MUTANTS / "score.json").read_text())


@cache
def lines(path: str) -> frozenset[str]:
    return frozenset(line.strip() for line in (ROOT / path).read_text().splitlines())


def with_known(path: str, known: Sequence[Equivalent]) -> str:
    """The functions and classes of a file that have lines which a known mutant changes: a mutant of one does
    not depend on the others, and those of whole files take long to make."""
    source = (ROOT / path).read_text()
    if not path.endswith(".py"):
        return source
    changed = {one.before.splitlines()[0].strip() for one in known}
    whole = [ast.get_source_segment(source, node) or "" for node in ast.parse(source).body]
    return "\n\n".join(text for text in whole if changed & {line.strip() for line in text.splitlines()})


def test_mutants_argued_equivalent_still_exist() -> None:
    mutants: list[Mutant] = []
    for path in {one.path for one in KNOWN}:
        of_file = with_known(path, [one for one in KNOWN if one.path == path])
        made = (python_mutants if path.endswith(".py") else tla_mutants)(path, of_file)
        assert made, f"{path} has nothing of what equivalent.toml says of it"
        mutants += made
    assert list(stale(KNOWN, mutants, [])) == []


def test_survivors_of_the_score_are_still_there() -> None:
    for row in (*SCORE["survivors"], *SCORE["equivalent"]):
        taken_out = [line[1:].strip() for line in row["diff"] if line.startswith("-")]
        assert lines(row["path"]) >= set(taken_out), f"make mutate: {row['path']}:{row['line']} has changed"


def test_the_score_knows_what_is_argued() -> None:
    argued = {(one.path, one.reason) for one in KNOWN}
    answer = {(row["path"], row["reason"]) for row in SCORE["equivalent"]}
    assert answer <= argued, "make mutate"
    assert SCORE["stale"] == []


def test_the_score_says_of_how_many_it_is() -> None:
    for row in (SCORE["total"], *SCORE["folders"], *SCORE["files"]):
        outcomes = ("killed", "survived", "equivalent", "unviable")
        assert row["judged"] == sum(row[name] for name in outcomes) <= row["mutants"]
    assert SCORE["total"]["survived"] == len(SCORE["survivors"])


def test_the_score_names_no_place_of_a_machine() -> None:
    """The score names checks of the repository, not files of the machine that ran them."""
    assert not re.search(r"/(?:root|home|tmp)/", (MUTANTS / "score.json").read_text())
    assert all(":" not in name and "/" not in name for name in SCORE["killed_by"])


def row(path: str, mutants: int, judged: int, survived: int) -> dict[str, Any]:
    rest = {"timed_out": 0, "equivalent": 0, "unviable": 0, "score": None}
    killed = judged - survived
    return {"path": path, "mutants": mutants, "judged": judged, "killed": killed, "survived": survived} | rest


def test_a_run_of_single_files_takes_their_place_in_the_score() -> None:
    files = [row("coordinator/a.py", 9, 3, 1), row("coordinator/b.py", 5, 5, 1)]
    survivors = [{"path": one["path"]} for one in files]
    score = {"files": files, "survivors": survivors, "equivalent": [], "timed_out": [], "killed_by": {"x": 6}}
    run = {
        **{
            "files": [
                row("coordinator/a.py", 10, 10, 0),
                row("coordinator/b.py", 5, 1, 0),
                row("spec/C.tla", 4, 4, 1),
            ]
        },
        **{"survivors": [{"path": "spec/C.tla"}], "equivalent": [], "timed_out": [], "killed_by": {"y": 13}},
    }
    answer = merged(score, run)
    assert [(one["path"], one["judged"]) for one in answer["files"]] == [
        *(("coordinator/a.py", 10), ("coordinator/b.py", 5), ("spec/C.tla", 4)),
    ]
    assert answer["survivors"] == [{"path": "coordinator/b.py"}, {"path": "spec/C.tla"}]
    assert (answer["total"]["mutants"], answer["total"]["judged"], answer["total"]["score"]) == (19, 19, 89.5)
    assert [(one["path"], one["survived"]) for one in answer["folders"]] == [("coordinator", 1), ("spec", 1)]
    assert merged(answer, run)["files"] == answer["files"]
    shorter = run | {"files": [row("coordinator/a.py", 8, 8, 0)]}
    assert merged(answer, shorter)["total"]["mutants"] == 17, "a file with fewer mutants than before"
