"""The lines that harness and coordinator exchange, against the schema of the line protocol and its page."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coordinator.service import Coordinator
from coordinator.stdio import LineProtocol
from harness import protocol_page
from harness.doctor import committed
from harness.kinds import protocol_forms
from harness.protocol_schema import schema
from harness.replay.features import FEATURES
from harness.replay.files import replay_files, trace_files

ROOT = Path(__file__).parents[2]
SCHEMA = schema()
DEFINITIONS = SCHEMA["$defs"]
Pair = tuple[dict[str, Any], dict[str, Any]]
EXCHANGES = {
    "kip-848": ("traces/golden", "traces/connect"),
    "kafka-4.2": ("traces/dialects/kafka-4.2",),
}
"""Dialect -> folders of traces. The golden traces are of every kind of group."""


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS})


def wrong(operation: dict[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    """The faults of an operation and its answer, by the schema."""
    name = operation["op"]
    checks = [("operation." + name, operation), ("answer." + name if answer["ok"] else "refusal", answer)]
    if "body" in answer and f"response.{operation['api']}" in DEFINITIONS:
        checks.append((f"response.{operation['api']}", answer["body"]))
    for definition, value in checks:
        for error in validator(definition).iter_errors(value):
            yield f"{definition}, {error.json_path}: {error.message[:200]}"


@pytest.fixture(scope="module", params=EXCHANGES)
def exchanged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """Each operation and its answer, as they go through the pipes of a program; each pair once."""
    dialect: str = request.param
    folder = tmp_path_factory.mktemp("lines")
    program = f"{sys.executable} -m coordinator --stdio --dialect {dialect}"
    target = f"stdio:sh -c 'tee {folder}/sent | {program} | tee {folder}/answered'"
    words = ["replay", *EXCHANGES[dialect], "--dialect", dialect, "--target", target]
    ended = subprocess.run(
        [sys.executable, "-m", "harness", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    sent, answered = ((folder / name).read_text().splitlines() for name in ("sent", "answered"))
    pairs = sorted(set(zip(sent, answered, strict=False)))
    return [(json.loads(line), json.loads(answer)) for line, answer in pairs]


def test_schema_is_a_schema_and_describes_every_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for name, definition in DEFINITIONS.items():
        assert definition["description"], name
        for field, described in definition.get("properties", {}).items():
            assert described["description"], f"{name}.{field}"


def test_every_line_is_as_the_schema_says(exchanged: list[Pair]) -> None:
    assert len(exchanged) > 40
    results = sorted({text for operation, answer in exchanged for text in wrong(operation, answer)})
    assert not results, "\n".join(results[:20])


def test_a_field_without_documentation_fails(exchanged: list[Pair]) -> None:
    observed = next(
        (operation, answer)
        for operation, answer in exchanged
        if "ConsumerGroupHeartbeat" in operation.values()
        and answer["group"]["members"]
        and answer.get("records")
    )
    for path in ((0, "body"), (1, "body"), (1,), (0,), (1, "group", "members", 0), (1, "records", 0, "key")):
        changed = place = copy.deepcopy(list(observed))
        for step in path:
            place = place[step]
        place["undocumented"] = 1
        assert any("undocumented" in text for text in wrong(*changed)), path


def test_operations_and_apis_are_those_of_the_coordinator() -> None:
    hello = LineProtocol(Coordinator()).answer({"op": "hello"})
    assert set(SCHEMA["properties"]["op"]["enum"]) == {"hello", "request", *hello["controls"]}
    assert set(DEFINITIONS["operation.request"]["properties"]["api"]["enum"]) == set(hello["apis"])


def test_features_are_those_that_the_kit_knows() -> None:
    named = DEFINITIONS["answer.hello"]["properties"]["lacks"]["items"]["enum"]
    assert named == list(FEATURES)


def test_page_has_the_tables_of_the_schema() -> None:
    page = (ROOT / "docs" / "fields.md").read_text()
    assert page.endswith(protocol_page.tables()), "Make the page again: python -m harness.protocol_page"


def test_a_field_says_what_it_means_in_its_own_table_alone() -> None:
    for name, definition in DEFINITIONS.items():
        for field, described in definition.get("properties", {}).items():
            assert not re.search(r"\b(In an answer|In assign|Elsewhere)\b", described["description"]), (
                f"{name}.{field}"
            )


def test_the_table_of_records_has_what_traces_of_a_dialect_load() -> None:
    """A record of a committed trace has the fields that the page lists for its dialect."""
    for dialect in ("kip-848", "kafka-4.2"):
        fields = protocol_forms.fields(dialect)
        for state in committed.states(dialect):
            for record in state.step.load.records:
                kind = record["key"]["type"]
                assert list(record["value"]) == fields[kind], (dialect, kind, state.trace)
    assert "ConsumerGroupPartitionMetadata" in fields and "assignedPartitions" in str(fields)
    assert "| `group.empty.retention.ms` | 604800000 | ms |" in "\n".join(protocol_forms.forms())


def test_configure_comes_again_after_a_load_of_nothing_as_the_page_says(tmp_path: Path) -> None:
    """An adapter that took settings once only was ended in the middle of a replay."""
    log = tmp_path / "log"
    replay_files(trace_files([ROOT / "traces/corpus"]), "python", "kip-848", record=log)
    answer = [json.loads(line) for line in log.read_text().splitlines()]
    again = [index for index, one in enumerate(answer) if one["op"] == "configure"][1:]
    assert again
    for index in again:
        before = answer[index - 1]
        assert (before["op"], before["records"], before["volatile"]) == ("load", [], {"clockMs": 0})
    page = " ".join((ROOT / "docs/protocol.md").read_text(encoding="utf-8").split())
    assert "the harness sends `configure` again after such a load" in page
