"""`--json` of `conform simulate` and `conform compare`: whole groups, or one schedule on two targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import field

from harness.errors import ConformError
from harness.replay.compare import Difference
from harness.replay.report import named
from harness.report.readers.form import Different, Message, OfFile, Result, result_of
from harness.report.sequence_words import COORDINATOR, NOBODY
from harness.simulate.report import operation_in_words
from harness.targets.base import Json
from harness.validate.form import check_form
from harness.words import counted


@dataclass(frozen=True)
class Violation:
    """A finding of a simulation, shrunk: the broken invariant, the schedule in words, and its messages.

    `before` and `after` are the group around the step that shows it; for two implementations the first one's.
    `differences` are those of two implementations, `scenario` is the file of a scenario that plays it.
    """

    requirement: str
    title: str
    message: str
    seen: str
    schedule: str
    again: str
    steps: Sequence[str]
    messages: Sequence[Message]
    before: Json
    after: Json
    differences: Sequence[Difference] = ()
    scenario: str = ""


@dataclass(frozen=True)
class Simulation:
    """One run: the simulated groups, the first seed, the amount (`size` in words), and the findings.

    `counts` has the numbers of events, by kind: events, faults, states, answers. `left_out` are the
    operations that were not drawn or not compared; `waiver_problems` has a sentence for each waiver that has
    expired or covers nothing.
    """

    what: str
    dialect: str
    seed: int
    size: str
    events: int
    again: str
    counts: Mapping[str, Mapping[str, int]]
    left_out: Sequence[str]
    violations: Sequence[Violation]
    waiver_problems: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        """Tell if nothing was violated, and every waiver is needed."""
        return not self.violations and not self.waiver_problems

    @property
    def outcome(self) -> str:
        """The findings in a few words."""
        kinds, stale = len(self.violations), len(self.waiver_problems)
        words = [f"{counted(kinds, 'kind')} of violations"] if kinds else []
        words += [f"{counted(stale, 'waiver')} to remove"] if stale else []
        return " and ".join(words) or "everything holds"


class Broken(Result, frozen=True, kw_only=True):
    """A broken invariant of whole groups, in the JSON."""

    requirement: str = ""
    invariant: str
    message: str
    seen_in_seeds: int
    schedule: str = ""
    again: str
    steps: Sequence[str]
    messages: Sequence[Message]
    before: Json
    after: Json
    scenario: str = ""


class Groups(OfFile, frozen=True, kw_only=True):
    """A simulation of whole groups, in the JSON."""

    target: str
    dialect: str
    kind: str = ""
    seed: int
    seeds: int
    events: int
    rebalances: int
    assumptions: Mapping[str, bool]
    kinds: Mapping[str, int]
    faults: Mapping[str, int]
    states: Mapping[str, int]
    answers: Mapping[str, int]
    again: str
    violations: Sequence[Broken]


class Divergence(Result, frozen=True, kw_only=True):
    """A schedule on which two implementations differ, in the JSON."""

    signature: str
    runs: int
    operations: Sequence[Json]
    before: Json
    after: Json
    differences: Sequence[Different]
    file: str = ""


class Compared(OfFile, frozen=True, kw_only=True):
    """A comparison of two implementations, in the JSON."""

    target: str
    against: str
    dialect: str
    seed: int
    steps: int
    runs: int
    command: str
    ways: Mapping[str, int]
    states: Mapping[str, int]
    unobserved: Sequence[str]
    left_out: Sequence[str]
    divergences: Sequence[Divergence] = field(name="found")
    waiver_problems: Sequence[str] = ()


class Mode(Result, frozen=True, kw_only=True):
    """The field by which a result of whole groups is known."""

    mode: str = ""


def simulation(path: Path) -> Simulation:
    """The run of a file. ConformError (exit 2) for one of another form."""
    if result_of(path, Mode).mode == "groups":
        return _groups(result_of(path, Groups))
    run = result_of(path, Compared)
    for one in run.divergences:
        for number, operation in enumerate(one.operations, 1):
            check_form(f"The result {path}: operation {number} of {one.signature}", operation)
    try:
        return _compared(run)
    except (KeyError, TypeError, AttributeError):
        sentence = f"The result {path} has an operation that lacks a field, or has one of another type."
        raise ConformError(sentence) from None


def _groups(run: Groups) -> Simulation:
    without = [f", without {name}" for name, assumed in run.assumptions.items() if not assumed]
    groups = " ".join(filter(None, ("whole", run.kind, "groups")))
    return Simulation(
        what=f"{groups} on {run.target}{''.join(without)}",
        dialect=run.dialect,
        seed=run.seed,
        size=f"{run.events:,} events in {run.seeds:,} seeds, {run.rebalances:,} rebalances",
        events=run.events,
        again=run.again,
        counts={"events": run.kinds, "faults": run.faults, "states": run.states, "answers": run.answers},
        left_out=(),
        violations=[
            Violation(
                requirement=one.requirement,
                title=f"{one.requirement} {one.invariant}".strip(),
                message=one.message,
                seen=f"seeds that show it: {one.seen_in_seeds:,}",
                schedule=one.schedule,
                again=one.again,
                steps=one.steps,
                messages=one.messages,
                before=one.before,
                after=one.after,
                scenario=one.scenario,
            )
            for one in run.violations
        ],
    )


def _compared(run: Compared) -> Simulation:
    hidden = ", ".join(run.unobserved)
    not_seen = [f"not compared, because one of them does not show it: {hidden}"] if hidden else []
    return Simulation(
        what=f"the same requests on {run.target} and {run.against}",
        dialect=run.dialect,
        seed=run.seed,
        size=f"{run.steps:,} steps in {run.runs:,} runs",
        events=run.steps,
        again=run.command,
        counts={"steps": run.ways, "states": run.states},
        left_out=[*run.left_out, *not_seen],
        violations=[_divergence(one, run) for one in run.divergences],
        waiver_problems=run.waiver_problems,
    )


def _divergence(one: Divergence, run: Compared) -> Violation:
    topics = {topic["id"]: topic["name"] for done in one.operations for topic in done.get("upsert", ())}
    return Violation(
        requirement="",
        title=one.signature,
        message=f"{run.target} and {run.against} differ",
        seen=f"runs that show it: {one.runs:,}",
        schedule=one.file,
        again=f"{run.command.partition(' --steps ')[0]} --replay {one.file}",
        steps=[
            f"{number}. {operation_in_words(done)}" for number, done in enumerate(one.operations, start=1)
        ],
        messages=_story(one.operations, topics),
        before=named(one.before, topics),
        after=named(one.after, topics),
        differences=[
            Difference(each.path, named(each.expected, topics), named(each.got, topics))
            for each in (different.difference for different in one.differences)
        ],
    )


_EPOCHS: Final = {0: "join", -1: "leave", -2: "leave for a while"}


def _story(operations: Sequence[Mapping[str, Any]], topics: Mapping[str, str]) -> list[Message]:
    """The requests of a schedule as messages, and its other events as notes; topics by their ids."""
    story: list[Message] = []
    for done in operations:
        if done["op"] == "request":
            body = done["body"]
            member = str(body.get("memberId") or done.get("newId") or NOBODY)
            story.append(
                {"from": member, "to": COORDINATOR, "label": _label(done, topics), "kind": "request"}
            )
        else:
            words = operation_in_words(dict(done))
            story.append({"from": COORDINATOR, "to": COORDINATOR, "label": words, "kind": "note"})
    return story


def _label(done: Mapping[str, Any], topics: Mapping[str, str]) -> str:
    body = done["body"]
    epoch = body.get("memberEpoch", body.get("generationIdOrMemberEpoch", 0))
    if done["api"] != "ConsumerGroupHeartbeat":
        return f"{done['api']} e{epoch}"
    words = [_EPOCHS.get(epoch, f"heartbeat e{epoch}")]
    if body.get("instanceId"):
        words.append(f"as {body['instanceId']}")
    if body.get("topicPartitions") or (body.get("topicPartitions") is not None and epoch > 0):
        owned = [
            f"{topics.get(one['topicId'], '?')}-{n}"
            for one in body["topicPartitions"]
            for n in one["partitions"]
        ]
        words.append(f"owns {' '.join(owned) or 'nothing'}")
    if body.get("subscribedTopicNames") is not None:
        words.append(f"topics {','.join(body['subscribedTopicNames']) or 'none'}")
    return " ".join(words)
