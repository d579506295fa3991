"""Session, rebalance and group timers: H8, R4, E5."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import GroupDriver, given

from coordinator import BadInput, Config, Coordinator, SystemClock
from coordinator.classic import handlers
from coordinator.classic.service import PENDING
from coordinator.connect import service as connect_service
from coordinator.consumer.membership import TIMEOUTS
from coordinator.core.timers import FEW, Due, Timers, run_out
from coordinator.share.service import ShareGroups

Json = dict[str, Any]


def fired(g: GroupDriver, ms: int) -> list[tuple[str, str]]:
    return [(timer["timer"], timer["member"]) for timer in g.coordinator.advance(ms)]


def test_silent_member_is_removed_when_its_session_is_over_and_not_before() -> None:
    g = GroupDriver()
    g.join("m1")
    assert (fired(g, 44_999), list(g.members())) == ([], ["m1"])
    assert fired(g, 1) == [("session", "m1")]
    assert (g.group()["state"], g.epochs()) == ("Empty", (2, 2))


@pytest.mark.parametrize("epoch", [1, 2])
def test_every_accepted_heartbeat_starts_the_session_anew(epoch: int) -> None:
    """Also an H6 retry."""
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.script(m1=["foo-0", "foo-1"])
    g.join("m2")
    g.heartbeat("m1")
    g.coordinator.advance(40_000)
    g.heartbeat("m1", epoch)
    assert g.timers()[("session", "m1")] == 85_000
    assert fired(g, 5_000) == [("session", "m2")]


def test_refused_heartbeat_does_not_start_the_session_anew() -> None:
    g = GroupDriver()
    g.join("m1")
    g.coordinator.advance(1000)
    g.heartbeat("m1", serverAssignor="nosuch")
    assert g.timers() == {("session", "m1"): 45_000}


def test_rebalance_timer_is_armed_by_the_request_to_revoke_and_cancelled_by_its_acknowledgement() -> None:
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", rebalanceTimeoutMs=7000)
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    assert ("rebalance", "m1") not in g.timers()
    g.coordinator.advance(100)
    g.heartbeat("m1")
    assert g.timers()[("rebalance", "m1")] == 7100
    g.heartbeat("m1", owned=["foo-0"])
    assert ("rebalance", "m1") not in g.timers()
    assert fired(g, 7000) == []


def test_member_that_does_not_revoke_in_time_is_removed_and_the_other_gets_all() -> None:
    """R4."""
    g = GroupDriver()
    g.m1_revoking()
    assert fired(g, 5000) == [("rebalance", "m1")]
    assert (list(g.members()), g.epochs()) == (["m2"], (3, 3))
    assert given(g.heartbeat("m2")) == ["foo-0", "foo-1"]


def test_rebalance_timeout_that_the_same_heartbeat_brings_counts() -> None:
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    g.heartbeat("m1", rebalanceTimeoutMs=20)
    assert g.timers()[("rebalance", "m1")] == 20


def test_revocation_that_follows_an_acknowledgement_counts_anew() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.coordinator.advance(4000)
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.heartbeat("m2", subscribedTopicNames=["foo", "bar"])
    g.heartbeat("m1", owned=["foo-0"])
    assert (g.revoking("m1"), g.timers()[("rebalance", "m1")]) == (["foo-0"], 9000)


def test_fire_takes_one_timer_alone() -> None:
    g = GroupDriver()
    g.m1_revoking()
    assert g.coordinator.fire("rebalance", "g", "m1") is True
    assert g.timers() == {("session", "m2"): 45_000}
    assert g.clock.now_ms() == 0


@pytest.mark.parametrize(
    ("timer", "group", "member", "armed"),
    [
        ("rebalance", "g", "m1", "armed: session m1"),
        ("session", "g", "m2", "armed: session m1"),
        ("group", "g", "", "armed: session m1"),
        ("session", "h", "m1", "armed: none"),
    ],
)
def test_fire_of_a_timer_that_is_not_armed(timer: str, group: str, member: str, armed: str) -> None:
    g = GroupDriver()
    g.join("m1")
    with pytest.raises(BadInput, match=armed):
        g.coordinator.fire(timer, group, member)


def test_empty_group_is_deleted_after_its_retention_unless_someone_joins() -> None:
    """E5 DEAD."""
    g = GroupDriver(config=Config(empty_retention_ms=1000))
    g.join("m1")
    g.leave("m1")
    assert g.timers() == {("group", ""): 1000}
    g.coordinator.advance(999)
    g.join("m1")
    assert (fired(g, 1), list(g.members())) == ([], ["m1"])
    g.leave("m1")
    assert fired(g, 1000) == [("group", "")]
    assert g.group()["state"] == "Dead"


def test_timers_fire_in_the_order_of_their_deadlines_and_at_their_time() -> None:
    g = GroupDriver(config=Config(empty_retention_ms=1000))
    g.join("m2")
    g.join("m1")
    g.coordinator.advance(5)
    g.heartbeat("m1")
    assert fired(g, 100_000) == [("session", "m2"), ("session", "m1"), ("group", "")]
    assert g.clock.now_ms() == 100_005


def test_timer_that_a_timer_arms_counts_from_the_time_it_fired() -> None:
    g = GroupDriver(config=Config(empty_retention_ms=1000))
    g.join("m1")
    g.coordinator.advance(45_999)
    assert g.timers() == {("group", ""): 46_000}


def test_real_clock_fires_what_is_due_and_cannot_be_advanced() -> None:
    clock = SystemClock()
    coordinator = Coordinator(clock=clock, config=Config(session_timeout_ms=1))
    body = {
        "groupId": "g",
        "memberId": "m",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 1,
        "subscribedTopicNames": [],
    }
    coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    deadline_ms = coordinator.describe("g")["timers"][0]["deadlineMs"]
    while clock.now_ms() < deadline_ms:
        pass
    assert coordinator.fire_due() == [{"timer": "session", "group": "g", "member": "m"}]
    with pytest.raises(BadInput, match="is real"):
        coordinator.advance(1)


def test_no_time_at_all_fires_what_is_due_now() -> None:
    g = GroupDriver()
    g.join("m1")
    assert fired(g, 0) == []
    g.clock.set(45_000)
    assert fired(g, 0) == [("session", "m1")]


@pytest.mark.parametrize("ms", [-1, 0.5, True])
def test_time_does_not_go_back(ms: int) -> None:
    with pytest.raises(BadInput, match="whole number of milliseconds"):
        GroupDriver().coordinator.advance(ms)


def test_a_timer_that_is_put_off_has_one_entry_and_one_that_is_brought_forward_is_due_then() -> None:
    """A heartbeat, which prolongs its session, costs nothing in the queue."""
    timers, due = Timers(), Due(10, "g", "session", "m1")
    for deadline_ms in (10, 10, 20):
        timers.arm(due._replace(deadline_ms=deadline_ms))
    assert len(timers._queue) == 1
    assert timers.next_due(lambda _: 20, 19) is None
    assert timers.next_due(lambda _: 20, 20) == due._replace(deadline_ms=20)
    timers.arm(due._replace(deadline_ms=15))
    assert timers.next_due(lambda _: 15, 15) == due._replace(deadline_ms=15)


def test_timers_of_groups_that_are_gone_take_no_memory() -> None:
    """An empty group stays for a week. A client that makes groups and deletes them would leave a timer of
    each for that time."""
    timers, armed = Timers(), dict[tuple[str, str, str], int]()
    for number in range(20 * FEW):
        due = Due(7_000_000 + number, f"g{number}", "group", "")
        timers.arm(due)
        if number % 100:
            armed.clear()
        armed[due[1:]] = due.deadline_ms
        assert timers.next_due(lambda one: armed.get(one[1:]), now_ms=1) is None
    assert len(timers._queue) <= FEW + 1


def test_armed_timers_stay_and_run_out_in_their_order() -> None:
    """Prolonged and earlier deadlines count with their present times, also after a comparison of all."""
    timers, armed = Timers(), {}
    for number in range(3 * FEW):
        due = Due(number % 7, f"g{number}", "session", "m")
        timers.arm(due)
        armed[due[1:]] = 10 + number % 11
    results = []
    while (due := timers.next_due(lambda one: armed.get(one[1:]), now_ms=20)) is not None:
        results.append(due)
        del armed[due[1:]]
    assert [len(results), results] == [3 * FEW, sorted(results)]


def session_of(kind: str, member: str) -> tuple[str, int, Json]:
    """A request with which a member joins a group of this kind, whose session takes 45 seconds."""
    body: Json = {"groupId": kind, "memberId": member, "memberEpoch": 0}
    if kind == "classic":
        body = {"groupId": kind, "memberId": "", "groupInstanceId": member, "sessionTimeoutMs": 45_000}
        protocols = [{"name": "range", "metadata": ""}]
        return (
            "JoinGroup",
            9,
            {**body, "rebalanceTimeoutMs": 300_000, "protocolType": "x", "protocols": protocols},
        )
    if kind == "share":
        return "ShareGroupHeartbeat", 1, {**body, "subscribedTopicNames": ["foo"]}
    body["rebalanceTimeoutMs"] = 5_000
    if kind == "connect":
        offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0}
        offers = [{**offer, "metadata": ""}]
        return "ConnectGroupHeartbeat", 0, {**body, "connectorsAndTasks": [], "clientAssignors": offers}
    return "ConsumerGroupHeartbeat", 0, {**body, "subscribedTopicNames": ["foo"], "topicPartitions": []}


HANDLERS: list[tuple[str, Any, str]] = [
    ("consumer", TIMEOUTS, "session"),
    ("classic", handlers, "session_timeout"),
    ("connect", connect_service, "session_timeout"),
    ("share", ShareGroups, "without"),
]
"""Kind of group, and where the handler of its sessions is."""


@pytest.mark.parametrize(("kind", "place", "name"), HANDLERS, ids=[kind for kind, *_ in HANDLERS])
def test_a_fault_of_one_handler_keeps_no_other_timer_from_running_out(
    monkeypatch: pytest.MonkeyPatch, kind: str, place: Any, name: str
) -> None:
    """H8: a group with a fault would keep the members of all other groups for ever."""
    coordinator, groups = Coordinator(), {kind: "m1", "other": "m2", "third": "m3"}
    for group, member in groups.items():
        api, version, body = session_of(kind if group == kind else "consumer", member)
        answer = coordinator.request(api, version, {}, {**body, "groupId": group})
        assert answer is PENDING or answer["errorCode"] == 0
    if kind == "classic":
        coordinator.fire("join", kind)
    works = place[name] if isinstance(place, dict) else getattr(place, name)
    faulty = True

    def handler(*arguments: Any) -> Any:
        group = getattr(arguments[1], "id", kind)  # the other groups are of consumers, whose handler has it
        if faulty and group == kind:
            raise ZeroDivisionError
        return works(*arguments)

    if isinstance(place, dict):
        monkeypatch.setitem(place, name, handler)
    else:
        monkeypatch.setattr(place, name, staticmethod(handler) if isinstance(place, type) else handler)

    def sizes() -> list[int]:
        return [len(coordinator.describe(group)["members"]) for group in groups]

    assert sizes() == [1, 1, 1]
    with pytest.raises(ZeroDivisionError):
        coordinator.advance(50_000)
    assert sizes() == [1, 0, 0]
    armed = [one["deadlineMs"] for one in coordinator.describe(kind)["timers"] if one["timer"] == "session"]
    assert armed[0] > 50_000, "it is tried again later"
    faulty = False
    fired = coordinator.advance(50_000)
    assert [(one["group"], one["timer"]) for one in fired] == [(kind, "session")]
    assert sizes() == [0, 0, 0]


def test_a_fault_that_no_delay_moves_is_raised_at_once() -> None:
    """Otherwise the timer would run out again without end."""
    due = Due(0, "g", "session", "m")

    def fault(_: Due) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_out(lambda: due, fault, lambda _: None)
