"""`conform doctor`: each fault of an adapter is reported at its operation; a right adapter has none."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from faults import FAULTS
from faulty_program import Program

from harness.cli.doctor import command
from harness.doctor import controls
from harness.doctor.examine import BUYS, CHECKS, NEEDS, Check, Doctor, Examined, Finding, Level, Verdict
from harness.doctor.report import to_json
from harness.doctor.talk import Talk, Wrong
from harness.errors import ConformError
from harness.kinds.classic.description import CLASSIC
from harness.replay.features import FEATURES
from harness.replay.view import EVERYTHING
from harness.targets import open_target, start_target
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused
from harness.targets.python import PythonTarget
from harness.targets.stdio import StdioTarget

HERE = Path(__file__).parent
PARTIAL = HERE.parent / "replay" / "partial_target.py"


class Lines(StdioTarget):
    """The faulty program without a process of its own: its lines are handed over in this one."""

    def _start(self) -> None:
        self._faulty = Program(str(self._command))

    def _exchange(self, sent: bytes, name: str) -> Json:
        answer: Json = json.loads(self._faulty.line(sent))
        if not answer["ok"]:
            raise Refused(self.name, name, answer["error"])
        return answer

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def no_time(seconds: float) -> None:
    """Wait no time, where a target would have to wait."""


def examined(fault: str) -> Examined:
    return Doctor(f"stdio:{fault}", "kip-848", lambda: Lines(fault), no_time).examine(lambda _: None)


def stdio(fault: str) -> str:
    return f"stdio:{sys.executable} {shlex.quote(str(HERE / 'faulty_program.py'))} {fault}"


DIALECTS = ["kip-848", "kafka-4.0", "kafka-4.1", "kafka-4.2", "kafka-4.3", "kafka-4.4"]

TOLD = {
    "unobserved_unknown": ("hello", "members.shoeSize cannot be observed"),
    "hello_changes": ("hello", "both answers are the same"),
    "no_heartbeat": ("hello", "version 0 of ConsumerGroupHeartbeat is there"),
    "versions_are_turned": ("hello", "[first, last] version of each API"),
    "join_refused": ("request", 'Sent: the join of m1. Came back: {"throttleTimeMs": 0, "errorCode": 15'),
    "other_member_id": ("request", "a join is told the member's id"),
    "unknown_field": ("request", "shoeSize, which ConsumerGroupHeartbeatResponse has not"),
    "epoch_is_text": ("request", "memberEpoch of the response is "),
    "partitions_unsorted": ("request", "the partitions [1, 0] must be sorted"),
    "topic_id_in_capitals": ("request", "is not a UUID as RFC 4122 writes it"),
    "invalid_is_fine": ("errors", "Sent: a heartbeat without group id."),
    "error_is_a_refusal": ("errors", "Refused request: this member is unknown"),
    "leaves_with_epoch_0": ("request", "its epoch is -1 (H2)"),
    "never_grows": ("topics", "the only member is given partitions that are added"),
    "never_deletes": ("topics", "partitions of a topic that is deleted are taken back"),
    "field_missing": ("describe", "one of the members has no acknowledged"),
    "field_too_many": ("describe", "the group has shoeSize"),
    "epoch_as_text": ("describe", 'groupEpoch of the group is "0", which is of another type'),
    "acknowledged_as_number": ("describe", "acknowledged of one of the members is 1"),
    "unknown_state": ("describe", 'the state "DEAD", which is none of'),
    "dead_is_empty": ("describe", "its state is Dead, it has no members"),
    "never_stable": ("describe", "a group whose members have all they should is Stable"),
    "no_timers": ("describe", "the timers have the member's session"),
    "unknown_timer": ("describe", 'there is a timer "egg"'),
    "no_members": ("describe", "members has the one member"),
    "other_target": ("describe", 'Came back: {"target": []}'),
    "other_epoch": ("describe", "memberEpoch of m1 is 1"),
    "offsets_from_1": ("records", "after offset -1 comes 1, not 0"),
    "log_never_empty": ("records", "a new coordinator's log is empty"),
    "since_ignored": ("records", "Sent: records since 1 of"),
    "unknown_key": ("records", 'a key has the type "Shoe"'),
    "no_values": ("records", "a record has no value"),
    "no_group_record": ("records", "there is a ConsumerGroupMetadata"),
    "observes_too_early": ("observe", "group is what describe gives then"),
    "observes_no_records": ("observe", "records are those that the request wrote"),
    "advances_silently": ("advance", "fired has the session of m1"),
    "stands_still": ("advance", "m1 is still in the group"),
    "too_fast": ("advance", "nothing is due yet"),
    "fires_silently": ("fire", "fired has that timer, and no other"),
    "fires_all": ("fire", "m2 is gone, too"),
    "fires_nothing": ("fire", "m1 is still in the group"),
    "script_ignored": ("assign", "no answer said consumed"),
    "consumed_unsaid": ("assign", "no answer said consumed"),
    "consumed_said_once": ("assign", 'Sent: assign of {"m1": [0], "m2": [1]}, then the join of m2. Came'),
    "script_used_again": ("assign", "a script is used once"),
    "restart_forgets": ("restart", "the group is as its records say"),
    "keep_0_ignored": ("restart", "Sent: restart that keeps no record"),
    "restart_hides_log": ("restart", "the log is kept"),
    "keep_ignored": ("restart", "it has what was in them: m1, but not m2"),
    "load_loses_volatile": ("load", "members is"),
    "load_loses_deadlines": ("load", "timers is"),
    "load_of_all_ignored": ("load", 'state is "Stable"'),
    "load_of_nothing_ignored": ("load", "there is no group"),
    "load_loses_topics": ("load", "then m2 leaves and m1 is given the rest"),
    "records_says_no_end": ("records", "the answer has end"),
    "load_says_no_end": ("load", "the answer has end"),
    "restart_says_no_end": ("restart", "the answer has end"),
    "load_refuses_offsets": ("load", "refused: records OffsetCommit cannot be loaded"),
    "load_forgets_who_is_away": ("load", "load of a static member that is away"),
    "fresh_ignored": ("fresh", "a new coordinator's log is empty"),
    "fresh_shows_group": ("fresh", "there is no group"),
    "fresh_goes_on": ("fresh", "the answer is that of a new coordinator"),
    "ids_reversed": ("ids", "they are used in order"),
    "ids_ignored": ("ids", "they are used in order"),
    "configure_ignored": ("configure", "answers have it as heartbeatIntervalMs"),
    "configured_once": ("configure", "a load without records at 0 is a new coordinator"),
    "load_forgets_settings": ("configure", "settings stay until the next configure"),
    "configured_late": ("configure", "no refusal"),
    "commit_ignored": ("commit", "it is answered with an error"),
    "failed_but_seen": ("commit", "Sent: commit mode fail, then a join. Came back: [{"),
    "waits_but_is_seen": ("commit", "Sent: commit mode manual, then a join. Came back: [{"),
    "forgets_who_waits": ("commit", "the join is handled then"),
    "never_waits": ("commit", "it is pending until a commit"),
    "never_done": ("background", "nothing is queued any more"),
    "background_expires": ("background", "a group that has all it should stays as it is"),
    "says_active": ("coordinator", "it is answered with COORDINATOR_LOAD_IN_PROGRESS"),
    "moved_is_loading": ("coordinator", "it is answered with NOT_COORDINATOR"),
    "any_state": ("coordinator", "Sent: coordinator asleep. Came back: no refusal"),
    "no_rights_are_taken": ("rights", "it is answered with GROUP_AUTHORIZATION_FAILED"),
    "any_right": ("rights", "Sent: rights without the operation SHOUT. Came back: no refusal"),
    "nonsense_is_fine": ("bad input", 'Sent: the line {"op":"nonsense"}. Came back: no refusal'),
    "refusal_changes": ("bad input", "bad input changes nothing"),
    "no_reason": ("bad input", "a refusal says why"),
    "depends_on_the_process": ("determinism", "the same inputs give the same answers"),
}
"""Fault -> the operation at which it must be reported, and words of the sentence."""
PYTHON = re.compile(r"\b(None|True|False|frozenset|Answer\(|Capabilities\()|(?<!\w)'")
"""Values in Python's own form, which an author of an adapter in another language should never see."""
STARTED = {"dies_of_epoch": "errors", "hangs": "describe", "never_rests": ""}
"""Faults that are tried below."""


def test_every_fault_is_tried() -> None:
    assert TOLD.keys() | STARTED.keys() == FAULTS.keys()
    assert {operation for operation, _ in TOLD.values()} == {*CHECKS, "determinism"}


@pytest.mark.parametrize("fault", TOLD)
def test_a_fault_is_reported(fault: str) -> None:
    operation, words = TOLD[fault]
    result = examined(fault)
    results = {one.operation: one for one in result.findings}
    assert results[operation].verdict is Verdict.WRONG, results[operation]
    assert words in results[operation].message
    assert not result.died
    for one in result.findings:
        assert not PYTHON.search(one.message), one.message


class Alike(Lines):
    """A program that answers each operation with the same line."""

    def _exchange(self, sent: bytes, name: str) -> Json:
        apis = {"ConsumerGroupHeartbeat": [0, 0]}
        controls = ["topics", "describe", "load", "fresh"]
        known = {"name": "alike", "dialect": "kip-848", "apis": apis, "controls": controls}
        return {"ok": True, "group": {"groupId": "g"}, **known}


class Bare(Lines):
    """A program whose descriptions have the form of the protocol, and no field but the group's id."""

    def _exchange(self, sent: bytes, name: str) -> Json:
        answer = super()._exchange(sent, name)
        return {**answer, "group": {"groupId": "g"}} if "group" in answer else answer


def test_an_answer_of_another_form_is_wrong_and_ends_nothing() -> None:
    result = Doctor("alike", "kip-848", lambda: Alike("ids_reversed"), no_time).examine(lambda _: None)
    messages = {one.operation: one.message for one in result.findings}
    assert messages["fresh"] == (
        "The answer to load has not the form of the line protocol: the answer: 'end' is a required property."
    )


def checked(target: type[Lines], check: Check, monkeypatch: pytest.MonkeyPatch) -> str:
    """The sentence of a check in place of that of `describe`."""
    monkeypatch.setitem(CHECKS, "describe", check)
    result = Doctor("a", "kip-848", lambda: target("right"), no_time).examine(lambda _: None)
    return next(one.message for one in result.findings if one.operation == "describe")


def test_an_answer_without_what_a_check_reads_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol allows a description without a state: a target may hide the state, but must declare
    that."""
    given = checked(Bare, lambda talk: str(talk.target.describe("g")["state"]), monkeypatch)
    assert given == "An answer has no state, which this check reads."


def test_a_check_that_reads_right_answers_wrongly_is_a_fault_of_the_kit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kit once blamed the target for each error of its own checks."""
    with pytest.raises(ConformError, match=r"fault of the kit: .* \(IndexError: list index") as caught:
        checked(Lines, lambda talk: str(talk.describe()["members"][0]), monkeypatch)
    assert caught.value.exit_code == 3
    with pytest.raises(ConformError, match=r"fault of the kit: .*shoeSize"):
        checked(Lines, lambda talk: str(talk.describe()["shoeSize"]), monkeypatch)


def test_every_accepted_bad_input_is_reported_with_its_line() -> None:
    class Careless(PythonTarget):
        def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
            if target != {"m1": 1}:
                super().assign(group, target, error)

        def advance(self, ms: int, observe: str | None = None) -> Answer:
            return Answer() if ms < 0 else super().advance(ms, observe)

    result = Doctor("careless", "kip-848", lambda: Careless("kip-848"), no_time).examine(lambda _: None)
    [messages] = [one.message for one in result.findings if one.operation == "bad input"]
    assert 'Sent: advance by -1: {"op": "advance", "ms": -1}. Came back: no refusal' in messages
    assert 'Sent: assign of a number: {"op": "assign", "group": "g", "target": {"m1": 1}}. Came' in messages


def test_a_group_that_never_rests_is_waited_for_in_vain() -> None:
    target = Lines("never_rests")
    talk = Talk(target, target.hello(), EVERYTHING, [], no_time)
    talk.begin("m1")
    with pytest.raises(Wrong, match="a group comes to rest"):
        talk.rest()


def test_a_program_without_fault_has_none() -> None:
    result = examined("")
    assert (result.wrong, result.level, result.died) == ([], Level.LOADABLE, False)
    assert [one.operation for one in result.findings] == [*CHECKS, "determinism"]
    assert {one.operation for one in result.findings if one.verdict is Verdict.MISSING} == {"fresh"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_asks_nothing_that_depends_on_a_dialect(dialect: str) -> None:
    result = Doctor("python", dialect, lambda: start_target("python", dialect)).examine(lambda _: None)
    assert (result.wrong, result.level) == ([], Level.LOADABLE)


@pytest.mark.parametrize("lacking", [["records"], ["describe"], ["records", "describe", "topics"]])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_load_is_tested_without_records_or_descriptions(dialect: str, lacking: list[str]) -> None:
    target = PythonTarget(dialect)
    given = controls.load(Talk(target, target.hello(), EVERYTHING, lacking, no_time))
    assert ("is described as it should be" in given) is ("describe" not in lacking)


@pytest.mark.parametrize(
    ("fault", "lacking", "words"),
    [
        ("load_loses_volatile", ["records"], "members is"),
        ("load_loses_deadlines", ["records"], "timers is"),
        ("load_of_all_ignored", ["records"], 'state is "Stable"'),
        ("load_of_all_ignored", ["records", "describe"], "then a heartbeat of m1"),
    ],
)
def test_a_wrong_load_is_reported_without_records(fault: str, lacking: list[str], words: str) -> None:
    target = Lines(fault)
    with pytest.raises(Wrong, match=words):
        controls.load(Talk(target, target.hello(), EVERYTHING, lacking, no_time))


class WithoutStaticMembers(PythonTarget):
    """This repository's coordinator as one that refuses static members, at a join and in a load."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        if body.get("instanceId") is not None:
            return Answer({"errorCode": 42, "errorMessage": "There are no static members here."})
        return super().request(api, version, client, body, observe)

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        if any((record.get("value") or {}).get("instanceId") for record in records):
            raise Refused(self.name, "load", "there are no static members here")
        super().load(records, topics, volatile)


def test_a_target_without_static_members_can_be_loadable() -> None:
    """No state of a static member is loaded then, and the finding has that."""
    start = lambda: WithoutStaticMembers("kip-848")  # noqa: E731
    result = Doctor("python", "kip-848", start, no_time).examine(lambda _: None)
    assert (result.wrong, result.level) == ([], Level.LOADABLE)
    report = message_of(result, "load")
    assert "joins with an instance id are refused" in report and "is away" not in report
    assert 'say so in hello ("lacks":["static members"])' in report


def message_of(examined: Examined, operation: str) -> str:
    return next(one.message for one in examined.findings if one.operation == operation)


def lacking(target: type[PythonTarget], *features: str) -> Examined:
    """The findings on a target that declares that it lacks these features."""

    class Lacking(target):  # type: ignore[valid-type, misc]
        def hello(self) -> Capabilities:
            known: Capabilities = super().hello()
            return replace(known, lacks=frozenset(features))

    return Doctor("python", "kip-848", lambda: Lacking("kip-848"), no_time).examine(lambda _: None)


def test_a_target_that_says_that_it_lacks_static_members_is_believed_if_it_refuses_them() -> None:
    result = lacking(WithoutStaticMembers, "static members")
    assert (result.wrong, result.level) == ([], Level.LOADABLE)
    assert "; lacks: static members." in message_of(result, "hello")
    assert "as hello says that it lacks static members" in message_of(result, "load")


@pytest.mark.parametrize("feature", FEATURES)
def test_a_target_that_has_what_it_says_it_lacks_is_wrong(feature: str) -> None:
    """Otherwise replays would leave steps out that can be judged."""
    result = lacking(PythonTarget, feature)
    assert "hello" in result.wrong
    assert f"a join that uses {feature}, which hello says it lacks" in message_of(result, "hello")


def test_a_feature_that_nobody_knows_is_wrong() -> None:
    result = lacking(PythonTarget, "shoes")
    assert 'Came back: ["shoes"]' in message_of(result, "hello")
    assert "lacks has names of features: static members, regular expressions" in message_of(result, "hello")


def test_a_target_that_takes_static_members_must_load_them() -> None:
    class TakesThem(WithoutStaticMembers):
        request = PythonTarget.request

    start = lambda: TakesThem("kip-848")  # noqa: E731
    result = Doctor("python", "kip-848", start, no_time).examine(lambda _: None)
    assert (result.wrong, result.level) == (["load"], Level.OBSERVABLE)


@pytest.mark.parametrize(
    ("operations", "level", "lacking"),
    [
        ([], "black box", ["topics", "describe"]),
        (["topics"], "black box", ["describe"]),
        (["topics", "describe"], "observable", ["records", "advance", "fire", "assign", "restart", "load"]),
        (
            ["topics", "describe", "records", "fire", "restart", "load"],
            "observable",
            ["advance", "assign"],
        ),
    ],
)
def test_the_level_is_what_works(operations: list[str], level: str, lacking: list[str]) -> None:
    options = shlex.quote(json.dumps({"controls": [*operations, "fresh"]}))
    name = f"stdio:{sys.executable} {shlex.quote(str(PARTIAL))} {options}"
    result = Doctor(name, "kip-848", lambda: start_target(name), no_time).examine(lambda _: None)
    report = to_json(result)
    assert (result.wrong, report["level"], report["lacking"]) == ([], level, lacking)


def test_it_does_not_say_that_it_saw_what_is_not_shown() -> None:
    options = {"controls": ["topics", "describe", "fresh"], "hidden": ["timers"]}
    name = f"stdio:{sys.executable} {shlex.quote(str(PARTIAL))} {shlex.quote(json.dumps(options))}"
    result = Doctor(name, "kip-848", lambda: start_target(name), no_time).examine(lambda _: None)
    report = {one["operation"]: one["message"] for one in to_json(result)["operations"]}
    assert "timers" not in report["describe"] and "Dead" in report["describe"]
    assert report["observe"] == "A join that is observed gives the description."


def test_wrong_operations_count_as_missing_for_the_level() -> None:
    def finding(name: str) -> Finding:
        return Finding(name, Verdict.WRONG if name == "topics" else Verdict.OK, "")

    result = Examined("T", "kip-848", [finding(name) for names in NEEDS.values() for name in names], False)
    assert (result.level, result.lacking(Level.OBSERVABLE)) == (Level.BLACK_BOX, ["topics"])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --dialect it is the one that hello names."""
    command(
        f"stdio:{sys.executable} -m coordinator --stdio --dialect kafka-4.2", json_file=tmp_path / "a.json"
    )
    output = capsys.readouterr().out
    assert "level: loadable" in output and "17 senseless operations are refused" in output
    assert all(len(line) <= 80 for line in output.splitlines())
    result = json.loads((tmp_path / "a.json").read_text())
    assert (result["level"], result["next_level"], result["lacking"], result["died"]) == (
        "loadable", None, [], False,
    )  # fmt: skip
    assert result["dialect"] == "kafka-4.2"
    verdicts = {one["operation"]: one["verdict"] for one in result["operations"]}
    assert verdicts.pop("fresh") == "missing" and set(verdicts.values()) == {"ok"}


def test_something_that_is_wrong_ends_with_11(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConformError, match="does not do what it declares: ids") as caught:
        command(stdio("ids_reversed"), json_file=tmp_path / "a.json")
    assert caught.value.exit_code == 11
    output = capsys.readouterr().out
    assert 'ids          wrong    Sent: ids ["doctor-2", "doctor-1"], then two joins' in output
    assert all(len(line) <= 80 for line in output.splitlines())
    assert "level: loadable" in output  # ids are bound as they are learned
    assert json.loads((tmp_path / "a.json").read_text())["level"] == "loadable"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            "dies_of_epoch",
            "It closed its output before it answered request (exit code 1). Its standard error",
        ),
        ("hangs", "It did not answer describe within 4 s"),
    ],
)
def test_a_target_that_dies_or_hangs_ends_with_3_and_is_examined_to_the_end(
    tmp_path: Path, fault: str, words: str
) -> None:
    with pytest.raises(ConformError, match=STARTED[fault]) as caught:
        command(stdio(fault), timeout=4 if fault == "hangs" else 60, json_file=tmp_path / "a.json")
    assert caught.value.exit_code == 3
    result = json.loads((tmp_path / "a.json").read_text())
    given = {one["operation"]: one for one in result["operations"]}
    assert words in given[STARTED[fault]]["message"] and result["died"]
    assert given["ids"]["verdict"] == "ok"


def test_a_target_that_does_not_start() -> None:
    with pytest.raises(ConformError, match="cannot be started") as caught:
        command("stdio:/no/such/program")
    assert caught.value.exit_code == 2


def test_every_level_says_what_it_buys() -> None:
    assert BUYS.keys() == NEEDS.keys() == set(Level) - {Level.NONE}
    assert open_target("python").hello().controls >= {name for name in NEEDS[Level.LOADABLE]}


class ClassicOnly(PythonTarget):
    """This repository's coordinator with classic groups alone."""

    def hello(self) -> Capabilities:
        known = super().hello()
        return replace(known, apis={api: known.apis[api] for api in CLASSIC.apis})


def test_a_target_of_classic_groups_alone_is_examined_by_their_requests() -> None:
    result = Doctor("classic", "kip-848", lambda: ClassicOnly("kip-848"), no_time).examine(lambda _: None)
    assert result.level is Level.BLACK_BOX and not result.wrong
    seen = {one.operation: one for one in result.findings}
    assert seen["request"].message.startswith("A classic group")
    assert seen["describe"].verdict is Verdict.MISSING
    assert "ConsumerGroupHeartbeat" in seen["describe"].message


def test_a_wrong_answer_of_a_target_of_classic_groups_alone_fails() -> None:
    class TakesAnyGeneration(ClassicOnly):
        def request(
            self, api: str, version: int, client: Json, body: Json, observe: str | None = None
        ) -> Answer:
            answer = super().request(api, version, client, body, observe)
            return answer._replace(body={**answer.body, "errorCode": 0}) if answer.body else answer

    start = lambda: TakesAnyGeneration("kip-848")  # noqa: E731
    result = Doctor("classic", "kip-848", start, no_time).examine(lambda _: None)
    assert result.wrong == ["request"]
