"""D1: administration is replayed, with its configurations, and differences are seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coordinator import Coordinator
from harness.itf import Trace, read_trace
from harness.replay.decode import Decoder
from harness.replay.run import Replayer
from harness.replay.view import CONFIGS
from harness.targets.python import PythonTarget

CORPUS = Path(__file__).parent.parent.parent / "traces" / "corpus"
SESSION = "group.consumer.session.timeout.ms"


def traces(goal: str = "") -> list[Trace]:
    results = [
        read_trace(path) for path in sorted(CORPUS.glob(f"MCAdministration-goal-*-{goal or '*'}.itf.json"))
    ]
    assert results
    return results


def replayed(target: PythonTarget, given: list[Trace]) -> list[str]:
    """The places of the differences."""
    replayer, decoder = Replayer(target, max_differences=20), Decoder()
    for number, trace in enumerate(given):
        replayer.replay(decoder.decode(trace, str(number)))
    assert replayer.result.judged
    return [one.path for failure in replayer.result.failures for one in failure.differences]


def test_administration_conforms() -> None:
    assert replayed(PythonTarget("kip-848"), traces()) == []


def test_configurations_are_described_after_every_step() -> None:
    """The configurations of a group that does not exist are described, too, and only if there are some."""
    target = PythonTarget("kip-848")
    (trace,) = traces("a-configuration-is-taken-away")
    steps = Decoder().decode(trace, "trace").steps
    groups = [step.expected.group for step in steps]
    assert [CONFIGS in group for group in groups if group] == [True, False]
    assert replayed(target, [trace]) == []


@pytest.mark.parametrize(
    ("name", "wrong", "path"),
    [
        ("_set_configs", lambda self, change: None, "group.configs"),
        ("_delete", lambda self, group_id: None, "group.state"),
    ],
)
def test_an_administrators_unfinished_operation_is_seen(
    name: str, wrong: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Coordinator, name, wrong)
    assert path in replayed(PythonTarget("kip-848"), traces())


def test_a_target_without_the_apis_judges_what_comes_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out silently: the trace ends, and the report names the missing API."""
    known = PythonTarget("kip-848").hello()
    apis = {name: versions for name, versions in known.apis.items() if name != "DeleteGroups"}
    target = PythonTarget("kip-848")
    monkeypatch.setattr(target, "hello", lambda: type(known)(known.name, known.dialect, apis, known.controls))
    replayer = Replayer(target, max_differences=1)
    (trace,) = traces("deletion-of-a-group-that-has-a-member")
    replayer.replay(Decoder().decode(trace, "trace"))
    (ended,) = replayer.result.ended_early
    assert (ended.reason, ended.judged, ended.skipped) == ("DeleteGroups", 1, 1)
