"""The replay notices each wrong value of an answer, and seeded faults."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from expected_steps import FOO, corruptions, decoded, failures
from spec_model import NOTHING, Model

from harness.errors import ConformError
from harness.itf import read_trace
from harness.kinds.classic.description import CLASSIC
from harness.replay import wire
from harness.replay.compare import Difference, agree, differences
from harness.replay.decode import Decoder
from harness.replay.report import explain
from harness.replay.run import Failure, Replayer
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parent.parent.parent


def walk(seed: int = 1, steps: int = 60) -> Model:
    model = Model(seed, {"foo": 3, "bar": 1})
    model.walk(steps)
    return model


def test_every_value_of_every_answer_is_compared() -> None:
    tried = 0
    for step in decoded(walk()).steps:
        good = step.expected
        assert agree(good, deepcopy(good)) and not differences(good, deepcopy(good))
        parts = {"body": good.body, "group": good.group, "records": good.records, "fired": list(good.fired)}
        for name, part in [*parts.items(), ("consumed", good.consumed)]:
            for where, changed in corruptions(part, name):
                if where == "body.errorMessage" and step.error != "NONE":
                    continue  # the text is the target's own
                bad = good._replace(**{name: changed})
                assert not agree(good, bad), where
                assert differences(good, bad), where
                tried += 1
    assert tried > 5000


def test_differences_are_reported_by_path_all_of_them() -> None:
    step = decoded(walk()).steps[-1]
    group = deepcopy(step.expected.group)
    assert group is not None and group["members"]
    member = group["members"][0]
    member["memberEpoch"] += 5
    group["state"] = "Lost"
    del member["acknowledged"]
    results = differences(step.expected, step.expected._replace(group=group))
    name, epoch = member["memberId"], member["memberEpoch"]
    assert {(d.path, d.got) for d in results} == {
        ("group.state", "Lost"),
        (f"group.members[{name}].memberEpoch", epoch),
        (f"group.members[{name}].acknowledged", "(absent)"),
    }
    assert [d.expected for d in results if d.path.endswith("memberEpoch")] == [epoch - 5]


def test_records_of_one_kind_come_in_any_order_but_kinds_do_not() -> None:
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    while len({owner for owner in model.group["target"].values() if owner}) < 2:
        model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    model.expire("SessionTimeout", "m1")
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    same_kind = set()
    for step in decoded(model).steps:
        records = list(step.expected.records)
        kinds = [record["key"]["type"] for record in records]
        for index in range(len(records) - 1):
            swapped = list(records)
            swapped[index], swapped[index + 1] = (
                {**records[index + 1], "offset": records[index]["offset"]},
                {**records[index], "offset": records[index + 1]["offset"]},
            )
            answer = step.expected._replace(records=swapped)
            same_kind.add(kinds[index] == kinds[index + 1])
            assert bool(differences(step.expected, answer)) == (kinds[index] != kinds[index + 1])
    assert same_kind == {True, False}


def test_defaults_of_a_response_may_be_left_out_but_nothing_else() -> None:
    good = Answer(body=decoded(walk()).steps[0].expected.body)
    body = {key: value for key, value in (good.body or {}).items() if value not in (0, None, False)}
    assert not differences(good, good._replace(body=body))
    assert "memberId" in body
    del body["memberId"]
    assert [difference.path for difference in differences(good, good._replace(body=body))] == [
        "response.memberId"
    ]


class Faulty(PythonTarget):
    """The coordinator with a fault in the way; `fault` changes a good answer."""

    def __init__(self, fault: Callable[[Json, Answer], Answer]) -> None:
        super().__init__("kip-848")
        self.fault = fault

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        return self.fault(body, super().request(api, version, client, body, observe))


def test_one_wrong_answer_is_one_failure_and_the_rest_is_judged() -> None:
    wrong = iter([False] * 20 + [True] + [False] * 1000)

    def fault(_: Json, answer: Answer) -> Answer:
        return answer._replace(records=list(answer.records)[1:]) if next(wrong) else answer

    results = failures(Faulty(fault), walk(steps=80))
    assert len(results) == 1


class Deaf(PythonTarget):
    """A target that ignores some requests, and so gets into another state than the specification."""

    def __init__(self, deaf_at: int) -> None:
        super().__init__("kip-848")
        self.calls, self.deaf_at = 0, deaf_at

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        self.calls += 1
        if self.calls == self.deaf_at and body.get("memberEpoch", 0) > 0:
            body = {**body, "topicPartitions": None, "subscribedTopicNames": None}
        return super().request(api, version, client, body, observe)


def test_after_a_difference_the_target_is_put_right_and_later_steps_are_judged_by_themselves() -> None:
    seen = []
    for deaf_at in range(1, 60):
        results = failures(Deaf(deaf_at), walk(seed=2, steps=80))
        assert len(results) <= 1
        seen += results
    assert len(seen) >= 10


def test_a_target_that_ignores_the_script_is_noticed() -> None:
    class Stubborn(PythonTarget):
        def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
            pass

    results = failures(Stubborn("kip-848"), walk())
    assert any(d.path == "scripted target used" for failure in results for d in failure.differences)


def test_a_timer_that_fires_by_itself_is_noticed() -> None:
    class Hasty(PythonTarget):
        def advance(self, ms: int, observe: str | None = None) -> Answer:
            return super().advance(ms * 45_000, observe)

    results = failures(Hasty("kip-848"), walk())
    assert any(d.path == "fired before the step" for failure in results for d in failure.differences)


@pytest.mark.parametrize(
    "field",
    ["topicPartitions", "subscribedTopicNames", "subscribedTopicRegex", "serverAssignor", "instanceId"],
)
def test_a_target_that_ignores_a_field_of_the_request_is_noticed(field: str) -> None:
    class Ignorant(PythonTarget):
        def request(
            self, api: str, version: int, client: Json, body: Json, observe: str | None = None
        ) -> Answer:
            ignores = field in body and (body["memberEpoch"] != 0 or field == "instanceId")
            given = {**body, field: None} if ignores else body
            return super().request(api, version, client, given, observe)

    assert any(failures(Ignorant("kip-848"), walk(seed, 100)) for seed in range(3))


def test_a_rebalance_timer_that_is_armed_anew_is_noticed() -> None:
    """R4; real bug KAFKA-16249: armed anew at every heartbeat of a revoking member, it never runs out."""
    model = next(results for results in (_revoking(seed) for seed in range(200)) if results is not None)

    class Rearming(PythonTarget):
        def request(
            self, api: str, version: int, client: Json, body: Json, observe: str | None = None
        ) -> Answer:
            answer = super().request(api, version, client, body, observe)
            group = deepcopy(answer.group or {})
            mine = {timer["timer"]: timer for timer in group["timers"] if timer["member"] == body["memberId"]}
            if "rebalance" in mine:
                mine["rebalance"]["deadlineMs"] = mine["session"]["deadlineMs"] - 45_000 + 300_000
            return answer._replace(group=group)

    assert failures(PythonTarget("kip-848"), model) == []
    results = failures(Rearming("kip-848"), model)
    assert [failure.index for failure in results] == [len(model.states) - 1]
    assert [d.path for d in results[0].differences] == ["group.timers[rebalance m1].deadlineMs"]


def _revoking(seed: int) -> Model | None:
    """A behaviour whose last step is a second heartbeat of m1, which is still revoking."""
    model = Model(seed, topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m1", 1, owned=None)
    if not model.group["members"]["m1"]["revoking"]:
        return None
    model.heartbeat("m1", 1, owned=None)
    return model


def test_a_refused_operation_is_a_difference() -> None:
    class Refusing(PythonTarget):
        def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
            raise Refused(self.name, "fire", "no such timer")

    results = failures(Refusing("kip-848"), walk())
    assert results and {failure.action for failure in results} <= {
        "SessionTimeout",
        "RebalanceTimeout",
        "DeleteGroup",
    }
    assert results[0].differences[0].got == "refused: no such timer"


def test_a_crash_ends_the_replay_and_names_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Json:
        raise KeyError("m1")

    target = PythonTarget("kip-848")
    replayer = Replayer(target, 10)
    monkeypatch.setattr(target._coordinator, "request", broken)
    with pytest.raises(ConformError) as caught:
        replayer.replay(decoded(walk()))
    assert caught.value.exit_code == 3
    assert (
        "a trace, state 1 (Join): The target python failed in request: KeyError: 'm1'" in caught.value.message
    )


def test_judging_stops_after_enough_differences() -> None:
    replayer = Replayer(Faulty(lambda _, answer: answer._replace(body=None)), max_differences=3)
    for _ in range(2):
        replayer.replay(decoded(walk(steps=50)))
    result = replayer.result
    assert len(result.failures) == 3 == result.differences
    assert result.judged + result.not_judged == 100 and result.not_judged > 80
    assert sum(result.coverage.actions.values()) == result.judged


def test_a_target_of_classic_groups_alone_takes_their_traces() -> None:
    """C1: JoinGroup is enough; traces of consumer groups are left out, with the reason."""

    class ClassicOnly(PythonTarget):
        def hello(self) -> Capabilities:
            known = super().hello()
            return replace(known, apis={api: known.apis[api] for api in CLASSIC.apis})

    replayer = Replayer(ClassicOnly("kip-848"), 1)
    for name in ("classic/coordinator-fails-1", "basic"):
        path = ROOT / "traces" / "golden" / f"{name}.itf.json"
        replayer.replay(Decoder().decode(read_trace(path), name))
    assert replayer.result.judged > 5
    assert replayer.result.differences == 0
    (left,) = replayer.result.ended_early
    assert (left.trace, left.judged, left.reason) == ("basic", 0, wire.HEARTBEAT)


def test_a_target_without_groups_is_turned_down() -> None:
    class Silent(PythonTarget):
        def hello(self) -> Capabilities:
            return replace(super().hello(), apis={"OffsetCommit": (9, 9)})

    with pytest.raises(ConformError, match="none of the requests with which a member joins") as caught:
        Replayer(Silent("kip-848"), 1)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(("expected", "message"), [(True, "did not use"), (False, "used the assignment")])
def test_a_failure_names_its_requirements_and_says_what_a_script_means(expected: bool, message: str) -> None:
    """A reader without the project's knowledge finds the rule beside the difference, and a sentence instead
    of a flag."""
    difference = Difference("scripted target used", expected, not expected)
    failure = Failure("trace", 3, "Heartbeat", "revoke", "NONE", None, {}, [difference])
    text = "\n".join(explain(failure, "python", "kip-848"))
    assert "the step is of R1, R5, E4" in text and message in text
