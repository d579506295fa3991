"""`conform validate` of recorded simulations, and of all effects of one operation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli.compare import command as compare
from harness.cli.replay import command as replay
from harness.cli.simulate import command as simulate
from harness.cli.validate import command as validate
from harness.engines.base import Limits
from harness.engines.tlc import run_tlc
from harness.errors import NOT_CONFORMANT, ConformError
from harness.replay import wire
from harness.targets import open_target
from harness.targets.recording import recorded

ROOT = Path(__file__).parents[2]
FOO = wire.topic("foo", 2)
EQUAL = r"""
---- MODULE Equal ----
EXTENDS Recorded
Names == [t \in Topics |-> IF t = "foo#2" THEN "foo" ELSE t]
Patterns == [r \in {"f.*"} |-> {"foo"}]
Parts == {<<"foo", 0>>, <<"foo", 1>>, <<"foo#2", 0>>, <<"bar", 0>>}
Sizes == [Topics -> {-1, 0, 1, 2}]
SomeMembers == {[NoMember EXCEPT !.subscription = s, !.regex = r] :
                  s \in SUBSET {"foo", "bar"}, r \in {"", "f.*"}}
Subscribing == {[NoGroup EXCEPT !.members["a"] = one, !.members["b"] = two] :
                  one \in SomeMembers, two \in SomeMembers}
Holding == {[NoGroup EXCEPT !.members["a"].assigned = one, !.members["b"].revoking = two] :
              one \in SUBSET Parts, two \in SUBSET Parts}
ASSUME \A one \in SomeMembers : TopicsOf(one) = RecordedTopicsOf(one)
ASSUME \A g \in Subscribing, sizes \in Sizes : MetadataOf(g, sizes) = RecordedMetadataOf(g, sizes)
ASSUME \A g \in Holding, m \in MemberIds : HeldByOthers(g, m) = RecordedHeldByOthers(g, m)
ASSUME \A sizes \in [Topics -> 0..2] :
         LET g == [NoGroup EXCEPT !.metadata = sizes] IN SubscribedPartitions(g) = PartitionsOf(g)
OnceSpec == /\ run = 0 /\ at = 0 /\ group = NoGroup /\ topics = NoGroup.metadata /\ step = NoStep
            /\ [][FALSE]_recordedVars
====
"""


def test_a_simulation_of_whole_groups_is_a_behaviour(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, result = tmp_path / "log.jsonl", tmp_path / "result.json"
    simulate(seed=7, events=350, out=tmp_path, record=log)
    validate(log, json_file=result)
    report = json.loads(result.read_text())
    assert report["holds"] and report["steps"] > 60 and report["left_out"]["OffsetCommit"] > 0
    assert "no violation" in capsys.readouterr().out

    lines = log.read_text().splitlines()
    place = next(
        number for number, line in enumerate(lines) if '"memberEpoch":2' in line.partition("answer")[2]
    )
    lines[place] = lines[place].replace('"memberEpoch":2', '"memberEpoch":3')
    log.write_text("\n".join(lines[: place + 2]))
    with pytest.raises(ConformError) as caught:
        validate(log)
    assert caught.value.exit_code == NOT_CONFORMANT


def test_a_long_log_is_explained_like_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other enabled actions are looked for at once, or, in a long log, at the line that does not fit
    alone."""
    log, result = tmp_path / "log.jsonl", tmp_path / "result.json"
    simulate(seed=7, events=100, out=tmp_path, record=log)
    lines = log.read_text().splitlines()
    place = max(
        number for number, line in enumerate(lines) if '"memberEpoch":2' in line.partition("answer")[2]
    )
    lines[place] = lines[place].replace('"memberEpoch":2', '"memberEpoch":3')
    log.write_text("\n".join(lines))
    given = []
    for most in (10**9, 0):
        monkeypatch.setattr("harness.kinds.consumer.recorded.EXPLAINED", most)
        with pytest.raises(ConformError) as caught:
            validate(log, json_file=result)
        assert caught.value.exit_code == NOT_CONFORMANT
        given.append(json.loads(result.read_text()))
    assert given[0] == given[1]
    assert given[0]["runs"][-1]["enabled"]


def test_indexes_are_equal_to_their_sources(tmp_path: Path) -> None:
    """TopicsOf, MetadataOf, HeldByOthers and SubscribedPartitions give the values of the indexes that
    Recorded.tla has instead."""
    names = ("RequestEpochs", "Subscriptions", "AssignorNames", "InstanceIds", "RegexNames", "OddRequests")
    empty = [*names, "InitialTopics", "Runs"]
    constants = [
        'MemberIds = {"a", "b", "c"}',
        'Topics = {"foo", "foo#2", "bar"}',
        "TopicName <- Names",
        "Regexes <- Patterns",
        "Partitions <- Parts",
        "Dialect <- KIP848",
        'TargetRule = "any"',
        'Assignors = {"range", "uniform"}',
        "MaxGroupSize = 9",
        "WithFailOver = TRUE",
        *(f"{name} = {{}}" for name in empty),
    ]
    (tmp_path / "Equal.cfg").write_text("\n".join(["CONSTANTS", *constants, "SPECIFICATION OnceSpec"]))
    (tmp_path / "Equal.tla").write_text(EQUAL)
    log = tmp_path / "log"
    options = ["-deadlock", "-workers", "1"]
    run_tlc(
        tmp_path / "Equal.tla",
        tmp_path / "Equal.cfg",
        options,
        log=log,
        limits=Limits(brief=True),
        libraries=[ROOT / "spec"],
    )
    assert "No error has been found" in log.read_text()


def test_several_seeds_are_no_run(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="--record writes down one run: leave out --seeds"):
        simulate(seeds=2, out=tmp_path, record=tmp_path / "log")


def test_a_schedule_and_two_targets_are_recorded(tmp_path: Path) -> None:
    start = {"do": "start", "who": "A", "group": "g", "topics": ["foo"], "ownId": True, "maxPollMs": 60000}
    events = [{"at": 0, **start}, {"at": 1, "do": "send", "who": "A"}, {"at": 2, "do": "deliver", "who": "A"}]
    (tmp_path / "schedule.json").write_text(json.dumps({"events": events}))
    simulate(schedule=tmp_path / "schedule.json", record=tmp_path / "whole")
    with pytest.raises(ConformError, match="leave out --json"):
        simulate(schedule=tmp_path / "schedule.json", json_file=tmp_path / "result.json")
    compare("python", "python", steps=20, out=tmp_path, record=tmp_path / "first")
    for log in ("whole", "first"):
        operations = [json.loads(line) for line in (tmp_path / log).read_text().splitlines()]
        assert operations[0]["op"] == "hello"
        assert any(one["op"] == "request" and one["answer"]["body"] for one in operations), log


def test_the_effects_of_one_operation(tmp_path: Path) -> None:
    """T2: a topic in the place of another one; a target with a gap; P3, H5; H8: two time-outs."""
    log, result = tmp_path / "log", tmp_path / "result.json"
    with recorded(open_target("python", "kip-848"), log) as target:

        def joins(member: str, **fields: Any) -> Any:
            content = {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
            body = {"groupId": "g", "memberId": member, "memberEpoch": 0, **content, **fields}
            answer = target.request(wire.HEARTBEAT, 0, wire.client(member), body, "g").body
            return answer and answer["errorCode"]

        target.hello()
        target.load([], [FOO], {"clockMs": 0})
        assert joins("m1") == 0
        target.topics([wire.topic("foo#2", 1)], [], "g")
        target.commit("fail")
        assert joins("m2") == 15
        target.commit("auto")
        target.assign("g", {"m1": [], "m2": []})
        assert (joins("m2"), joins("m3", rebalanceTimeoutMs=0)) == (0, 42)
        assert [one["timer"] for one in target.advance(50_000, "g").fired] == ["session", "session"]
    validate(log, json_file=result)
    report = json.loads(result.read_text())
    assert report["holds"] and report["steps"] == 5 and sum(report["left_out"].values()) == 2


def test_a_new_coordinator_without_the_group(tmp_path: Path) -> None:
    """P3: of a group that was deleted, or never existed, a new coordinator has nothing to take over."""
    log, result = tmp_path / "log", tmp_path / "result.json"
    with recorded(open_target("python", "kip-848"), log) as target:
        target.hello()
        target.load([], [FOO], {"clockMs": 0})
        fields = {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
        for epoch in (0, -1):
            body = {"groupId": "g", "memberId": "m1", "memberEpoch": epoch, **(fields if epoch == 0 else {})}
            target.request(wire.HEARTBEAT, 0, wire.client("m1"), body, "g")
        target.fire("group", "g", "")
        target.restart()
        target.request(wire.HEARTBEAT, 0, wire.client("m1"), {**body, "memberEpoch": 0, **fields}, "g")
    validate(log, json_file=result)
    assert json.loads(result.read_text())["steps"] == 5


@pytest.mark.parametrize("forgets", [True, False])
def test_partitions_of_a_topic_that_is_gone(tmp_path: Path, forgets: bool) -> None:
    """T2: a live broker describes no partitions of deleted topics; another target must."""
    log = tmp_path / "log"
    with recorded(open_target("python", "kafka-4.2"), log) as target:
        target.hello()
        target.load([], [FOO], {"clockMs": 0})
        fields = {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
        body = {"groupId": "g", "memberId": "m1", "memberEpoch": 0, **fields}
        target.request(wire.HEARTBEAT, 0, wire.client("m1"), body, "g")
        target.topics([], ["foo"], "g")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[-1]["answer"]["group"]["members"][0]["assigned"]
    lines[-1]["answer"]["group"]["members"][0] |= {"assigned": [], "target": []}
    if forgets:
        lines[0]["answer"]["unobserved"] = ["members.deletedTopics"]
    log.write_text("\n".join(map(json.dumps, lines)))
    if forgets:
        return validate(log)
    with pytest.raises(ConformError) as caught:
        validate(log)
    assert caught.value.exit_code == NOT_CONFORMANT


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="The log /dev/full cannot be written: No space left on device"):
        replay([ROOT / "traces" / "golden" / "basic.itf.json"], record=Path("/dev/full"))
    with pytest.raises(ConformError, match="The log /dev/full cannot be written: No space left on device"):
        simulate(seed=7, events=50, out=tmp_path, record=Path("/dev/full"))


def test_a_run_of_a_program_is_recorded(tmp_path: Path) -> None:
    """The recorder stands before any target: here one behind the line protocol."""
    log, result = tmp_path / "log", tmp_path / "result.json"
    program = f"stdio:{sys.executable} -m coordinator --stdio"
    replay([ROOT / "traces" / "golden" / "basic.itf.json"], target=program, record=log)
    validate(log, json_file=result)
    assert json.loads(result.read_text())["steps"] >= 8
