"""A group that is converted while it lives, up and down (M1), with what its members hold (R7)."""

from __future__ import annotations

import pytest
from mixed_driver import SESSION_MS, MixedDriver, subscribed

from coordinator import DIALECTS, Config, Dialect, ErrorCode


def mixed(**members: list[int]) -> tuple[MixedDriver, int]:
    """A classic group of these members."""
    driver = MixedDriver()
    return driver, driver.stable(members)


def test_a_member_of_the_consumer_protocol_converts_the_group() -> None:
    """M1: the group epoch starts at the generation; assignments of members become target and held
    partitions."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    driver.target(a=[], b=[0, 1], c=[2, 3])
    assert driver.upgraded("a")["memberEpoch"] == generation + 1
    assert "type" not in driver.group
    assert [driver.epoch(name) for name in "abc"] == [generation + 1, generation, generation]
    assert [driver.held(name) for name in "abc"] == [set(), {0, 1}, {2, 3}]
    assert driver.phases() == dict.fromkeys("bc", "PreparingRebalance")
    records = driver.coordinator.records()
    classic = [one["value"] for one in records if one["key"]["type"] == "GroupMetadata"]
    assert classic[-1] is None and classic[-2] is not None


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.2"])
def test_only_who_joins_converts_the_group(dialect: str, leaves: bool) -> None:
    """M1, H5: a member of the classic group that has not joined with the consumer protocol is not in it."""
    driver = MixedDriver(dialect=Dialect.named(dialect))
    generation = driver.stable({"b": [0, 1]})
    before = driver.group, driver.coordinator.end
    answer = driver.heartbeat("b", -1 if leaves else generation)
    assert answer["errorCode"] == ErrorCode[driver.coordinator.dialect.UnknownGroupError]
    assert answer["errorMessage"] == "Group g is a classic group; join it first."
    assert (driver.group, driver.coordinator.end) == before


def test_a_converting_member_without_an_id_gets_a_new_one() -> None:
    """H1, M1: the members of the classic group are those of the converted group."""
    driver, _ = mixed(b=[0, 1])
    driver.coordinator.use_ids(["b", "c"])
    assert driver.upgraded("")["memberId"] == "c"


def test_partitions_that_members_still_hold_belong_to_no_other() -> None:
    """M1, R7: the barrier has just begun: assignments are those in the log."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    driver.coordinator.use_ids(["d"])
    driver.join("", client="d")
    assert driver.join("d") is None
    assert driver.group["state"] == "PreparingRebalance"
    driver.target(a=[0, 1, 2, 3])
    driver.upgraded("a")
    assert driver.late["JoinGroup d"]["errorCode"] == 27
    assert [one["memberId"] for one in driver.group["members"]] == ["a", "b", "c"]
    assert [driver.held(name) for name in "abc"] == [set(), {0, 1}, {2, 3}]


def test_a_member_that_rejoined_holds_the_partitions_that_it_reports() -> None:
    """M1, R7: cooperative members keep their partitions while they rejoin; of two claims the later one
    counts."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    assert driver.join("b", [1, 2], generation - 1) is None  # from its last report; a stale claim on 2
    driver.target(a=[0, 1, 2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "abc"] == [{0}, {1}, {2, 3}]
    assert driver.late["JoinGroup b"]["errorCode"] == 27


def test_members_hold_their_claims_until_the_leader_assigns() -> None:
    """M1: a generation without an assignment in the log; b claims a partition that c has got since."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    assert driver.join("b", [0, 3], generation - 1) is None
    assert driver.join("c", [3], generation) is not None
    assert driver.group["state"] == "CompletingRebalance"
    driver.target(a=[0, 1, 2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "bc"] == [{0}, {3}]
    assert [driver.epoch(name) for name in "bc"] == [generation + 1] * 2


def test_partitions_to_revoke_belong_to_no_other_member_yet() -> None:
    """M1, R7: between two rounds of cooperative members b may still own 1, which no member was given."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    driver.join("b", [0, 1], generation)
    driver.join("c", [2, 3], generation)
    driver.sync("c", generation + 1)
    driver.sync("b", generation + 1, {"b": [0], "c": [2, 3]})
    assert driver.group["state"] == "Stable"
    driver.target(a=[1], b=[0], c=[2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "abc"] == [set(), {0, 1}, {2, 3}]
    driver.joined("b", [0], generation + 1)
    driver.heartbeat("a", driver.epoch("a"), [])
    assert driver.held("a") == {1}


def test_a_group_that_is_converted_back_and_again_knows_what_members_hold() -> None:
    """M1, R7, P2: before any of them has rejoined, and after a fail-over, too."""
    for restarts in (False, True):
        driver, _ = mixed(b=[0, 1], c=[2, 3])
        driver.target(a=[], b=[0, 1], c=[2, 3])
        driver.upgraded("a")
        for name, owned in (("b", []), ("c", [2, 3])):
            driver.synced(name, driver.joined(name, owned, driver.epoch(name)))
        driver.heartbeat("a", -1)
        if restarts:
            driver.coordinator.restart()
        driver.target(d=[0, 1, 2, 3], b=[], c=[])
        driver.upgraded("d")
        assert [driver.held(name) for name in "bcd"] == [{0, 1}, {2, 3}, set()]


@pytest.mark.parametrize("metadata", [subscribed(version=2), "AAM="], ids=["version 2", "cut off"])
def test_members_that_are_too_old_keep_the_group_classic(metadata: str) -> None:
    """M2: INVALID_REQUEST for the joining member, and nothing has changed."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=metadata)
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0]})
    before = driver.group, driver.coordinator.end
    assert driver.heartbeat("a", 0, [])["errorCode"] == 42
    assert (driver.group, driver.coordinator.end) == before


@pytest.mark.parametrize(("dialect", "error"), [("kip-848", 42), ("kafka-4.2", 69)])
def test_a_group_of_others_than_consumers_is_not_converted(dialect: str, error: int) -> None:
    """M1, H5: the heartbeat has no GROUP_ID_NOT_FOUND, which is what Kafka answers."""
    driver = MixedDriver(dialect=DIALECTS[dialect])
    body = {"groupId": "g", "memberId": "", "groupInstanceId": "i", "sessionTimeoutMs": 10_000}
    body |= {
        "rebalanceTimeoutMs": 10_000,
        "protocolType": "connect",
        "protocols": [{"name": "p", "metadata": ""}],
    }
    driver.coordinator.request("JoinGroup", 9, {}, body)
    before = driver.group, driver.coordinator.end
    assert driver.heartbeat("a", 0, [])["errorCode"] == error
    assert (driver.group, driver.coordinator.end) == before


def test_a_full_group_is_not_converted() -> None:
    """M1, H5: the join is refused after all, and the group is unchanged."""
    driver = MixedDriver(config=Config(group_max_size=2))
    driver.stable({"b": [0, 1], "c": [2, 3]})
    before = driver.group, driver.coordinator.end
    assert driver.heartbeat("a", 0, [])["errorCode"] == 81
    assert (driver.group, driver.coordinator.end) == before


def test_a_log_that_refuses_converts_nothing() -> None:
    """M1, P3."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    before = driver.group, driver.coordinator.end
    driver.coordinator.fail_appends(True)
    assert driver.heartbeat("a", 0, [])["errorCode"] == 15
    assert (driver.group, driver.coordinator.end) == before
    driver.coordinator.fail_appends(False)
    driver.upgraded("a")


def test_classic_members_keep_their_session_timeout() -> None:
    """M2, H8: not the one of the consumer protocol, which is longer; a fail-over does not change that."""
    for restarts in (False, True):
        driver, _ = mixed(b=[0, 1], c=[2, 3])
        driver.upgraded("a")
        if restarts:
            driver.coordinator.restart()
        deadlines = {
            one["member"]: one["deadlineMs"] for one in driver.group["timers"] if one["timer"] == "session"
        }
        now_ms = driver.coordinator.clock.now_ms()
        assert (deadlines["b"] - now_ms, deadlines["c"] - now_ms) == (SESSION_MS, SESSION_MS)
        assert deadlines["a"] - now_ms == 45_000
        driver.joined("b")
        due = next(one for one in driver.group["timers"] if (one["timer"], one["member"]) == ("session", "b"))
        assert due["deadlineMs"] - now_ms == SESSION_MS


@pytest.mark.parametrize("how", ["leaves", "is fenced", "runs out", "is removed"])
def test_the_last_member_of_the_consumer_protocol_converts_the_group_back(how: str) -> None:
    """M1: in every way of leaving. The others rejoin, in order if they had converged, and get all
    partitions."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    driver.target(a=[0], b=[1], c=[2, 3])
    driver.upgraded("a", instanceId="i")
    for name, owned in (("b", []), ("c", [2, 3])):
        generation = driver.joined(name, owned, driver.epoch(name))
        driver.synced(name, generation)
    if how == "leaves":
        assert driver.heartbeat("a", -1)["errorCode"] == 0
    elif how == "is fenced":
        assert driver.heartbeat("a", 99)["errorCode"] == 110
    elif how == "runs out":
        assert driver.coordinator.fire("session", "g", "a")
    else:
        assert driver.leave("", instance="i")["members"][0]["errorCode"] == 0
    group = driver.group
    assert (group["type"], group["state"], group["generation"]) == (
        "classic",
        "PreparingRebalance",
        generation,
    )
    due = {one["member"]: one["deadlineMs"] for one in group["timers"] if one["timer"] == "session"}
    assert set(due.values()) == {driver.coordinator.clock.now_ms() + SESSION_MS}
    assert driver.beat("b", generation) == driver.beat("c", generation) == 27
    assert driver.join("b", [], generation) is None
    led = driver.join("c", [2, 3], generation)
    assert led is not None and led["generationId"] == generation + 1
    answer = driver.late.pop("JoinGroup b")
    assert [answer["leader"], led["leader"]] == ["b", "b"]
    assert driver.sync("c", generation + 1) is None
    assert driver.sync("b", generation + 1, {"b": [0, 1], "c": [2, 3]}) is not None
    assert driver.group["state"] == "Stable"


def test_a_group_that_is_left_empty_stays_a_consumer_group() -> None:
    """M1: no member is left that would need a classic group; a JoinGroup makes one of it."""
    driver = MixedDriver()
    epoch = driver.upgraded("a")["memberEpoch"]
    driver.heartbeat("a", -1)
    assert driver.group["state"] == "Empty" and "type" not in driver.group
    assert driver.beat("b", 1) == 25
    assert (driver.join("b") or {})["errorCode"] == 25
    driver.coordinator.use_ids(["b"])
    assert (driver.join("", client="b") or {})["errorCode"] == 79
    assert driver.group["type"] == "classic" and driver.group["generation"] == epoch + 1


def test_an_empty_classic_group_becomes_a_consumer_group() -> None:
    """M1: the epoch goes on from its generation."""
    driver, _ = mixed(b=[0])
    driver.leave("b")
    assert driver.group["state"] == "Empty"
    emptied = driver.group["generation"]
    assert driver.upgraded("a")["memberEpoch"] == emptied + 1


def test_fail_over_in_the_middle_of_a_conversion_back() -> None:
    """M1, P2: the partitions of the gone member have no owner: the group must not be taken for Stable. All
    are told to rejoin, keep their member ids, and get everything."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    driver.target(a=[0], b=[1], c=[2, 3])
    driver.upgraded("a")
    for name, owned in (("b", []), ("c", [2, 3])):
        generation = driver.joined(name, owned, driver.epoch(name))
        driver.synced(name, generation)
    driver.heartbeat("a", -1)
    before = driver.group
    for _ in range(2):
        driver.coordinator.restart()
        after = driver.group
        assert (after["state"], after["generation"]) == ("PreparingRebalance", before["generation"])
        assert {(one["timer"], one["member"]) for one in after["timers"]} == {
            (one["timer"], one["member"]) for one in before["timers"]
        }
        assert driver.beat("b", generation) == driver.beat("c", generation) == 27
    assert driver.join("b", [], generation) is None
    led = driver.join("c", [2, 3], generation)
    assert led is not None and led["generationId"] == generation + 1
    assert driver.sync("c", generation + 1) is None
    assert driver.sync("b", generation + 1, {"b": [0, 1], "c": [2, 3]}) is not None
    assert driver.group["state"] == "Stable"


def test_a_static_member_keeps_its_place_in_a_fail_over_after_a_conversion_back() -> None:
    """M1, S1: although it is not back as the time-out of the rebalance ends."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]}, static=["b"])
    driver.target(a=[0], b=[1], c=[2, 3])
    driver.upgraded("a")
    generation = driver.epoch("c")
    driver.heartbeat("a", -1)
    driver.coordinator.restart()
    assert driver.beat("c", generation) in (22, 27)
    assert driver.join("c", [2, 3], generation) is None
    assert driver.coordinator.fire("join", "g")
    assert {one["memberId"] for one in driver.group["members"]} == {"b", "c"}
    assert driver.group["state"] == "CompletingRebalance"


def test_a_generation_that_nobody_converted_is_still_synchronised_after_a_fail_over() -> None:
    """C2: members of a classic group bring what they owned in the generation before."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    assert driver.join("b", [0, 1], generation) is None
    assert driver.join("c", [2, 3], generation) is not None
    driver.coordinator.restart()
    assert driver.group["state"] == "CompletingRebalance"
    assert driver.beat("b", generation + 1) == 0


def test_fail_over_in_the_middle_of_a_migration() -> None:
    """M1, P2: the records restore the mixed group; members that must rejoin are told so again."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    driver.target(a=[0], b=[1], c=[2, 3])
    driver.upgraded("a")
    before = driver.group
    driver.coordinator.restart()
    after = driver.group
    for group in (before, after):
        for one in group["members"]:
            for name in ("acknowledged", "previousMemberEpoch", "pendingRevocation", "assigned", "state"):
                del one[name]
        del group["timers"]
    assert after == before
    assert driver.beat("b", generation) == driver.beat("c", generation) == 27
    assert driver.held("b") == {0, 1}


def test_a_mixed_group_survives_load() -> None:
    """P2: records and volatile state are all of it, the deadlines of the classic members, too."""
    driver, generation = mixed(b=[0, 1], c=[2, 3])
    driver.upgraded("a")
    driver.joined("b", [], generation)
    before = driver.group
    source = driver.coordinator
    topics = [{"name": "foo", "id": "00000000-0000-4000-8000-0000000000f0", "partitions": 4}]
    records, volatile = source.records(), source.volatile()
    other = MixedDriver().coordinator
    other.load(records, topics, volatile)
    assert other.describe("g") == before


def test_a_refused_timer_is_put_off() -> None:
    """M2, P3: the log refuses that a member that does not rejoin goes; a moment later it does."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    driver.upgraded("a")
    driver.coordinator.fail_appends(True)
    assert not driver.coordinator.fire("join", "g", "b")
    assert "b" in driver.phases()
    driver.coordinator.fail_appends(False)
    assert driver.coordinator.fire("join", "g", "b")
    assert "b" not in driver.phases()


def test_a_member_that_moves_to_the_consumer_protocol_need_not_rejoin() -> None:
    """M2: under its own id, while it had to rejoin; the time-out of that no longer applies."""
    driver, _ = mixed(b=[0, 1], c=[2, 3])
    driver.target(a=[], b=[0, 1], c=[2, 3])
    driver.upgraded("a")
    assert driver.phases() == dict.fromkeys("bc", "PreparingRebalance")
    driver.target(a=[], b=[0, 1], c=[2, 3])
    driver.upgraded("b")
    timers = [(one["timer"], one["member"]) for one in driver.group["timers"]]
    assert ("join", "c") in timers and ("join", "b") not in timers
