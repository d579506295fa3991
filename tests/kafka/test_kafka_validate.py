"""`conform validate` of Kafka's own coordinator, with the requests of tests/validate's log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.cli.validate import command as validate
from harness.targets.base import Json
from harness.targets.recording import recorded
from harness.targets.stdio import StdioTarget
from harness.targets.symbolic import SymbolicIds

pytestmark = pytest.mark.maven

LOG = Path(__file__).parents[1] / "data" / "kafka-4.2-migration.jsonl"
WAITS = "(waits)"


def outcomes(lines: Sequence[Json]) -> list[object]:
    """The error of each request, and the clients that were answered."""
    answers = [line["answer"] for line in lines if line["op"] in ("request", "advance", "fire")]
    return [
        (answer.get("body", {}).get("errorCode", WAITS), [one["id"] for one in answer.get("completed", ())])
        for answer in answers
    ]


def ask(target: StdioTarget, operations: Sequence[Json], log: Path) -> list[Json]:
    """Send all requests again."""
    with recorded(SymbolicIds(target), log) as again:
        for one in operations:
            match one["op"]:
                case "hello":
                    again.hello()
                case "configure":
                    again.configure(
                        {name: value for name, value in one.items() if name not in ("op", "answer")}
                    )
                case "load":
                    again.load(one["records"], one["topics"], one["volatile"])
                case "ids":
                    again.ids(one["next"])
                case "request":
                    again.request(one["api"], one["version"], one["client"], one["body"], "g")
                case "advance":
                    again.advance(one["ms"], "g")
                case "fire":
                    again.fire(one["timer"], "g", one["member"], "g")
                case "topics":
                    again.topics(one["upsert"], one["delete"], "g")
                case "restart":
                    again.restart()
                case "describe":
                    again.describe("g")
                case other:
                    raise AssertionError(other)
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("started", ["4.2.1", "4.4.0"], indirect=True)
def test_a_group_that_migrates_is_a_behaviour(started: StdioTarget, tmp_path: Path) -> None:
    """The run is one in its dialect; that of 4.2.1 equals the log."""
    log, result = tmp_path / "log", tmp_path / "result.json"
    before = [json.loads(line) for line in LOG.read_text().splitlines()]
    started.load([], [], {"clockMs": 0})  # other tests have had it before
    now = ask(started, before, log)
    validate(log, json_file=result)
    results = json.loads(result.read_text())
    assert results["dialect"] == started.hello().dialect and results["steps"] > 80
    assert results["unread"] == []
    assert started.name != "kafka:4.2.1" or outcomes(now) == outcomes(before)
