"""A log that takes its time: many time-outs at once, or many deletions, leave room for requests of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from served import ROOT, Recorded, ask, broker

from coordinator.core.clock import SimulatedClock
from coordinator.core.storage import SqliteStorage
from coordinator.serve.broker import PATIENCE_MS
from coordinator.serve.stored import CountedStorage

WRITE_MS = 30
MOST = PATIENCE_MS // WRITE_MS + 1
"""The writes that begin within the patience."""
GROUPS = [f"g{number}" for number in range(20)]
NOT_AVAILABLE, NO_GROUP, FENCED = 15, 69, (25, 110)


class SlowDisk(SqliteStorage):
    """A file whose clock goes on with each write."""

    clock = SimulatedClock()

    def append(self, entries: Sequence[str]) -> None:
        super().append(entries)
        self.clock.set(self.clock.later(WRITE_MS))


def beat(made: Recorded, group: str, epoch: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "groupId": group,
        "memberId": "m",
        "memberEpoch": epoch,
        "rebalanceTimeoutMs": 60000,
    }
    return ask(
        made, 68, 0, body | ({"subscribedTopicNames": ["foo"], "topicPartitions": []} if not epoch else {})
    )


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Recorded]:
    """A server with groups of one member each."""
    disk = SlowDisk(str(tmp_path / "log.db"))
    disk.clock = SimulatedClock()
    made = broker({"foo": 1}, clock=disk.clock, storage=CountedStorage(disk))
    for group in GROUPS:
        assert beat(made, group, 0)["errorCode"] == 0
    yield made
    disk.close()


def states(made: Recorded) -> dict[str, str]:
    return {one["groupId"]: one["groupState"] for one in ask(made, 16, 4, {})["groups"]}


def test_sessions_that_end_at_once_end_bit_by_bit(slow: Recorded) -> None:
    """H8: a member whose heartbeat comes before its turn lives on; no session is forgotten."""
    clock = slow._coordinator.clock
    assert isinstance(clock, SimulatedClock)
    clock.set(clock.later(46_000))
    assert slow.ready() == []
    empty = [group for group, state in states(slow).items() if state == "Empty"]
    assert sorted(empty) == sorted(GROUPS[: len(empty)]) and 1 <= len(empty) <= MOST
    assert beat(slow, GROUPS[-1], 1)["errorCode"] == 0
    assert beat(slow, GROUPS[0], 1)["errorCode"] in FENCED
    for _ in GROUPS:
        slow.ready()
    assert [group for group, state in states(slow).items() if state != "Empty"] == [GROUPS[-1]]


def test_groups_are_deleted_bit_by_bit(slow: Recorded) -> None:
    """Kafka's clients send a request again that got COORDINATOR_NOT_AVAILABLE; here it needs a few."""
    for group in GROUPS:
        assert beat(slow, group, -1)["errorCode"] == 0
    wanted, rounds = ["none", *GROUPS, *GROUPS], 0
    while wanted:
        results = ask(slow, 42, 2, {"groupsNames": wanted})["results"]
        assert [one["groupId"] for one in results] == list(dict.fromkeys(wanted))
        deleted = [one["groupId"] for one in results if one["errorCode"] == 0]
        assert 1 <= len(deleted) <= MOST and not states(slow).keys() & set(deleted)
        assert {one["errorCode"] for one in results} <= {0, NOT_AVAILABLE, NO_GROUP}
        wanted = [one["groupId"] for one in results if one["errorCode"] == NOT_AVAILABLE]
        rounds += 1
    assert states(slow) == {} and rounds >= len(GROUPS) // MOST


def test_no_group_is_no_request() -> None:
    assert ask(broker({}), 42, 2, {"groupsNames": []})["results"] == []


def test_the_document_has_this_bound() -> None:
    page = " ".join((ROOT / "docs/serve.md").read_text().split())
    assert f"for {PATIENCE_MS} ms at most" in page
