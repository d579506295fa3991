"""Traces of other kinds of groups than consumer groups, and of clients' assignors, on the coordinator: no
difference (C1, W1, M1, A5)."""

from __future__ import annotations

import sys
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.itf import read_trace
from harness.kinds.classic.steps import CLASSIC_HANDLERS
from harness.kinds.connect.steps import CONNECT_HANDLERS
from harness.kinds.features.computing import HANDLERS
from harness.kinds.migration.steps import MIGRATION_ACTIONS
from harness.kinds.share.decode import HANDLERS as SHARE_HANDLERS
from harness.replay.decode import Decoder
from harness.replay.files import replay_files, trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

TRACES = Path(__file__).parents[2] / "traces"


@dataclass(frozen=True)
class Kind:
    """The folder of the traces of a kind, which have more than `least` steps and only these `actions`; and
    the text in the names of the traces that are replayed over the line protocol, each with more than so many
    steps."""

    folder: str
    actions: Set[str]
    least: int
    spoken: str
    least_spoken: int
    complete: bool = True
    """Tell if the traces have these actions alone, and reach all states that can be reached."""

    @property
    def files(self) -> list[Path]:
        return trace_files([TRACES / self.folder])


KINDS = (
    Kind("classic", CLASSIC_HANDLERS.keys(), 200, "Recovery", 50),
    Kind("connect", CONNECT_HANDLERS.keys(), 100, "lost", 20),
    Kind("share", SHARE_HANDLERS.keys(), 60, "coordinator", 5),
    Kind("migration", MIGRATION_ACTIONS, 100, "converted", 20),
    Kind("client", set(HANDLERS), 60, "", 60, complete=False),
)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.folder)
def kind(request: pytest.FixtureRequest) -> Kind:
    result: Kind = request.param
    return result


@pytest.fixture(scope="module")
def traces(kind: Kind) -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in kind.files]


def test_every_action_is_replayed_without_a_difference(kind: Kind, traces: list[DecodedTrace]) -> None:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    result = replayer.result
    assert not result.failures
    assert result.judged == sum(len(trace.steps) for trace in traces) > kind.least
    assert kind.actions <= set(result.coverage.actions)
    if kind.complete:
        assert set(result.coverage.actions) == kind.actions
        assert result.coverage.never_reached() == []


def test_over_the_line_protocol(kind: Kind) -> None:
    chosen = [file for file in kind.files if kind.spoken in file.name]
    result = replay_files(chosen, f"stdio:{sys.executable} -m coordinator --stdio")
    assert result.judged > kind.least_spoken
    assert not result.failures


def test_every_step_is_loaded_as_it_is_reached(traces: list[DecodedTrace]) -> None:
    """The state that `load` gets is complete: the target goes on as if it had reached the state by itself."""
    target = PythonTarget("kip-848")
    for trace in traces:
        target.load([], [], {"clockMs": 0})
        target.configure(trace.configuration)
        for step in trace.steps:
            target.load(step.load.records, step.load.topics, step.load.volatile)
            assert target.describe("g") == step.expected.group
