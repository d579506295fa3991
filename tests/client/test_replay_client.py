"""Traces of client-side assignors on the coordinator: each of these seeded bugs is noticed (A5-A10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator.computing import install, model, prepare, select
from coordinator.consumer import heartbeat, membership, metadata, target
from coordinator.consumer.model import ClientAssignor
from harness.itf import read_trace
from harness.pipeline.rows import StepRows
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

FILES = trace_files([Path(__file__).parents[2] / "traces" / "client"])


@pytest.fixture(scope="module")
def traces() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in FILES]


def replayed(traces: list[DecodedTrace]) -> Replayer:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    return replayer


def _fences_the_late_one(env: Any, group: Any, member_id: str, now_ms: int) -> Any:
    return membership.session_timeout(env, group, member_id, now_ms)


def _tries_nobody(computation: model.Computation, eligible: list[str]) -> model.Computation:
    return model.Computation(eligible[0]) if eligible else model.IDLE


def _reads_any_version(offers: Mapping[str, ClientAssignor]) -> list[str]:
    return sorted(offers)


def _judges_by_the_present(env: Any, group: Any, request: Any, now_ms: int) -> Any:
    base = prepare.base_of(prepare.chosen_group(group, request)) if group else None
    if base is not None and group.computation.base is not None:
        group.computation = group.computation._replace(base=base)
    return _install(env, group, request, now_ms)


_install = install.install_assignment
BUGS: list[tuple[Any, str, Callable[..., Any]]] = [
    (membership.TIMEOUTS, "computation", _fences_the_late_one),
    (select, "choose", _tries_nobody),
    (heartbeat, "should_compute", lambda step, member_id: False),
    (install, "check_assignment", lambda base, members: None),
    (select, "readers", _reads_any_version),
    (heartbeat, "check_versions", lambda group, request, place_of: None),
    (metadata, "by_member", lambda step: False),
    (target, "_write_first", lambda step: None),
    (target, "settle", lambda step: None),
    (install, "settle", lambda step: None),
]


@pytest.mark.parametrize(("place", "name", "bug"), BUGS, ids=[name for _, name, _ in BUGS])
def test_a_seeded_bug_is_noticed(
    traces: list[DecodedTrace], monkeypatch: pytest.MonkeyPatch, place: Any, name: str, bug: Any
) -> None:
    if isinstance(place, dict):
        monkeypatch.setitem(place, name, bug)
    else:
        monkeypatch.setattr(place, name, bug)
    assert replayed(traces).result.failures


def test_judging_by_the_present_is_noticed(
    traces: list[DecodedTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    from coordinator.computing import handle

    monkeypatch.setattr(handle, "install_assignment", _judges_by_the_present)
    assert replayed(traces).result.failures


def test_the_computing_member_is_part_of_a_state() -> None:
    """`conform exhaust` loads a state by its key, so states with other computations have others."""
    (file,) = [file for file in FILES if file.name.endswith("-it-prepares.itf.json")]
    trace = read_trace(file)
    rows = list(StepRows(trace.meta["constants"]).trace(file.name, trace, "t"))
    (prepares,) = [row for row in rows if row["action"] == "PrepareAssignment"]
    assert prepares["source"] != prepares["after"]
