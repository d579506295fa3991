"""`--json` of `conform simulate` and `conform compare`: whole groups, or one schedule on two targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.replay.compare import Difference
from harness.replay.report import named
from harness.report.readers.fields import Fields
from harness.report.sequence_words import COORDINATOR, NOBODY
from harness.simulate.report import operation_in_words
from harness.targets.base import Json


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
    messages: Sequence[Mapping[str, Any]]
    before: Json
    after: Json
    differences: Sequence[Difference] = ()
    scenario: str = ""


@dataclass(frozen=True)
class Simulation:
    """One run: the simulated groups, the first seed, the amount (`size` in words), and the findings.

    `counts` has the numbers of events, by kind: events, faults, states, answers. `left_out` are the
    operations that were not drawn or not compared.
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


def simulation(data: Fields) -> Simulation:
    """The run of a file."""
    return _groups(data) if data.text("mode") == "groups" else _pair(data)


def _groups(data: Fields) -> Simulation:
    counts = {"events": "kinds", "faults": "faults", "states": "states", "answers": "answers"}
    without = [f", without {name}" for name, assumed in data.get("assumptions", dict).items() if not assumed]
    seeds, events = data.get("seeds", int), data.get("events", int)
    groups = " ".join(filter(None, ("whole", data.text("kind"), "groups")))
    return Simulation(
        what=f"{groups} on {data.get('target', str)}{''.join(without)}",
        dialect=data.get("dialect", str),
        seed=data.get("seed", int),
        size=f"{events:,} events in {seeds:,} seeds, {data.get('rebalances', int):,} rebalances",
        events=events,
        again=data.get("again", str),
        counts={title: data.get(kind, dict) for title, kind in counts.items()},
        left_out=(),
        violations=[_violation(one) for one in data.items("violations")],
    )


def _violation(one: Fields) -> Violation:
    return Violation(
        requirement=one.text("requirement"),
        title=f"{one.text('requirement')} {one.get('invariant', str)}".strip(),
        message=one.get("message", str),
        seen=f"seeds that show it: {one.get('seen_in_seeds', int):,}",
        schedule=one.text("schedule"),
        again=one.get("again", str),
        steps=one.get("steps", list),
        messages=one.get("messages", list),
        before=one.get("before", dict),
        after=one.get("after", dict),
        scenario=one.text("scenario"),
    )


def _pair(data: Fields) -> Simulation:
    steps, runs = data.get("steps", int), data.get("runs", int)
    targets = data.get("target", str), data.get("against", str)
    hidden = data.get("unobserved", list)
    not_seen = [f"not compared, because one of them does not show it: {', '.join(hidden)}"] if hidden else []
    return Simulation(
        what=f"the same requests on {targets[0]} and {targets[1]}",
        dialect=data.get("dialect", str),
        seed=data.get("seed", int),
        size=f"{steps:,} steps in {runs:,} runs",
        events=steps,
        again=data.get("command", str),
        counts={"steps": data.get("ways", dict), "states": data.get("states", dict)},
        left_out=[*data.get("left_out", list), *not_seen],
        violations=[_broken_property(one, targets, data.get("command", str)) for one in data.items("found")],
    )


def _broken_property(one: Fields, targets: tuple[str, str], command: str) -> Violation:
    operations = one.get("operations", list)
    file = one.text("file")
    topics = {topic["id"]: topic["name"] for done in operations for topic in done.get("upsert", ())}
    return Violation(
        requirement="",
        title=one.get("signature", str),
        message=f"{targets[0]} and {targets[1]} differ",
        seen=f"runs that show it: {one.get('runs', int):,}",
        schedule=file,
        again=f"{command.partition(' --steps ')[0]} --replay {file}",
        steps=[f"{number}. {operation_in_words(done)}" for number, done in enumerate(operations, start=1)],
        messages=_story(operations, topics),
        before=named(one.get("before", dict), topics),
        after=named(one.get("after", dict), topics),
        differences=[
            Difference(
                difference.get("path", str),
                named(difference.decoded("expected"), topics),
                named(difference.decoded("got"), topics),
            )
            for difference in one.items("differences")
        ],
    )


_EPOCHS: Final = {0: "join", -1: "leave", -2: "leave for a while"}


def _story(operations: Sequence[Mapping[str, Any]], topics: Mapping[str, str]) -> list[dict[str, str]]:
    """The requests of a schedule as messages, and its other events as notes; topics by their ids."""
    story = []
    for done in operations:
        if done["op"] == "request":
            body = done["body"]
            member = body.get("memberId") or done.get("newId") or NOBODY
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
