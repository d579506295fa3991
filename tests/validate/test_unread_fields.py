"""Fields of a log that the line protocol does not have: conform validate names them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from harness.cli.replay import command as replay
from harness.cli.validate import command as validate
from harness.targets.base import Json
from harness.validate.unread import unread_fields

TRACES: Final = Path(__file__).parents[2] / "traces"
KINDS: Final = ("admission", "classic", "connect", "cooperative", "corpus", "golden", "migration", "share")


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorder_writes_no_unknown_field(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    replay(sorted((TRACES / kind).glob("*.itf.json"))[:4], record=log, json_file=None)
    assert unread_fields(log) == []


def misspell(part: Json, name: str) -> bool:
    """Write the field of a part in the plural, if the part has the field."""
    if name in part:
        part[f"{name}s"] = part.pop(name)
    return f"{name}s" in part


def test_misspelt_fields_are_named_with_the_field_that_was_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the log is judged; the misspelt parts count as not observed."""
    log, result = tmp_path / "log.jsonl", tmp_path / "result.json"
    replay([TRACES / "golden" / "basic.itf.json"], record=log, json_file=None)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    members = [line["answer"].get("group", {}).get("members", []) for line in lines]
    wrong = {
        "version": sum(misspell(line, "version") for line in lines),
        "body.rebalanceTimeoutMs": sum(
            misspell(line.get("body", {}), "rebalanceTimeoutMs") for line in lines
        ),
        "answer.group.members.assigned": sum(
            any([misspell(one, "assigned") for one in shown]) for shown in members
        ),
    }
    assert min(wrong.values()) > 1
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    validate(log, json_file=result)
    unread = [
        f"not read: {place}s, in {count} lines. Did you mean {place.rpartition('.')[2]}?"
        for place, count in wrong.items()
    ]
    assert sorted(json.loads(result.read_text())["unread"]) == sorted(unread)
    printed = capsys.readouterr().out
    assert all(line in printed for line in unread)
