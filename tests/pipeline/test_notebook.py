"""The notebook of examples/spark, cell by cell, on the tables of a run with findings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pipeline_runs import ROOT, Ran

NOTEBOOK = ROOT / "examples" / "spark" / "findings.ipynb"


def test_the_notebook_says_what_is_in_the_tables(differing: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["".join(one["source"]) for one in json.loads(NOTEBOOK.read_text())["cells"] if is_code(one)]
    place = 'OUTPUT = "build/exhaust/MCTour"'
    assert cells[0].count(place) == 1
    names: dict[str, Any] = {}
    printed = []
    for cell in [cells[0].replace(place, f'OUTPUT = "{differing.place}"'), *cells[1:]]:
        exec(compile(cell, NOTEBOOK.name, "exec"), names)
        printed.append(capsys.readouterr().out)
    findings = differing.rows("findings")
    _, broken, shares, places, way = printed
    for requirement in {one["requirement"] for one in findings}:
        of = [one for one in findings if one["requirement"] == requirement]
        assert cells_of(broken, requirement) == [str(len(of)), str(sum(one["count"] for one in of))]
    for action in {one["action"] for one in findings}:
        assert f"|{action}" in shares
    for path in {difference["path"] for one in findings for difference in one["differences"]}:
        assert cells_of(places, path)
    shortest = min(findings, key=lambda one: (one["steps"], one["finding"]))
    assert way.count(" -> ") == shortest["steps"] - 1 and way.strip().endswith(shortest["action"])


def is_code(cell: dict[str, Any]) -> bool:
    return bool(cell["cell_type"] == "code")


def cells_of(table: str, first: str) -> list[str]:
    """The other cells of the row of a printed table that begins so."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    [result] = [row[1:] for row in rows if row[0] == first]
    return result
