"""Several recorded logs judged in one run of TLC, since each start of TLC takes half a second."""

from __future__ import annotations

import json
from pathlib import Path

from harness.cli.validate import command as validate
from harness.errors import NOT_CONFORMANT, ConformError
from harness.targets.base import Json


def write(log: Path, lines: list[Json]) -> Path:
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return log


def report_of(log: Path, *logs: list[Json]) -> Json:
    """The result, as `--json` has it, of logs as the runs of one log: each begins with hello."""
    write(log, [logs[0][0], *(line for lines in logs for line in lines[1:])])
    result = log.with_suffix(".json")
    try:
        validate(log, json_file=result)
    except ConformError as error:
        assert error.exit_code == NOT_CONFORMANT
    report: Json = json.loads(result.read_text())
    assert report["unread"] == []
    return report


def judged(log: Path, *logs: list[Json]) -> list[Json]:
    """The result of each log."""
    runs: list[Json] = report_of(log, *logs)["runs"]
    return runs


def differences_of(run: Json) -> list[str]:
    """The differences of a line from the nearest step."""
    return [f"{one['path']}: {one['expected']}, not {one['got']}" for one in run["instead"][0]["differences"]]
