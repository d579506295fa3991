"""The Python API, and the example of its page in docs/."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from harness import api as conform
from harness.errors import USAGE

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "traces" / "golden"


def test_the_coordinator_conforms() -> None:
    seen: list[int] = []
    verdict = conform.replay(GOLDEN / "basic.itf.json", progress=lambda so_far: seen.append(so_far.traces))
    assert verdict.conforms, verdict
    assert (verdict.failures, verdict.dialect, seen) == ([], "kip-848", [1])
    assert str(verdict).startswith("1 trace, ")
    assert verdict.to_json()["target_steps"] == verdict.result.judged > 0


def test_differences_are_in_the_verdict() -> None:
    faulty = f"""stdio:{sys.executable} {ROOT}/tests/replay/partial_target.py '{{"lie": "late metadata"}}'"""
    verdict = conform.replay([str(GOLDEN / "basic.itf.json")], faulty, max_differences=2)
    assert not verdict.conforms
    assert verdict.failures[0].differences[0].path == "group.metadata"
    assert "group.metadata" in str(verdict)


def test_a_waiver_that_covers_nothing_does_not_conform(tmp_path: Path) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text('[[waiver]]\nsignature = "Join: group.x"\nreason = "old"\nexpires = 2999-01-01\n')
    verdict = conform.replay(GOLDEN / "basic.itf.json", waivers=waivers)
    assert (verdict.failures, verdict.conforms) == ([], False)
    assert "covers nothing" in str(verdict)


def test_waiting_is_for_a_live_broker() -> None:
    with pytest.raises(conform.ConformError, match="--wait is for broker: targets; the target python"):
        conform.replay(GOLDEN / "basic.itf.json", wait=5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jobs": 0}, "jobs is a number of processes, 1 or more; not 0"),
        ({"jobs": -2}, "1 or more; not -2"),
        ({"wait": -1}, "wait is a number of seconds, 0 or more; not -1"),
        ({"wait": float("nan")}, "0 or more; not nan"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(conform.ConformError, match=message) as refused:
        conform.replay(GOLDEN / "basic.itf.json", **given)
    assert refused.value.exit_code == USAGE and "--" not in refused.value.message


PUBLIC = (conform.Failure, conform.Difference, conform.Trace)


def test_the_page_lists_the_fields_of_what_is_returned() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)\.(\w+)` \|", page, re.MULTILINE))
    assert listed == {(kind.__name__, one.name) for kind in PUBLIC for one in fields(kind)}


def test_by_default_the_traces_are_those_for_every_implementation() -> None:
    files = conform.traces()
    folders = {
        file.relative_to(file.parents[len(file.parts) - 1 - file.parts.index("traces")]).parts[1]
        for file in files
    }
    assert folders == {"golden", "corpus"}
    with pytest.raises(conform.ConformError, match="There are no traces"):
        conform.traces(ROOT / "docs")


def test_the_example_of_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.DOTALL)
    exec(compile(example, "docs/api.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+ traces, 0 differences", first)
    assert re.fullmatch(r"\d+ states of .*group.*", second)
