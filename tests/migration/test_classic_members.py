"""Members of the classic protocol in a consumer group: their requests, translated, and timers (M2-M4)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mixed_driver import REBALANCE_MS, SESSION_MS, MixedDriver, numbers, subscribed, wired

from coordinator import DIALECTS, Config, Dialect
from coordinator.classic.embedded import read_assignment
from coordinator.core.errors import ErrorCode


def mixed(target: dict[str, list[int]], **members: list[int]) -> tuple[MixedDriver, int]:
    """A classic group of these members that a has converted, with that target: the generation before."""
    driver = MixedDriver()
    generation = driver.stable(members)
    driver.target(**target)
    driver.upgraded("a")
    return driver, generation


def test_an_eager_member_moves_in_one_round() -> None:
    """M3: it has given up everything before it rejoins."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    assert driver.joined("b", [], generation) == generation + 1
    assert driver.phases()["b"] == "CompletingRebalance"
    assert driver.beat("b", generation + 1) == 0
    assert driver.synced("b", generation + 1) == {1}
    assert driver.phases()["b"] == "Stable"
    driver.heartbeat("a", generation + 1, [])
    assert driver.held("a") == {0}


def test_a_cooperative_member_revokes_before_it_moves() -> None:
    """M3, R1: told the intersection at its old generation; the other partitions have no owner until it
    rejoins without them."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    assert driver.joined("b", [0, 1], generation) == generation
    assert driver.synced("b", generation) == {1}
    driver.heartbeat("a", generation + 1, [])
    assert (driver.held("a"), driver.held("b")) == (set(), {0, 1})
    assert driver.joined("b", [1], generation) == generation + 1
    driver.heartbeat("a", generation + 1, [])
    assert (driver.held("a"), driver.held("b")) == ({0}, {1})
    assert driver.synced("b", generation + 1) == {1}


def test_partitions_that_were_not_given_up_are_not_free() -> None:
    """R1: a member that rejoins with what it was told to give up stays where it is."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    driver.joined("b", [0, 1], generation)
    driver.synced("b", generation)
    assert driver.joined("b", [0, 1], generation) == generation
    assert driver.held("b") == {0, 1}


def test_a_member_is_rebalanced_once_more_when_all_that_it_waits_for_is_free() -> None:
    """M3."""
    driver, generation = mixed({"a": [], "b": [0, 1], "c": [3, 2]}, b=[0, 2], c=[1, 3])
    epoch = driver.joined("b", [], generation)
    assert driver.synced("b", epoch) == {0}
    assert driver.beat("b", epoch) == 0
    driver.joined("c", [], generation)
    assert driver.phases()["b"] == "PreparingRebalance"
    assert driver.beat("b", epoch) == 27
    assert driver.joined("b", [0], epoch) == epoch
    assert driver.synced("b", epoch) == {0, 1}


def test_a_rebalance_is_for_a_target_not_for_an_epoch() -> None:
    """M3: in a dialect whose targets lag no member is rebalanced before there is one."""
    driver = MixedDriver(dialect=Dialect(TargetMayLag=True), config=Config(assignment_interval_ms=1_000))
    generation = driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.upgraded("a")
    for name in ("b", "c"):
        epoch = driver.joined(name, [], generation)
        driver.synced(name, epoch)
    driver.coordinator.upsert_topic("bar", "00000000-0000-4000-8000-0000000000b0", 1)
    driver.heartbeat("a", epoch, subscribedTopicNames=["foo", "bar"])
    assert driver.group["groupEpoch"] > driver.group["assignmentEpoch"]
    assert driver.beat("b", epoch) == 0


@pytest.mark.parametrize("timer", ["join", "sync"])
def test_a_member_that_does_not_rejoin_or_sync_in_time_is_removed(timer: str) -> None:
    """M2: at the rebalance time-out, which is longer than the session."""
    driver, generation = mixed({"a": [0], "b": [1, 2, 3]}, b=[0, 1, 2, 3])
    if timer == "sync":
        generation = driver.joined("b", [], generation)
    for _ in range(REBALANCE_MS // SESSION_MS):
        driver.beat("b", generation)
        driver.heartbeat("a", driver.epoch("a"))
        assert "b" in driver.phases()
        driver.coordinator.advance(SESSION_MS - 1)
    driver.beat("b", generation)
    driver.coordinator.advance(SESSION_MS - 1)
    assert "b" not in driver.phases()
    assert driver.beat("b", generation) == 25


def test_a_silent_member_goes_with_its_session() -> None:
    """H8."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    driver.coordinator.advance(SESSION_MS - 1)
    driver.beat("b", generation)
    driver.coordinator.advance(1)
    assert list(driver.phases()) == ["b"]


def test_a_generation_fences() -> None:
    """M2, O2: heartbeats, syncs and commits of another generation are refused."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    epoch = driver.joined("b", [], generation)
    assert driver.beat("b", generation) == 22
    assert (driver.sync("b", generation) or {})["errorCode"] == 22
    assert driver.commit("b", generation) == 22
    assert driver.commit("b", epoch) == 0
    assert driver.beat("nobody", epoch) == 25
    assert driver.heartbeat("b", epoch, [])["errorCode"] == 25
    assert driver.beat("a", epoch) == 25


@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.2"])
def test_a_sync_behind_the_target_gets_what_that_leaves(dialect: str) -> None:
    """M2: the intersection of the member's partitions and its target. The rebalance goes on, and so does its
    time: otherwise nothing would tell an eager member to rejoin. Kafka has an error."""
    driver = MixedDriver(dialect=DIALECTS[dialect])
    generation = driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.target(a=[0], b=[1, 2], c=[3])
    driver.upgraded("a")
    driver.coordinator.advance(1)
    before = driver.group
    if dialect != "kip-848":
        assert (driver.sync("b", generation) or {})["errorCode"] == 27
        return
    assert driver.synced("b", generation) == {1}
    after = driver.group
    for group in (before, after):
        group["timers"] = [
            one for one in group["timers"] if (one["timer"], one["member"]) != ("session", "b")
        ]
    assert after == before
    assert driver.phases()["b"] == "PreparingRebalance" and driver.held("b") == {0, 1}
    assert driver.beat("b", generation) == 27
    assert driver.joined("b", [1], generation) == generation + 1
    assert driver.held("b") == {1}


def test_a_sync_of_another_protocol_is_refused() -> None:
    """M2."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    epoch = driver.joined("b", [], generation, protocols=["range"])
    body: dict[str, Any] = {
        "memberId": "b",
        "groupInstanceId": None,
        "generationId": epoch,
        "assignments": [],
    }
    other = driver.send("SyncGroup", "b", **body, protocolType="consumer", protocolName="sticky")
    assert other is not None and other["errorCode"] == 23


def test_a_target_that_moves_on_before_the_sync_has_the_member_rejoin() -> None:
    """M3."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    epoch = driver.joined("b", [], generation)
    driver.upgraded("d")
    assert driver.phases()["b"] == "PreparingRebalance"
    target = numbers(driver.member("b")["target"])
    assert driver.synced("b", epoch) == {1} & target
    assert driver.phases()["b"] == "PreparingRebalance" and driver.beat("b", epoch) == 27


def test_a_revoking_member_gets_no_more_than_the_newest_target() -> None:
    """M2: of a target that came while it owed its SyncGroup, too."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    assert driver.joined("b", [0, 1], generation) == generation
    driver.target(a=[0], b=[], c=[2, 3], d=[1])
    driver.upgraded("d")
    assert driver.phases()["b"] == "CompletingRebalance"
    assert driver.synced("b", generation) == set()
    assert driver.held("b") == {0, 1} and driver.phases()["b"] == "PreparingRebalance"
    assert driver.joined("b", [], generation) == generation + 2
    assert driver.held("b") == set()


def test_a_request_whose_response_is_lost_is_repeated() -> None:
    """H6: in the generation before; in an older one the member must begin anew, and owns nothing."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    epoch = driver.joined("b", [], generation)
    assert driver.joined("b", [], generation) == epoch
    assert (driver.join("b", [], generation - 1) or {})["errorCode"] == 22
    assert driver.joined("b") == driver.group["groupEpoch"] == epoch + 1


def test_new_members_join_in_two_steps() -> None:
    """M2, C1: the first answer gives a member id; an id that was removed is unknown."""
    driver, _ = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    driver.coordinator.use_ids(["d"])
    first = driver.join("", client="d")
    assert first is not None and (first["errorCode"], first["memberId"]) == (79, "d")
    assert "d" not in driver.phases()
    assert driver.joined("d") == driver.group["groupEpoch"]
    assert (driver.join("e", [0], 7) or {})["errorCode"] == 25


def test_protocols_must_be_common_and_new_enough() -> None:
    """M2."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    assert (driver.join("d", protocols=["other"]) or {})["errorCode"] == 23
    assert (driver.join("d", metadata=subscribed(version=2)) or {})["errorCode"] == 23
    assert (driver.join("a", [], generation + 1) or {})["errorCode"] == 25


def test_user_data_that_changes_at_each_rejoin_bumps_nothing() -> None:
    """E1, M2: else members of sticky assignors would rebalance each other for ever; topics do."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    epoch = driver.joined("b", metadata=subscribed([], generation, user_data=b"1"))
    assert driver.joined("b", metadata=subscribed([], epoch, user_data=b"2")) == epoch
    assert driver.group["groupEpoch"] == epoch
    assert driver.joined("b", metadata=subscribed([], epoch, topics=["foo", "bar"])) == epoch + 1


def test_several_that_leave_bump_once() -> None:
    """E1, M2."""
    driver, generation = mixed({"a": [0], "b": [1], "c": [2, 3]}, b=[0, 1], c=[2, 3])
    answer = driver.leave("b", "c", "nobody", "a", "b")
    assert [one["errorCode"] for one in answer["members"]] == [0, 0, 25, 25, 25]
    assert driver.group["groupEpoch"] == generation + 2
    assert driver.held("a") == {0} or driver.heartbeat("a", driver.epoch("a"), []) is not None


def offer(least: int, name: str = "range") -> dict[str, object]:
    entry = {"name": name, "minimumVersion": least, "maximumVersion": 2, "reason": 0}
    return {"clientAssignors": [{**entry, "metadataVersion": 1, "metadataBytes": ""}]}


@pytest.mark.parametrize(
    ("user_data", "least", "error"), [(b"x", 0, 42), (b"x", -1, 0), (None, 0, 0), (None, -1, 0)]
)
def test_an_assignor_reads_the_metadata_of_classic_members(
    user_data: bytes | None, least: int, error: int
) -> None:
    """M4: user data becomes metadata of version -1, which a joining assignor must read if there is any."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=subscribed(user_data=user_data))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    assert driver.heartbeat("a", 0, [], **offer(least))["errorCode"] == error
    assert ("type" in driver.group) == bool(error)
    if not error:
        assert driver.group.get("computation", {}).get("chosen") == ("a" if least == -1 else None)


@pytest.mark.parametrize(("user_data", "error"), [(b"x", 42), (None, 0)])
def test_an_assignor_of_another_name_reads_version_minus_one(user_data: bytes | None, error: int) -> None:
    """M4: the text has no rule about names, so every assignor that joins must read user data if there is
    any."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=subscribed(user_data=user_data))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    assert driver.heartbeat("a", 0, [], **offer(0, "mine"))["errorCode"] == error


def test_user_data_goes_with_the_member_whose_place_is_taken() -> None:
    """M4, S1: no member is left with data for an assignor."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b", instance="i", metadata=subscribed(user_data=b"x"))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    assert driver.heartbeat("a", 0, [], instanceId="j", **offer(0))["errorCode"] == 42
    assert driver.heartbeat("a", 0, [], instanceId="i", **offer(0))["errorCode"] == 0


def test_a_client_side_assignor_computes_for_classic_members() -> None:
    """M4: the assignor gets their user data, and its metadata for them is in their assignment."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=subscribed(user_data=b"x"))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    epoch = driver.upgraded("a", **offer(-1))["memberEpoch"]
    caller = {"groupId": "g", "memberId": "a", "memberEpoch": epoch}
    answered = driver.coordinator.request("ConsumerGroupPrepareAssignment", 0, {}, caller)
    classic = next(one for one in answered["members"] if one["memberId"] == "b")
    assert classic["assignor"] == {"reason": 0, "metadataVersion": -1, "metadataBytes": "eA=="}
    target = [
        {"memberId": "a", "partitions": wired([0, 1]), "metadataVersion": 1, "metadataBytes": ""},
        {"memberId": "b", "partitions": wired([2, 3]), "metadataVersion": -1, "metadataBytes": "eQ=="},
    ]
    body = {**caller, "groupEpoch": answered["groupEpoch"], "error": 0, "members": target}
    assert driver.coordinator.request("ConsumerGroupInstallAssignment", 0, {}, body)["errorCode"] == 0
    response = driver.joined("b", [2, 3], epoch - 1, metadata=subscribed([2, 3], 1, user_data=b"x"))
    answer = driver.sync("b", response)
    assert answer is not None
    installed = read_assignment(base64.b64decode(answer["assignment"]))
    assert (installed.partitions, installed.user_data) == ({("foo", 2), ("foo", 3)}, b"y")


def computing(
    instance: str | None = None, protocol: str = "classic"
) -> tuple[MixedDriver, dict[str, Any], int]:
    """A group of a, which computes, and b, which uses that protocol: the driver, the common fields of a's
    requests, and the prepared group epoch."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b", "c"])
    driver.join("", client="b", instance=instance)
    if instance is None:
        driver.join("b")
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    epoch = driver.upgraded("a", **offer(-1))["memberEpoch"]
    if protocol == "consumer":
        driver.heartbeat("b", 0, [], instanceId=instance, **offer(-1))
    caller = {"groupId": "g", "memberId": "a", "memberEpoch": epoch}
    prepared = driver.coordinator.request("ConsumerGroupPrepareAssignment", 0, {}, caller)
    return driver, caller, prepared["groupEpoch"]


def installed(driver: MixedDriver, caller: dict[str, Any], epoch: int, metadata: str) -> dict[str, Any]:
    """The answer to an installation that gives b this metadata."""
    target = [
        {"memberId": "a", "partitions": wired([0, 1])},
        {"memberId": "b", "partitions": wired([2, 3]), "metadataVersion": -1, "metadataBytes": metadata},
    ]
    body = {**caller, "groupEpoch": epoch, "error": 0, "members": target}
    return driver.coordinator.request("ConsumerGroupInstallAssignment", 0, {}, body)


@pytest.mark.parametrize("metadata", ["x", "for b", "eQ==eQ==", "e\nQ==", "\u00e9Q=="])
def test_an_assignment_that_a_classic_member_cannot_get_is_not_installed(metadata: str) -> None:
    """M4, A7: it gets the metadata as bytes, and this text has none."""
    driver, caller, epoch = computing()
    end = driver.coordinator.end
    answer = installed(driver, caller, epoch, metadata)
    assert (answer["errorCode"], driver.coordinator.end) == (ErrorCode.INVALID_ASSIGNMENT, end)
    assert "Metadata of b" in answer["errorMessage"]
    assert installed(driver, caller, epoch, "eQ==")["errorCode"] == 0


def test_metadata_of_a_former_consumer_does_not_end_the_coordinator() -> None:
    """M4, S1: the text was right for the process that a classic one replaces; the log keeps it."""
    driver, caller, epoch = computing("i", "consumer")
    assert installed(driver, caller, epoch, "for b")["errorCode"] == 0
    joined = driver.join("", client="c", instance="i")
    assert joined is not None and joined["errorCode"] == 0
    for _ in range(2):
        answer = driver.sync(joined["memberId"], joined["generationId"])
        assert answer is not None and answer["errorCode"] == 0
        assert read_assignment(base64.b64decode(answer["assignment"])).user_data is None
        driver.coordinator.restart()


def test_a_static_member_moves_to_the_consumer_protocol_in_its_place() -> None:
    """M1, S1: with its assignment, and without disturbing any other member; its old process is fenced."""
    driver = MixedDriver()
    generation = driver.stable({"B": [0, 1], "C": [2, 3]}, static=["B"])
    answer = driver.upgraded("a", instanceId="b")
    assert answer["memberEpoch"] == generation == driver.group["groupEpoch"]
    assert driver.held("a") == {0, 1}
    assert driver.phases() == {"C": "Stable"}
    assert driver.beat("B", generation, instance="b") == 82


def test_a_static_member_moves_back_in_its_place() -> None:
    """M1, S1: while others use the consumer protocol the group stays a consumer group."""
    driver = MixedDriver()
    driver.target(a=[0, 1], d=[2, 3])
    driver.upgraded("a", instanceId="i")
    driver.target(a=[0, 1], d=[2, 3])
    driver.upgraded("d")
    epoch = driver.heartbeat("a", driver.epoch("a"), [])["memberEpoch"]
    driver.coordinator.use_ids(["b"])
    assert driver.joined("", instance="i", client="b") == epoch == driver.group["groupEpoch"]
    assert driver.synced("b", epoch) == {0, 1}
    assert driver.heartbeat("a", epoch, [0, 1])["errorCode"] == 25


def test_a_regular_expression_does_not_outlive_the_consumer_that_had_it() -> None:
    """M1, T1: a classic member that takes its place subscribes to names alone."""
    driver = MixedDriver()
    driver.upgraded("a", instanceId="i", subscribedTopicNames=[], subscribedTopicRegex="fo.*")
    driver.upgraded("d")
    driver.heartbeat("a", -2, instanceId="i")
    driver.coordinator.use_ids(["b"])
    driver.joined("", instance="i", client="b")
    assert driver.member("b")["subscribedTopicRegex"] is None
    assert driver.member("b")["subscribedTopicNames"] == ["foo"]


def test_the_last_consumer_that_is_replaced_converts_the_group_back() -> None:
    """M1, S1: its JoinGroup waits for the others at the barrier."""
    driver = MixedDriver()
    generation = driver.stable({"B": [0, 1], "C": [2, 3]}, static=["B"])
    driver.upgraded("a", instanceId="b")
    driver.coordinator.use_ids(["e"])
    assert driver.join("", client="e", instance="b") is None
    assert (driver.group["type"], driver.group["state"]) == ("classic", "PreparingRebalance")
    assert driver.beat("C", generation) == 27
    assert driver.join("C", [], generation) is not None
    assert driver.late["JoinGroup e"]["generationId"] == generation + 1


def test_the_only_member_that_is_replaced_converts_the_group_back() -> None:
    """M1: the barrier opens at once."""
    driver = MixedDriver()
    epoch = driver.upgraded("a", instanceId="i")["memberEpoch"]
    driver.coordinator.use_ids(["b"])
    answer = driver.join("", client="b", instance="i")
    assert answer is not None and (answer["errorCode"], answer["generationId"]) == (0, epoch + 1)
    assert driver.group["type"] == "classic"


def test_an_instance_id_is_one_members() -> None:
    """S2: a replaced process is fenced, with any request."""
    driver = MixedDriver()
    generation = driver.stable({"B": [0, 1], "C": [2, 3]}, static=["B"])
    driver.upgraded("a")
    assert (driver.join("C", [], generation, instance="b") or {})["errorCode"] == 82
    assert (driver.join("C", [], generation, instance="x") or {})["errorCode"] == 25
    assert driver.leave("C", instance="b")["members"][0]["errorCode"] == 82
    assert driver.leave("", instance="x")["members"][0]["errorCode"] == 25


def test_a_static_member_may_leave_out_its_instance_id_as_it_rejoins() -> None:
    """S2, M2: it keeps it; found by exhausting MCMigrationAway."""
    driver = MixedDriver()
    driver.stable({"A": [0], "B": [1]}, static=["A"])
    driver.upgraded("c")
    kept = driver.member("A")["instanceId"]
    assert kept == "a"
    driver.joined("A", owned=[0], generation=driver.epoch("A"))
    assert driver.member("A")["instanceId"] == kept


def test_a_classic_member_is_unknown_to_heartbeats_whatever_instance_id_it_names() -> None:
    """M2, H5: also one of another member (S2); found by exhausting MCMigrationAway."""
    driver = MixedDriver()
    driver.stable({"A": [0], "B": [1]})
    driver.upgraded("c", instanceId="i")
    assert driver.heartbeat("B", -2, instanceId="i")["errorCode"] == 25
    assert driver.heartbeat("B", 0, [], instanceId="i")["errorCode"] == 111
