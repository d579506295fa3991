"""Generations and assignments of classic groups that no batch can hold (P3, P4)."""

from __future__ import annotations

from typing import Any

import pytest
from classic_driver import ClassicDriver

from coordinator import Config, Coordinator

TOO_LARGE, REBALANCE, UNKNOWN = -1, 27, 25
LIMIT_BYTES, HALF = 1_000, "x" * 500
"""Two members of such metadata do not fit into a batch, one does."""


def driver_of(**members: Any) -> tuple[ClassicDriver, dict[str, str]]:
    """A new group in whose initial delay these clients wait, with the arguments of their joins."""
    driver = ClassicDriver(Config(max_batch_bytes=LIMIT_BYTES))
    known = {client: driver.known(client, **more) for client, more in members.items()}
    for client, more in members.items():
        assert driver.join(client, known[client], **more) is None
    return driver, known


def refused() -> tuple[ClassicDriver, dict[str, str]]:
    """c1 and c2, whose barrier could not open."""
    driver, members = driver_of(c1={"metadata": HALF}, c2={"metadata": HALF})
    assert driver.advance(3_000) == ["join"] and not driver.late, "the delay goes on for new members"
    assert driver.advance(3_000) == ["join"]
    return driver, members


def state(driver: ClassicDriver) -> tuple[str, dict[str, bool]]:
    group = driver.group
    return group["state"], {one["memberId"]: one["awaitingJoin"] is not None for one in group["members"]}


def test_p4_members_that_wait_hear_that_their_generation_does_not_fit() -> None:
    """The log has nothing of it; the members may join again within the rebalance time-out."""
    driver, members = driver_of(c1={"metadata": HALF}, c2={"metadata": HALF})
    before = driver.coordinator.records()
    driver.advance(6_000)
    for client, member in members.items():
        answer = driver.taken("JoinGroup", client)
        assert (answer["errorCode"], answer["memberId"]) == (TOO_LARGE, member)
    assert driver.coordinator.records() == before
    assert state(driver) == ("PreparingRebalance", dict.fromkeys(members.values(), False))
    now_ms = driver.clock.now_ms()
    armed = {f"{one['timer']} {one['member']}": one["deadlineMs"] - now_ms for one in driver.group["timers"]}
    assert armed == {"join ": 60_000, **{f"session {name}": 10_000 for name in members.values()}}


def test_p4_members_that_need_less_make_the_generation() -> None:
    """The initial delay is over: the barrier opens with the last of them."""
    driver, members = refused()
    driver.late.clear()
    assert driver.join("c1", members["c1"]) is None
    answers = [driver.join("c2", members["c2"]), driver.taken("JoinGroup", "c1")]
    assert [one and (one["errorCode"], one["generationId"]) for one in answers] == [(0, 1), (0, 1)]


def test_p4_the_last_one_to_join_is_refused_and_goes_and_the_rest_is_a_generation() -> None:
    driver, members = refused()
    driver.late.clear()
    assert driver.join("c1", members["c1"], metadata=HALF) is None
    before, end = driver.group, driver.coordinator.end
    answer = driver.join("c2", members["c2"], metadata=HALF)
    assert answer is not None and answer["errorCode"] == TOO_LARGE
    assert (driver.group, driver.coordinator.end) == (before, end)
    assert driver.advance(10_000) == ["session"], "that of c2"
    assert driver.taken("JoinGroup", "c1")["errorCode"] == 0
    assert state(driver) == ("CompletingRebalance", {members["c1"]: False})


def test_p4_members_that_never_come_back_go() -> None:
    """No timer runs out again and again."""
    driver, _ = refused()
    assert driver.advance(600_000) == ["session", "session"]
    assert state(driver) == ("Empty", {})
    assert driver.coordinator.records()[-1]["value"]["members"] == []


def test_p4_a_group_whose_end_does_not_fit_is_tried_now_and_then() -> None:
    """Nobody waits, so nobody is told; the members have no time to join again."""
    driver = ClassicDriver(Config(max_batch_bytes=LIMIT_BYTES))
    driver.coordinator.configure({"message.max.bytes": 100})
    member = driver.known("c1", rebalance_ms=0)
    assert driver.join("c1", member, rebalance_ms=0, metadata=HALF) is None
    driver.advance(3_000)
    assert driver.taken("JoinGroup", "c1")["errorCode"] == TOO_LARGE
    assert len(driver.advance(600_000)) < 10
    assert state(driver) == ("PreparingRebalance", {member: False})


def test_p4_static_members_are_waited_for_and_go_with_their_sessions() -> None:
    """S1: the barrier cannot leave them out, so that it is tried once in each rebalance time-out."""
    driver = ClassicDriver(Config(max_batch_bytes=LIMIT_BYTES))
    for client in ("c1", "c2"):
        driver.join(client, instance=client, metadata=HALF, session_ms=150_000)
    driver.advance(6_000)
    name = driver.taken("JoinGroup", "c1")["memberId"]
    fired: list[str] = []
    while not driver.group["generation"]:
        answer = driver.join("c1", name, instance="c1", metadata=HALF, session_ms=150_000)
        assert answer is None, "the barrier waits for c2"
        fired += driver.advance(60_000)
        assert driver.taken("JoinGroup", "c1")["errorCode"] == (
            0 if driver.group["generation"] else TOO_LARGE
        )
    assert fired == ["join", "join", "session"], "that of c2"
    assert list(state(driver)[1]) == [name]


def test_p4_a_session_whose_end_opens_the_barrier() -> None:
    """H8: the members that wait are told, and the session ends a moment later."""
    driver = ClassicDriver(Config(max_batch_bytes=LIMIT_BYTES))
    members = driver.stable("c1", "c2", "c3")
    for client in ("c1", "c2"):
        assert driver.join(client, members[client], metadata=HALF) is None
    assert driver.advance(10_000) == []
    assert {client: driver.taken("JoinGroup", client)["errorCode"] for client in ("c1", "c2")} == {
        "c1": TOO_LARGE,
        "c2": TOO_LARGE,
    }
    assert members["c3"] in state(driver)[1]
    assert driver.advance(500) == ["session"]
    assert state(driver) == ("PreparingRebalance", {members["c1"]: False, members["c2"]: False})


def test_p4_an_assignment_that_does_not_fit_is_refused() -> None:
    """P3: who waits for it waits until the time for the leader's is over."""
    driver, members = driver_of(c1={}, c2={})
    driver.advance(6_000)
    driver.late.clear()
    leader = next(name for name, id_ in members.items() if id_ == driver.group["leader"])
    follower = next(name for name in members if name != leader)
    assert driver.sync(follower, members[follower], 1) is None
    before, end = driver.group, driver.coordinator.end
    answer = driver.sync(leader, members[leader], 1, {members[follower]: "x" * LIMIT_BYTES})
    assert answer is not None and answer["errorCode"] == TOO_LARGE
    assert (driver.group, driver.coordinator.end) == (before, end)
    driver.advance(60_000)
    assert driver.taken("SyncGroup", follower)["errorCode"] == REBALANCE
    assert members[leader] not in state(driver)[1]


@pytest.mark.parametrize("restarts", [False, True])
def test_p2_another_coordinator_goes_on_with_such_a_group(restarts: bool) -> None:
    driver, _ = refused()
    before = driver.group
    other = Coordinator(config=Config(max_batch_bytes=LIMIT_BYTES))
    other.load(driver.coordinator.records(), [], driver.coordinator.volatile())
    assert other.describe("g") == before
    if restarts:
        other.restart()
        assert other.describe("g")["state"] == "Empty", "no generation was written"


@pytest.mark.parametrize("api", ["ShareGroupHeartbeat", "ConnectGroupHeartbeat"])
def test_p4_groups_of_other_kinds_say_the_same(api: str) -> None:
    """Clients repeat a request that COORDINATOR_NOT_AVAILABLE refuses."""
    body: Any = {"groupId": "g", "memberId": "m", "memberEpoch": 0}
    if api == "ShareGroupHeartbeat":
        body |= {"subscribedTopicNames": ["x" * 200, "y" * 200, "z" * 200]}
    else:
        offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0}
        body |= {"connectorsAndTasks": [], "rebalanceTimeoutMs": 1}
        body |= {"clientAssignors": [{**offer, "metadata": "eHh4" * 200}]}
    coordinator = Coordinator(config=Config(max_batch_bytes=400))
    answer = coordinator.request(api, 1 if api == "ShareGroupHeartbeat" else 0, {}, body)
    assert (answer["errorCode"], coordinator.end) == (TOO_LARGE, 0)
    assert "message.max.bytes" in answer["errorMessage"]
