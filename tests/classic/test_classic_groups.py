"""Classic groups (C1, C2): the barrier, the generation, its assignment; real bugs by their numbers."""

from __future__ import annotations

import pytest
from classic_driver import FOO, ClassicDriver, encoded

from coordinator import DIALECTS, Config
from coordinator.stdio import LineProtocol


def test_known_member_step_and_initial_delay() -> None:
    """C1: MEMBER_ID_REQUIRED, then the join waits for the initial delay, which new members prolong."""
    driver = ClassicDriver(Config(initial_delay_ms=1_000))
    first = driver.known("c1")
    assert driver.join("c1", first, rebalance_ms=2_500) is None
    second = driver.known("c2")
    driver.advance(900)
    assert driver.join("c2", second, rebalance_ms=2_500) is None
    assert driver.advance(100) == ["join"]
    assert driver.group["state"] == "PreparingRebalance"
    assert driver.advance(1_000) == ["join"]
    answers = driver.taken("JoinGroup", "c1"), driver.taken("JoinGroup", "c2")
    assert [answer["generationId"] for answer in answers] == [1, 1]
    assert {answer["leader"] for answer in answers} == {first}
    assert [one["memberId"] for one in answers[0]["members"]] == sorted([first, second])
    assert answers[1]["members"] == []


def test_initial_delay_ends_with_the_rebalance_timeout() -> None:
    """C1: with any number of joining members."""
    driver = ClassicDriver(Config(initial_delay_ms=1_000))
    passed = 0
    for number in range(10):
        member = driver.known(f"c{number}")
        driver.join(f"c{number}", member, rebalance_ms=2_500)
        passed += 500
        driver.advance(500)
        if driver.group["generation"]:
            break
    assert passed == 2_500


@pytest.mark.parametrize("rebalance_ms", [0, 1])
def test_nobody_waits_in_circles(rebalance_ms: int) -> None:
    """C1: static members that have not rejoined are waited for until their sessions have ended, however short
    their rebalance time-outs are; nothing can change before that by itself."""
    driver = ClassicDriver()
    driver.join("c1", instance="i1")
    driver.join("c2", instance="i2", rebalance_ms=rebalance_ms, session_ms=30_000)
    fired = driver.advance(45_000)
    assert fired == ["join", "join", "session", "join", "session"]
    assert driver.group["state"] == "Empty"


def test_no_rebalance_time_out_of_its_own() -> None:
    """C1: JoinGroup of version 0 has none, which -1 means, and the session's is used."""
    driver = ClassicDriver()
    driver.join("c1", instance="i1", rebalance_ms=-1, session_ms=20_000)
    assert [one["rebalanceTimeoutMs"] for one in driver.group["members"]] == [20_000]


def test_protocol_by_preference() -> None:
    """C1: of the protocols that all support, the one with most votes."""
    driver = ClassicDriver()
    lists = {"c1": ("range", "sticky"), "c2": ("sticky", "range"), "c3": ("new", "sticky", "range")}
    members = {client: driver.known(client, protocols=names) for client, names in lists.items()}
    for client, member in members.items():
        driver.join(client, member, protocols=lists[client])
    driver.advance(6_000)
    assert driver.group["protocol"] == "sticky"
    refused = driver.join("c4", protocols=("new",))
    assert refused is not None and refused["errorCode"] == 23


def test_assignment_goes_to_everyone_who_waits() -> None:
    """C1: a follower's SyncGroup waits for the leader's; a late one is answered at once."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    late = driver.sync("c2", members["c2"], 1)
    assert late is not None and late["assignment"] == encoded(f"of {members['c2']}")
    assert driver.heartbeat("c1", members["c1"], 1) == 0
    assert driver.heartbeat("c1", members["c1"], 0) == 22
    assert driver.heartbeat("c1", "nobody", 1) == 25


def test_leader_that_rejoins_forces_a_rebalance() -> None:
    """C2: topics may have changed. A follower without news gets the present generation."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    again = driver.join("c2", members["c2"])
    assert again is not None and again["generationId"] == 1
    assert driver.join("c1", members["c1"]) is None
    assert driver.heartbeat("c2", members["c2"], 1) == 27
    assert driver.join("c2", members["c2"]) is not None
    assert driver.taken("JoinGroup", "c1")["generationId"] == 2


def test_subscription_change_while_others_sync() -> None:
    """C2: members that wait for an assignment are told to rejoin."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    assert driver.join("c1", members["c1"]) is None
    assert driver.join("c2", members["c2"], metadata="bar") is not None
    assert driver.sync("c2", members["c2"], 2) is None
    assert driver.join("c1", members["c1"], metadata="bar") is None
    assert driver.taken("SyncGroup", "c2")["errorCode"] == 27


def test_leader_that_fails_is_replaced() -> None:
    """C2: its session runs out, everyone rejoins, another one leads."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.advance(9_000)
    assert driver.heartbeat("c2", members["c2"], 1) == 0
    assert driver.advance(1_000) == ["session"]
    assert driver.heartbeat("c2", members["c2"], 1) == 27
    answer = driver.join("c2", members["c2"])
    assert answer is not None and answer["leader"] == members["c2"] and len(answer["members"]) == 1


def test_leader_that_never_assigns_is_removed() -> None:
    """C2, assignment failure: members that wait for the assignment are told to rejoin when its time is
    over."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    assert driver.join("c1", members["c1"], rebalance_ms=5_000) is None
    assert driver.join("c2", members["c2"], rebalance_ms=5_000) is not None
    assert driver.sync("c2", members["c2"], 2) is None
    assert "sync" in driver.advance(5_000)
    assert driver.taken("SyncGroup", "c2")["errorCode"] == 27
    assert [one["memberId"] for one in driver.group["members"]] == [members["c2"]]


@pytest.mark.parametrize("fails_over", [False, True])
@pytest.mark.parametrize("rejoins", ["c1", "c2"])
def test_a_join_aborts_a_synchronization(rejoins: str, fails_over: bool) -> None:
    """C2, failure 2: the leader or a follower joins again without news while others wait for their
    assignment. All must rejoin, and waiting members are told so."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2", "c3")
    for client, member in members.items():
        driver.join(client, member)
    if fails_over:
        driver.coordinator.restart()
    assert driver.group["state"] == "CompletingRebalance" and driver.group["generation"] == 2
    assert driver.sync("c3", members["c3"], 2) is None
    assert driver.join(rejoins, members[rejoins]) is None
    assert driver.taken("SyncGroup", "c3")["errorCode"] == 27
    assert driver.group["state"] == "PreparingRebalance"
    others = members.keys() - {rejoins}
    assert {driver.heartbeat(client, members[client], 2) for client in others} == {27}
    given = {member: "late" for member in members.values()}
    assert (driver.sync("c1", members["c1"], 2, given) or {})["errorCode"] == 27
    for client in sorted(others):
        driver.join(client, members[client])
    assert driver.group["state"] == "CompletingRebalance" and driver.group["generation"] == 3
    assert driver.taken("JoinGroup", rejoins)["generationId"] == 3


@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.2"])
@pytest.mark.parametrize("who", ["a new member", "a static one that returns"])
def test_a_new_member_aborts_a_synchronization(who: str, dialect: str) -> None:
    """C2, failure 2, in Kafka's dialect, too. A client that only gets a member id aborts nothing."""
    driver = ClassicDriver(dialect=DIALECTS[dialect])
    members = driver.stable("c1", "c2")
    driver.join("s", instance="i")
    for client, member in members.items():
        driver.join(client, member)
    assert driver.sync("c2", members["c2"], 2) is None
    new = driver.known("n")
    assert driver.group["state"] == "CompletingRebalance" and "SyncGroup c2" not in driver.late
    answer = driver.join("n", new) if who == "a new member" else driver.join("s", instance="i")
    assert answer is None
    assert driver.taken("SyncGroup", "c2")["errorCode"] == 27
    assert driver.group["state"] == "PreparingRebalance"


def test_kafka_tells_of_the_generation_while_others_wait() -> None:
    """C2, SynchronizationGoesOn: a join without news aborts nothing."""
    driver = ClassicDriver(dialect=DIALECTS["kafka-4.2"])
    members = driver.stable("c1", "c2")
    for client, member in members.items():
        driver.join(client, member)
    assert driver.sync("c2", members["c2"], 2) is None
    assert (driver.join("c1", members["c1"]) or {})["generationId"] == 2
    assert driver.group["state"] == "CompletingRebalance" and "SyncGroup c2" not in driver.late


def test_fail_over_before_the_assignment_is_in_the_log() -> None:
    """C2, the third point: the generation is in the log, and members sync once the new coordinator is
    there."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.join("c1", members["c1"])
    driver.join("c2", members["c2"])
    assert driver.sync("c2", members["c2"], 2) is None
    driver.coordinator.restart()
    assert driver.group["state"] == "CompletingRebalance" and driver.group["generation"] == 2
    assert driver.sync("c2", members["c2"], 2) is None
    answer = driver.sync("c1", members["c1"], 2, {members["c2"]: "all"})
    assert answer is not None and answer["errorCode"] == 0
    assert driver.taken("SyncGroup", "c2")["assignment"] == encoded("all")


def test_fail_over_before_all_have_their_assignment() -> None:
    """C2, the fourth point; also 149: a group is unchanged after a fail-over."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.coordinator.restart()
    assert driver.group["state"] == "Stable"
    answer = driver.sync("c2", members["c2"], 1)
    assert answer is not None and answer["assignment"] == encoded(f"of {members['c2']}")
    assert driver.heartbeat("c1", members["c1"], 1) == 0


def test_43_second_join_answers_the_first() -> None:
    """C1: no request is forgotten when a later one of its member takes its place."""
    driver = ClassicDriver()
    member = driver.known("c1")
    assert driver.join("c1", member) is None
    assert driver.join("c1", member) is None
    assert driver.taken("JoinGroup", "c1")["errorCode"] == 16
    driver.advance(3_000)
    assert driver.taken("JoinGroup", "c1")["errorCode"] == 0


def test_143_a_new_member_that_is_gone_does_not_wait_for_ever() -> None:
    """C1: its first join has a time-out of its own."""
    driver = ClassicDriver(Config(new_member_timeout_ms=20_000))
    members = driver.stable("c1")
    joiner = driver.known("c2")
    assert driver.join("c2", joiner) is None
    for _ in range(4):
        driver.advance(5_000)
        driver.heartbeat("c1", members["c1"], 1)
    assert driver.taken("JoinGroup", "c2")["errorCode"] == 25
    assert driver.join("c1", members["c1"]) is not None


def test_147_last_member_runs_out_while_an_id_is_pending() -> None:
    """C1: the barrier waits for no member; the group is Empty, and the id may still join."""
    driver = ClassicDriver()
    driver.stable("c1")
    driver.advance(5_000)
    joiner = driver.known("c2")
    assert driver.advance(5_000) == ["session"]
    assert driver.group["state"] == "Empty" and driver.group["pending"] == [joiner]
    assert driver.join("c2", joiner) is None


def test_151_the_one_that_is_waited_for_leaves() -> None:
    """C1: the barrier opens for all others."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    assert driver.join("c1", members["c1"]) is None
    assert driver.leave(members["c2"]) == 0
    assert driver.taken("JoinGroup", "c1")["generationId"] == 2


def test_static_member_returns_without_a_rebalance() -> None:
    """S1: under another member id, with its assignment of before; the old process is fenced (S2)."""
    driver = ClassicDriver()
    assert driver.join("c1", instance="i1") is None
    driver.advance(3_000)
    old = driver.taken("JoinGroup", "c1")["memberId"]
    driver.sync("c1", old, 1, {old: "all"})
    answer = driver.join("c2", instance="i1")
    assert answer is not None and answer["skipAssignment"] and answer["memberId"] != old
    synced = driver.sync("c2", answer["memberId"], 1)
    assert synced is not None and synced["assignment"] == encoded("all")
    body = {"memberId": old, "generationId": 1, "groupInstanceId": "i1"}
    fenced = driver.send("Heartbeat", "c1", body)
    assert fenced is not None and fenced["errorCode"] == 82


def test_commits_are_fenced_by_generation() -> None:
    """O2: ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, and REBALANCE_IN_PROGRESS before there is an assignment. A
    consumer that assigns itself partitions may have an instance id (real bug 59, KAFKA-14201)."""
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    members = driver.stable("c1")

    def commit(member: str, generation: int, instance: str | None = None) -> int:
        partition = {"partitionIndex": 0, "committedOffset": 5}
        topics = [{"topicId": FOO, "partitions": [partition]}]
        body = {"memberId": member, "generationIdOrMemberEpoch": generation, "topics": topics}
        body["groupInstanceId"] = instance
        answer = driver.send("OffsetCommit", "c1", body)
        assert answer is not None
        return int(answer["topics"][0]["partitions"][0]["errorCode"])

    assert commit(members["c1"], 1) == 0
    assert commit(members["c1"], 0) == 22
    assert commit("nobody", 1) == commit("", -1) == commit("", -1, "i1") == 25
    driver.join("c1", members["c1"])
    assert commit(members["c1"], 2) == 27
    driver.leave(members["c1"])
    assert driver.group["state"] == "Empty"
    assert commit("", -1, "i1") == commit("", -1) == 0


def test_fetches_that_name_a_member_are_fenced_by_generation() -> None:
    """O2, O4: as commits are, but not refused before there is an assignment; a client that is no member may
    always fetch."""
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    members = driver.stable("c1")

    def fetch(member: str, generation: int) -> int:
        topics = [{"topicId": FOO, "partitionIndexes": [0]}]
        body = {"memberId": member, "generationIdOrMemberEpoch": generation}
        groups = [{"groupId": "g", "topics": topics}]
        answer = driver.coordinator.request("OffsetFetch", 9, {}, {**body, "groups": groups})
        return int(answer["groups"][0]["errorCode"])

    assert fetch(members["c1"], 1) == fetch("", -1) == 0
    assert fetch(members["c1"], 0) == fetch(members["c1"], 2) == 22
    assert fetch("nobody", 1) == 25
    driver.join("c1", members["c1"])
    assert fetch(members["c1"], 2) == 0


def test_a_log_that_refuses_changes_nothing() -> None:
    """P3: the request fails; the group and its waiting members are unchanged."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.join("c1", members["c1"])
    before = driver.group
    driver.coordinator.fail_appends(True)
    answer = driver.join("c2", members["c2"])
    assert answer is not None and answer["errorCode"] == 15
    assert driver.group == before and not driver.late
    assert driver.advance(60_000) == []
    driver.coordinator.fail_appends(False)
    assert driver.advance(500) == ["join"]
    assert driver.taken("JoinGroup", "c1")["generationId"] == 2


def test_a_group_is_of_one_kind() -> None:
    """C1: only members whose subscriptions can be read join a consumer group with JoinGroup, or have their
    group converted (M2)."""
    driver = ClassicDriver()
    driver.stable("c1")
    body = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 1, "topicPartitions": []}
    body |= {"subscribedTopicNames": ["foo"]}
    answer = driver.coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    assert answer["errorCode"] == 42
    assert driver.coordinator.describe("g")["type"] == "classic"
    assert (
        driver.coordinator.request("ConsumerGroupHeartbeat", 0, {}, {**body, "groupId": "h"})["errorCode"]
        == 0
    )
    refused = driver.send("JoinGroup", "c2", _join_body("h"))
    assert refused is not None and refused["errorCode"] == 23


def _join_body(group: str) -> dict[str, object]:
    protocols = [{"name": "range", "metadata": ""}]
    known = {"groupId": group, "memberId": "", "protocolType": "consumer", "protocols": protocols}
    return {**known, "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}


def test_state_survives_load_and_loses_nothing() -> None:
    """P2: `volatile` and the records are the whole state, deadlines and waiting requests too."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.advance(700)
    driver.join("c1", members["c1"])
    driver.known("c3")
    copy = ClassicDriver()
    copy.coordinator.load(driver.coordinator.records(), [], driver.coordinator.volatile())
    assert copy.group == driver.group
    assert copy.join("c2", members["c2"]) is None
    assert copy.advance(10_000) == ["session"]
    assert copy.taken("JoinGroup", "c1")["generationId"] == 2


def test_a_member_that_waits_for_the_leader_still_waits_after_a_load() -> None:
    """P2, C1: the request that is answered later is known, too."""
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    for client, member in members.items():
        driver.join(client, member)
    assert driver.sync("c2", members["c2"], 2) is None
    copy = ClassicDriver()
    copy.coordinator.load(driver.coordinator.records(), [], driver.coordinator.volatile())
    copy.sync("c1", members["c1"], 2, {members["c2"]: "all"})
    assert copy.taken("SyncGroup", "c2")["assignment"] == encoded("all")


def test_line_protocol_says_pending_and_completes_later() -> None:
    """C1: the answer that opens the barrier carries the responses of all who waited, by their ids."""
    driver = ClassicDriver(Config(initial_delay_ms=1_000))
    lines = LineProtocol(driver.coordinator)
    request = {"op": "request", "api": "JoinGroup", "version": 9, "client": {"id": "c"}}
    first = lines.answer({**request, "id": 1, "body": _join_body("g")})
    member = first["body"]["memberId"]
    waits = lines.answer({**request, "id": 7, "body": {**_join_body("g"), "memberId": member}})
    assert waits == {"ok": True, "id": 7, "pending": True}
    assert lines.answer({"op": "advance", "ms": 999})["completed"] == []
    opened = lines.answer({"op": "advance", "ms": 1})
    assert [one["id"] for one in opened["completed"]] == [7]
    assert opened["completed"][0]["body"]["generationId"] == 1


def test_session_timeout_out_of_range() -> None:
    """D3: group.min.session.timeout.ms and group.max.session.timeout.ms."""
    driver = ClassicDriver(Config(classic_session_min_ms=10_001))
    answer = driver.join("c1")
    assert answer is not None and answer["errorCode"] == 26
    assert driver.group["state"] == "Dead"
