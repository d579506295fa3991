"""Schedules: the drawn operations, their files, and that a schedule can be done again without drawing
anything."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConformError
from harness.replay import wire
from harness.replay.features import FEATURES, SERVER_SIDE, STATIC
from harness.simulate.draw import NOTHING_REPORTED
from harness.simulate.generate import Generator
from harness.simulate.left_out import CAN, TEXT, left_out
from harness.simulate.pair import Pair
from harness.simulate.repeat import legal, without
from harness.simulate.schedule import Schedule, read_schedule, way_of, write_schedule
from harness.targets.base import Answer, Capabilities, Json
from harness.targets.python import PythonTarget

DIALECTS = ("kip-848", "kafka-4.2", "kafka-4.3", "kafka-4.4")

ROOT = Path(__file__).parent.parent.parent


def pair(dialect: str) -> Pair:
    return Pair(PythonTarget(dialect), PythonTarget(dialect))


def recorded(dialect: str, seed: int, length: int = 300) -> tuple[Schedule, list[Answer]]:
    """One run, and the state that the first of two coordinators showed after each operation."""
    both = pair(dialect)
    generator = Generator(random.Random(seed), both.can, both.dialects)
    both.start(generator.settings)
    operations: list[Json] = []
    answers: list[Answer] = []
    for number in range(length):
        operations.append(generator.next() if number else generator.begin())
        answers.append(both.do(operations[-1]).answer)
        generator.saw(operations[-1], answers[-1])
    return Schedule(generator.settings, tuple(operations)), answers


def heartbeat(member: str, epoch: int, **fields: Any) -> Json:
    body = {**NOTHING_REPORTED, "memberId": member, "memberEpoch": epoch, **fields}
    return {"op": "request", "api": wire.HEARTBEAT, "client": wire.client(member), "body": body}


def foo(partitions: int) -> Json:
    return {"op": "topics", "upsert": [wire.topic("foo", partitions)], "delete": []}


def part(topic: str, *indexes: int) -> Json:
    return {"topicId": wire.topic_id(topic), "partitions": list(indexes)}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_schedule_can_be_done_again(dialect: str, tmp_path: Path) -> None:
    """A schedule from its file gives the same answers: all that it refers to is in it."""
    schedule, answers = recorded(dialect, 1)
    write_schedule(schedule, tmp_path / "schedule.json")
    again = read_schedule(tmp_path / "schedule.json")
    assert again == schedule
    both = pair(dialect)
    both.start(again.settings)
    assert [both.do(operation).answer for operation in again.operations] == answers


def test_the_seed_decides() -> None:
    assert recorded("kafka-4.2", 5) == recorded("kafka-4.2", 5)
    assert recorded("kafka-4.2", 5) != recorded("kafka-4.2", 6)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_drawn_schedules_reach_all_behaviours_of_a_group(dialect: str) -> None:
    """All actions, their errors, and the states of groups and members."""
    ways: Counter[str] = Counter()
    states: set[str] = set()
    for seed in range(8):
        schedule, answers = recorded(dialect, seed)
        for operation, answer in zip(schedule.operations, answers, strict=True):
            ways[way_of(operation, answer)] += 1
            group = answer.group or {"state": "", "members": []}
            if operation["op"] == "restart" and dialect != "kip-848":
                assert answer.records == []  # a new coordinator writes nothing
            states |= {group["state"], *(member["state"] for member in group["members"])}
    unknown = "UNKNOWN_MEMBER_ID" if dialect == "kip-848" else "GROUP_ID_NOT_FOUND"
    assert {
        *("Join/NONE", "Join/UNRELEASED_INSTANCE_ID", "Join/GROUP_MAX_SIZE_REACHED", "Join/INVALID_REQUEST"),
        *("Heartbeat/NONE", "Heartbeat/FENCED_MEMBER_EPOCH", "Heartbeat/UNKNOWN_MEMBER_ID"),
        *("Leave/NONE", "LeaveTemporarily/NONE", f"Heartbeat/{unknown}", "Heartbeat/UNSUPPORTED_ASSIGNOR"),
        *("SessionTimeout", "RebalanceTimeout", "DeleteGroup", "FailOver", "ChangeTopics", "Advance"),
        *("OffsetCommit/NONE", "OffsetCommit/UNKNOWN_MEMBER_ID", "OffsetCommit/STALE_MEMBER_EPOCH"),
        *("OffsetCommit/OFFSET_METADATA_TOO_LARGE", f"OffsetCommit/{unknown}", "OffsetFetch/NONE"),
        *("OffsetFetch/UNKNOWN_MEMBER_ID", "OffsetFetch/STALE_MEMBER_EPOCH"),
    } <= ways.keys()
    assert ways["Heartbeat/NONE"] > sum(ways.values()) / 4
    assert {"Stable", "Reconciling", "Assigning", "Empty", "Dead"} - states == (
        {"Assigning"} if dialect == "kip-848" else set()
    )
    assert {"STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"} <= states


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_target_that_is_computed_was_scripted_and_is_legal(dialect: str) -> None:
    """A4: no partition twice, each of a topic that there is and to which its member subscribes."""
    topics: dict[str, tuple[str, int]] = {}
    schedule, answers = recorded(dialect, 3)
    used = 0
    script: Any = None
    for operation, answer in zip(schedule.operations, answers, strict=True):
        script = operation.get("script", script)
        if operation["op"] == "topics":
            topics = {name: known for name, known in topics.items() if known[0] not in operation["delete"]}
            for one in operation["upsert"]:
                topics = {name: known for name, known in topics.items() if known[0] != one["name"]}
                topics[one["id"]] = one["name"], one["partitions"]
        if not answer.consumed or isinstance(script, str):  # where an assignor fails, the target is kept
            continue
        used += 1
        given = [
            (one["topicId"], index, member["subscribedTopicNames"])
            for member in answer.group["members"]  # type: ignore[index]
            for one in member["target"]
            for index in one["partitions"]
        ]
        assert len({(topic, index) for topic, index, _ in given}) == len(given)
        for topic, index, names in given:
            assert index < topics[topic][1] and topics[topic][0] in names
    assert used > 20


def scripted_plain_heartbeats(epoch: int) -> list[bool]:
    """Tell if heartbeats without a change have a script, after topics and a request of that epoch."""
    fields = {"instanceId": None, "subscribedTopicNames": ["foo"], "rebalanceTimeoutMs": 5000}
    held: Json = {"assigned": [], "pendingRevocation": [], "target": []}
    member = {"memberId": "m1", "memberEpoch": 1, "previousMemberEpoch": 1, **fields, **held}
    group = {"groupEpoch": 1, "assignmentEpoch": 1, "members": [member], "timers": []}
    results = []
    for seed in range(10):
        generator = Generator(random.Random(seed), frozenset(), ["kafka-4.2"])
        generator.saw(generator.begin(), Answer(group=group))
        generator.saw(heartbeat("m1", epoch), Answer({"errorCode": 0}, group))
        while (operation := generator.next())["op"] == "request":
            body = operation["body"]
            changes = body["subscribedTopicNames"] is not None or body["serverAssignor"] is not None
            if (body["memberId"], body["memberEpoch"]) == ("m1", 1) and not changes:
                results.append("script" in operation)
    assert len(results) > 10
    return results


def test_a_script_is_drawn_until_a_heartbeat_has_noticed_changed_topics() -> None:
    """A member that leaves does not notice them, and later lines of the script may be of topics that are
    gone."""
    assert all(scripted_plain_heartbeats(-2)) and all(scripted_plain_heartbeats(-1))
    assert not any(scripted_plain_heartbeats(1))


def test_parts_left_out_are_listed() -> None:
    everything = frozenset(
        {"fire", "advance", "restart", "ids", "configure", wire.COMMIT, wire.FETCH, *FEATURES}
    )
    text = left_out(["kip-848", "kip-848"], everything)
    assert any(one.startswith("regular expressions: ") for one in text)
    assert not any("two assignors" in one or "does not have" in one or "Kafka takes" in one for one in text)
    less = left_out(["kafka-4.4", "kafka-4.4"], everything - {"fire", wire.COMMIT})
    assert "fire: one of the targets does not have it" in less
    assert "OffsetCommit: one of the targets does not have it" in less
    assert any("two assignors" in one for one in less) and any("Kafka takes" in one for one in less)


def test_an_operation_that_one_target_lacks_is_not_drawn() -> None:
    generator = Generator(random.Random(1), frozenset({"topics", "advance"}), DIALECTS)
    drawn = {generator.begin()["op"], *(generator.next()["op"] for _ in range(300))}
    assert drawn == {"topics", "request", "advance"}


@pytest.mark.parametrize(
    ("feature", "field", "value"),
    [(STATIC, "instanceId", None), (SERVER_SIDE + "range", "serverAssignor", "range")],
)
def test_no_feature_is_drawn_for_a_target_that_lacks_it(feature: str, field: str, value: str | None) -> None:
    """Members with any instance id are static members."""

    class Lacking(PythonTarget):
        def hello(self) -> Capabilities:
            return replace(super().hello(), lacks=frozenset({feature}))

    both = Pair(PythonTarget(TEXT), Lacking(TEXT))
    for can, drawn in ((both.can, False), (pair(TEXT).can, True)):
        generator = Generator(random.Random(1), can, both.dialects)
        bodies = [generator.next().get("body", {}) for _ in range(300)]
        given = {body.get(field) for body in bodies} - {None}
        assert bool(given if value is None else given & {value}) is drawn
    assert f"{feature}: one of the targets does not have it" in left_out(both.dialects, both.can)


def test_shrinking_keeps_scripts_legal() -> None:
    """A4: scripts name topics that exist, partitions within their numbers, and members that subscribe."""
    join = heartbeat("m1", 0, subscribedTopicNames=["foo"])
    script = {"m1": [part("bar", 0), part("foo", 0, 1)], "m2": [part("foo", 2)]}
    assert legal([{**join, "script": script}])[0]["script"] == {"m1": [], "m2": []}
    assert legal([foo(1), {**join, "script": script}])[1]["script"] == {"m1": [part("foo", 0)], "m2": []}
    other = heartbeat("", 0, subscribedTopicNames=["foo"]) | {"newId": "m2"}
    whole = [foo(3), other, {**join, "script": {"m1": [part("foo", 0, 1)], "m2": [part("foo", 2)]}}]
    assert legal(whole) == whole


def test_epochs_follow_when_operations_are_left_out() -> None:
    schedule = [heartbeat("m1", 0), heartbeat("m2", 0), heartbeat("m1", 2), heartbeat("m1", -1), foo(1)]
    tried = list(without(schedule, 1, 2))
    assert tried[0] == [schedule[0], *schedule[2:]]
    assert tried[1] == [schedule[0], heartbeat("m1", 1), *schedule[3:]]
    assert len(tried) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "must have settings and operations, and nothing else"),
        ('{"settings": {}, "operations": []}', "needs an object of settings and a list of operations"),
        (
            '{"settings": {}, "operations": [{"op": "load"}]}',
            "operation 1: there is no operation 'load' in sch",
        ),
        (
            '{"settings": {}, "operations": [{"op": "advance", "ms": null}]}',
            "operation 1: advance needs the field 'ms'",
        ),
        (
            '{"settings": {}, "operations": [{"op": "restart", "scirpt": {}}]}',
            "operation 1: restart has no field 'scirpt'",
        ),
        ('{"settings": {}, "operations": [{"op": "advance"}]}', "operation 1: advance needs the field 'ms'"),
        (
            '{"settings": {}, "operations": [{"op": "restart", "script": 5}]}',
            "operation 1: the script must be a target assignment or a message",
        ),
        (
            '{"settings": {}, "operations": [{"op": "request", "api": "X", "client": {}, "body": {}}]}',
            "there is no API 'X' in schedules",
        ),
    ],
)
def test_a_file_that_is_no_schedule(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(text)
    with pytest.raises(ConformError, match=says) as caught:
        read_schedule(path)
    assert caught.value.exit_code == 2


def test_each_kind_of_group_that_is_never_drawn_is_named() -> None:
    """Folders of traces are of kinds of groups: random schedules draw requests of consumer groups alone."""
    named = " ".join(left_out(["kip-848", "kip-848"], frozenset(CAN)))
    drawn = {"golden", "counterexamples", "corpus", "members", "dialects", "kafka", "cooperative"}
    for folder in sorted(path.name for path in (ROOT / "traces").iterdir() if path.is_dir()):
        assert folder in drawn or f"traces/{folder}" in named
