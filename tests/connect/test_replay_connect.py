"""Traces of Connect groups on the coordinator: each of these seeded bugs is noticed (W1, W2, W4)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator.connect import handlers, service
from coordinator.consumer import heartbeat, membership
from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parents[2]
FILES = trace_files([ROOT / "traces" / "connect"])


@pytest.fixture(scope="module")
def traces() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in FILES]


def differences(traces: list[DecodedTrace]) -> int:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    return replayer.result.differences


def _replayed_without_lost(self: Any, records: Any, env: Any, now_ms: int) -> None:
    REPLAY(self, [one for one in records if getattr(one, "type", "") != handlers.LOST], env, now_ms)


def _given_at_once(prepared: Any, request: Any) -> str | None:
    missing = any(
        (name, number) not in {resource for _, resource in request.target}
        for name, count in prepared.metadata.items()
        for number in range(count)
    )
    return "Not all work is assigned." if missing else INVALID(prepared, request)


REPLAY = service.ConnectGroups.replay
INVALID = handlers.invalid_target


def _reconciled_for_two(dialect: Any, group: Any, member_id: str, *rest: Any) -> Any:
    """Work is given to its new worker while the old one holds it still."""
    owners, group.owners = group.owners, {}
    try:
        return RECONCILE(dialect, group, member_id, *rest)
    finally:
        group.owners = owners


RECONCILE = heartbeat.reconcile
BUGS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a connector runs on two workers": (heartbeat, "reconcile", _reconciled_for_two),
    "lost work is lost once more in a fail-over": (service.ConnectGroups, "replay", _replayed_without_lost),
    "what a worker had is not remembered": (handlers, "lost_records", lambda *_: iter(())),
    "all work must be assigned, so none can wait": (handlers, "invalid_target", _given_at_once),
    "an assignment is not looked at": (handlers, "invalid_target", lambda *_: None),
    "anyone may install": (handlers, "check_computes", lambda group, *_: group),
    "another worker is chosen each time": (
        handlers,
        "choose",
        lambda work, members: work._replace(chosen=max(members, default=""), prepared=None),
    ),
    "the late worker stays chosen": (handlers, "choose_another", lambda group, work: work),
    "a worker that waits is taken for a new one": (handlers, "JOIN_EPOCH", lambda: None),
    "a reason is not looked at": (membership, "bumps_group_epoch", lambda *_: False),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_noticed(
    bug: str, traces: list[DecodedTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name, wrong = BUGS[bug]
    monkeypatch.setattr(place, name, wrong)
    try:
        assert differences(traces) > 0
    except ConformError as failed:  # the coordinator fell over the bug, which is reported, too
        assert "failed in" in failed.message


def test_an_unknown_action_is_an_error() -> None:
    trace = read_trace(FILES[0])
    last = trace.states[-1]
    changed = type(last)({**last, "step": type(last["step"])({**last["step"], "action": "Nonsense"})})
    with pytest.raises(ConformError, match="there is no action 'Nonsense'"):
        Decoder().decode(Trace(trace.meta, trace.variables, [*trace.states[:-1], changed]), "a trace")
