"""Sequence diagrams and state graphs of traces in which members compute (A5, W1)."""

from __future__ import annotations

import re
from pathlib import Path

from harness.graph.states import describer
from harness.itf import Trace, read_trace
from harness.report.trace_sequence import sequence_of_trace

TRACES = Path(__file__).parents[2] / "traces"


def trace(pattern: str) -> Trace:
    (path,) = TRACES.glob(pattern)
    return read_trace(path)


def texts(pattern: str) -> list[str]:
    return re.findall(r">([^<>\n]+)</", sequence_of_trace(trace(pattern), "a trace"))


def test_computing_members_and_installed_targets() -> None:
    shown = texts("client/*-it-installs-what-the-group-has-moved-on-from.itf.json")
    messages = [
        "e1 assign nothing, compute",
        "prepare e1",
        "group e2",
        "install e1, group e2: m1 foo-0",
        "installed",
    ]
    assert [text for text in shown if text in messages] == messages
    assert [t for t in shown if "computes" in t][:2] == ["m1 computes", "m1 computes, prepared group e2"]


def test_members_that_are_late_or_fail() -> None:
    shown = texts("client/*-the-late-one-installs.itf.json")
    assert {"m1 has not installed in time", "m2 computes", "UNKNOWN_MEMBER_ID"} < set(shown)
    assert any(": error 1" in text for text in texts("client/*-its-assignor-fails.itf.json"))


def test_a_worker_that_computes() -> None:
    shown = texts("connect/*-the-group-moves-on-while-a-target-is-computed.itf.json")
    assert {"prepare e0", "group e1", "installed", "w1 computes, prepared group e1"} < set(shown)


def test_a_state_graph_says_who_computes() -> None:
    states = trace("client/*-it-installs-what-the-group-has-moved-on-from.itf.json").states
    cards = [describer(states).card(state).lines for state in states]
    assert ["m1 computes, prepared group e2" in lines for lines in cards] == [False, False, True, True, False]
