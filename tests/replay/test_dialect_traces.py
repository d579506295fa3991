"""The committed traces of each dialect hold on a target that speaks it, and notice each of its departures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from coordinator import Coordinator, Dialect, SimulatedClock
from coordinator.core.dialect import DIALECTS
from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayed, Replayer
from harness.targets import open_target
from harness.targets.base import Target
from harness.targets.python import PythonTarget

FOLDER = Path(__file__).parents[2] / "traces" / "dialects"
NEAREST = {
    **{"kafka-4.0": "kafka-4.2", "kafka-4.1": "kafka-4.2", "kafka-4.2": "kip-848"},
    **{"kafka-4.3": "kafka-4.2", "kafka-4.4": "kafka-4.3"},
}
"""Dialect -> the other dialect from which its traces must tell it."""


class Departing(PythonTarget):
    """The coordinator in a dialect that has no name of its own."""

    def __init__(self, dialect: Dialect) -> None:
        self._coordinator = Coordinator(dialect=dialect, clock=SimulatedClock())
        self._scripted = False


def decoded(dialect: str) -> list[DecodedTrace]:
    decoder = Decoder()
    return [
        decoder.decode(read_trace(path), path.stem) for path in sorted((FOLDER / dialect).glob("*.itf.json"))
    ]


TRACES = {dialect: decoded(dialect) for dialect in NEAREST}


def replayed(target: Target, traces: list[DecodedTrace]) -> Replayed:
    replayer = Replayer(target, max_differences=1)
    for trace in traces:
        replayer.replay(trace)
    return replayer.result


def departures(dialect: str) -> list[str]:
    ours, others = DIALECTS[dialect], DIALECTS[NEAREST[dialect]]
    names = [field.name for field in dataclasses.fields(Dialect) if field.name != "name"]
    return [name for name in names if getattr(ours, name) != getattr(others, name)]


@pytest.mark.parametrize("dialect", NEAREST)
def test_they_hold_on_who_speaks_it(dialect: str) -> None:
    traces = TRACES[dialect]
    result = replayed(open_target("python", dialect), traces)
    assert result.failures == []
    assert (result.traces, result.judged) == (len(traces), sum(len(trace.steps) for trace in traces))
    assert result.judged > 0


def test_they_are_left_out_on_who_does_not() -> None:
    result = replayed(open_target("python"), TRACES["kafka-4.2"])
    assert result.judged == 0
    assert {ended.reason for ended in result.ended_early} == {"dialect kafka-4.2"}


@pytest.mark.parametrize(
    ("dialect", "departure"), [(dialect, name) for dialect in NEAREST for name in departures(dialect)]
)
def test_they_notice_each_departure(dialect: str, departure: str) -> None:
    other = getattr(DIALECTS[NEAREST[dialect]], departure)
    without = dataclasses.replace(DIALECTS[dialect], **{departure: other})
    assert replayed(Departing(without), TRACES[dialect]).differences
