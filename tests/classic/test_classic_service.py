"""The surroundings of a classic group: refused requests, a log that refuses, timers and fail-over (C1, C2,
P2, P3)."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from classic_driver import FOO, VERSIONS, ClassicDriver, Json, encoded

from coordinator import BadInput, Config, Coordinator
from coordinator.classic.service import MOST_PENDING, PENDING

sys.path.append(str(Path(__file__).parents[1] / "coordinator"))
from admin_driver import delete

UNAVAILABLE, UNKNOWN, ILLEGAL, INCONSISTENT, UNAUTHORIZED = 15, 25, 22, 23, 30
INVALID_GROUP, INVALID_SESSION, REQUIRED = 24, 26, 79
NOW_MS = 100_000


class Later:
    """Another machine's clock."""

    def now_ms(self) -> int:
        return NOW_MS


JOIN: Json = {
    "memberId": "",
    "sessionTimeoutMs": 10_000,
    "rebalanceTimeoutMs": 60_000,
    "protocolType": "consumer",
    "protocols": [{"name": "range", "metadata": encoded("foo")}],
}
REFUSED: dict[str, tuple[Json, Json]] = {
    "JoinGroup": (
        {**JOIN, "memberId": "m"},
        {
            "generationId": -1,
            "protocolType": None,
            "protocolName": None,
            "leader": "",
            "skipAssignment": False,
            "memberId": "m",
            "members": [],
        },
    ),
    "SyncGroup": (
        {"memberId": "m", "generationId": 1, "assignments": []},
        {"protocolType": None, "protocolName": None, "assignment": ""},
    ),
    "Heartbeat": ({"memberId": "m", "generationId": 1}, {}),
    "LeaveGroup": ({"members": []}, {"members": []}),
}
"""The fields of a member's request, and the fields of the answer beside an error."""


def timers(driver: ClassicDriver) -> dict[str, int]:
    """The timers, with the milliseconds until each runs out."""
    now_ms = driver.coordinator.clock.now_ms()
    return {
        f"{one['timer']} {one['member']}".strip(): one["deadlineMs"] - now_ms for one in described(driver)
    }


def described(driver: ClassicDriver) -> list[Json]:
    armed: list[Json] = driver.group["timers"]
    return armed


def rebalancing() -> tuple[ClassicDriver, dict[str, str]]:
    """c1 and c2 are a generation, c1 rejoins and waits, an id was given out, time has passed."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.advance(700)
    driver.join("c1", members["c1"])
    members["c3"] = driver.known("c3")
    driver.advance(300)
    return driver, members


@pytest.mark.parametrize("api", REFUSED)
def test_c1_a_refused_request_gets_an_error_and_nothing_else(api: str) -> None:
    """A client without rights is refused, and a group without a name."""
    body, more = REFUSED[api]
    for group_id, error, options in (
        ("g", UNAUTHORIZED, {"authorizer": lambda *request: False}),
        ("", INVALID_GROUP, {}),
    ):
        coordinator = Coordinator(**options)
        fields = coordinator.request(api, VERSIONS[api], {"id": "c"}, {"groupId": group_id, **body})
        assert fields == {"throttleTimeMs": 0, "errorCode": error, **more}
        assert coordinator.end == 0


@pytest.mark.parametrize("api", ["JoinGroup", "LeaveGroup"])
def test_p3_a_request_that_the_log_refuses_gets_an_error(api: str) -> None:
    driver = ClassicDriver()
    (member,) = driver.stable("c1").values()
    driver.coordinator.fail_appends(True)
    body: Json = {"members": [{"memberId": member}]} if api == "LeaveGroup" else {**JOIN, "memberId": member}
    answer = driver.send(api, "c1", body)
    assert answer == {
        **{"throttleTimeMs": 0, "errorCode": UNAVAILABLE},
        **(REFUSED[api][1] | ({"memberId": member} if api == "JoinGroup" else {})),
    }


def test_c1_a_join_to_a_group_of_workers() -> None:
    driver = ClassicDriver()
    body: Json = {"groupId": "g", "memberId": "w", "memberEpoch": 0, "rebalanceTimeoutMs": 1}
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
    body |= {"connectorsAndTasks": [], "clientAssignors": [offer]}
    assert driver.coordinator.request("ConnectGroupHeartbeat", 0, {}, body)["errorCode"] == 0
    answer = driver.join("c1")
    assert answer is not None and answer["errorCode"] == INCONSISTENT
    answer = driver.join("c1", session_ms=1)
    assert answer is not None and answer["errorCode"] == INVALID_SESSION, "whatever the group is"
    assert driver.heartbeat("c1", "w", 1) == UNKNOWN, "it is no member of a classic group"
    assert driver.group["type"] == "connect"


def test_h5_a_consumer_that_does_not_join_is_refused() -> None:
    """M1: only a join converts a group."""
    driver = ClassicDriver()
    driver.stable("c1")
    body = {"groupId": "g", "memberId": "m", "memberEpoch": 1}
    answer = driver.coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    assert (answer["errorCode"], answer["errorMessage"]) == (
        UNKNOWN,
        "Group g is a classic group; join it first.",
    )
    assert driver.coordinator.request("ConsumerGroupHeartbeat", 0, {}, {**body, "groupId": "h"})["errorCode"]


def test_o2_commits_and_fetches_say_what_they_are_refused_for() -> None:
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    (member,) = driver.stable("c1").values()

    def commit(group_id: str, name: str, generation: int) -> int:
        topics = [{"topicId": FOO, "partitions": [{"partitionIndex": 0, "committedOffset": 7}]}]
        body = {"memberId": name, "generationIdOrMemberEpoch": generation, "topics": topics}
        fields = driver.send("OffsetCommit", "c1", {**body, "groupId": group_id})
        assert fields is not None
        return int(fields["topics"][0]["partitions"][0]["errorCode"])

    assert [commit("g", member, generation) for generation in (0, 1, 2)] == [ILLEGAL, 0, ILLEGAL]
    assert commit("g", "m", 1) == UNKNOWN
    assert commit("h", "", -1) == 0, "nobody's group"


def test_c1_an_id_that_was_given_out_is_not_given_again() -> None:
    """H1: neither that of a member, nor a pending one; a member's own is never drawn."""
    driver = ClassicDriver()
    (member,) = driver.stable("c1").values()
    pending = driver.known("c2")
    driver.coordinator.use_ids([member, pending, pending, "m3"])
    assert driver.known("c3") == "m3"
    assert driver.group["pending"] == sorted([pending, "m3"])
    driver.coordinator.use_ids(["m4"])
    assert driver.join("c2", pending) is None
    assert driver.known("c4") == "m4"


def test_c1_answers_come_in_the_order_of_their_ids() -> None:
    driver = ClassicDriver()
    members = driver.stable("c3", "c2", "c1")
    for client in members:
        driver.join(client, members[client])
    assert list(driver.late) == ["JoinGroup c2", "JoinGroup c3"]


def test_c1_answers_are_kept_until_they_are_taken() -> None:
    """The answers of several groups stay, under the ids of the requests, which are numbers or texts."""
    driver = ClassicDriver()
    for group_id, instance, id in (("g", "i1", 7), ("g", "i2", "a"), ("h", "i1", 1)):
        body = {**JOIN, "groupId": group_id, "groupInstanceId": instance}
        assert driver.coordinator.request("JoinGroup", 9, {}, body, id) is PENDING
    driver.coordinator.advance(60_000)
    completed = driver.coordinator.others.take_completed()
    assert sorted(str(one["id"]) for one in completed) == ["1", "7", "a"]
    assert driver.coordinator.others.take_completed() == []


@pytest.mark.parametrize("timer", ["session", "join", "sync", "group"])
def test_p3_a_timer_that_the_log_refuses_is_put_off(timer: str) -> None:
    """The timer runs out later; no request is answered before."""
    driver = ClassicDriver()
    members = driver.stable(*(("c1",) if timer == "session" else ("c1", "c2")))
    for client, name in members.items():
        if timer == "group":
            driver.leave(name)
        elif timer == "sync" or (timer == "join" and client == "c1"):
            driver.join(client, name)
    driver.late.clear()
    member = members["c1"] if timer == "session" else ""
    before, end = driver.group, driver.coordinator.end
    driver.coordinator.fail_appends(True)
    assert not driver.coordinator.fire(timer, "g", member)
    assert (driver.coordinator.end, timers(driver)[f"{timer} {member}".strip()]) == (end, 500)
    assert {**driver.group, "timers": 0} == {**before, "timers": 0} and not driver.late
    driver.coordinator.fail_appends(False)
    assert driver.advance(499) == []
    assert driver.advance(1)[0] == timer
    assert driver.coordinator.end > end


def test_e5_a_group_that_is_deleted_takes_its_offsets_along() -> None:
    """All or nothing: the log that refuses one keeps both."""
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    (member,) = driver.stable("c1").values()
    _committed(driver, member)
    driver.leave(member)
    end = driver.coordinator.end
    driver.coordinator.fail_appends(True)
    assert not driver.coordinator.fire("group", "g")
    assert delete(driver.coordinator, "g") == {"g": "COORDINATOR_NOT_AVAILABLE"}
    assert _fetched(driver) == 7
    driver.coordinator.fail_appends(False)
    assert driver.advance(500) == ["group"]
    written = driver.coordinator.records(end)
    assert [(one["key"]["type"], one["value"]) for one in written] == [
        ("OffsetCommit", None),
        ("GroupMetadata", None),
    ]
    assert _fetched(driver) == -1


def _committed(driver: ClassicDriver, member: str) -> None:
    topics = [{"topicId": FOO, "partitions": [{"partitionIndex": 0, "committedOffset": 7}]}]
    body = {"memberId": member, "generationIdOrMemberEpoch": 1, "topics": topics}
    driver.send("OffsetCommit", "c1", body)
    assert _fetched(driver) == 7


def _fetched(driver: ClassicDriver) -> int:
    groups = [{"groupId": "g", "topics": [{"topicId": FOO, "partitionIndexes": [0]}]}]
    body = {"memberId": "", "generationIdOrMemberEpoch": -1, "groups": groups}
    answer = driver.coordinator.request("OffsetFetch", 9, {}, body)
    return int(answer["groups"][0]["topics"][0]["partitions"][0]["committedOffset"])


def test_p2_a_deleted_group_is_not_there_after_a_fail_over() -> None:
    driver = ClassicDriver()
    (member,) = driver.stable("c1").values()
    driver.leave(member)
    assert driver.coordinator.fire("group", "g")
    for _ in range(2):
        assert driver.coordinator.volatile()["classic"] == {}
        assert "g" not in driver.coordinator.others
        driver.coordinator.restart()
    answer = driver.join("c1")
    assert answer is not None and answer["errorCode"] == REQUIRED
    assert timers(driver).pop(f"session {answer['memberId']}") == 10_000


def test_p2_timers_start_anew_in_a_new_coordinator() -> None:
    """At full length: the session of each member and the longest time-out of a rebalance."""
    driver = ClassicDriver(Config(empty_retention_ms=90_000))
    members = {client: driver.known(client) for client in ("c1", "c2")}
    driver.join("c1", members["c1"], session_ms=20_000, rebalance_ms=30_000)
    driver.join("c2", members["c2"], session_ms=40_000, rebalance_ms=50_000)
    driver.open_barrier()
    driver.advance(1_000)
    driver.coordinator.restart()
    sessions = {f"session {members['c1']}": 20_000, f"session {members['c2']}": 40_000}
    assert timers(driver) == {"sync": 50_000, **sessions}
    assert driver.group["state"] == "CompletingRebalance"
    assert sorted(driver.advance(50_000)) == ["session", "session"], "they run out"
    driver.coordinator.restart()
    assert timers(driver) == {"group": 90_000}


def test_p2_timers_run_out_in_a_coordinator_that_never_armed_them() -> None:
    """The timers of a deleted group run out where the records of its deletion were lost."""
    driver = ClassicDriver(Config(empty_retention_ms=90_000))
    (member,) = driver.stable("c1").values()
    driver.leave(member)
    end = driver.coordinator.end
    assert delete(driver.coordinator, "g") == {"g": "NONE"}
    assert driver.advance(200_000) == []
    driver.coordinator.restart(keep=end)
    assert driver.group["state"] == "Empty"
    assert (driver.advance(89_999), driver.advance(1)) == ([], ["group"])


def test_p2_requests_that_wait_are_lost_with_their_coordinator() -> None:
    driver, members = rebalancing()
    driver.coordinator.restart()
    assert driver.coordinator.others.take_completed() == []
    assert driver.group["state"] == "Stable" and driver.group["pending"] == []
    assert timers(driver).keys() == {f"session {members[client]}" for client in ("c1", "c2")}


@pytest.mark.parametrize(("state", "error"), [("loading", 14), ("moved", 16), ("unavailable", 15)])
@pytest.mark.parametrize("api", ["JoinGroup", "SyncGroup"])
def test_h5_a_request_that_waits_is_answered_when_the_coordinator_moves(
    api: str, state: str, error: int
) -> None:
    """Once, with the error of all later requests; the next coordinator knows of no request that waits."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    assert driver.join("c1", members["c1"], metadata="foo,bar") is None
    if api == "SyncGroup":
        assert driver.join("c2", members["c2"]) is None or driver.taken("JoinGroup", "c1")
        driver.late.clear()
        generation = driver.group["generation"]
        follower = next(name for name in members if members[name] != driver.group["leader"])
        assert driver.sync(follower, members[follower], generation) is None
    end = driver.coordinator.end
    driver.coordinator.set_state(state)
    driver.coordinator.set_state(state)
    (late,) = driver.coordinator.others.take_completed()
    assert late["id"].startswith(api) and late["body"]["errorCode"] == error
    assert driver.coordinator.end == end
    assert timers(driver).keys() >= {f"session {member_id}" for member_id in members.values()}
    assert timers(driver)[f"session {members['c1']}"] > 0
    driver.coordinator.set_state("active")
    assert driver.coordinator.others.take_completed() == []


def test_p2_answers_that_nobody_has_taken_are_lost_with_their_coordinator() -> None:
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    body = {**JOIN, "groupId": "g", "memberId": members["c1"]}
    driver.coordinator.request("JoinGroup", 9, {"id": "c1"}, body)
    driver.coordinator.fire("join", "g")
    driver.coordinator.restart()
    assert driver.coordinator.others.take_completed() == []


def test_p2_a_description_is_what_load_takes() -> None:
    driver, _ = rebalancing()
    volatile = driver.coordinator.volatile("g")
    assert volatile["classic"] == {"g": driver.group}
    assert driver.coordinator.volatile("h")["classic"] == {}
    copy = ClassicDriver()
    copy.coordinator = Coordinator(clock=Later())
    copy.coordinator.load(driver.coordinator.records(), [], driver.coordinator.volatile())
    assert timers(copy) == timers(driver)
    assert {**copy.group, "timers": 0} == {**driver.group, "timers": 0}
    assert copy.coordinator.fire_due() == []


def change(*path: str | int, to: object) -> tuple[tuple[str | int, ...], object]:
    return path, to


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (change("more", to=1), "volatile classic group 'g' has no field 'more'"),
        (change("state", to="Assigning"), "'state' of volatile classic group 'g' must be one of Dead, Empty"),
        (change("state", to=...), "'g' needs the field 'state'"),
        (change("generation", to=-1), "'generation' of volatile classic group 'g'"),
        (change("protocolType", to=...), "'g' needs the field 'protocolType'"),
        (change("protocol", to=1), "'protocol' of volatile classic group 'g'"),
        (change("leader", to=1), "'leader' of volatile classic group 'g'"),
        (change("delayRemainingMs", to="1"), "'delayRemainingMs' of volatile classic group 'g'"),
        (change("newMember", to=...), "'g' needs the field 'newMember'"),
        (change("pending", to=...), "'g' needs the field 'pending'"),
        (change("members", to=...), "'g' needs the field 'members'"),
        (change("members", to=[1]), "a member of volatile classic group 'g' must be an object"),
        (change("timers", to=...), "'g' needs the field 'timers'"),
        (change("timers", to=[1]), "a timer of volatile classic group 'g' must be an object"),
        (change("timers", to=[]), r"'timers' of volatile classic group 'g' must be those .*\('join', ''\)"),
        (change("timers", 0, "timer", to=...), "'g' needs the field 'timer'"),
        (change("timers", 0, "member", to=...), "'g' needs the field 'member'"),
        (change("timers", 0, "deadlineMs", to=...), "'g' needs the field 'deadlineMs'"),
        *(
            (change("members", 0, name, to=...), f"volatile classic group 'g' needs the field '{name}'")
            for name in (
                *("memberId", "protocols", "assignment", "isNew", "owesSync", "sessionTimeoutMs"),
                *("rebalanceTimeoutMs", "clientId", "clientHost"),
            )
        ),
        (change("members", 0, "instanceId", to=1), "'instanceId' of volatile classic group 'g'"),
        (change("members", 0, "awaitingJoin", to=True), "'awaitingJoin' .* must be a request's id or null"),
        (
            change("members", 0, "awaitingSync", to=[]),
            "'awaitingSync' of volatile classic group 'g' must be a",
        ),
        (
            change("members", 0, "protocols", to=[]),
            "the members of volatile classic group 'g' have no protoc",
        ),
        (change("members", 0, "protocols", to=[1]), "volatile classic group 'g' must be an object"),
        (change("members", 0, "protocols", 0, "name", to=...), "'g' needs the field 'name'"),
        (change("members", 0, "protocols", 0, "metadata", to=...), "'g' needs the field 'metadata'"),
    ],
)
def test_p2_invalid_states_of_a_group(changed: tuple[tuple[Any, ...], object], sentence: str) -> None:
    driver, _ = rebalancing()
    volatile = deepcopy(driver.coordinator.volatile())
    path, to = changed
    place: Any = volatile["classic"]["g"]
    for name in path[:-1]:
        place = place[name]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    with pytest.raises(BadInput, match=sentence):
        ClassicDriver().coordinator.load(driver.coordinator.records(), [], volatile)


@pytest.mark.parametrize(
    ("volatile", "sentence"),
    [
        ({"classic": 1}, "'classic' of volatile must be an object"),
        ({"classic": {"g": 1}}, "volatile classic group 'g' must be an object"),
    ],
)
def test_p2_invalid_volatile_states(volatile: Json, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Coordinator().load([], [], volatile)


def test_p2_without_a_clock_deadlines_count_from_0() -> None:
    """A group that is not in the records exists, as it may have written nothing yet."""
    driver = ClassicDriver()
    driver.known("c1")
    given = {"g": driver.group}
    for volatile in ({"classic": given}, {"classic": given, "clockMs": 0}):
        copy = ClassicDriver()
        copy.coordinator = Coordinator(clock=Later())
        copy.coordinator.load([], [], volatile)
        assert timers(copy) == timers(driver)


def test_the_pending_id_whose_session_ends_first_makes_room() -> None:
    """C1: clients that never join take no more memory, and no other client's id for good."""
    driver = ClassicDriver()
    ids = [driver.known(f"c{number}", session_ms=20_000) for number in range(MOST_PENDING - 1)]
    short = driver.known("short", session_ms=10_000)
    last = driver.known("last", session_ms=30_000)
    assert len(driver.group["pending"]) == MOST_PENDING
    assert len(driver.group["timers"]) == MOST_PENDING + 1  # and that of the empty group
    refused = driver.join("short", short)
    assert refused is not None and refused["errorCode"] == UNKNOWN
    assert driver.join("last", last) is None and driver.join("c0", ids[0]) is None
