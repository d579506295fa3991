"""Loading from records: P1, P2, P3, P4."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from group_driver import IDS, GroupDriver, error, given

from coordinator import AppendFailed, BadInput, Coordinator, Dialect, ErrorCode, SystemClock
from coordinator.core.clock import LATEST_MS

TOPICS = [{"name": "foo", "id": IDS["foo"], "partitions": 2}]


def compacted(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Only the last record of each key, in the order of the log."""
    last = {tuple(sorted(record["key"].items())): record for record in records}
    return sorted(last.values(), key=lambda record: int(record["offset"]))


def loaded(source: GroupDriver, records: list[dict[str, Any]] | None = None) -> Coordinator:
    other = Coordinator()
    other.load(
        source.coordinator.records() if records is None else records, TOPICS, source.coordinator.volatile()
    )
    return other


def revoking(g: GroupDriver) -> None:
    g.m1_revoking()


def acknowledged(g: GroupDriver) -> None:
    g.m1_revoking()
    g.coordinator.advance(1000)
    g.heartbeat("m1", owned=["foo-0"])
    g.heartbeat("m2", owned=["foo-1"])


def revoking_again(g: GroupDriver) -> None:
    """foo-1 is m1's target again and stays in revocation."""
    g.m1_revoking()
    g.script(m1=["foo-0", "foo-1"])
    g.leave("m2")


def all_revoking(g: GroupDriver) -> None:
    """m1 must give up all its partitions."""
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])


def emptied(g: GroupDriver) -> None:
    g.join("m1")
    g.coordinator.advance(7)
    g.leave("m1")


def failed_assignor(g: GroupDriver) -> None:
    g.join("m1")
    g.coordinator.script_target("g", "no")
    g.join("m2", rackId="r", serverAssignor="range")


@pytest.mark.parametrize(
    "reach",
    [revoking, acknowledged, revoking_again, all_revoking, emptied, failed_assignor],
    ids=lambda reach: str(reach.__name__),
)
@pytest.mark.parametrize("compact", [False, True])
def test_load_then_describe_equals_the_source(reach: Any, compact: bool) -> None:
    source = GroupDriver()
    reach(source)
    records = source.coordinator.records()
    other = loaded(source, compacted(records) if compact else records)
    assert other.describe("g") == source.group()
    assert other.volatile() == source.coordinator.volatile()


@pytest.mark.parametrize("reach", [revoking, emptied], ids=["revoking", "empty"])
def test_loaded_timers_have_the_deadlines_of_the_source_some_time_after_they_were_armed(reach: Any) -> None:
    source = GroupDriver()
    reach(source)
    source.coordinator.advance(1000)
    assert loaded(source).describe("g")["timers"] == source.group()["timers"]


def test_volatile_state_has_the_deadlines_of_classic_members_alone_and_no_empty_configurations() -> None:
    source = GroupDriver()
    revoking(source)
    volatile = source.coordinator.volatile()
    assert "configs" not in volatile
    assert volatile["groups"]["g"]["members"]["m1"].keys() == {
        *("previousMemberEpoch", "pendingRevocation", "acknowledged"),
        *("sessionDeadlineMs", "rebalanceDeadlineMs"),
    }


def test_loaded_state_goes_on_as_the_source_does() -> None:
    source = GroupDriver()
    source.m1_revoking()
    other = loaded(source)
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": 1, "topicPartitions": []}
    client = {"id": "client", "host": "/127.0.0.1"}
    assert other.request("ConsumerGroupHeartbeat", 0, client, body) == source.heartbeat("m1", owned=[])
    assert other.advance(60_000) == source.coordinator.advance(60_000)
    assert other.describe("g") == source.group()


def test_compaction_in_any_later_rewrite_order_loads() -> None:
    """real-bugs row 31: any record type may be the first of a group or of a member."""
    source = GroupDriver()
    source.join("m1")
    source.heartbeat("m1", rebalanceTimeoutMs=9)
    records = compacted(source.coordinator.records())
    assert records[-1]["key"]["type"] == "ConsumerGroupMemberMetadata"
    for seed in range(20):
        random.Random(seed).shuffle(records)
        assert loaded(source, records).describe("g") == source.group()


def test_tombstones_of_what_compaction_removed_are_no_operations() -> None:
    source = GroupDriver()
    source.join("m1")
    source.leave("m1")
    source.coordinator.fire("group", "g")
    records = compacted(source.coordinator.records())
    assert all(record["value"] is None for record in records)
    assert loaded(source, records).describe("g")["state"] == "Dead"


def test_tombstone_of_an_assignment_alone_frees_what_was_held() -> None:
    """A log that ends within a removal: its records are independent (KIP-848 "Group Metadata")."""
    source = GroupDriver()
    source.join("m1")
    source.leave("m1")
    records = source.coordinator.records()[:7]
    assert records[-1]["value"] is None
    other = Coordinator()
    other.load(records, TOPICS, {})
    (member,) = other.describe("g")["members"]
    assert (member["memberEpoch"], member["assigned"], member["pendingRevocation"]) == (0, [], [])


def test_deadlines_are_read_relative_to_the_time_of_the_source() -> None:
    source = GroupDriver()
    source.coordinator.advance(1000)
    source.join("m1")
    clock = SystemClock()
    other = Coordinator(clock=clock)
    before_ms = clock.now_ms()
    other.load(source.coordinator.records(), TOPICS, source.coordinator.volatile())
    (timer,) = other.describe("g")["timers"]
    assert before_ms + 45_000 <= timer["deadlineMs"] <= clock.now_ms() + 45_000


def later(state: Any, ms: int) -> Any:
    """Volatile state with all its times so much later."""
    if not isinstance(state, dict):
        return state
    times = {name for name, value in state.items() if name.endswith("Ms") and value is not None}
    return {name: value + ms if name in times else later(value, ms) for name, value in state.items()}


@pytest.mark.parametrize("reach", [revoking, emptied], ids=lambda reach: str(reach.__name__))
def test_deadlines_of_a_source_that_says_no_time_count_from_0(reach: Any) -> None:
    source = GroupDriver()
    reach(source)
    volatile = source.coordinator.volatile()
    if source.members():
        epoch = source.coordinator.describe("g")["groupEpoch"]
        prepared = {"groupEpoch": epoch, "members": [], "topics": []}
        volatile["groups"]["g"]["computation"] = {
            **{"chosen": "m1", "deadlineMs": 9, "tried": ["m2"], "prepared": prepared}
        }
    del volatile["clockMs"]
    other = Coordinator()
    other.advance(1000)
    other.load(source.coordinator.records(), TOPICS, volatile)
    assert other.volatile() == {"clockMs": 1000, **later(volatile, 1000)}


def test_the_previous_epoch_of_a_member_that_was_away_is_loaded() -> None:
    """S1, H6."""
    source = GroupDriver()
    source.join("m1")
    other = Coordinator()
    before = {"groups": {"g": {"members": {"m1": {"previousMemberEpoch": -2}}}}}
    other.load(source.coordinator.records(), TOPICS, before)
    assert other.describe("g")["members"][0]["previousMemberEpoch"] == -2


def test_restart_keeps_epochs_and_partitions_and_arms_every_session_anew() -> None:
    """P2."""
    g = GroupDriver()
    g.two_stable_members()
    g.coordinator.advance(1000)
    g.coordinator.restart()
    assert (g.epochs(), g.assigned("m1"), g.assigned("m2")) == ((2, 2), ["foo-0"], ["foo-1"])
    assert g.timers() == {("session", "m1"): 46_000, ("session", "m2"): 46_000}
    assert given(g.heartbeat("m1")) == ["foo-0"]
    assert g.new_records() == []


def test_restart_while_revoking_goes_on_revoking_with_the_timer_armed_anew() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.coordinator.advance(1000)
    g.coordinator.restart()
    assert (g.assigned("m1"), g.revoking("m1")) == (["foo-0"], ["foo-1"])
    assert g.timers()[("rebalance", "m1")] == 6000
    assert given(g.heartbeat("m2")) == []
    assert g.heartbeat("m1", owned=["foo-0"])["memberEpoch"] == 2


def test_restart_of_an_empty_group_still_deletes_it() -> None:
    g = GroupDriver()
    emptied(g)
    g.coordinator.restart()
    assert [name for name, _ in g.timers()] == ["group"]


def test_restart_with_a_lost_tail_loses_whole_steps() -> None:
    """P4: the records of a step are one batch; half a join is none."""
    g = GroupDriver()
    g.join("m1")
    after_first = g.group()["members"][0]["memberEpoch"], g.coordinator.end
    g.join("m2")
    for keep in range(after_first[1], g.coordinator.end):
        other = GroupDriver()
        other.join("m1")
        other.join("m2")
        other.coordinator.restart(keep)
        assert (list(other.members()), other.epochs(), other.coordinator.end) == (
            ["m1"],
            (1, 1),
            after_first[1],
        )


def test_restart_notices_topics_and_computes_a_target_that_is_due() -> None:
    """P2, for a log that ends between the group epoch and its target."""
    g = GroupDriver()
    g.join("m1")
    records = g.coordinator.records()[:3]
    g.coordinator.load(records, [{"name": "foo", "id": IDS["foo"], "partitions": 3}], {})
    assert g.epochs() == (1, 0)
    g.coordinator.restart()
    assert (g.epochs(), g.target("m1")) == ((2, 2), ["foo-0", "foo-1", "foo-2"])


def test_a_member_has_its_time_to_revoke_by_the_target_of_a_restart() -> None:
    """P2, R4: the log ends between the group epoch that a second member brings and its target."""
    g = GroupDriver()
    g.join("m1")
    g.join("m2")
    records = g.coordinator.records()
    kinds = [record["key"]["type"] for record in records]
    cut = len(kinds) - kinds[::-1].index("ConsumerGroupMetadata")
    g.coordinator.load([*records[:cut], records[-1]], TOPICS, {})
    assert (g.epochs(), g.revoking("m1")) == ((2, 1), [])
    g.coordinator.restart()
    assert (g.epochs(), len(g.revoking("m1"))) == ((2, 2), 1)
    assert [(one["timer"], one["member"]) for one in g.coordinator.advance(5000)] == [("rebalance", "m1")]


def test_failed_append_leaves_no_trace_and_the_retry_works() -> None:
    """real-bugs row 15: only replay changes state."""
    g = GroupDriver()
    g.coordinator.fail_appends(True)
    assert error(g.join("m1")) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (g.group(), g.coordinator.end) == (GroupDriver().group(), 0)
    g.coordinator.fail_appends(False)
    assert given(g.join("m1")) == ["foo-0", "foo-1"]


def test_failed_append_of_each_kind_of_step_changes_nothing_durable() -> None:
    g = GroupDriver()
    g.m1_revoking()
    before = g.group()
    g.script(m1=["foo-0", "foo-1"], m2=[])
    g.coordinator.fail_appends(True)
    for response in (g.leave("m1"), g.join("m3"), g.heartbeat("m1", 7), g.heartbeat("m1", owned=["foo-0"])):
        assert error(response) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    with pytest.raises(AppendFailed):
        g.coordinator.upsert_topic("foo", IDS["foo"], 3)
    assert g.group() == before
    assert g.coordinator.scripted_groups() == {"g"}
    assert g.coordinator.fire("rebalance", "g", "m1") is False
    assert g.timers()[("rebalance", "m1")] == 500
    g.coordinator.fail_appends(False)
    assert [timer["member"] for timer in g.coordinator.advance(500)] == ["m1"]


def test_heartbeat_without_records_needs_no_log() -> None:
    g = GroupDriver()
    g.join("m1")
    g.coordinator.fail_appends(True)
    g.coordinator.advance(100)
    assert error(g.heartbeat("m1")) == 0
    assert g.timers() == {("session", "m1"): 45_100}


def test_load_without_volatile_is_a_restart_that_computes_nothing() -> None:
    dialect = dataclasses.replace(Dialect(), TargetOnRemoval="next-heartbeat")
    g = GroupDriver(dialect)
    g.two_stable_members()
    g.leave("m1")
    other = Coordinator(dialect=dialect)
    other.load(g.coordinator.records(), TOPICS, {})
    assert other.describe("g")["state"] == "Assigning"


def member_record(**change: Any) -> dict[str, Any]:
    value = {
        "groupEpoch": 1,
        "clientId": "",
        "clientHost": "",
        "subscribedTopicNames": ["foo"],
        "rebalanceTimeoutMs": 1,
        **change,
    }
    return {"key": {"type": "ConsumerGroupMemberMetadata", "groupId": "g", "memberId": "m"}, "value": value}


TARGET_METADATA = {"key": {"type": "ConsumerGroupTargetAssignmentMetadata", "groupId": "g"}}
CURRENT: dict[str, Any] = {
    "key": {"type": "ConsumerGroupCurrentMemberAssignment", "groupId": "g", "memberId": "m"},
    "value": {"memberEpoch": 1, "topicPartitions": [{"topicId": IDS["foo"], "partitions": [0]}]},
}


OFFSET = {"offset": 1, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 0, "topicId": IDS["foo"]}


def offset_record(value: dict[str, Any] | None, **key: Any) -> dict[str, Any]:
    key = {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": 0, **key}
    return {"key": key, "value": value}


FOO_BELOW_0 = [{"topicId": IDS["foo"], "partitions": [-1]}]


@pytest.mark.parametrize(
    ("records", "volatile", "sentence"),
    [
        ([1], {}, "a record must be an object, not 1"),
        ([{"value": None}], {}, "a record needs the field 'key'"),
        ([{"key": {"type": "X", "groupId": "g"}, "value": None}], {}, "there is no record type 'X'"),
        ([{"key": {"type": "ConsumerGroupMetadata"}, "value": None}], {}, "needs the field 'groupId'"),
        ([{"key": {"type": "ConsumerGroupMetadata", "groupId": "g"}}], {}, "null for a tombstone"),
        (
            [{"key": {"type": "ConsumerGroupMetadata", "groupId": "g", "memberId": "m"}, "value": None}],
            {},
            "has no field 'memberId'",
        ),
        (
            [{"key": {"type": "ConsumerGroupMetadata", "groupId": "g"}, "value": {"epoch": -1}}],
            {},
            "must be at least 0, not -1",
        ),
        ([CURRENT], {}, "member 'm' of group 'g' an assignment but no ConsumerGroupMemberMetadata"),
        (
            [{**TARGET_METADATA, "value": {"assignmentEpoch": 3}}],
            {},
            "the epoch 0, and its assignment or a member the epoch 3, which is ahead of it",
        ),
        (
            [member_record(), {**CURRENT, "value": {"memberEpoch": 2, "topicPartitions": []}}],
            {},
            "or a member the epoch 2, which is ahead of it",
        ),
        ([member_record(subscribedTopicNames="foo")], {}, "must be a list, not 'foo'"),
        ([member_record(subscribedTopicRegex="(")], {}, r"the subscribedTopicRegex '\(' of .* is not valid"),
        (
            [member_record(), {**CURRENT, "value": {"memberEpoch": -1, "topicPartitions": []}}],
            {},
            "or -2 for away",
        ),
        (
            [{**CURRENT, "value": {"memberEpoch": 1, "topicPartitions": FOO_BELOW_0}}],
            {},
            "must be at least 0, not -1",
        ),
        ([offset_record({**OFFSET, "member": 1})], {}, "an OffsetCommit record has no field 'member'"),
        ([offset_record(None, memberId="m")], {}, "key of an OffsetCommit record has no field 'memberId'"),
        ([{"key": offset_record(None)["key"]}], {}, "an OffsetCommit record needs the field 'value'"),
        ([], {"clock": 1}, "volatile has no field 'clock'"),
        ([], {"clockMs": "1"}, "^'clockMs' of volatile must be a whole number"),
        ([], {"clockMs": 2**62 + 1}, "^time ends at 4611686018427387904 ms; 'clockMs' of volatile is 4611"),
        ([], {"groups": []}, "^'groups' of volatile must be an object"),
        ([], {"configs": []}, "^'configs' of volatile must be an object"),
        ([member_record()], {"groups": {"g": {"epoch": 1}}}, "^volatile group 'g' has no field 'epoch'"),
        (
            [member_record()],
            {"groups": {"g": {"members": {"m": {"previousMemberEpoch": -3}}}}},
            "^'previousMemberEpoch' of volatile member 'm' must be at least -2",
        ),
        ([], {"groups": {"g": {}}}, "the group 'g', which the records do not have"),
        ([member_record()], {"groups": {"g": {"members": {"n": {}}}}}, "the member 'n'"),
        ([member_record()], {"groups": {"g": {"members": {"m": {"epoch": 1}}}}}, "has no field 'epoch'"),
        (
            [member_record()],
            {"groups": {"g": {"members": {"m": {"pendingRevocation": CURRENT["value"]["topicPartitions"]}}}}},
            "the records do not give it",
        ),
        (
            [member_record()],
            {"groups": {"g": {"members": {"m": {"acknowledged": 1}}}}},
            "true or false, not 1",
        ),
    ],
)
def test_load_of_what_is_no_state_changes_nothing(records: list[Any], volatile: Any, sentence: str) -> None:
    g = GroupDriver()
    g.join("m1")
    before = g.group(), g.coordinator.records()
    with pytest.raises(BadInput, match=sentence):
        g.coordinator.load(records, [], volatile)
    assert (g.group(), g.coordinator.records()) == before


@pytest.mark.parametrize("keep", [-1, 7, True])
def test_restart_cannot_keep_what_is_not_there(keep: int) -> None:
    g = GroupDriver()
    g.join("m1")
    with pytest.raises(BadInput, match="can keep 0 to 6 records"):
        g.coordinator.restart(keep)


def test_records_are_read_from_an_offset_up_to_the_end() -> None:
    g = GroupDriver()
    g.join("m1")
    assert [record["offset"] for record in g.coordinator.records(4)] == [4, 5]
    assert g.coordinator.records(6) == []
    with pytest.raises(BadInput, match="from 0 to 6, not from 7"):
        g.coordinator.records(7)


def test_time_that_is_loaded_may_be_its_end() -> None:
    """No clock can go on from a later one, and deadlines after it would be no times of Kafka's."""
    coordinator = Coordinator()
    coordinator.load([], [], {"clockMs": LATEST_MS})
    assert coordinator.volatile()["clockMs"] == LATEST_MS and coordinator.advance(0) == []
    with pytest.raises(BadInput, match="time ends"):
        coordinator.load([], [], {"clockMs": 2**63 - 1})
    assert coordinator.volatile()["clockMs"] == LATEST_MS
