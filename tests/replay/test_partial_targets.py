"""Targets that can do only a part: the steps that are judged, those that are left out, and the differences
that are still found."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from expected_steps import FOO, corruptions, decoded
from partial_target import EVERYTHING, METADATA, target, without
from partly import BLACK_BOX, GOLDEN, OBSERVABLE, on_golden
from spec_model import NOTHING, Model

from harness.cli.replay import command
from harness.errors import ConformError
from harness.itf import read_trace
from harness.kinds.classic.description import CLASSIC
from harness.replay.compare import agree, differences
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace, Step
from harness.replay.report import left_out, skipped, summary
from harness.replay.run import ANOTHER, DIFFERENCE, Replayed, Replayer
from harness.replay.view import CONFIGS, DELAY, DELETED_TOPICS, NAMES, RECORD_TYPES, View
from harness.replay.view import EVERYTHING as ALL
from harness.targets import open_target
from harness.targets.base import Answer, Capabilities, Json
from harness.targets.stdio import StdioTarget

SEEN = frozenset({"describe", "records", "advance", "assign", "configure"})


def view(*unobserved: str, controls: frozenset[str] = SEEN) -> View:
    return View(Capabilities("partial", "kip-848", {}, controls, frozenset(unobserved)))


def walk(seed: int, steps: int = 60) -> Model:
    model = Model(seed, {"foo": seed % 4, "bar": seed % 2})
    model.walk(steps)
    return model


@cache
def walked() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(walk(seed).trace(), f"walk {seed}") for seed in range(60)]


def walks_on(count: int, /, **options: Any) -> Replayed:
    opened = open_target(target(**options))
    try:
        replayer = Replayer(opened, max_differences=5)
        for trace in walked()[:count]:
            replayer.replay(trace)
    finally:
        opened.close()
    return replayer.result


def covering(path: str, records: Sequence[Json]) -> set[str]:
    """The names of the fields of which each, hidden, hides a change at this place of an answer with these
    records."""
    if match := re.match(r"group\.(?:members|timers)\[\d+\]\.(\w+)", path):
        outer = path.split(".")[1].partition("[")[0]
        return {outer, f"{outer}.{match[1]}"}
    if path.startswith("records"):
        at, part = re.match(r"records(?: without |\[)(\d+)", path), re.search(r"\.value\.(\w+)", path)
        kind = records[int(at[1])]["key"]["type"] if at and not path.endswith("key.type") else ""
        offset = re.fullmatch(r"records\[\d+\]\.offset", path)
        names = RECORD_TYPES if offset else (part[1] if part else "", kind)
        return {"records", *(f"records.{name}" for name in names)}
    return {re.split(r"[. \[]", path.removeprefix("group."))[0]}


OF_MIGRATION = (DELAY, "members.clientAssignors", "records.currentStateTimestamp")
"""Fields that only classic groups have, or groups that migrate."""
KINDS = ("session", "rebalance", "group")
ASSIGNMENT_EPOCHS = "records.assignmentEpochs"
"""The field of PartitionEpochs, which is history: no expected record has it."""


def test_after_a_harmless_difference_a_target_without_load_is_judged_on() -> None:
    alone = ["topics", "fresh", "describe"]
    plain, lying = on_golden(controls=alone), on_golden(controls=alone, lie="intervals")
    assert lying.differences > 0 and lying.judged >= plain.judged


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if name.removeprefix("timers.") not in KINDS
        and name not in (DELETED_TOPICS, CONFIGS, ASSIGNMENT_EPOCHS, CLASSIC.name)
    ],
)
def test_unobserved_parts_are_not_compared_and_the_others_are(name: str) -> None:
    shown, tried = view(name), Counter[bool]()
    for step in decoded(walk(21, 40)).steps[20:34] if name not in OF_MIGRATION else migrating():
        good = shown.of(step.expected)
        before = deepcopy(step.expected)
        parts = {"group": step.expected.group, "records": step.expected.records}
        for part, value in parts.items():
            for path, changed in corruptions(value, part):
                bad = shown.of(step.expected._replace(**{part: changed}))
                hidden = name in covering(path, step.expected.records)
                assert agree(good, bad) == hidden, path
                assert bool(differences(good, bad)) != hidden, path
                tried[hidden] += 1
        assert step.expected == before
    assert tried[True] and tried[False] > 1000


def test_a_classic_group_may_show_its_state_alone() -> None:
    """As over the wire, a classic group may show its state alone. A consumer group must be described in full
    then."""
    classic = Answer(group={"groupId": "g", "type": "classic", "state": "Stable", "generation": 1})
    consumer = Answer(group={"groupId": "g", "state": "Stable", "groupEpoch": 1})
    shown = view(CLASSIC.name)
    assert shown.of(classic).group == {"groupId": "g", "type": "classic", "state": "Stable"}
    assert shown.of(consumer).group == consumer.group


def migrating() -> list[Step]:
    """The steps of committed traces of a group that is converted back, and has its first delay."""
    decoder, folder = Decoder(), GOLDEN.parent / "migration"
    paths = [*folder.glob("MCMigrationTour-goal-003[0-9]-*"), *folder.glob("MCMigrationRefused-*")]
    traces = [decoder.decode(read_trace(path), path.stem) for path in sorted(paths)]
    return [step for trace in traces for step in trace.steps]


@pytest.mark.parametrize("hidden", [True, False])
def test_parts_outside_the_specification_are_compared_unless_unobserved(hidden: bool) -> None:
    shown, tried = view(*[ASSIGNMENT_EPOCHS] if hidden else []), 0
    for step in decoded(walk(21, 40)).steps:
        records = deepcopy(step.expected.records)
        for record in records:
            if record["key"]["type"] == "ConsumerGroupCurrentMemberAssignment" and record["value"]:
                record["value"]["assignmentEpochs"] = [{"assignmentEpoch": 1, "topicPartitions": []}]
                tried += 1
        bad = step.expected._replace(records=records)
        if records != step.expected.records:
            assert agree(shown.of(step.expected), shown.of(bad)) == hidden
    assert tried > 10


@pytest.mark.parametrize("kind", KINDS)
def test_timers_of_one_kind_can_be_unobserved(kind: str) -> None:
    shown, tried = view(f"timers.{kind}"), Counter[bool]()
    for step in decoded(walk(21, 40)).steps:
        assert step.expected.group is not None
        for index, timer in enumerate(step.expected.group["timers"]):
            others = [*step.expected.group["timers"]]
            del others[index]
            bad = step.expected._replace(group={**step.expected.group, "timers": others})
            hidden = timer["timer"] == kind
            assert agree(shown.of(step.expected), shown.of(bad)) == hidden
            tried[hidden] += 1
    assert tried[True] and tried[False]


@pytest.mark.parametrize("hidden", [["timers.session"], []])
def test_a_timer_of_a_kind_that_is_not_shown_need_not_be_fired(hidden: list[str]) -> None:
    result = on_golden(refuses="fire", hidden=hidden)
    early = {one.reason for one in result.ended_early}
    fired = {(one.path, failure.action) for failure in result.failures for one in failure.differences}
    assert (early == {"fire of the timer session"}) == bool(hidden)
    assert (("operation fire", "SessionTimeout") in fired) == (not hidden)
    assert all(action != "SessionTimeout" or not hidden for _, action in fired)
    lines = any(line.startswith("skipped, needs fire of the timer session: ") for line in left_out(result))
    assert (lines, result.judged) == ((True, 132) if hidden else (False, 142))


def test_partitions_of_deleted_topics_are_left_out_on_both_sides_if_that_is_declared() -> None:
    """As ConsumerGroupDescribe leaves them out: golden scenario KAFKA-16168."""
    undeclared = on_golden(hidden=[DELETED_TOPICS], declared=[])
    places = {one.path for failure in undeclared.failures for one in failure.differences}
    assert places == {
        "group.members[A].assigned"
    }  # and nothing after it: what is loaded is described so, too
    assert {Path(failure.trace).name for failure in undeclared.failures} >= {"KAFKA-16168.itf.json"}
    for hidden in ([DELETED_TOPICS], []):
        declared = on_golden(hidden=hidden, declared=[DELETED_TOPICS])
        assert (declared.failures, declared.unobserved) == ([], (DELETED_TOPICS,))
        assert (declared.not_loaded, declared.judged > undeclared.judged) == ([], True)
    assert {one.path for failure in undeclared.not_loaded for one in failure.differences} == places


def test_partitions_of_topics_that_are_there_are_compared_all_the_same() -> None:
    shown = view(DELETED_TOPICS)
    step = next(one for one in decoded(walk(21, 40)).steps if (one.expected.group or {}).get("members"))
    member = {"memberId": "m", "assigned": [{"topicId": "x", "partitions": [0]}]}
    there, gone = (
        step.expected._replace(group={**(step.expected.group or {}), "members": members})
        for members in ([member], [{**member, "assigned": []}])
    )
    assert agree(shown.of(there, {"y"}), shown.of(gone, {"y"}))
    assert not agree(shown.of(there, {"x"}), shown.of(gone, {"x"}))
    assert not agree(shown.of(there), shown.of(gone))


def test_a_target_that_shows_everything_is_compared_as_it_is() -> None:
    assert ALL.complete and view().complete and ALL.hidden == ()
    assert not view("metadata").complete and not view(controls=SEEN - {"assign"}).complete


@pytest.mark.parametrize(
    ("controls", "hidden"),
    [
        (SEEN - {"advance"}, ("records.commitTimestamp", "timers.deadlineMs")),
        (SEEN - {"records"}, ("records",)),
        (SEEN - {"describe"}, ("group", "records")),
        (frozenset(), ("group", "records")),
    ],
)
def test_parts_hidden_for_want_of_an_operation_are_named(controls: Any, hidden: Any) -> None:
    assert view(controls=controls).hidden == hidden


def test_the_error_for_an_unknown_part_names_the_parts() -> None:
    with pytest.raises(
        ConformError, match=r"members\.shoeSize.*there are state, groupEpoch.*, records"
    ) as no:
        on_golden(declared=["metadata", "members.shoeSize"])
    assert no.value.exit_code == 3


LIES = {
    "metadata": ("metadata", "group.metadata"),
    "acknowledged": ("members.acknowledged", "group.members[].acknowledged"),
    "deadline": ("timers.deadlineMs", "group.timers[].deadlineMs"),
    "group epoch": ("groupEpoch", "group.groupEpoch"),
    "records": ("records", "records"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_part_that_is_declared_is_excused_and_no_other(lie: str) -> None:
    name, _ = LIES[lie]
    excused = on_golden(lie=lie, declared=[name])
    without_log = 2  # a fail-over that loses records cannot be told where the log ends, and ends its trace
    assert (excused.failures, excused.unobserved) == ([], (name,))
    assert excused.judged == 142 - (without_log if name == "records" else 0)
    assert f"does not show it: {name}" in "\n".join(summary(excused, "T"))
    others = [other for other, _ in LIES.values() if other != name]
    result = on_golden(lie=lie, declared=others)
    assert result.failures or result.not_loaded


def counted(result: Replayed) -> dict[str, int]:
    left = {reason: count["steps"] for reason, count in skipped(result).items()}
    assert result.judged + result.not_judged + sum(left.values()) == 142
    return left


def test_a_black_box_is_replayed_as_far_as_it_goes() -> None:
    result = on_golden(controls=BLACK_BOX)
    assert (result.failures, result.judged) == ([], 92)
    assert counted(result) == {ANOTHER: 13, "fire": 4, "load": 29, "restart": 4}
    assert result.unobserved == ("group", "records")


def test_every_operation_more_takes_the_traces_further() -> None:
    judged = [
        on_golden(controls=controls).judged
        for controls in (
            BLACK_BOX,
            [*OBSERVABLE, "fire"],
            [*OBSERVABLE, "fire", "restart"],
            [*OBSERVABLE, "fire", "restart", "records", "assign", "advance", "configure"],
            without("describe", "records"),
            without("advance"),
            EVERYTHING,
        )
    ]
    assert judged == [92, 96, 98, 113, 140, 142, 142]


def test_skipped_steps_are_in_the_json_and_in_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = target(controls=OBSERVABLE)
    command([GOLDEN], target=name, json_file=tmp_path / "a.json")
    output = capsys.readouterr().out
    assert "skipped, needs fire: 14 steps at the end of 2 traces" in output
    assert "skipped, another target assignment: 13 steps at the end of 2 traces" in output
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["skipped"]["fire"] == {"traces": 2, "steps": 14}
    assert result["unobserved"] == ["records", "timers.deadlineMs"]
    early = next(one for one in result["ended_early"] if one["reason"] == "restart")
    assert early["trace"].endswith(".itf.json") and early["skipped"] == 4 and early["judged"] > 0


def test_no_step_at_all_is_a_failure() -> None:
    with pytest.raises(ConformError, match=r"None of the 18 traces can be replayed.*needs load") as caught:
        on_golden(controls=[])
    assert caught.value.exit_code == 3


LEVELS = {"black box": BLACK_BOX, "observable": OBSERVABLE, "loadable": [*EVERYTHING]}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("lie", "action"), [("error", "Leave"), ("greedy", "Join")])
def test_a_wrong_response_is_reported_at_every_level(level: str, lie: str, action: str) -> None:
    """`greedy` breaks R7: a target that is free to choose its target assignment is not free to do that."""
    result = on_golden(controls=LEVELS[level], lie=lie)
    assert action in {failure.action for failure in result.failures}
    assert all(one.path.startswith("response") for failure in result.failures for one in failure.differences)


@pytest.mark.parametrize("level", ["observable", "loadable"])
def test_a_wrong_description_is_reported_where_there_is_one(level: str) -> None:
    failures = on_golden(controls=LEVELS[level], lie="group epoch").failures
    assert {one.path for failure in failures for one in failure.differences} == {"group.groupEpoch"}


def test_after_a_difference_only_a_target_that_can_be_loaded_is_judged_on() -> None:
    results = {level: on_golden(controls=LEVELS[level], lie="greedy") for level in LEVELS}
    assert DIFFERENCE in counted(results["observable"]) and results["observable"].judged < 92
    assert (counted(results["loadable"]), results["loadable"].judged) == ({}, 142)
    per_trace = Counter(failure.trace for failure in results["observable"].failures)
    assert set(per_trace.values()) == {1}


@pytest.mark.parametrize("chooses", ["", "last"])
@pytest.mark.parametrize(
    "controls",
    [[*BLACK_BOX, "fire", "restart"], [*OBSERVABLE, "fire"], [*OBSERVABLE, "records", "fire", "restart"]],
)
@pytest.mark.parametrize("hidden", [[], ["members.target"]])
def test_another_legal_target_assignment_is_no_difference(controls: Any, hidden: Any, chooses: str) -> None:
    result = walks_on(60, controls=controls, hidden=hidden, chooses=chooses)
    assert result.failures == []
    assert result.judged > 300
    assert skipped(result)[ANOTHER]["traces"] > 30


@pytest.mark.parametrize("controls", [BLACK_BOX, OBSERVABLE, [*OBSERVABLE, "records"]])
def test_an_illegal_target_assignment_is_a_difference(controls: Any) -> None:
    """A4: every partition of a subscribed topic has an owner; a black box shows it to the only member."""
    result = walks_on(20, controls=controls, chooses="none")
    assert result.failures
    paths = {one.path for failure in result.failures for one in failure.differences}
    assert "response.assignment.assignedTopicPartitions" in paths


def test_a_log_without_records_of_a_type_is_read_from_where_it_ends() -> None:
    """A fail-over keeps what the target has written, not as many records as the trace has."""
    name = f"records.{METADATA}"
    result = walks_on(30, hashes=True, declared=[name])
    assert (result.failures, result.judged, result.unobserved) == ([], 30 * 60, (name,))
    assert result.coverage.actions["FailOver"] > 30


def shared() -> Model:
    """Two members of which each is to have a partition, by the assignor's choice; `chooses` would give both
    to the second."""
    for seed in range(100):
        model = Model(seed, {"foo": 2})
        model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
        model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
        if model.group["target"][("foo", 0)] == "m1" and model.group["target"][("foo", 1)] == "m2":
            return model
    raise AssertionError("no seed gives each member a partition")


def replayed(model: Model, **options: Any) -> Replayed:
    opened = open_target(target(**options))
    try:
        replayer = Replayer(opened, max_differences=9)
        replayer.replay(decoded(model))
    finally:
        opened.close()
    return replayer.result


def test_another_target_assignment_may_show_later() -> None:
    """A black box gives the second member nothing yet; the first is then told to revoke too much."""
    model = shared()
    model.heartbeat("m1", 1, owned=None)
    result = replayed(model, controls=BLACK_BOX, hidden=[], chooses="last")
    assert result.failures == []
    assert [(one.reason, one.judged) for one in result.ended_early] == [(ANOTHER, 1)]


def test_a_target_assignment_that_is_shown_must_be_legal() -> None:
    """A4: one that leaves a partition without an owner is no other target assignment, but a difference."""
    (failure,) = replayed(shared(), controls=OBSERVABLE, chooses="lossy").failures
    assert {"group.members[m1].target", "group.members[m2].target"} & {
        one.path for one in failure.differences
    }


def test_a_member_that_was_given_its_part_is_excused_no_more() -> None:
    model = shared()
    model.heartbeat("m2", 2, owned=None)
    assert replayed(model, controls=BLACK_BOX).judged == 3
    (failure,) = replayed(model, controls=BLACK_BOX, lie="forgetful").failures
    assert (failure.index, failure.action) == (3, "Heartbeat")


def test_a_state_that_is_loaded_has_the_target_assignment_of_the_trace() -> None:
    """A target assignment that was not seen in an earlier trace excuses nothing in the next trace."""
    model = shared()
    model.heartbeat("m1", 1, owned=None)
    from_the_third = model.trace()
    del from_the_third.states[:2]
    opened = open_target(target(controls=without("assign", "describe"), lie="forgetful"))
    try:
        replayer = Replayer(opened, max_differences=9)
        replayer.replay(decoded(shared()))
        replayer.replay(Decoder().decode(from_the_third, "from the third state"))
    finally:
        opened.close()
    (failure,) = replayer.result.failures
    assert (failure.trace, failure.index) == ("from the third state", 1)


def test_another_target_assignment_excuses_nothing_else() -> None:
    """A difference that does not follow from a target assignment is one, where another was chosen, too."""
    result = replayed(shared(), controls=OBSERVABLE, chooses="last")
    assert (result.failures, result.ended_early[0].reason) == ([], ANOTHER)
    (failure,) = replayed(shared(), controls=OBSERVABLE, chooses="last", lie="group epoch").failures
    assert "group.groupEpoch" in {one.path for one in failure.differences}


def test_a_program_that_cannot_be_loaded_is_started_anew_and_configured_again() -> None:
    foo = {"name": "foo", "id": "11111111-1111-1111-1111-111111111111", "partitions": 1}
    join = {"groupId": "g", "memberId": "m1", "memberEpoch": 0, "rebalanceTimeoutMs": 5000,
            "subscribedTopicNames": ["foo"], "topicPartitions": []}  # fmt: skip
    client = {"id": "c", "host": "/127.0.0.1", "principal": "User:c"}
    opened = StdioTarget(target(controls=without("load")).removeprefix("stdio:"))
    try:
        assert "fresh" in opened.hello().controls
        opened.configure({"group.consumer.session.timeout.ms": 60_000})
        for _ in range(2):
            opened.load([], [foo], {"clockMs": 0})
            assert opened.describe("g")["state"] == "Dead"
            answer: Answer = opened.request("ConsumerGroupHeartbeat", 0, client, join, "g")
            assert answer.group is not None and answer.group["timers"][0]["deadlineMs"] == 60_000
            assert answer.group["members"][0]["assigned"] == [{"topicId": foo["id"], "partitions": [0]}]
    finally:
        opened.close()
