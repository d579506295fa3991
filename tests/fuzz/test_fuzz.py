"""Harm that no client, operator or log may do to a coordinator (P2, P3): the fuzzer, and its findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fuzz import fuzz, shortened
from fuzz_draw import OPERATIONS
from fuzz_run import COMPARED_EVERY, Failure, failing

from coordinator import Coordinator, Dialect
from coordinator.apis import APIS
from coordinator.core.timers import Due
from coordinator.stdio import LineProtocol

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))
JOIN = {
    **{"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 1},
    **{"subscribedTopicNames": ["foo"], "topicPartitions": []},
}
REQUEST = {"op": "request", "id": 1, "api": "ConsumerGroupHeartbeat", "version": 0, "body": JOIN}


@pytest.mark.parametrize(
    "operations", [20_000, pytest.param(200_000, marks=pytest.mark.fuzz)], ids=lambda number: f"{number:,}"
)
def test_operations_of_all_kinds(operations: int) -> None:
    """P2, P3: no exception, no operation without end, no change by a refused operation, restarts compared at
    every hundredth; and every operation and API has been accepted, or the rest shows little."""
    tally, failed = fuzz(operations, 848)
    assert not failed, [f"episode {seed!r}: {failure}" for seed, _, failure in failed]
    assert tally["operations"] >= operations
    assert tally["restarts compared"] == tally["operations"] // COMPARED_EVERY
    assert {api for api in APIS if not tally[f"{api} 0"]} == set()
    assert {name for name, _ in OPERATIONS if name != "request" and not tally[f"{name} done"]} == {"line"}


def test_every_operation_is_drawn() -> None:
    hello = LineProtocol(Coordinator()).answer({"op": "hello"})
    assert {name for name, _ in OPERATIONS} == {"hello", "request", "line", *hello["controls"]}
    assert set(hello["apis"]) == set(APIS)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: str(path.stem))
def test_findings_of_earlier_runs(path: Path) -> None:
    """Each failed before its cause was mended."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    failure = failing(kept["operations"], Dialect.named(kept["dialect"]))
    assert failure is None, f"{kept['what']}: {failure}"


def test_an_exception_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operations that the failure does not need are left out of the sequence."""

    def broken(_: Coordinator, ms: int) -> list[object]:
        raise KeyError(ms)

    monkeypatch.setattr(Coordinator, "advance", broken)
    sequence = [{"op": "hello"}, REQUEST, {"op": "advance", "ms": 1}, {"op": "metrics"}]
    failure = failing(sequence, Dialect())
    assert failure is not None and failure.kind == "KeyError in _advance"
    assert shortened(sequence, "848 0", failure) == [{"op": "advance", "ms": 1}]


def test_a_timer_without_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coordinator, "_next_due", lambda *_: Due(0, "g", "session", "m"))
    monkeypatch.setattr(Coordinator, "_fire", lambda *_: True)
    failure = failing([REQUEST, {"op": "advance", "ms": 0}], Dialect())
    assert failure is not None and failure.kind == "endless"


def test_a_change_by_a_refused_operation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    delete = Coordinator.set_topics

    def forgets(self: Coordinator, upsert: list[object], deleted: list[str]) -> None:
        self._offsets["g"] = {}
        delete(self, upsert, deleted)

    monkeypatch.setattr(Coordinator, "set_topics", forgets)
    failure = failing([{"op": "topics", "delete": ["foo"]}, {"op": "topics", "upsert": [1]}], Dialect())
    assert failure is not None and failure.kind == "changed"


def test_a_restart_that_gives_another_state_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    records = Coordinator.records
    monkeypatch.setattr(Coordinator, "records", lambda self, since=0: records(self, since)[:-1])
    failure = failing([REQUEST], Dialect())
    assert isinstance(failure, Failure) and failure.kind in ("load", "restart")
