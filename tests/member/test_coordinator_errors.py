"""The coordinator's own errors and the right to a group, from the coordinator to the member's reaction (H5).

COORDINATOR_LOAD_IN_PROGRESS: try again. NOT_COORDINATOR and COORDINATOR_NOT_AVAILABLE: find the coordinator
first. GROUP_AUTHORIZATION_FAILED: the member has failed. None of them changes the group.
"""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import Coordinator, SimulatedClock
from coordinator.members.consumer import Member, MemberError, Settings
from coordinator.members.consumer.local import Consumer, Listener
from coordinator.members.consumer.types import Partitions

Json = dict[str, Any]
FOO = "00000000-0000-4000-8000-0000000000f0"
BOTH = frozenset({(FOO, 0), (FOO, 1)})


class Told(Listener):
    """A listener that notes its calls."""

    def __init__(self) -> None:
        self.lost: list[Partitions] = []

    def on_partitions_lost(self, partitions: Partitions) -> None:
        self.lost.append(partitions)


class Process:
    """A stable member "m" that owns both partitions of foo, and whose rights can be taken away."""

    def __init__(self) -> None:
        self.may = True
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self.clock, authorizer=lambda *request: self.may)
        self.coordinator.upsert_topic("foo", FOO, 2)
        self.told = Told()
        self.consumer = Consumer(Member(Settings("g", auto_commit=False), "m"), self, self.told)
        self.sent: list[tuple[str, int]] = []
        """API and error of each exchange."""
        self.consumer.member.subscribe(["foo"], now_ms=0)
        self.run(20_000)
        assert self.consumer.member.owned == BOTH

    def request(self, api: str, version: int, client: Any, body: Any) -> Json:
        answer = self.coordinator.request(api, version, client, body)
        self.sent.append((api, int(answer.get("errorCode", 0))))
        return answer

    def run(self, ms: int) -> None:
        """Let time pass; the application polls all the time."""
        for _ in range(ms // 100):
            self.clock.set(self.clock.now_ms() + 100)
            self.consumer.exchange(self.clock.now_ms())

    def group(self) -> Json:
        return {name: value for name, value in self.coordinator.describe("g").items() if name != "timers"}


@pytest.mark.parametrize(("state", "code"), [("loading", 14), ("unavailable", 15), ("moved", 16)])
def test_h5_a_coordinator_that_is_not_there_costs_a_member_nothing(state: str, code: int) -> None:
    """The member tries again until the coordinator is there, in the same epoch, and owns its partitions of
    before."""
    process = Process()
    before = process.group()
    process.sent.clear()
    process.coordinator.set_state(state)
    process.run(10_000)
    assert len(process.sent) > 1 and {error for _, error in process.sent} == {code}
    assert process.group() == before
    process.coordinator.set_state("active")
    process.run(10_000)
    assert process.sent[-1] == ("ConsumerGroupHeartbeat", 0)
    assert process.group()["groupEpoch"] == before["groupEpoch"]
    assert process.consumer.member.owned == BOTH and process.told.lost == []
    assert process.consumer.member.take_error() is None


def test_h5_a_member_without_the_right_to_its_group_has_failed() -> None:
    """The application gets the error once, without a further request; the member's partitions are lost, as no
    coordinator keeps them any more."""
    process = Process()
    before = process.group()
    process.sent.clear()
    process.may = False
    process.run(10_000)
    assert process.sent == [("ConsumerGroupHeartbeat", 30)]
    assert process.group() == before
    assert process.told.lost == [BOTH] and process.consumer.member.owned == frozenset()
    error = process.consumer.member.take_error()
    assert isinstance(error, MemberError) and "needs the right to READ group g" in str(error)


def test_h5_rights_are_checked_before_the_coordinators_state() -> None:
    process = Process()
    process.sent.clear()
    process.may = False
    process.coordinator.set_state("moved")
    process.run(10_000)
    assert process.sent == [("ConsumerGroupHeartbeat", 30)]
