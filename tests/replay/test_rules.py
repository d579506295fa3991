"""A differing step names the rule that it breaks, its requirement and property, from what the target
shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from expected_steps import corruptions

import coordinator.consumer.reconcile
from harness.itf import read_trace
from harness.replay.compare import Difference, differences
from harness.replay.decode import Decoder
from harness.replay.fields import of_difference, rules_of_process
from harness.replay.members import MemberReplayer
from harness.replay.prepared import DecodedTrace, Step
from harness.replay.report import explain, to_json
from harness.replay.rules import PROPERTIES, broken_rules
from harness.replay.run import Failure, Replayer
from harness.report.readers.form import read
from harness.report.readers.replay import Replay
from harness.targets.base import Answer, Capabilities, Json
from harness.targets.python import PythonTarget
from harness.targets.python_member import PythonProcess

ROOT = Path(__file__).parents[2]
KNOWN = set(re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "REQUIREMENTS.md").read_text(), re.MULTILINE))
PROPERTIES_OF_SPEC = (ROOT / "spec" / "GroupProperties.tla").read_text()
TRACES = sorted((ROOT / "traces" / "corpus").glob("MC*.itf.json"))
BASIC = ROOT / "traces" / "golden" / "basic.itf.json"


def decoded(file: Path) -> DecodedTrace:
    return Decoder().decode(read_trace(file), file.name)


def first_failure(target: PythonTarget, file: Path = BASIC) -> Failure:
    replayer = Replayer(target, 50)
    replayer.replay(decoded(file))
    return replayer.result.failures[0]


@pytest.fixture
def gives_what_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator whose members get all of their target at once (R3 left out)."""
    monkeypatch.setattr(coordinator.consumer.reconcile, "held_by_others", lambda *_: frozenset())


class Unseen(PythonTarget):
    """The coordinator without a description of its groups."""

    def hello(self) -> Capabilities:
        known = super().hello()
        return replace(known, controls=known.controls - {"describe"})


@pytest.mark.usefixtures("gives_what_others_hold")
def test_giving_a_held_partition_breaks_r7() -> None:
    text = "\n".join(explain(first_failure(PythonTarget("kip-848")), "python", "kip-848"))
    assert "  R7, HeldDisjoint: foo-2 is held by A and by B\n" in text
    assert "  group.members[B].assigned (R3)\n" in text


@pytest.mark.usefixtures("gives_what_others_hold")
def test_a_response_alone_says_that_r7_is_broken() -> None:
    failure = first_failure(Unseen("kip-848"))
    assert ("R7", "HeldDisjoint", "B is given foo-2, which A still holds") in {
        (one.requirement, one.property, one.says) for one in failure.rules
    }


@pytest.mark.usefixtures("gives_what_others_hold")
def test_the_json_has_the_rule_and_the_report_reads_it() -> None:
    replayer = Replayer(PythonTarget("kip-848"), 50)
    replayer.replay(decoded(BASIC))
    report = to_json(replayer.result, "python", "kip-848")
    failure = report["failures"][0]
    assert failure["rules"][0]["requirement"] == "R7"
    assert {one["requirement"] for one in failure["differences"]} >= {"R3", "P1"}
    assert read({**report, "stem": "a"}, Replay, "a").failures[0].rules == replayer.result.failures[0].rules


def member(group: Json, name: str) -> Json:
    result: Json = next(one for one in group["members"] if one["memberId"] == name)
    return result


def others(group: Json, name: str) -> Iterator[Json]:
    return (one for one in group["members"] if one["memberId"] != name)


def who(step: Step) -> str:
    return str(step.load.state.step.member)


def shares(step: Step, group: Json, body: Json) -> None:
    for one in others(group, who(step)):
        one["assigned"] = member(group, who(step))["assigned"]


def runs_ahead(step: Step, group: Json, body: Json) -> None:
    group["assignmentEpoch"] = group["groupEpoch"] + 1


def goes_back(step: Step, group: Json, body: Json) -> None:
    group["groupEpoch"] -= 5


def targets_twice(step: Step, group: Json, body: Json) -> None:
    for one in group["members"]:
        one["target"] = max((other["target"] for other in group["members"]), key=len)


def forgets(step: Step, group: Json, body: Json) -> None:
    one = member(group, who(step))
    one["assigned"], one["pendingRevocation"] = [], []


def advances(step: Step, group: Json, body: Json) -> None:
    member(group, who(step))["memberEpoch"] = body["memberEpoch"] = group["assignmentEpoch"]


def disturbs(step: Step, group: Json, body: Json) -> None:
    for one in others(group, who(step)):
        one["pendingRevocation"] = [*one["pendingRevocation"], *one["assigned"]]
        one["assigned"] = []


def tells_another(step: Step, group: Json, body: Json) -> None:
    body["memberEpoch"] += 1


def fences(step: Step, group: Json, body: Json) -> None:
    body["errorCode"] = 110


def lends(step: Step, group: Json, body: Json) -> None:
    for one in group["members"]:
        one["instanceId"] = "i1"


@pytest.mark.parametrize(
    ("change", "requirement", "name"),
    [
        (shares, "R7", "HeldDisjoint"),
        (runs_ahead, "E4", "EpochsOrdered"),
        (goes_back, "E4", "EpochsMonotone"),
        (targets_twice, "A4", "LegalAtInstallation"),
        (forgets, "R1", "ReleasedOnlyByAcknowledgement"),
        (advances, "R2", "AdvancesWithoutRevocation"),
        (disturbs, "R6", "OthersUntouched"),
        (tells_another, "R5", "ResponseMatches"),
        (fences, "H5", "ErrorsExactly"),
        (lends, "S2", "InstancesUnique"),
    ],
)
def test_the_wrong_part_of_a_state_is_named(
    change: Callable[[Step, Json, Json], None], requirement: str, name: str
) -> None:
    named = set()
    for file in TRACES:
        trace = decoded(file)
        before: Json | None = trace.initial
        for step in trace.steps:
            group, body = deepcopy(step.expected.group), deepcopy(step.expected.body)
            if step.action == "Heartbeat" and group and body and not body["errorCode"]:
                change(step, group, body)
                answer = step.expected._replace(group=group, body=body)
                results = broken_rules(step.action, step.call.operation(), before, step.expected, answer)
                named |= {(one.requirement, one.property) for one in results}
            before = step.expected.group
    assert (requirement, name) in named


def test_a_loss_in_a_fail_over_breaks_p2() -> None:
    trace = decoded(BASIC)
    before = next(step.expected.group for step in trace.steps if step.expected.group)
    assert before is not None
    lost = Answer(group={**before, "members": before["members"][1:]})
    results = broken_rules("FailOver", {"op": "restart", "after": None}, before, Answer(group=before), lost)
    assert [(one.requirement, one.property) for one in results] == [("P2", "FailOverKeeps")]


def test_every_property_is_one_of_the_specification_with_that_requirement() -> None:
    for requirement, name, _ in PROPERTIES:
        assert requirement in KNOWN
        comment = re.search(rf"((?:\\\* .*\n)+){name}\(", PROPERTIES_OF_SPEC)
        # The type is a comment of its own, before it stands the prose.
        start = PROPERTIES_OF_SPEC.index(f"\n{name}(")
        prose = PROPERTIES_OF_SPEC[:start].rsplit("\n\n", 1)[-1]
        assert comment and requirement in prose, name


def test_every_value_that_differs_names_a_requirement() -> None:
    tried = 0
    for file in sorted((ROOT / "traces").glob("*/*.itf.json"))[::12]:
        for step in decoded(file).steps:
            good = step.expected
            for name in ("body", "group", "records"):
                for _, changed in corruptions(getattr(good, name), name):
                    for one in differences(good, good._replace(**{name: changed})):
                        way = step.action, step.branch, step.error
                        assert of_difference(one, *way, step.call.operation()) in KNOWN, one
                        tried += 1
    assert tried > 5_000


@pytest.mark.parametrize(
    ("path", "branch", "requirement"),
    [
        ("group.members[m1].assigned", "assign", "R3"),
        ("group.members[m1].assigned", "revoke", "R1"),
        ("group.groupEpoch", "stable", "E1"),
        ("group.timers[session m1]", "stable", "H8"),
        ("group.timers[rebalance m1].deadlineMs", "stable", "R4"),
        ("records[ConsumerGroupMetadata]", "stable", "P1"),
        ("response.heartbeatIntervalMs", "stable", "H9"),
        ("response.unheard", "stable", "R6"),
    ],
)
def test_a_field_has_its_own_requirement(path: str, branch: str, requirement: str) -> None:
    assert of_difference(Difference(path, 1, 2), "Heartbeat", branch, "NONE", {}) == requirement


@pytest.mark.parametrize(
    ("field", "body", "requirement"),
    [
        ("clientAssignors", {"serverAssignor": "range", "clientAssignors": None}, "H3"),
        ("clientAssignors", {"serverAssignor": None, "clientAssignors": None}, "A1"),
        ("serverAssignor", {"serverAssignor": None, "clientAssignors": [{"name": "x"}]}, "H3"),
        ("serverAssignor", {"serverAssignor": None, "clientAssignors": []}, "A1"),
        ("serverAssignor", {"serverAssignor": "range", "clientAssignors": None}, "A1"),
    ],
)
def test_assignors_of_both_sides_are_of_the_rule_that_forbids_them(
    field: str, body: Json, requirement: str
) -> None:
    sent = {"op": "request", "api": "ConsumerGroupHeartbeat", "body": {"memberId": "m1", **body}}
    one = Difference(f"group.members[m1].{field}", None, "range")
    assert of_difference(one, "Heartbeat", "stable", "NONE", sent) == requirement


@pytest.mark.parametrize(
    ("error", "got", "requirement"),
    [("UNSUPPORTED_ASSIGNOR", 0, "H4"), ("NONE", 112, "H4"), ("NONE", 42, "H3"), ("NONE", 99, "R6")],
)
def test_an_error_has_the_requirement_of_the_error(error: str, got: int, requirement: str) -> None:
    one = Difference("response.errorCode", 0, got)
    assert of_difference(one, "Heartbeat", "stable", error, {}) == requirement


class KeepsAll(PythonProcess):
    """A member that reports no partitions when it should report them, and all of them after an error."""

    last: Json

    def receive(self, body: Json) -> None:
        self.last = self.observe()
        super().receive(body)
        self.failed = bool(body["errorCode"])

    def observe(self) -> Json:
        seen = super().observe()
        return {**seen, "owned": self.last["owned"]} if getattr(self, "failed", False) else seen


def test_members_name_their_rule() -> None:
    results = [
        (step.operation(), failure)
        for file in sorted((ROOT / "traces" / "members").glob("*.itf.json"))
        for step, failure in MemberReplayer(KeepsAll).replay(decoded(file).members)
    ]
    assert results
    for operation, failure in results:
        assert {of_difference(one, "ReceiveResponse", "", "", operation) for one in failure} == {"K1"}
        assert [(one.requirement, one.property) for one in rules_of_process(operation, failure)] == [
            ("K1", "AbandonsAtOnce")
        ]


@pytest.mark.parametrize(
    ("path", "operation", "requirement"),
    [
        ("member.mustRevoke", {"op": "receive", "answer": {"errorCode": 0}}, "K2"),
        ("member.owned", {"op": "receive", "answer": {"errorCode": 0}}, "K3"),
        ("member.owned", {"op": "finish_revocation"}, "K2"),
        ("member.epoch", {"op": "receive", "answer": {"errorCode": 0}}, "E3"),
        ("request.topicPartitions", {"op": "send"}, "K2"),
        ("request.subscribedTopicNames", {"op": "send"}, "H7"),
    ],
)
def test_a_field_of_a_member_has_its_rule(path: str, operation: Json, requirement: str) -> None:
    assert of_difference(Difference(path, 1, 2), "ReceiveResponse", "", "", operation) == requirement


@pytest.mark.parametrize("assignment", ["AAMAAAAA/////w==", {}, {"assignedTopicPartitions": [{}]}, [1], 7])
def test_an_assignment_of_any_form_breaks_the_replay_of_no_step(assignment: object) -> None:
    """A SyncGroup has its assignment as a text, and a faulty target may answer anything."""
    sent = {"op": "request", "api": "SyncGroup", "body": {"memberId": "a"}}
    member = {"memberId": "a", "memberEpoch": 1, "assigned": [], "pendingRevocation": []}
    group = {"groupEpoch": 1, "assignmentEpoch": 1, "members": [member]}
    expected = Answer({"errorCode": 0, "assignment": "AAMAAAAA/////w=="}, group)
    got = Answer({"errorCode": 0, "assignment": assignment}, group)
    assert broken_rules("SyncGroup", sent, group, expected, got) == []
