"""Names of members and topics in any letters; numbers that no request of Kafka has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged import judged, write

from harness.cli.replay import command as replay
from harness.cli.validate import command as validate
from harness.errors import USAGE, ConformError
from harness.kinds.literals import tla_text
from harness.tlaparse import parse_value
from harness.validate.run import _too_big

BASIC = Path(__file__).parents[2] / "traces" / "golden" / "basic.itf.json"
NAMES = ("\U0001f600", "é", "a\u2028b", "a\nb", "\\u2028", "\\u002028", "\\\\u", 'a"b', "\\", "\u2028")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    log = tmp_path_factory.mktemp("log") / "log.jsonl"
    replay([BASIC], record=log, json_file=None)
    return [json.loads(line) for line in log.read_text().splitlines()]


def renamed(lines: list[Any], before: str, after: str) -> list[Any]:
    """The lines with another name in the place of one."""
    renamed: list[Any] = json.loads(json.dumps(lines).replace(json.dumps(before), json.dumps(after)))
    assert renamed != lines
    return renamed


def test_any_text_is_read_back_and_no_two_are_one() -> None:
    literals = [tla_text(name) for name in NAMES]
    assert [parse_value(literal) for literal in literals] == list(NAMES)
    assert len(set(literals)) == len(NAMES) and all(literal.isascii() for literal in literals)
    assert not any("\n" in literal for literal in literals)


def test_a_run_with_names_in_any_letters_is_a_behaviour(lines: list[Any], tmp_path: Path) -> None:
    """The module of such a run could not be parsed."""
    runs = [renamed(renamed(lines, "A", name), "foo", f"t{name}") for name in NAMES[:5]]
    results = judged(tmp_path / "log.jsonl", *runs)
    assert [run["fits"] for run in results] == [run["steps"] for run in results] == [12] * 5


def test_a_number_of_more_than_32_bits_is_named_with_its_line(lines: list[Any], tmp_path: Path) -> None:
    changed = json.loads(json.dumps(lines))
    at = next(n for n, line in enumerate(changed) if line.get("api") == "ConsumerGroupHeartbeat")
    changed[at]["body"]["memberEpoch"] = 1 << 31
    log = write(tmp_path / "log.jsonl", changed)
    with pytest.raises(ConformError, match=rf"line {at + 1}: body.memberEpoch is 2147483648, and") as wrong:
        validate(log)
    assert wrong.value.exit_code == USAGE


def test_a_number_with_which_tlc_cannot_compute_is_no_failure_of_tlc() -> None:
    """An offset, for example, has 64 bits."""
    problem = _too_big("Parsing.\nTLC can't handle a number this big.\n2147483648\nFinished.\n")
    assert problem is not None and problem.exit_code == USAGE
    assert problem.message.startswith("The log has the number 2147483648, and TLC computes with 32 bits")
    assert _too_big("Error: another\n2147483648") is None
