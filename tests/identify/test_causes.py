"""Differences by cause: one departure, or one root, explains many of them; the most serious come first."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coordinator.consumer import validation
from harness.cli.main import app
from harness.dialects import read_measured
from harness.identify.explain import SEVERAL, explained, grouped
from harness.identify.unmodelled import without_constant
from harness.replay.causes import Cause, causes, departs, from_json, label, lines, root, title, to_json, what
from harness.replay.compare import Difference
from harness.replay.jobs import Files
from harness.replay.report import explain_causes
from harness.replay.run import DIFFERENCE, EndedEarly, Failure, Replayed, Replayer
from harness.targets.base import Answer, Json
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parent.parent.parent
TRACES = ROOT / "traces" / "dialects" / "kafka-4.2"
TWICE = ROOT / "traces" / "golden" / "delete-groups.itf.json"
"""The group is made, emptied, deleted and made again."""
MIX = "kafka-4.2,UnknownGroupError=UNKNOWN_MEMBER_ID,InstanceChecked=unreleased,MetadataChange=at-once"


def replayed_on(dialect: str, files: Iterable[Path]) -> Replayed:
    replayer = Replayer(PythonTarget(dialect), 10_000)
    for trace in map(Files().read, files):
        replayer.replay(trace)
    return replayer.result


@cache
def replayed() -> Replayed:
    """The differences of an implementation that departs from Kafka 4.2 three times."""
    return replayed_on(MIX, sorted(TRACES.glob("*.itf.json")))


def failure(index: int, *paths: str, action: str = "Heartbeat") -> Failure:
    return Failure("t", index, action, "stable", "NONE", None, {}, [Difference(one, 1, 2) for one in paths])


def test_each_departure_of_a_mix_is_one_cause() -> None:
    failures = replayed().failures
    results = grouped(replayed(), "kafka-4.2")
    assert {one.departure for one in results} == set(MIX.split(",")[1:])
    assert len(results) == 3 < len({name for one in results for name in one.signatures})
    assert sum(one.steps for one in results) == len(failures)
    assert all(one.requirements for one in results)


def test_differences_without_one_departure_are_grouped_by_root() -> None:
    """A target whose every answer is also wrong in another field has its differences grouped."""
    wrong = Difference("response.memberEpoch", 1, 77)
    spoilt = [
        Failure(one.trace, one.index, one.action, one.branch, one.error, None, {}, [*one.differences, wrong])
        for one in replayed().failures
    ]
    assert explained(replace(replayed(), failures=spoilt), "kafka-4.2") == {}
    assert {one.departure for one in causes(spoilt)} == {""}


def test_a_departure_that_would_change_other_steps_explains_nothing() -> None:
    """A target that differs as a departure would, but in a single step of a trace."""
    departure = "PreviousEpochReset=reconciliation"
    offsets = ROOT / "traces" / "golden" / "offsets.itf.json"
    result = replayed_on(f"kip-848,{departure}", [offsets])
    first, second = result.failures
    assert set(explained(result, "kip-848").values()) == {departure}
    alone = replace(result, failures=[first])
    assert explained(alone, "kip-848") == {}
    waived = {second.signature(one) for one in second.differences}
    assert explained(alone, "kip-848", waives=waived.__contains__) != {}
    assert explained(replace(alone, not_judged=1), "kip-848") != {}
    early = [EndedEarly(first.trace, 4, 9, DIFFERENCE)]
    assert explained(replace(alone, ended_early=early), "kip-848") != {}


def test_a_bug_of_the_coordinator_itself_is_no_departure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every dialect of a broken coordinator answers alike, so none is the cause."""
    monkeypatch.setattr(validation, "LEAVE_EPOCH", validation.JOIN_EPOCH)
    result = replayed_on("kip-848", [TWICE])
    assert len(result.failures) == 2
    assert explained(result, "kip-848") == {}


def test_a_dialect_with_departures_is_explained_by_them() -> None:
    """As after `conform identify`: the traces are of Kafka 4.2 itself."""
    assert explained(replayed(), MIX) == explained(replayed(), "kafka-4.2") != {}


def test_a_departure_that_the_dialect_has_is_no_other_one() -> None:
    """A departure that --dialect names is reported as the dialect's."""
    results = grouped(replayed(), MIX)
    assert {one.departure for one in results} == set(MIX.split(",")[1:])
    assert all(one.of_dialect for one in results)
    assert all("which belongs to its dialect, seen in" in line for line in lines(results))
    assert not any(one.of_dialect for one in grouped(replayed(), "kafka-4.2"))


def test_the_departures_of_its_dialect_explain_a_target_on_traces_of_the_text() -> None:
    """None of them was a cause: the Python coordinator of that dialect differs from these traces, too."""
    files = sorted((ROOT / "traces/corpus").glob("MCOpen-goal-000*.itf.json"))
    result = replayed_on("kafka-4.2", files)
    results = grouped(result, "kafka-4.2")
    assert sum(one.steps for one in results) == len(result.failures) > 3
    assert all(one.of_dialect for one in results), list(lines(results))
    assert {"RevocationRecorded=yes"} <= {one.departure for one in results}


def test_several_departures_of_a_dialect_explain_what_no_single_one_does() -> None:
    result = replayed_on("kafka-4.2", [ROOT / "traces/golden/basic.itf.json"])
    assert SEVERAL in {one.departure for one in grouped(result, "kafka-4.2") if one.of_dialect}


class TakesCommits(PythonTarget):
    """A coordinator that takes a commit with an epoch below 0 in a group without members, as Kafka does."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        if (
            api == "OffsetCommit"
            and body["generationIdOrMemberEpoch"] < 0
            and not self.describe("g")["members"]
        ):
            body = {**body, "memberId": "", "generationIdOrMemberEpoch": -1, "groupInstanceId": None}
        return super().request(api, version, client, body, observe)


def test_a_commit_into_a_group_without_members_is_a_departure_without_a_constant() -> None:
    name = "MCOffsets-goal-0001-commit-of-who-is-not-a-member.itf.json"
    replayer = Replayer(TakesCommits("kip-848"), 10_000)
    replayer.replay(Files().read(ROOT / "traces/corpus" / name))
    [failed] = replayer.result.failures
    assert explained(replayer.result, "kip-848") == {(failed.trace, failed.index): "EmptyGroupCommits"}
    [cause] = grouped(replayer.result, "kip-848")
    assert (cause.departure, cause.of_dialect) == ("EmptyGroupCommits", False)
    assert grouped(replayer.result, "kafka-4.2")[0].of_dialect
    classic = [Difference("group.groupEpoch", 0, "(absent)"), Difference("group.type", "(absent)", "classic")]
    for more, answer in (
        ([Difference("group.state", "Dead", "Empty")], {"EmptyGroupCommits"}),
        (classic, {"EmptyGroupCommits"}),
        (classic[:1], {""}),
        ([Difference("response.throttleTimeMs", 0, 1)], {""}),
    ):
        other = replace(failed, differences=[*failed.differences, *more])
        results = grouped(replace(replayer.result, failures=[other]), "kip-848")
        assert {one.departure for one in results} == answer


def test_a_commit_that_no_group_may_take_is_no_departure() -> None:
    """The group has a member, which is away."""
    name = "MCOffsets-goal-0012-commit-of-one-that-is-away.itf.json"
    trace = Files().read(ROOT / "traces/corpus" / name)
    step = next(one for one in trace.steps if one.action == "OffsetCommit")
    sent = step.call.operation()
    answer = Difference("response.topics", [{"errorCode": 25}], [{"errorCode": 0}])
    failed = Failure(trace.name, step.index, step.action, "", step.error, None, sent, [answer])
    assert without_constant(failed, step) == ""


def test_different_requirements_are_different_causes() -> None:
    """A member that stays where its session has run out, and one that stays in a revocation; two states."""
    listed = [
        failure(2, "group.members[m]", action="SessionTimeout"),
        failure(3, "group.members[n]", action="RebalanceTimeout"),
        failure(4, "group.members[n]", action="RebalanceTimeout"),
        replace(failure(5), differences=[Difference("group.state", "Stable", "Empty")]),
        replace(failure(6), differences=[Difference("group.state", "Dead", "Empty")]),
    ]
    assert [(one.what, one.requirements, one.steps) for one in causes(listed)] == [
        ("group.members[]", ("R4",), 2),
        ("group.members[]", ("H8",), 1),
        ("group.state Dead -> Empty", ("E5",), 1),
        ("group.state Stable -> Empty", ("E5",), 1),
    ]


def test_a_label_is_the_same_whatever_else_is_replayed() -> None:
    """The label of a departure was that of the shortest schedule among all traces."""
    whole = replayed()
    explanations = explained(whole, "kafka-4.2")
    among = causes(whole.failures, explanations)
    for name in {one.trace for one in whole.failures}:
        alone = replayed_on(MIX, [Path(name)])
        for entry in (causes(alone.failures), grouped(alone, "kafka-4.2")):
            assert {one for cause in entry for one in cause.labels} == {*map(label, alone.failures)}
        for one in alone.failures:
            [cause] = causes([one])
            [same] = [each for each in causes(whole.failures) if label(one) in each.labels]
            assert title(cause) == title(same)
            departure = explanations.get((one.trace, one.index), "")
            [explaining] = [
                each for each in among if each.departure == departure and label(one) in each.labels
            ]
            assert label(one) in title(explaining)


def test_no_two_causes_have_one_label() -> None:
    """The same holds without a requirement: until now the shortest schedule's action was the label."""
    listed = [
        failure(2, "group.members[m]", action="SessionTimeout"),
        failure(3, "group.members[m]", action="RebalanceTimeout"),
        failure(4, "operation fire", action="SessionTimeout"),
        failure(5, "operation fire", action="RebalanceTimeout"),
    ]
    results = causes([*listed, *replayed().failures], explained(replayed(), "kafka-4.2"))
    assert len({title(one) for one in results}) == len(results)
    assert [title(one) for one in causes(listed)] == [title(one) for one in results if not one.departure]
    assert causes(listed[2:])[0].requirements == causes(listed[3:])[0].requirements


def test_a_failure_is_named_as_its_cause_is() -> None:
    """The report sorts failures by the causes of a replay."""
    state = replace(failure(5), differences=[Difference("group.state", "Stable", "Empty")])
    for one in (failure(4, "group.members[m]"), state):
        assert [what(one)] == [cause.what for cause in causes([one])]


def test_the_root_is_what_the_others_follow_from() -> None:
    given = failure(1, "group.groupEpoch", "group.members[m].subscribedTopicNames", "response.memberEpoch")
    assert root(given) == "group.members[].subscribedTopicNames"
    assert root(failure(1, "group.timers[session m]", "response.errorCode")) == "response.errorCode 1 -> 2"
    assert root(failure(1, "group.members[m].assigned", "group.groupEpoch")) == "group.groupEpoch"
    assert root(failure(1, "records[0]", "response.heartbeatIntervalMs")) == "records[]"


def test_the_most_serious_cause_is_first_and_a_known_departure_last() -> None:
    listed = [
        failure(1, "response.heartbeatIntervalMs"),
        failure(2, "group.timers[session m].deadlineMs"),
        failure(3, "response.errorCode"),
        failure(5, "group.members[m].assigned"),
        failure(4, "group.members[n].assigned", action="Join"),
        failure(6, "group.members[n].assigned", "group.groupEpoch"),
    ]
    results = causes(listed, {("t", 6): "MetadataChange=at-once"})
    assert [(one.what, one.step, one.steps) for one in results] == [
        ("group.members[].assigned", 4, 2),
        ("response.errorCode 1 -> 2", 3, 1),
        ("group.timers[session].deadlineMs", 2, 1),
        ("response.heartbeatIntervalMs", 1, 1),
        ("group.groupEpoch", 6, 1),
    ]
    assert from_json(json.loads(json.dumps(to_json(results)))) == results


def test_the_most_serious_cause_and_that_of_most_steps_are_shown_in_full() -> None:
    """The first difference in the order of the traces was shown, whatever its cause."""
    deadline = replace(failure(1, "group.timers[session m].deadlineMs"), trace="traces/a.itf.json")
    wrong = [failure(index, "response.errorCode", action="Join") for index in (3, 2, 5)]
    owned = replace(failure(4, "group.members[m].assigned", "group.timers[session m]"), trace="b.itf.json")
    failures = [deadline, *wrong, owned]
    printed = list(explain_causes(causes(failures), failures, "python", "kip-848"))
    headings = {line: printed[index + 1] for index, line in enumerate(printed) if line.startswith("cause ")}
    assert headings == {
        "cause 1, the most serious: group.members[].assigned (R3); its shortest trace:": (
            "b.itf.json, step 4: Heartbeat (stable)"
        ),
        "cause 2, that of most steps (3): response.errorCode 1 -> 2 (R6); its shortest trace:": (
            "t, step 2: Join (stable)"
        ),
    }
    pictures = [line for line in printed if line.startswith("  picture of the trace: ")]
    assert pictures == ["  picture of the trace: conform graph --trace b.itf.json --sequence"]
    assert "  group.timers[session m] (H8)" in printed, "all that differs in the step"
    of_dialect = causes(
        failures, {("t", index): "UnknownGroupError=X" for index in (2, 3, 5)}, {"UnknownGroupError=X"}
    )
    answer = [
        line for line in explain_causes(of_dialect, failures, "python", "kip-848") if "that of most" in line
    ]
    assert answer == [], "each other cause has one step, and so the most serious has the most"


def test_replay_and_dialects_print_the_same_causes(tmp_path: Path) -> None:
    result, trace = tmp_path / "a.json", ROOT / "traces" / "golden" / "basic.itf.json"
    target = f"stdio:{sys.executable} -m coordinator --stdio --dialect kafka-4.2"
    output = CliRunner().invoke(
        app, ["replay", str(trace), "--target", target, "--dialect", "kafka-4.2", "--json", str(result)]
    )
    assert output.exit_code != 0
    measured = read_measured(result).causes
    assert measured and all(isinstance(one, Cause) for one in measured)
    listed = " ".join(CliRunner().invoke(app, ["dialects", "--measured", str(result)]).output.split())
    for number, one in enumerate(measured, start=1):
        assert f"{number}. {one.departure and departs(one)}" in output.output
        assert f"shortest: step {one.step} of {one.trace}" in output.output
        assert f"{len(measured)} causes" in listed and all(named in listed for named in one.labels)
