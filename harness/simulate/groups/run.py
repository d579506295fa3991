"""One seed: a schedule drawn, played and judged, and the shortest one that fails in the same way."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.simulate.groups.parts import Violation
from harness.simulate.groups.schedule import Schedule
from harness.simulate.groups.snapshot import one_group
from harness.simulate.groups.story import Counts, Settings, Story
from harness.simulate.shrink import shrink
from harness.simulate.stage import stage_of
from harness.targets.base import Json

ROUND_MS: Final = (0, 100, 1_000, 5_000, 10_000, 30_000, 45_000, 60_000)
"""The times, in milliseconds, that may pass between two events of a shrunk schedule."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """The options of a simulation: `events` for each seed from `seed` on, under `Settings`, of groups of one
    kind."""

    seed: int = 848
    seeds: int = 1
    events: int = 5_000
    r9: bool = True
    exemption: bool = True
    kind: str = Settings().kind


@dataclass(frozen=True, slots=True)
class SimulatedViolation:
    """A violation: the requirement, the invariant and the fault, with the seed and the number of events
    before it; the schedule that shows it, while the groups settle (`settling`) or before; and the course of
    that schedule: the messages, and the group before and after the violating event."""

    seed: int
    events: int
    requirement: str
    invariant: str
    message: str
    schedule: Schedule
    settling: bool = False
    story: tuple[Json, ...] = ()
    undescribed: tuple[tuple[str, int], ...] = ()
    """Faults of `describe` while the shortest schedule was played, with their numbers."""
    before: Json = field(default_factory=dict)
    after: Json = field(default_factory=dict)
    seen: int = 1
    """The number of seeds that violate the invariant in this way; the others show it after more events."""

    @property
    def kind(self) -> tuple[str, str]:
        """The key by which violations are alike."""
        return self.requirement, self.invariant


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one seed. `digest` is of everything that happened."""

    seed: int
    counts: Counts
    digest: str
    violation: SimulatedViolation | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A violation of a schedule that was played, with the number of events before it in the list (all of
    them: while the groups were settling)."""

    violation: Violation
    after: int


def play(
    parts: Any, settings: Settings, events: Sequence[Json], settles: bool = True, story: Story | None = None
) -> Failed | None:
    """Play a schedule; its violation, if it has one. `parts` are those of the settings' kind; `settles` tells
    if it ends with R8."""
    stage = stage_of(settings.kind)
    world = stage.world(parts, settings, story)
    after = 0
    try:
        for event in events:
            after += 1
            world.apply(event)
        if settles:
            stage.settle(world)
    except Violation as violation:
        if story:
            story.after = stage.snapshot(world)
        return Failed(_with_names(violation, events[:after]), after)
    return None


def run_seed(
    parts: Any, options: SimulationOptions, seed: int, progress: Callable[[int], None] = lambda events: None
) -> Outcome:
    """Draw and play the schedule of a seed. A violation ends it."""
    rng, stage = random.Random(seed), stage_of(options.kind)
    settings = stage.drawn_settings(rng, options.r9, options.exemption)
    world = stage.world(parts, settings, None)
    digest = hashlib.sha256()
    done: list[Json] = []
    broken, settling = None, False
    try:
        draw = stage.draw(world, rng)
        while world.counts.events < options.events and (event := draw.next()) is not None:
            done.append(event)
            if len(done) % 1_000 == 0:
                progress(len(done))
            happened = world.apply(event)
            draw.saw(event, happened)
            if happened:
                digest.update(f"{event}\n".encode())
            else:
                done.pop()
        settling = True
        done.append({"at": world.now_ms, "do": "wait"})
        stage.settle(world)
    except Violation as violation:
        digest.update(str(violation).encode())
        kind = violation.requirement, violation.invariant
        schedule = Schedule(settings, tuple(done), *kind)
        message = _with_names(violation, done).message
        broken = SimulatedViolation(seed, world.counts.events, *kind, message, schedule, settling)
    digest.update(f"{world.now_ms} {world.counts}".encode())
    return Outcome(seed, world.counts, digest.hexdigest(), broken)


def shrunk(parts: Any, violation: SimulatedViolation) -> SimulatedViolation:
    """A violation with the shortest schedule that shows it, and the course of that schedule.

    ConformError (exit 3) if the violation does not appear again.
    """
    settings = violation.schedule.settings

    def fails(candidate: Sequence[Json]) -> bool:
        failed = play(parts, settings, candidate, violation.settling)
        if failed is None:
            return False
        return (failed.violation.requirement, failed.violation.invariant) == violation.kind

    events = list(violation.schedule.events)
    if not fails(events):
        raise ConformError(
            f"The violation of {violation.requirement} ({violation.invariant}) of seed {violation.seed} is "
            "not there again: the members or the coordinator are not deterministic.",
            ENGINE_FAILED,
        )
    events = shrink(_without_wholes(events, fails), fails, simpler=_simpler)
    events = _sooner(events, fails)
    short = shown(parts, replace(violation, schedule=replace(violation.schedule, events=tuple(events))))
    assert short is not None
    return short


def shown(parts: Any, repeated: SimulatedViolation) -> SimulatedViolation | None:
    """The violation of the schedule of `repeated`, with its course; None if there is none."""
    schedule, story = repeated.schedule, Story()
    failed = play(parts, schedule.settings, schedule.events, repeated.settling, story)
    if failed is None:
        return None
    violation = failed.violation
    kind = violation.requirement, violation.invariant
    events = tuple(schedule.events[: failed.after])
    before, after = one_group(story.before, story.after)
    return replace(
        repeated,
        requirement=kind[0],
        invariant=kind[1],
        message=violation.message,
        schedule=Schedule(schedule.settings, events, *kind),
        story=tuple(story.messages),
        undescribed=tuple(sorted(story.undescribed.items())),
        before=before,
        after=after,
    )


def _with_names(violation: Violation, events: Sequence[Json]) -> Violation:
    """A violation with topics by name; invariants name them by the end of their ids."""
    message = violation.message
    for event in events:
        if event["do"] == "topic" and "id" in event:
            message = message.replace(f"{event['id'][-4:]}-", f"{event['name']}-")
    return Violation(violation.requirement, violation.invariant, message)


def _without_wholes(events: list[Json], fails: Callable[[Sequence[Json]], bool]) -> list[Json]:
    """The schedule without whole processes and whole kinds of events, where they can go: most of a schedule,
    at once."""
    for name in ("who", "do"):
        for value, _ in Counter(str(event.get(name)) for event in events).most_common():
            rest = [event for event in events if str(event.get(name)) != value]
            if len(rest) < len(events) and fails(rest):
                events = rest
    return events


def _sooner(events: list[Json], fails: Callable[[Sequence[Json]], bool]) -> list[Json]:
    """Events without the time between them where that does not matter, else in round numbers; all later
    events come sooner by the same time."""
    times = [0, *(max(event["at"], 0) for event in events)]
    gaps = [max(later - earlier, 0) for earlier, later in pairwise(times)]

    def timed(candidate: Sequence[int]) -> list[Json]:
        return [{**event, "at": at} for event, at in zip(events, accumulate(candidate), strict=True)]

    for index, gap in enumerate(gaps):
        for shorter in (one for one in ROUND_MS if one < gap):
            tried = [*gaps[:index], shorter, *gaps[index + 1 :]]
            if fails(timed(tried)):
                gaps = tried
                break
    return timed(gaps) if fails(timed(gaps)) else events


def _simpler(event: Json) -> Iterator[Json]:
    """Events like this one, with a field at its plain value."""
    for name, plain in (
        ("instance", None),
        ("assignor", None),
        ("permille", 1000),
        ("regex", None),
        ("local", []),
    ):
        if event.get(name, plain) != plain:
            yield {**event, name: plain}
    for name in ("slow", "again", "disconnected", "raises"):
        if event.get(name):
            yield {key: value for key, value in event.items() if key != name}
    if event["do"] == "topic" and event["partitions"] > 1:
        yield {**event, "partitions": event["partitions"] - 1}
    if event["do"] == "partition" and len(event["from"]) > 1:
        for name in event["from"]:
            yield {**event, "from": [other for other in event["from"] if other != name]}


@dataclass
class Simulated:
    """The sum of all seeds, independent of their distribution. `violations` has each kind of violation once,
    of the seed that shows it after the fewest events; `digest` is of everything that happened in all of
    them."""

    options: SimulationOptions
    seeds: int
    counts: Counts
    digest: str
    violations: list[SimulatedViolation]
    seconds: float = 0.0


def summed(options: SimulationOptions, outcomes: Sequence[Outcome]) -> Simulated:
    """Add up outcomes, in any order."""
    counts, digest = Counts.none(), hashlib.sha256()
    first: dict[tuple[str, str], SimulatedViolation] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for outcome in sorted(outcomes, key=lambda one: one.seed):
        counts.add(outcome.counts)
        digest.update(outcome.digest.encode())
        violation = outcome.violation
        if violation is not None:
            seen[violation.kind] += 1
            if violation.kind not in first or violation.events < first[violation.kind].events:
                first[violation.kind] = violation
    merged = [replace(one, seen=seen[kind]) for kind, one in sorted(first.items())]
    return Simulated(options, len(outcomes), counts, digest.hexdigest(), merged)
