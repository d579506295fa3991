"""Expected values of a step, against answers and records written by hand from KIP-848 (P1, R1-R5, E5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from expected_steps import FOO, kinds, steps, wire_partitions
from spec_model import NOTHING, Model

from harness.kinds.consumer import expect
from harness.kinds.consumer.records import whole
from harness.kinds.consumer.state import Group, Member, SpecState
from harness.replay import wire

F0, F1 = frozenset({("foo", 0)}), frozenset({("foo", 1)})


def joined() -> Model:
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, "", owned=NOTHING, subscription=FOO)
    return model


def test_the_first_join_writes_a_whole_group_in_order() -> None:
    step = steps(joined())[0]
    assert kinds(step) == ["5m1", "4", "3", "7m1", "6", "8m1"]
    assert [record["offset"] for record in step.expected.records] == list(range(6))
    assert [record["value"] for record in step.expected.records] == [
        {
            "groupEpoch": 1,
            "instanceId": None,
            "rackId": None,
            "clientId": "client-m1",
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": ["foo"],
            "subscribedTopicRegex": None,
            "rebalanceTimeoutMs": 300_000,
            "serverAssignor": None,
            "assignors": [],
        },
        {"epoch": 1, "topics": [{"topicId": wire.topic_id("foo"), "topicName": "foo", "numPartitions": 2}]},
        {"epoch": 1},
        {"error": 0, "topicPartitions": wire_partitions(0, 1), "metadataVersion": 0, "metadataBytes": ""},
        {"assignmentEpoch": 1},
        {
            "memberEpoch": 1,
            "error": 0,
            "topicPartitions": wire_partitions(0, 1),
            "metadataVersion": 0,
            "metadataBytes": "",
        },
    ]
    assert step.new_id == "m1"
    assert step.script == {"m1": wire_partitions(0, 1)}
    assert step.call.operation()["body"] == {
        "groupId": "g",
        "memberId": "",
        "memberEpoch": 0,
        "instanceId": None,
        "rebalanceTimeoutMs": 300_000,
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": [],
    }


def test_the_answer_to_a_join() -> None:
    step = steps(joined())[0]
    assert step.expected.body == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "m1",
        "memberEpoch": 1,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 5_000,
        "assignment": {
            "error": 0,
            "assignedTopicPartitions": wire_partitions(0, 1),
            "pendingTopicPartitions": [],
            "metadataVersion": 0,
            "metadataBytes": "",
        },
    }
    assert step.expected.group is not None
    assert step.expected.group["timers"] == [
        {"timer": "session", "group": "g", "member": "m1", "deadlineMs": 45_001}
    ]


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    model = joined()
    model.heartbeat("m1", 1, owned=F0 | F1)
    model.heartbeat("m1", 1, owned=None)
    acknowledged, silent = steps(model)[1:]
    assert (kinds(acknowledged), kinds(silent)) == ([], [])
    assert silent.expected.body is not None and silent.expected.body["assignment"] is None
    assert (silent.script, silent.expected.consumed) == (None, False)


def test_leaving_writes_tombstones_first_and_the_other_members_target() -> None:
    model = joined()
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    while not model.target("m2"):
        model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m2", -1)
    model.heartbeat("m1", -1)
    model.delete_group()
    second, last, deleted = steps(model)[-3:]
    assert kinds(second) == ["-8m2", "-7m2", "-5m2", "3", "7m1", "6"]
    assert kinds(last) == ["-8m1", "-7m1", "-5m1", "4", "3", "6"]
    assert last.script is None and not last.expected.consumed
    assert last.expected.group is not None and last.expected.group["state"] == "Empty"
    assert [timer["timer"] for timer in last.expected.group["timers"]] == ["group"]
    assert last.expected.body is not None and last.expected.body["memberEpoch"] == -1
    assert kinds(deleted) == ["-6", "-4", "-3"]
    assert deleted.expected.group == expect.description(deleted.load.state.group) | {"timers": []}
    assert deleted.expected.group is not None and deleted.expected.group["state"] == "Dead"


def test_a_rejoined_member_is_written_anew_even_where_nothing_changed() -> None:
    model = joined()
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    assert kinds(steps(model)[1]) == ["5m1", "3", "7m1", "6", "8m1"]


def test_fencing_removes_and_answers_only_the_error() -> None:
    model = joined()
    model.heartbeat("m1", 7, owned=NOTHING)
    step = steps(model)[1]
    assert kinds(step) == ["-8m1", "-7m1", "-5m1", "4", "3", "6"]
    assert step.expected.body == {
        "throttleTimeMs": 0,
        "errorCode": 110,
        "errorMessage": None,
        "memberId": None,
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def member(epoch: int = 1, assigned: Any = NOTHING, revoking: Any = NOTHING) -> Member:
    return Member(epoch, 0, "", FOO, "", "", assigned, revoking, False)


def state_with(group: Group) -> SpecState:
    """A state of a model that has this group."""
    state: SpecState = steps(joined())[0].load.state
    return replace(state, group=group)


def group(members: dict[str, Member], epoch: int = 1, assignment_epoch: int = 1, **targets: Any) -> Group:
    return Group(epoch, assignment_epoch, targets, {"foo": 2}, members)


def test_group_and_member_states() -> None:
    settled = group({"m1": member(assigned=F0)}, m1=F0)
    assert expect.group_state(Group(0, 0, {}, {}, {})) == "Dead"
    assert expect.group_state(group({})) == "Empty"
    assert expect.group_state(settled) == "Stable"
    assert expect.group_state(group(dict(settled.members), epoch=2, m1=F0)) == "Assigning"
    waiting = group({"m1": member()}, m1=F0)
    behind = group({"m1": member(assigned=F0)}, epoch=2, assignment_epoch=2, m1=F0)
    revoking = group({"m1": member(assigned=F0, revoking=F1)}, m1=F0)
    for other, state in ((waiting, "UNRELEASED"), (behind, "STABLE"), (revoking, "UNREVOKED")):
        assert expect.group_state(other) == "Reconciling"
        assert expect.member_state(other, "m1", other.members["m1"]).startswith(state)


def test_a_whole_group_of_x_members_is_3x_plus_3_records() -> None:
    members = {f"m{number}": member(assigned=NOTHING) for number in range(1, 5)}
    assert len(whole(state_with(group(members)))) == 3 * len(members) + 3
    assert whole(state_with(Group(0, 0, {}, {}, {}))) == []


def test_the_rebalance_deadline_counts_from_the_first_request_and_anew_after_an_acknowledgement() -> None:
    """R4: told at 2 ms, narrowed at 3 ms, acknowledged and told again at 4 ms, done at 5 ms."""
    timers = expect.Timers()
    answer = group({"m1": member(assigned=F1, revoking=F0)})
    states = [
        (group({"m1": member(assigned=F0 | F1)}), answer),
        (answer, group({"m1": member(revoking=F0 | F1)})),
        (answer, group({"m1": member(revoking=F1)})),
        (group({"m1": member(revoking=F1)}), group({"m1": member()})),
    ]
    model = joined()
    model.heartbeat("m1", 1)
    template = steps(model)[1].load.state
    deadlines = []
    for now_ms, (before, after) in enumerate(states, start=2):
        state = replace(template, group=after)
        armed = {timer["timer"]: timer["deadlineMs"] for timer in timers.follow(before, state, now_ms)}
        deadlines.append(armed.get("rebalance"))
        assert armed["session"] == now_ms + 45_000
    assert deadlines == [300_002, 300_002, 300_004, None]
