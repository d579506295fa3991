"""Mutants of classic groups that survived all traces of `conform mutate`, each killed here."""

from __future__ import annotations

from typing import Any

import pytest
from classic_driver import FOO, ClassicDriver, Json, encoded

from coordinator.classic.handlers import commit_error
from coordinator.classic.model import ClassicGroup

INCONSISTENT, UNKNOWN, FENCED = 23, 25, 82


def static_pair() -> tuple[ClassicDriver, str, str]:
    """Two static members, i1 (the leader) and i2, that were told of generation 1, and have not synced."""
    driver = ClassicDriver()
    for number in (1, 2):
        assert driver.join(f"c{number}", instance=f"i{number}") is None
    driver.open_barrier()
    first, second = (driver.taken("JoinGroup", client) for client in ("c1", "c2"))
    assert first["leader"] == second["leader"] == first["memberId"]
    return driver, first["memberId"], second["memberId"]


def stable_pair() -> tuple[ClassicDriver, str, str]:
    """Two members in a Stable group."""
    driver, first, second = static_pair()
    driver.sync("c2", second, 1)
    driver.sync("c1", first, 1, {first: "a", second: "b"})
    driver.late.clear()
    assert driver.group["state"] == "Stable"
    return driver, first, second


def answer(driver: ClassicDriver, api: str, body: Json) -> Json:
    """The answer to a request that does not wait."""
    response = driver.send(api, "c", body)
    assert response is not None
    return response


def timers(driver: ClassicDriver) -> dict[str, int]:
    """The timers, with the milliseconds until each runs out."""
    now_ms = driver.clock.now_ms()
    armed = driver.group["timers"]
    return {f"{one['timer']} {one['member']}".strip(): one["deadlineMs"] - now_ms for one in armed}


def test_a_follower_that_returns_does_not_lead() -> None:
    """S1, ReplaceStatic: the leader stays, and the returning member gets its assignment as a follower."""
    driver, first, _ = stable_pair()
    back = driver.join("c3", instance="i2")
    assert back is not None and not back["skipAssignment"]
    assert back["leader"] == first


def test_a_static_member_that_returns_with_another_protocol_forces_a_rebalance() -> None:
    """S1, C1: the group goes on undisturbed only with the protocol that it has."""
    driver = ClassicDriver()
    assert driver.join("c1", instance="i1", protocols=("range", "sticky")) is None
    driver.advance(3_000)
    old = driver.taken("JoinGroup", "c1")["memberId"]
    driver.sync("c1", old, 1, {old: "all"})
    back = driver.join("c2", instance="i1", protocols=("sticky",))
    assert back is not None and (back["generationId"], back["protocolName"]) == (2, "sticky")


def test_a_replaced_member_that_waits_to_sync_hears_of_it_once() -> None:
    """S1: it is fenced, and not told to rejoin, too."""
    driver, _, second = static_pair()
    assert driver.sync("c2", second, 1) is None
    driver.join("c3", instance="i2")
    assert driver.taken("SyncGroup", "c2")["errorCode"] == FENCED


def test_a_leaving_member_that_waits_to_sync_hears_of_it() -> None:
    """C1, Unanswered."""
    driver, _, second = static_pair()
    assert driver.sync("c2", second, 1) is None
    assert driver.leave(second) == 0
    assert driver.taken("SyncGroup", "c2")["errorCode"] == UNKNOWN


def test_a_join_says_its_timeouts_anew() -> None:
    """C1, JoinsWith: the rebalance gets the time-out of this join, and so does its session."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.join("c1", members["c1"], rebalance_ms=90_000, session_ms=20_000)
    assert timers(driver)["join"] == 90_000
    driver.join("c2", members["c2"])
    assert timers(driver)[f"session {members['c1']}"] == 20_000


def test_an_instance_id_of_another_member_is_fenced() -> None:
    """S2, IdentityError: in a join and in a leave, too."""
    driver, first, _ = stable_pair()
    response = driver.join("c", first, instance="i2")
    assert response is not None and response["errorCode"] == FENCED
    left = answer(driver, "LeaveGroup", {"members": [{"memberId": first, "groupInstanceId": "i2"}]})
    assert [one["errorCode"] for one in left["members"]] == [FENCED]
    assert len(driver.group["members"]) == 2


def test_an_instance_id_that_nobody_has_cannot_leave() -> None:
    """C1, S1: some are named by instance ids alone."""
    driver, _, _ = stable_pair()
    named = [{"memberId": "", "groupInstanceId": instance} for instance in ("i3", "i2")]
    left = answer(driver, "LeaveGroup", {"members": named})
    assert [one["errorCode"] for one in left["members"]] == [UNKNOWN, 0]


def test_a_group_that_is_not_there_has_no_members() -> None:
    """C1: a leave is refused for its group, and a join for its member id, with any other fields."""
    driver = ClassicDriver()
    assert answer(driver, "LeaveGroup", {"members": [{"memberId": "m"}]})["errorCode"] == UNKNOWN
    response = driver.join("c", "m", protocols=())
    assert response is not None and response["errorCode"] == UNKNOWN


@pytest.mark.parametrize(
    ("says", "error"),
    [({"protocolType": "connect"}, INCONSISTENT), ({"protocolName": "sticky"}, INCONSISTENT), ({}, 0)],
)
def test_a_sync_of_another_kind(says: dict[str, Any], error: int) -> None:
    """C1, SyncError."""
    driver = ClassicDriver()
    members = driver.stable("c1")
    body = {"memberId": members["c1"], "generationId": 1, "assignments": [], **says}
    assert answer(driver, "SyncGroup", body)["errorCode"] == error


def test_commits_without_a_generation() -> None:
    """O2: a generation below zero without a member id, and only that, belongs to a client that is no
    member."""
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)

    def commit(member: str, generation: int) -> int:
        topics = [{"topicId": FOO, "partitions": [{"partitionIndex": 0, "committedOffset": 5}]}]
        body = {"memberId": member, "generationIdOrMemberEpoch": generation, "topics": topics}
        return int(answer(driver, "OffsetCommit", body)["topics"][0]["partitions"][0]["errorCode"])

    members = driver.stable("c1")
    driver.leave(members["c1"])
    assert driver.group["state"] == "Empty"
    assert [commit("", generation) for generation in (-1, 0, 1)] == [0, UNKNOWN, UNKNOWN]
    assert commit("m", -1) == UNKNOWN


def test_static_members_are_waited_for_again() -> None:
    """C1, CompleteJoin: where none has rejoined and none may be removed, the barrier is closed anew."""
    driver, first, second = stable_pair()
    dynamic = driver.known("c3")
    assert driver.join("c3", dynamic) is None
    driver.leave(dynamic)
    assert driver.group["state"] == "PreparingRebalance"
    for _ in range(30):
        driver.heartbeat("c1", first, 1)
        driver.heartbeat("c2", second, 1)
        driver.advance(5_000)
    assert (driver.group["state"], len(driver.group["members"])) == ("PreparingRebalance", 2)
    assert 0 < timers(driver)["join"] <= 60_000


def test_an_id_that_was_given_out_is_of_a_dynamic_member() -> None:
    """C1, S1: a client with an instance id gets no new id, so no member with that instance id exists."""
    driver = ClassicDriver()
    response = driver.join("c1", driver.known("c1"), instance="i1")
    assert response is not None and response["errorCode"] == UNKNOWN


def test_a_member_that_takes_a_place_is_at_its_epoch() -> None:
    """S1: the client of the process that is there now."""
    driver, _, _ = stable_pair()
    body = {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 60_000, "protocolType": "consumer"}
    body |= {"groupId": "g", "memberId": "", "groupInstanceId": "i2"}
    body["protocols"] = [{"name": "range", "metadata": encoded("foo")}]
    answer = driver.coordinator.request("JoinGroup", 9, {"id": "c3", "host": "/elsewhere"}, body)
    there = next(one for one in driver.group["members"] if one["memberId"] == answer["memberId"])
    assert (there["clientId"], there["clientHost"]) == ("c3", "/elsewhere")


def test_a_barrier_without_members_leaves_nothing_behind() -> None:
    """C1, BecomeEmpty: neither the initial delay, nor its new members."""
    driver = ClassicDriver()
    members = [driver.known(client) for client in ("c1", "c2")]
    for member in members:
        driver.join(member, member, rebalance_ms=3_000)
    for member in members:
        driver.leave(member)
    driver.advance(3_000)
    group = driver.group
    assert (group["state"], group["newMember"], group["delayRemainingMs"]) == ("Empty", False, None)


def test_a_static_leader_that_does_not_rejoin_leads_no_more() -> None:
    """C1, NextGeneration: it stays, and the first member that is told of the generation leads."""
    driver, first, second = stable_pair()
    third = driver.known("c3")
    driver.join("c3", third)
    driver.join("c2", second)
    driver.heartbeat("c1", first, 1)
    for _ in range(13):
        driver.heartbeat("c1", first, 1)
        driver.advance(5_000)
    response = driver.taken("JoinGroup", "c3")
    assert (response["errorCode"], response["generationId"], response["leader"]) == (0, 2, min(second, third))
    assert len(driver.group["members"]) == 3 and driver.group["leader"] == min(second, third)


def test_an_unknown_member_hears_that_first() -> None:
    """O2, ClassicCommitError: a stranger's commit, before there is an assignment."""
    driver, _, _ = static_pair()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    topics = [{"topicId": FOO, "partitions": [{"partitionIndex": 0, "committedOffset": 5}]}]
    body = {"memberId": "m", "generationIdOrMemberEpoch": 1, "topics": topics}
    assert answer(driver, "OffsetCommit", body)["topics"][0]["partitions"][0]["errorCode"] == UNKNOWN


def test_anyone_may_commit_where_there_is_no_group() -> None:
    """O2, ClassicCommitError: as in a group that is empty, and only without a member id and a generation."""
    absent = ClassicGroup("g")
    assert absent.state == "Dead"
    assert [int(commit_error(absent, *who)) for who in (("", None, -1), ("m", None, -1), ("", None, 0))] == [
        0,
        UNKNOWN,
        UNKNOWN,
    ]
