"""Workers as state machines beside a coordinator (W2, W4): their callbacks, and the times at which they
rejoin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from connect_driver import ConnectGroup, Json, named

from coordinator.connect import wire
from coordinator.core.errors import ErrorCode
from coordinator.members.connect.assignor import DelayedAssignor
from coordinator.members.connect.worker import (
    ASSIGNED,
    HEARTBEAT,
    INSTALL,
    REVOKED,
    Request,
    Settings,
    Worker,
)

DELAY_MS = 20_000


class Process:
    """A worker with its listener, and a connection on which answers can be lost."""

    def __init__(self, group: ConnectGroup, name: str, **settings: str) -> None:
        self.group = group
        self.worker = Worker(Settings("g", name, **settings), DelayedAssignor(DELAY_MS))
        self.heard: list[str] = []
        self.sent: list[Request] = []

    @property
    def now_ms(self) -> int:
        return self.group.coordinator.clock.now_ms()

    def send(self, lose: str = "") -> bool:
        """Send one request; `lose` its answer, if it is of that API."""
        request = self.worker.take_request(self.now_ms)
        if request is None:
            return False
        self.sent.append(request)
        answer = self.group.request(request.api, **{k: v for k, v in request.body.items() if k != "groupId"})
        if request.api == lose:
            self.worker.failed(self.now_ms)
        else:
            self.worker.answered(answer, self.now_ms)
        return True

    def call(self) -> bool:
        """Run one callback."""
        callback = self.worker.next_callback()
        if callback is None:
            return False
        self.heard.append(f"{callback.name} {named(wire.to_wire(callback.resources))}")
        self.worker.callback_done(self.now_ms)
        return True

    def owns(self) -> str:
        return named(wire.to_wire(self.worker.owned))


def heartbeat_answer(**fields: int) -> Json:
    """An answer to a heartbeat, without an assignment."""
    answer = {"errorCode": 0, "memberEpoch": 1, "heartbeatIntervalMs": 5_000, "assignment": None}
    return {**answer, "shouldComputeAssignment": False, **fields}


def settle(*processes: Process) -> None:
    """Let all act until no worker has anything to send; no work has two owners meanwhile."""
    for _ in range(100):
        acts = [act() for process in processes for act in (process.send, process.call)]
        owned = [one for process in processes for one in process.worker.owned]
        assert len(owned) == len(set(owned))
        if not any(acts):
            return
    raise AssertionError("the workers talk without an end")


def pass_time(group: ConnectGroup, ms: int, *processes: Process) -> None:
    """Let time pass, in the steps of the workers' deadlines."""
    end_ms = group.clock.now_ms() + ms
    while group.clock.now_ms() < end_ms:
        due_ms = min((process.worker.next_deadline_ms() for process in processes), default=end_ms)
        group.coordinator.advance(max(1, min(due_ms, end_ms) - group.clock.now_ms()))
        settle(*processes)


@pytest.fixture
def group() -> ConnectGroup:
    return ConnectGroup()


def started(group: ConnectGroup, *names: str) -> Iterator[Process]:
    processes: list[Process] = []
    for name in names:
        processes.append(Process(group, name))
        settle(*processes)
        pass_time(group, 10_000, *processes)
    yield from processes


def test_w1_work_moves_by_a_revocation_and_then_an_assignment(group: ConnectGroup) -> None:
    one, two = started(group, "w1", "w2")
    assert (one.owns(), two.owns()) == ("A A-1", "A-2")
    assert one.heard == [f"{ASSIGNED} A A-1 A-2", f"{REVOKED} A-2"]
    assert two.heard == [f"{ASSIGNED} A-2"]
    assert group.group()["state"] == "Stable"


def test_w4_a_worker_that_is_fenced_gives_up_everything_before_it_rejoins(group: ConnectGroup) -> None:
    one, two = started(group, "w1", "w2")
    group.coordinator.fire("session", "g", "w2")
    pass_time(group, 10_000, one)
    two.heard.clear()
    while two.worker.next_callback() is None:
        assert two.send()
    assert two.worker.epoch == 0 and two.worker.take_request(two.now_ms) is None
    two.worker.callback_done(two.now_ms)
    assert two.owns() == ""
    rejoined = two.worker.take_request(two.now_ms)
    assert rejoined is not None and (rejoined.body["memberId"], rejoined.body["memberEpoch"]) == ("w2", 0)
    assert rejoined.body["connectorsAndTasks"] == []


def test_w2_a_worker_that_is_back_in_time_gets_its_work_back(group: ConnectGroup) -> None:
    one, two = started(group, "w1", "w2")
    group.coordinator.fire("session", "g", "w2")
    pass_time(group, DELAY_MS // 2, one)
    assert one.owns() == "A A-1"
    settle(one, two)
    pass_time(group, 10_000, one, two)
    assert two.heard[-2:] == [f"{REVOKED} A-2", f"{ASSIGNED} A-2"]
    assert (one.owns(), two.owns()) == ("A A-1", "A-2")


def test_w2_after_the_delay_others_get_the_work_of_a_worker_that_is_lost(group: ConnectGroup) -> None:
    one, _ = started(group, "w1", "w2")
    group.coordinator.fire("session", "g", "w2")
    pass_time(group, 2 * DELAY_MS, one)
    assert one.heard[-1] == f"{ASSIGNED} A-2" and one.owns() == "A A-1 A-2"
    assert one.worker.assignor.reason == 1


def test_a_worker_that_leaves_gives_up_its_work_first(group: ConnectGroup) -> None:
    one, two = started(group, "w1", "w2")
    two.worker.leave()
    assert two.worker.take_request(two.now_ms) is None and two.call()
    settle(one, two)
    assert two.worker.left and two.heard[-1] == f"{REVOKED} A-2"
    assert [member["memberId"] for member in group.group()["members"]] == ["w1"]


def test_h2_a_worker_that_leaves_while_its_heartbeat_is_in_flight_leaves_all_the_same(
    group: ConnectGroup,
) -> None:
    (one,) = started(group, "w1")
    group.coordinator.advance(10_000)
    assert one.worker.take_request(one.now_ms) is not None
    one.worker.leave()
    one.worker.answered(heartbeat_answer(), one.now_ms)
    settle(one)
    assert one.worker.left and one.sent[-1].body["memberEpoch"] == -1
    assert group.group()["members"] == []


def test_h2_a_leave_is_sent_until_a_coordinator_takes_it_and_not_without_a_pause(group: ConnectGroup) -> None:
    (one,) = started(group, "w1")
    one.worker.leave()
    assert one.call()
    for end in ("lost", "refused"):
        assert one.worker.take_request(one.now_ms) is not None
        if end == "lost":
            one.worker.failed(one.now_ms)
        else:
            one.worker.answered(heartbeat_answer(errorCode=ErrorCode.NOT_COORDINATOR), one.now_ms)
        assert not one.worker.left and one.worker.take_request(one.now_ms) is None
        group.coordinator.advance(one.worker.next_deadline_ms() - one.now_ms)
    assert one.send() and one.worker.left


STRANGE: dict[str, Json] = {
    "an epoch that falls": {"memberEpoch": 1},
    "no epoch": {"memberEpoch": 0},
    "no interval": {"heartbeatIntervalMs": 0},
}


@pytest.mark.parametrize("answer", STRANGE)
def test_e4_a_strange_answer_is_followed_by_a_pause(group: ConnectGroup, answer: str) -> None:
    one, two = started(group, "w1", "w2")
    epoch = two.worker.epoch
    assert epoch > 1
    group.coordinator.advance(two.worker.next_deadline_ms() - two.now_ms)
    assert two.worker.take_request(two.now_ms) is not None
    two.worker.answered(heartbeat_answer(**{"memberEpoch": epoch, **STRANGE[answer]}), two.now_ms)
    assert two.worker.epoch == epoch and two.worker.take_request(two.now_ms) is None
    pass_time(group, 10_000, one, two)
    assert group.group()["state"] == "Stable" and two.owns() == "A-2"


def test_an_error_that_the_worker_does_not_know_ends_it(group: ConnectGroup) -> None:
    (one,) = started(group, "w1")
    group.coordinator.advance(10_000)
    assert one.worker.take_request(one.now_ms) is not None
    one.worker.answered(heartbeat_answer(errorCode=999), one.now_ms)
    assert one.worker.error == 999 and one.call() and one.heard[-1] == f"{REVOKED} A A-1 A-2"


def test_a_worker_that_is_refused_says_why_and_sends_nothing_more(group: ConnectGroup) -> None:
    (one,) = started(group, "w1")
    other = Process(group, "w2", assignor_name="eager")
    settle(one, other)
    assert other.worker.error == ErrorCode.UNSUPPORTED_ASSIGNOR
    pass_time(group, 10_000, one)
    assert not other.send() and len(other.sent) == 1


@pytest.mark.parametrize("state", ["loading", "moved", "unavailable"])
def test_h5_a_worker_says_everything_again_once_a_coordinator_is_back(
    group: ConnectGroup, state: str
) -> None:
    one, two = started(group, "w1", "w2")
    heard: list[Json] = [*one.heard, *two.heard]
    group.coordinator.set_state(state)
    pass_time(group, 6_000, one, two)
    group.coordinator.set_state("active")
    pass_time(group, 10_000, one, two)
    assert [*one.heard, *two.heard] == heard
    assert group.group()["state"] == "Stable"


@pytest.mark.parametrize("api", [HEARTBEAT, INSTALL])
def test_an_answer_that_is_lost_costs_nothing_but_time(group: ConnectGroup, api: str) -> None:
    (one,) = started(group, "w1")
    two = Process(group, "w2")
    for process in [one, two] * 40:
        process.send(lose=api if len(process.sent) % 3 == 1 else "")
        process.call()
        group.coordinator.advance(50)
    pass_time(group, 20_000, one, two)
    assert group.group()["state"] == "Stable"
    assert sorted([*one.worker.owned, *two.worker.owned]) == [("A", 0), ("A", 1), ("A", 2)]


def test_a_driver_that_confuses_the_order_gets_an_error(group: ConnectGroup) -> None:
    process = Process(group, "w1")
    with pytest.raises(ValueError, match="no request is in flight"):
        process.worker.answered({"errorCode": 0}, 0)
    with pytest.raises(ValueError, match="no callback is running"):
        process.worker.callback_done(0)
