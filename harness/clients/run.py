"""Many schedules on one client, and the shortest schedule for each broken rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from harness.clients.judge import RULES, Breach, Judged
from harness.clients.schedules import Origin, Schedule
from harness.clients.timeline import Event, Setup
from harness.simulate.shrink import shrink
from harness.targets.base import Json

Play = Callable[[Setup, Sequence[Json]], Judged]
"""Runs a client under a schedule and judges it."""


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A broken rule: the origin of the schedule that broke it, the shortest schedule that breaks it, and the
    events of a run of that."""

    origin: Origin
    breach: Breach
    setup: Setup
    steps: tuple[Json, ...]
    timeline: tuple[Event, ...] = ()


@dataclass(slots=True)
class Result:
    """The result of all schedules. `counts` has the number of times that each rule had something to judge;
    `broken` has the broken rules, `unsure` those that broke in a run of an agent and not in each repetition;
    `missing` are the abilities that the client does not have; `not_driven` counts the actions of traces that
    no step of a schedule brings about."""

    schedules: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: dict[str, BrokenRule] = field(default_factory=dict)
    unsure: dict[str, BrokenRule] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    not_driven: Counter[str] = field(default_factory=Counter)


def run_schedules(play: Play, schedules: Iterable[Schedule]) -> Result:
    """Judge a client under each schedule."""
    result = Result()
    for origin, setup, steps in schedules:
        judged = play(setup, steps)
        result.schedules += 1
        result.counts.update(judged.counts)
        for breach in judged.breaches:
            broken = BrokenRule(origin, breach, setup, steps, judged.timeline)
            result.broken.setdefault(breach.rule, broken)
    return result


def shortest(play: Play, broken: BrokenRule) -> BrokenRule:
    """A finding with a schedule of which no step can be left out."""
    rule = broken.breach.rule

    def fails(steps: Sequence[Json]) -> bool:
        return bool(steps) and steps[0]["do"] == "start" and rule in play(broken.setup, steps).broken()

    steps = shrink(broken.steps, fails)
    judged = play(broken.setup, steps)
    breach = next(one for one in judged.breaches if one.rule == rule)
    return BrokenRule(broken.origin, breach, broken.setup, tuple(steps), judged.timeline)


def rows(result: Result) -> list[list[str]]:
    """A row for each rule: requirement, name, verdict and the number of times that it was judged."""
    table = []
    for rule in RULES:
        count = result.counts[rule.__name__]
        verdict = "broken" if rule.__name__ in result.broken else "holds" if count else "not judged"
        table.append([rule.requirement, rule.__name__, verdict, f"{count:,}"])
    return table


def left_out(result: Result) -> str:
    """The sentence about rules by which this client cannot be judged; "" where there are none."""
    names = [rule.__name__ for rule in RULES if rule.needs & result.missing]
    if not result.missing:
        return ""
    rules = f"not judged are {', '.join(names)}" if names else "no rule needs that"
    return f"The agent says that its client has no {' and no '.join(sorted(result.missing))}: {rules}."


def lines(broken: BrokenRule) -> list[str]:
    """A finding in lines: the sentence of its rule, the events, and the schedule."""
    rule = next(rule for rule in RULES if rule.__name__ == broken.breach.rule)
    configured = f"instance id {broken.setup.instance or 'none'}, auto-commit "
    configured += "on" if broken.setup.auto_commit else "off"
    schedule = "its schedule" if broken.origin.file else "the shortest schedule"
    return [
        f"{rule.requirement} {broken.breach.rule}: {rule.sentence}",
        f"  after {broken.breach.ms} ms the client {broken.breach.message}",
        f"  {broken.origin}; {configured}; {schedule}:",
        *(f"    {in_words(step)}" for step in broken.steps),
    ]


def in_words(step: Json) -> str:
    """A step of a schedule in words."""
    return " ".join(_word(value) for value in step.values())


def _word(value: object) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def to_json(client: str, result: Result, more: Callable[[BrokenRule], Json]) -> Json:
    """The result for `--json`; `more` gives the rest of a finding: the command that repeats it, and its
    messages."""
    return {
        "client": client,
        "schedules": result.schedules,
        "notDriven": dict(sorted(result.not_driven.items())),
        "rules": [
            {
                "requirement": rule.requirement,
                "rule": rule.__name__,
                "sentence": rule.sentence,
                "judged": result.counts[rule.__name__],
                "broken": rule.__name__ in result.broken,
            }
            for rule in RULES
        ],
        "findings": [
            {
                "requirement": one.breach.requirement,
                "rule": one.breach.rule,
                "message": one.breach.message,
                **one.origin.to_json(),
                "origin": str(one.origin),
                "instance": one.setup.instance,
                "autoCommit": one.setup.auto_commit,
                "ms": one.breach.ms,
                "schedule": list(one.steps),
                "inWords": [in_words(step) for step in one.steps],
                **more(one),
            }
            for one in result.broken.values()
        ],
        "unsure": sorted(result.unsure),
        "missing": sorted(result.missing),
    }
