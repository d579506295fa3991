"""A worker's assignor with scheduled.rebalance.max.delay.ms, beside a coordinator (W2)."""

from __future__ import annotations

import random

from connect_driver import OFFER, ConnectGroup, named

from coordinator.members.connect.assignor import DelayedAssignor

DELAY_MS = 20_000


class Workers:
    """A Connect group whose workers all have this assignor, and own what they are given at once."""

    def __init__(self, delay_ms: int = DELAY_MS) -> None:
        self.group = ConnectGroup()
        self.group.connector("B", 1)
        self.delay_ms = delay_ms
        self.assignors: dict[str, DelayedAssignor] = {}
        self.epochs: dict[str, int] = {}

    @property
    def now_ms(self) -> int:
        return self.group.coordinator.clock.now_ms()

    def join(self, worker: str) -> None:
        self.assignors[worker] = DelayedAssignor(self.delay_ms)
        self.epochs[worker] = self.group.join(worker)["memberEpoch"]
        self.settle()

    def lose(self, worker: str) -> None:
        del self.assignors[worker], self.epochs[worker]
        self.group.coordinator.fire("session", "g", worker)
        self.settle()

    def compute(self) -> None:
        """Let the chosen worker compute, if one must."""
        worker = self.group.group()["chosen"]
        if worker is None or worker not in self.assignors:
            return
        prepared = self.group.prepare(worker, self.epochs[worker])
        if prepared["errorCode"]:
            return
        assignor = self.assignors[worker]
        computed = assignor.compute(prepared)
        body = {"groupEpoch": computed.group_epoch, "error": 0, "members": computed.members()}
        answer = self.group.request(
            "ConnectGroupInstallAssignment", memberId=worker, memberEpoch=self.epochs[worker], **body
        )
        assert answer["errorCode"] == 0, answer
        assignor.installed(computed, self.now_ms)

    def settle(self) -> None:
        """Let all workers send their reports, until nothing changes."""
        for _ in range(8):
            self.compute()
            for worker in self.epochs:
                response = self.group.member(worker)["assigned"]
                epoch, owns = self.epochs[worker], named(response)
                answer = self.group.beat(worker, epoch, owns) if epoch else self.group.join(worker)
                assert answer["errorCode"] == 0, answer
                self.epochs[worker] = answer["memberEpoch"]

    def pass_time(self, ms: int) -> None:
        """Let time pass with all workers alive; delays that are over are fired."""
        self.group.clock.set(self.now_ms + ms)
        for worker, assignor in self.assignors.items():
            if assignor.fire(self.now_ms):
                offer = {**OFFER, "reason": assignor.reason}
                answer = self.group.beat(worker, self.epochs[worker], clientAssignors=[offer])
                assert answer["errorCode"] == 0, answer
        self.settle()

    def work(self) -> dict[str, str]:
        return {worker: named(self.group.member(worker)["assigned"]) for worker in self.epochs}


def started(*names: str, delay_ms: int = DELAY_MS) -> Workers:
    workers = Workers(delay_ms)
    for name in names:
        workers.join(name)
    return workers


def test_w2_one_that_joins_gets_what_the_draft_prints() -> None:
    assert started("w1").work() == {"w1": "A A-1 A-2 B B-1"}
    assert started("w1", "w2").work() == {"w1": "A A-1 A-2", "w2": "B B-1"}


def test_w2_lost_work_waits_and_then_is_given_once() -> None:
    workers = started("w1", "w2", "w3")
    before = workers.work()
    gone = before.pop("w2")
    workers.lose("w2")
    assert workers.work() == before, "the others keep what they have, and get nothing else"
    workers.pass_time(DELAY_MS - 1)
    assert workers.work() == before
    workers.pass_time(1)
    after = workers.work()
    assert set(" ".join(after.values()).split()) == set(" ".join([*before.values(), gone]).split())
    assert all(set(before[name].split()) <= set(after[name].split()) for name in before)
    assert all(one.deadline_ms is None for one in workers.assignors.values())


def test_w2_a_worker_that_comes_back_in_time_gets_its_work_back() -> None:
    workers = started("w1", "w2", "w3")
    before = workers.work()
    workers.lose("w2")
    workers.pass_time(DELAY_MS // 2)
    workers.join("w2")
    assert workers.work() == before
    assert all(one.deadline_ms is None for one in workers.assignors.values())
    workers.pass_time(DELAY_MS)
    assert workers.work() == before, "no delay runs that could move work"


def test_w2_a_delay_of_0_gives_lost_work_at_once() -> None:
    workers = started("w1", "w2", delay_ms=0)
    workers.lose("w2")
    assert workers.work() == {"w1": "A A-1 A-2 B B-1"}


def prepared(epoch: int, lost: str, **parts: list[str]) -> dict[str, object]:
    def form(names: list[str]) -> list[dict[str, object]]:
        return [{"connectors": sorted(names), "tasks": []}] if names else []

    members = [
        {"memberId": name, "memberEpoch": epoch, "connectorsAndTasks": form(work)}
        for name, work in parts.items()
    ]
    members.append({"memberId": "gone", "memberEpoch": -1, "connectorsAndTasks": form([lost])})
    connectors = [{"connectorId": name, "numTasks": 0} for name in "ABC"]
    return {"groupEpoch": epoch, "connectors": connectors, "members": members}


def test_w2_a_delay_is_void_once_another_worker_has_computed() -> None:
    """The delay is over, but for another target than the present one: lost work waits anew, and a new delay
    begins."""
    assignor = DelayedAssignor(100)
    assignor.installed(assignor.compute(prepared(2, "C", v=["A"], w=["B"])), 0)
    assert assignor.deadline_ms == 100
    assert not assignor.fire(99)
    assert assignor.fire(100) and assignor.reason == 1
    computed = assignor.compute(prepared(3, "C", v=["B"], w=["A"]))
    assert computed.waits and ("C", 0) not in frozenset().union(*computed.given.values())
    assignor.installed(computed, 150)
    assert assignor.deadline_ms == 250
    assert assignor.fire(250) and assignor.reason == 2


def test_w2_a_delay_goes_on_while_its_target_stays() -> None:
    """Another rebalance meanwhile does not make lost work wait for longer."""
    assignor = DelayedAssignor(100)
    for now_ms in (0, 60):
        assignor.installed(assignor.compute(prepared(2 + now_ms, "C", v=["A"], w=["B"])), now_ms)
    assert assignor.deadline_ms == 100


def test_w2_all_work_is_someones_and_nobody_has_two_more() -> None:
    """Any workers come and go, once no delay runs."""
    drawn = random.Random(848)
    for _ in range(20):
        workers = started("w1")
        for _ in range(12):
            name = f"w{drawn.randint(2, 5)}"
            if name in workers.epochs:
                workers.lose(name)
            else:
                workers.join(name)
            given = [one for work in workers.work().values() for one in work.split()]
            assert len(given) == len(set(given))
        workers.pass_time(DELAY_MS)
        counts = [len(work.split()) for work in workers.work().values()]
        assert sum(counts) == 5 and max(counts) - min(counts) < 2
