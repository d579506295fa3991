"""Damaged traces and logs: commands judge them or end in a sentence (exit code 2), never in a traceback."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from damage import NUMBERS, damaged, part_at, some
from hypothesis import given
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, USAGE, ConformError
from harness.kinds.recordings import read_log
from harness.validate.unread import unread_fields

TRACES: Final = Path(__file__).parents[2] / "traces"
OF_EACH_KIND: Final = (
    *("golden/basic", "members/MCSmall", "classic/MCClassicTour", "connect/MCConnectTour"),
    *("migration/MCMigrationTour", "client/MCClient", "share/MCShareTour"),
)
"""The beginnings of the names of traces."""


def first_of(beginning: str) -> Path:
    """The first trace whose path begins so."""
    folder, _, name = beginning.partition("/")
    return min((TRACES / folder).glob(f"{name}*.itf.json"))


def ends_well(*words: object) -> tuple[int, str]:
    """The exit code and the output of a command, which ends in no traceback."""
    ended = CliRunner().invoke(app, [str(word) for word in words])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    assert ended.exit_code in (0, USAGE, ENGINE_FAILED, NOT_CONFORMANT), ended.output
    return ended.exit_code, ended.output


@pytest.mark.parametrize("examples", NUMBERS)
@pytest.mark.parametrize("beginning", OF_EACH_KIND)
def test_damaged_traces_are_judged_or_refused(beginning: str, examples: int, tmp_path: Path) -> None:
    file = tmp_path / "damaged.itf.json"

    @some(examples)
    @given(damaged(first_of(beginning).read_text()))
    def replays_and_draws(value: Any) -> None:
        file.write_text(json.dumps(value))
        ends_well("replay", file)
        ends_well("graph", "--trace", file, "--mermaid", "--out", tmp_path)

    replays_and_draws()


@pytest.mark.parametrize(
    ("beginning", "place", "junk", "sentence"),
    [
        ("members/MCSmall-goal-0002", "states/4/clients/m1/epoch", {"#set": []}, "clients cannot be read"),
        ("share/MCShare-goal-0001", "states/1/share/members/m1/epoch", "x", "share.members[m1].epoch"),
        ("share/MCShare-goal-0001", "states/1/share/members/m1", "x", "share.members[m1] must be a record"),
        (
            "client/MCClient-goal-0001",
            "states/1/computation/offers",
            {"#map": []},
            "computation.offers has no value for",
        ),
        (
            "client/MCClient-goal-0001",
            "states/1/computation/offers/m1",
            3,
            "computation.offers must be a list, not 3",
        ),
        (
            "client/MCClient-goal-0001",
            "states/1/computation/told",
            {"#map": []},
            "computation.told has no value for",
        ),
        ("migration/MCMigrationTour", "states/1/phase/a", "x", "phase[a] must be"),
        ("migration/MCMigrationTour", "states/1/words", {"#map": []}, "words has no value for"),
    ],
)
def test_a_wrong_field_is_named(beginning: str, place: str, junk: Any, sentence: str, tmp_path: Path) -> None:
    value = json.loads(first_of(beginning).read_text())
    *above, last = [int(name) if name.isdigit() else name for name in place.split("/")]
    assert last in part_at(value, above)
    part_at(value, above)[last] = junk
    (file := tmp_path / "damaged.itf.json").write_text(json.dumps(value))
    code, output = ends_well("replay", file)
    assert (code, sentence in output) == (USAGE, True), output


def test_a_diagram_of_wrong_values_is_refused(tmp_path: Path) -> None:
    value = json.loads(first_of("members/MCSmall-goal-0002").read_text())
    value["states"][2]["clients"] = {"#map": []}
    (file := tmp_path / "damaged.itf.json").write_text(json.dumps(value))
    for words in (["--sequence"], ["--mermaid"]):
        code, output = ends_well("graph", "--trace", file, *words, "--out", tmp_path)
        assert (code, "damaged cannot be drawn" in output) == (USAGE, True), output


@pytest.mark.parametrize("examples", NUMBERS)
@pytest.mark.parametrize("beginning", OF_EACH_KIND)
def test_damaged_logs_are_read_or_refused(beginning: str, examples: int, tmp_path: Path) -> None:
    """The whole command would follow the rest of each log on TLC, a second for each."""
    file = tmp_path / "log.jsonl"
    ends_well("replay", first_of(beginning), "--record", file)

    @some(examples)
    @given(damaged(f"[{','.join(file.read_text().splitlines())}]"))
    def reads(lines: Any) -> None:
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        try:
            read_log(file)
            unread_fields(file)
        except ConformError as error:
            assert error.exit_code == USAGE

    reads()


def test_a_log_with_another_type_or_without_an_epoch_names_line_and_place(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    ends_well("replay", first_of("golden/basic"), "--record", file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    number = next(
        number for number, line in enumerate(lines) if line["answer"].get("group", {}).get("members")
    )
    member = lines[number]["answer"]["group"]["members"][0]
    epoch = member.pop("memberEpoch")
    for wrong, sentence in (
        ({}, f"line {number + 1} is no operation with its answer (member"),
        ({"memberEpoch": f"{epoch}"}, f"members[0].memberEpoch: '{epoch}' is not of type 'integer'"),
        ({"memberEpoch": float(epoch)}, f"members[0].memberEpoch: '{epoch}.0' is not of type 'integer'"),
    ):
        lines[number]["answer"]["group"]["members"][0] = {**member, **wrong}
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        code, output = ends_well("validate", file)
        assert (code, sentence in output.replace("\n", " ")) == (USAGE, True), output


_DEEP: Final = "[" * 100_000
_LONG: Final = "1" * 5_000


@pytest.mark.parametrize("value", [_DEEP, _LONG], ids=["deep", "long"])
@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("replay", "x.itf.json"),
        ("validate", "x.jsonl"),
        ("scenario", "x.yaml"),
        ("simulate --replay", "x.json"),
        ("compare --target python --against python --replay", "x.json"),
        ("client reference --findings", "x.json"),
        ("dialects --measured", "x.json"),
        ("check --manifest", "x.json"),
    ],
)
def test_a_file_with_depths_or_digits_that_nothing_reads_is_a_sentence(
    verb: str, name: str, value: str, tmp_path: Path
) -> None:
    """Python reads neither a hundred thousand lists in lists nor a number of thousands of digits."""
    (file := tmp_path / name).write_text(value)
    code, output = ends_well(*verb.split(), file)
    assert (code, name in output, output.count("conform: ")) == (USAGE, True, 1), output


def test_an_answer_nested_too_deeply_is_a_fault_of_the_program(tmp_path: Path) -> None:
    (program := tmp_path / "deep.py").write_text("input()\nprint('[' * 100_000, flush=True)\ninput()\n")
    target = f"stdio:{sys.executable} {program}"
    code, output = ends_well("replay", first_of("golden/basic"), "--target", target)
    assert (code, "answered hello with something that is not JSON: [[[" in output) == (ENGINE_FAILED, True)
