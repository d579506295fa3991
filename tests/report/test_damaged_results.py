"""Damaged results of the verbs: the report reads them or refuses them, and never ends in a traceback."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from damage import NUMBERS, damaged, some
from hypothesis import given
from results_folder import good_build, replayed, wrong_trace
from rich.console import Console
from verb_results import DIFFERED, MUTATED, PAIR, REBALANCED, SIMULATED

from harness.errors import USAGE, ConformError
from harness.report.page import page
from harness.report.results import read_results
from harness.report.summary import print_summary

RULE: Final = {"rule": "KeepsItsEpoch", "requirement": "H1", "sentence": "A heartbeat has it.", "judged": 3}
BREACH: Final = {
    **{
        "rule": "KeepsItsEpoch",
        "requirement": "H1",
        "message": "sends another",
        "origin": "seed 1",
        "ms": 70,
    },
    **{"autoCommit": True, "instance": None, "inWords": ["start"], "again": "conform client x --seed 1"},
    "messages": [{"from": "x", "to": "coordinator", "label": "join", "kind": "request"}],
}
OTHERS: Final[Mapping[str, Any]] = {
    "simulate-groups": SIMULATED,
    "simulate-pair": PAIR,
    "mutate": MUTATED,
    "diff": DIFFERED,
    "bench": REBALANCED,
    "graph-MCOpen": {"name": "MCOpen", "states": 3, "depths": [1, 2]},
    "client": {"client": "x", "schedules": 1, "rules": [{**RULE, "broken": True}], "findings": [BREACH]},
}
"""Results by their names, beside those of a small build."""


def reported(build: Path) -> None:
    """Make the page and the summary. ConformError for a result that is refused."""
    results = read_results(build, None)
    page(results, None)
    print_summary(results, build / "index.html", Console(file=io.StringIO()))


@pytest.mark.parametrize("examples", NUMBERS)
@pytest.mark.parametrize("name", ["check", "replay-golden", "exhaust-MCTour", "generate-goals", *OTHERS])
def test_damaged_results_are_read_or_refused(name: str, examples: int, tmp_path: Path) -> None:
    build = good_build(tmp_path)
    file = build / "results" / f"{name}.json"
    data = OTHERS.get(name) or json.loads(file.read_text())
    if name == "replay-golden":
        data = replayed(wrong_trace(tmp_path))
    file.write_text(json.dumps(data))
    reported(build)

    @some(examples)
    @given(damaged(json.dumps(data)))
    def reads(wrong: Any) -> None:
        file.write_text(json.dumps(wrong))
        try:
            reported(build)
        except ConformError as error:
            assert error.exit_code == USAGE

    reads()
