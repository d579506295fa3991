"""The table of departures: read from the specification, as the coordinator has them; `conform dialects`."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from results_folder import ROOT, good_build, replayed, write, wrong_trace
from typer.testing import CliRunner, Result

from coordinator import DIALECTS, Dialect
from harness.cli.main import app
from harness.dialects import Departure, Finding, departures, findings, listed, models_of_dialects
from harness.errors import HOLDS, USAGE, ConformError
from harness.manifest import read_manifest
from harness.modules import dependencies, strip_comments

SPEC = ROOT / "spec"
MANIFEST = read_manifest(SPEC / "manifest.json")


def conform(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def table() -> dict[str, Departure]:
    return {one.name: one for one in departures(SPEC)}


def test_names_choices_and_dialects_are_the_coordinators() -> None:
    constants = [field.name for field in dataclasses.fields(Dialect) if field.name != "name"]
    assert list(table()) == constants
    for one in table().values():
        assert one.values == {name: getattr(dialect, one.name) for name, dialect in DIALECTS.items()}
        assert list(one.values) == list(DIALECTS)


def test_every_constant_has_a_sentence_with_its_requirement() -> None:
    for one in table().values():
        assert one.sentence.endswith(".") and "\\*" not in one.sentence
        assert one.sentence[0] in "EHORSPT" and one.sentence[1].isdigit(), one.sentence
    sentence = table()["UnknownGroupError"].sentence
    assert sentence == "H5: the error for a member of a group that does not exist."


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("FirstGroupEpoch", [(1, "kip-848, kafka-4.0 to 4.2"), (2, "since kafka-4.3")]),
        (
            "RejoinOfLiveMember",
            [("replaces", "kip-848"), ("fenced", "kafka-4.0 to 4.1"), ("keeps", "since kafka-4.2")],
        ),
        (
            "RevocationRestart",
            [("narrow", "kip-848"), ("waits", "kafka-4.0 to 4.1"), ("unsubscribed", "since kafka-4.2")],
        ),
        ("EmptyAssignorName", [("invalid", "kip-848"), ("unsupported", "since kafka-4.0")]),
        ("TargetMayLag", [(False, "kip-848, since kafka-4.0")]),
    ],
)
def test_each_value_says_since_which_version(name: str, runs: list[tuple[Any, str]]) -> None:
    assert list(table()[name].runs()) == runs
    assert table()[name].differs is (len(runs) > 1)


def test_one_version_alone_is_named_alone() -> None:
    one = Departure("X", "", {"kip-848": 1, "kafka-4.0": 1, "kafka-4.1": 2, "kafka-4.2": 1})
    assert list(one.runs()) == [(1, "kip-848, kafka-4.0"), (2, "kafka-4.1"), (1, "since kafka-4.2")]


def test_the_models_of_each_dialect_are_those_of_the_manifest() -> None:
    results = {one.dialect: one for one in models_of_dialects(MANIFEST)}
    assert list(results) == list(DIALECTS)
    for one in results.values():
        assert one.safe and one.live and one.open
        for name, states in {**one.safe, **one.live, **one.open}.items():
            assert states == MANIFEST.entry(name).distinct_states
    assert list(results["kafka-4.2"].live) == ["MCKafka42Live", "MCKafka42StaticLive"]
    assert "MCSmall" in results["kip-848"].safe and "MCNoR9" not in results["kip-848"].safe


@pytest.mark.parametrize(
    ("module", "old", "new", "message"),
    [
        ("Dialects.tla", "  \\* H9: responses carry PendingTopicPartitions.\n", "", "has no comment"),
        ("KafkaDialects.tla", "Kafka44 ==\n  [Kafka43", "Kafka44 ==\n  [Kafka39", "Kafka44 cannot be read"),
        ("KafkaDialects.tla", "!.JoinOwns", "!.JoinsOwn", "Kafka40 cannot be read"),
    ],
)
def test_a_module_that_cannot_be_read_is_named(
    tmp_path: Path, module: str, old: str, new: str, message: str
) -> None:
    for name in ("Dialects.tla", "KafkaDialects.tla"):
        shutil.copy(SPEC / name, tmp_path)
    text = (tmp_path / module).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / module).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ConformError, match=message):
        departures(tmp_path)


def test_alike_differences_are_one_finding_with_the_shortest_way_to_it() -> None:
    def failure(trace: str, index: int, *signatures: str) -> dict[str, Any]:
        return {"trace": trace, "index": index, "differences": [{"signature": one} for one in signatures]}

    results = findings([failure("a", 4, "x", "y"), failure("b", 2, "y"), failure("c", 3, "y")])
    assert results == [Finding("y", 3, "b", 2), Finding("x", 1, "a", 4)]


def test_the_command_prints_the_table_and_what_was_measured(tmp_path: Path) -> None:
    write(tmp_path / "mock.json", replayed(wrong_trace(tmp_path)))
    ended = conform(
        *("dialects", "--manifest", SPEC / "manifest.json", "--measured", tmp_path / "mock.json"),
        *("--json", tmp_path / "table.json"),
    )
    assert ended.exit_code == HOLDS, ended.output
    assert "RejoinOfLiveMember\n  H1: epoch 0 from a member" in ended.output
    assert "replaces: kip-848; fenced: kafka-4.0 to 4.1; keeps: since kafka-4.2" in ended.output
    assert "\nTargetMayLag" not in ended.output
    assert "AssignmentInterval, since kafka-4.3. E2: an interval" in ended.output
    assert "kafka-4.4, live: MCKafka44Live 18,376" in ended.output
    assert "1 x Join/advance/NONE: response.memberEpoch (step 1 of" in ended.output
    assert max(map(len, ended.output.splitlines())) <= 110
    written = json.loads((tmp_path / "table.json").read_text())
    assert {one["name"] for one in written["departures"]} == {n for n, one in table().items() if one.differs}
    assert written["measured"]["python"][0]["count"] == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"target": "x"}', '{"failures": 3}'])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "mock.json").write_text(content)
    ended = conform("dialects", "--manifest", SPEC / "manifest.json", "--measured", tmp_path / "mock.json")
    assert ended.exit_code == USAGE
    assert f"{tmp_path / 'mock.json'} is not what `conform replay --json` writes." in ended.output


NO_MODEL = "no model has it"


def test_an_operator_that_a_departure_names_is_in_the_model_that_it_names() -> None:
    """`KafkaLeaveMixed, KafkaHandled in MCKafka42Migration`: both are identifiers of that model's modules."""
    modules = {entry.name: SPEC / entry.module for entry in MANIFEST.entries}
    named = [
        (name, model)
        for one in listed(SPEC)
        for names, model in re.findall(r"(\w+(?:, \w+)*) in (MC\w+)", one.models)
        for name in names.split(", ")
    ]
    assert len(named) >= 5
    for name, model in named:
        text = "".join(strip_comments(path.read_text()) for path in dependencies(modules[model]))
        assert re.search(rf"\b{name}\b", text), f"{model} has no {name}"


def test_the_report_has_the_table(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    write(build / "results" / "measured-mock.json", {**replayed(wrong_trace(tmp_path)), "target": "mock"})
    conform("report", "--results", build, "--manifest", SPEC / "manifest.json")
    page = (build / "report" / "index.html").read_text(encoding="utf-8")
    assert '<a href="#dialects">' in page
    for one in table().values():
        assert (f"<b>{one.name}</b>" in page) is one.differs
    assert "MCKafka40Closed 19,056" in page
    assert "<b>AssignmentInterval</b>" in page and "TargetMayLag in MCKafka43Lags" in page
    assert "<b>RegexResolution</b>" in page
    known = [row.partition("<b>")[2].partition("</b>")[0] for row in page.split("<tr>") if NO_MODEL in row]
    # which spec/KafkaMigration.tla excludes
    assert known == ["FirstDelayFails", "TimeoutsOutlive", "PlaceOfTheLast"]
    assert "Measured on mock" in page and "Join/advance/NONE: response.memberEpoch" in page
    conform("report", "--results", build, "--manifest", tmp_path / "none.json")
    assert "#dialects" not in (build / "report" / "index.html").read_text(encoding="utf-8")
