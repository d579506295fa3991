"""Fields of a log that are null: each log is judged without them, or the sentence names the missing one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from harness.cli.replay import command as replay
from harness.errors import USAGE, ConformError
from harness.kinds.recordings import read_log
from harness.targets.base import Json

TRACES: Final = Path(__file__).parents[2] / "traces"
Place: TypeAlias = tuple[str | int, ...]


def recorded(trace: str, log: Path) -> list[Json]:
    replay([TRACES / f"{trace}.itf.json"], record=log, json_file=None)
    return [json.loads(line) for line in log.read_text().splitlines()[:10]]


def places(value: Any, before: Place = ()) -> Iterator[Place]:
    """Every field of a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        if isinstance(name, str):
            yield (*before, name)
        yield from places(part, (*before, name))


def without(line: Json, place: Place) -> Json:
    changed = deepcopy(line)
    part: Any = changed
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = None
    return changed


@pytest.mark.parametrize(
    "trace",
    [
        "golden/basic",
        "classic/MCClassicOffsets-goal-0006-commit-before-the-assignment-is-there",
        "connect/MCConnect-goal-0001-another-reason-asks-for-a-rebalance",
        "share/MCShare-goal-0001-a-topic-that-nobody-subscribes-to-is-no-news",
        "migration/MCMigrationApart-goal-0001-versions-of-members-of-the-classic-protocol-exclude-nobody",
    ],
)
def test_a_null_field_is_not_compared_or_named(trace: str, tmp_path: Path) -> None:
    log, tried, named = tmp_path / "log.jsonl", set[Place](), 0
    lines = recorded(trace, log)
    for number, line in enumerate(lines):
        for place in places(line):
            shape = (line["op"], *(0 if isinstance(one, int) else one for one in place))
            if shape in tried:
                continue
            tried.add(shape)
            texts = [json.dumps(without(line, place) if one is line else one) for one in lines]
            log.write_text("\n".join(texts))
            try:
                log_of_group = read_log(log)
                log_of_group.kind.render(log_of_group.runs, log_of_group.dialect or "kip-848", tmp_path)
            except ConformError as error:
                assert error.exit_code == USAGE and not re.search("NoneType|Error", error.message)
                named += "it lacks" in error.message
            else:
                module = (tmp_path / "RecordedRunsLog.tla").read_text()
                assert not re.search(r"\|-> None[,\]]|= None|\{None\}", module), (number, place)
    assert len(tried) > 40 and named > 5


def test_a_generation_that_is_not_shown_is_not_generation_0(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = recorded("classic/MCClassicOffsets-goal-0006-commit-before-the-assignment-is-there", log)
    groups = [line["answer"].get("group", {}) for line in lines]
    number, group = next(
        (number, one) for number, one in enumerate(groups, 1) if one.get("state", "Dead") != "Dead"
    )
    del group["generation"]
    log.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(ConformError, match=f"line {number} .*it lacks generation"):
        read_log(log)


def test_a_field_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    texts = [json.dumps(line) for line in recorded("golden/basic", log)]
    log.write_text("\n".join([*texts, texts[-1].replace('"op"', '"op": "hello", "op"')]))
    with pytest.raises(ConformError, match=rf"line {len(texts) + 1} .*op is there twice"):
        read_log(log)
