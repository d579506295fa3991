"""Random behaviours replay on this repository's coordinator, in process and over a pipe."""

from __future__ import annotations

import sys

from spec_model import NOTHING, Model

from harness.kinds.consumer.steps import HANDLERS
from harness.replay import wire
from harness.replay.decode import Decoder
from harness.replay.run import Replayed, Replayer
from harness.targets import open_target
from harness.targets.base import Answer, Assignments, Capabilities, Json, Target
from harness.targets.python import PythonTarget
from harness.targets.symbolic import SymbolicIds

STDIO = f"stdio:{sys.executable} -m coordinator --stdio"


def replayed(target: Target, models: list[Model]) -> Replayed:
    decoder, replayer = Decoder(), Replayer(target, max_differences=5)
    for number, model in enumerate(models):
        replayer.replay(decoder.decode(model.trace(), f"trace {number}"))
    return replayer.result


def walks(count: int, steps: int) -> list[Model]:
    models = [Model(seed, {"foo": seed % 3}) for seed in range(count)]
    for model in models:
        model.walk(steps)
    return models


ELSEWHERE = {
    *("AlterConfigs", "DeleteGroups", "DescribeConfigs", "ListGroups"),
    *("PrepareAssignment", "InstallAssignment", "ComputationTimeout"),
    *("Activate", "ChangeRights", "Deactivate"),
}
"""Actions that no client of the walks does: tests/replay/test_administration.py and test_admission.py, and
tests/client do them."""


def test_random_behaviours_of_every_action_conform() -> None:
    result = replayed(open_target("python"), walks(40, 60))
    assert result.failures == []
    assert (result.traces, result.steps, result.judged) == (40, 2400, 2400)
    assert result.coverage.never_reached() == sorted(ELSEWHERE)
    others = {"INVALID_REQUEST", "UNSUPPORTED_ASSIGNOR", "GROUP_MAX_SIZE_REACHED"}
    others |= {"GROUP_ID_NOT_FOUND", "FENCED_INSTANCE_ID", "NON_EMPTY_GROUP", "INVALID_CONFIG"}
    others.add("INVALID_ASSIGNMENT")
    others |= {"ILLEGAL_GENERATION", "INCONSISTENT_GROUP_PROTOCOL", "REBALANCE_IN_PROGRESS"}  # C1
    others |= {"MEMBER_ID_REQUIRED"} | wire.NOT_ADMITTED
    assert set(result.coverage.errors) == wire.ERROR_CODES.keys() - others


def test_the_line_protocol_gives_the_same_verdict() -> None:
    target = open_target(STDIO)
    try:
        result = replayed(target, walks(5, 60))
    finally:
        target.close()
    assert (result.failures, result.judged) == ([], 300)


def test_the_same_input_in_the_same_state_counts_once() -> None:
    models = []
    for _ in range(2):
        model = Model(topics={"foo": 2})
        model.heartbeat("m1", 0, owned=NOTHING, subscription=frozenset({"foo"}))
        model.heartbeat("m1", 1, owned=None)
        model.heartbeat("m1", 1, owned=None)
        models.append(model)
    result = replayed(open_target("python"), models)
    assert (result.judged, len(result.coverage.distinct)) == (6, 2)


def test_a_trace_may_start_in_any_state() -> None:
    """A part of a behaviour: the target is loaded with the state before it, timers included."""
    whole = Model(seed=3, topics={"foo": 3})
    whole.walk(80)
    decoder, replayer = Decoder(), Replayer(open_target("python"), max_differences=5)
    for start in range(0, 79, 7):
        trace = whole.trace()
        del trace.states[:start]
        replayer.replay(decoder.decode(trace, f"from {start}"))
    assert replayer.result.failures == []


class OwnIds(PythonTarget):
    """A target that makes member ids by itself, and takes "" for the member that joins next."""

    made = 0
    waiting: Assignments | None = None

    def hello(self) -> Capabilities:
        known = super().hello()
        return Capabilities(known.name, known.dialect, known.apis, known.controls - {"ids"})

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        self.waiting = target
        super().assign(group, target, error)

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        if api == "ConsumerGroupHeartbeat" and not body["memberId"]:
            self.made += 1
            own = f"zz-{100 - self.made}"
            super().ids([own])
            if self.waiting:
                super().assign("g", {name or own: given for name, given in self.waiting.items()})
        return super().request(api, version, client, body, observe)


def test_ids_that_the_target_makes_are_bound_when_they_are_learned() -> None:
    target = OwnIds("kip-848")
    result = replayed(SymbolicIds(target), walks(30, 60))
    assert result.failures == []
    assert target.made > 30


def test_without_the_binding_such_ids_would_differ() -> None:
    target = OwnIds("kip-848")
    target.hello = PythonTarget("kip-848").hello  # type: ignore[method-assign]
    assert replayed(target, walks(3, 60)).failures


def test_actions_that_no_trace_reaches_are_named() -> None:
    model = Model()
    model.change_topic("CreateTopic", "foo", 1)
    model.change_topic("AddPartitions", "foo", 2)
    result = replayed(open_target("python"), [model])
    assert result.coverage.never_reached() == sorted(set(HANDLERS) - {"CreateTopic", "AddPartitions"})
