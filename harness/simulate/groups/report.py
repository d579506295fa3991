"""The report of `conform simulate` about whole groups, on the screen and as JSON."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from harness.simulate.groups.run import Simulated, SimulatedViolation, SimulationOptions
from harness.simulate.groups.words import error_name, in_words
from harness.targets.base import Json


def command_of(options: SimulationOptions) -> str:
    """The command that does the same run again."""
    words = ["conform", "simulate", "--seed", str(options.seed)]
    if options.seeds > 1:
        words += ["--seeds", str(options.seeds)]
    words += ["--events", str(options.events)]
    words += [] if options.kind == SimulationOptions().kind else ["--kind", options.kind]
    words += [
        *([] if options.r9 else ["--without", "r9"]),
        *([] if options.exemption else ["--without", "exemption"]),
    ]
    return shlex.join(words)


def summary(result: Simulated) -> Iterator[str]:
    """Counts of events and verdicts: they show that a run did something, with its result."""
    counts, options = result.counts, result.options
    seeds = f"{result.seeds:,} seeds" if result.seeds > 1 else f"seed {options.seed}"
    what = f"whole {_groups(options)} (python, kip-848)"
    yield f"{seeds}, {counts.events:,} events on {what}, checked after each"
    yield f"events: {counted(counts.kinds)}"
    yield f"faults: {counted(counts.faults)}"
    yield f"states of groups: {counted(counts.states)}; {counts.rebalances:,} rebalances ended in Stable"
    yield f"answers: {counted(named(counts.answers))}"
    yield f"partitions with an owner and a zombie: {counts.zombie_owners:,}"
    if result.seconds:
        yield f"{counts.events / result.seconds:,.0f} events/s, {result.seconds:.1f} s"
    yield f"digest of all that happened: {result.digest[:16]}"
    yield f"again: {command_of(options)}"
    if not result.violations:
        yield "no violation"


def _groups(options: SimulationOptions) -> str:
    return "groups" if options.kind == SimulationOptions().kind else f"{options.kind} groups"


def explain(violation: SimulatedViolation, path: Path, scenario: Path | None) -> Iterator[str]:
    """A violation, and its shortest schedule in words."""
    yield f"{violation.requirement} {violation.invariant}: {violation.message}"
    yield f"  in {violation.seen:,} seeds; of seed {violation.seed} after {violation.events:,} events"
    yield f"  shrunk to {len(violation.schedule.events)} events: {path}"
    yield from (f"  {line}" for line in steps(violation))
    for fault, times in violation.undescribed:
        yield f"  the coordinator could not describe a group, {times} times; {fault}"
    if scenario is not None:
        yield f"  what the coordinator was asked, as a scenario: {scenario}"
    yield f"  again: conform simulate --replay {shlex.quote(str(path))}"


def steps(violation: SimulatedViolation) -> Iterator[str]:
    """The events of a schedule in words, numbered."""
    for number, event in enumerate(violation.schedule.events, start=1):
        who = f"{event['who']} " if "who" in event else ""
        yield f"{number}. {event['at'] / 1000:,.3f} s: {who}{in_words(event)}"


def counted(counts: Counter[str]) -> str:
    """Names with their counts, the most frequent first."""
    rows = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{name} {count:,}" for name, count in rows) or "none"


def named(answers: Counter[str]) -> Counter[str]:
    """Answers of heartbeats by the names of their errors."""
    counts: Counter[str] = Counter()
    for name, count in answers.items():
        kind, _, code = name.partition(" ")
        counts[f"{kind} {error_name(int(code))}" if kind == "heartbeat" else name] += count
    return counts


def file_name(violation: SimulatedViolation) -> str:
    """The name of the file of a schedule."""
    return f"{violation.requirement}-{violation.invariant}-{violation.seed}.json"


def to_json(result: Simulated, files: Sequence[Path], scenarios: Sequence[Path | None]) -> Json:
    """For `--json`."""
    counts = result.counts
    return {
        "command": "simulate",
        "mode": "groups",
        "kind": result.options.kind,
        "target": "python",
        "dialect": "kip-848",
        "seed": result.options.seed,
        "seeds": result.seeds,
        "events": counts.events,
        "events_per_seed": result.options.events,
        "assumptions": {"r9": result.options.r9, "exemption": result.options.exemption},
        "kinds": dict(sorted(counts.kinds.items())),
        "faults": dict(sorted(counts.faults.items())),
        "states": dict(sorted(counts.states.items())),
        "answers": dict(sorted(named(counts.answers).items())),
        "rebalances": counts.rebalances,
        "zombie_owners": counts.zombie_owners,
        "digest": result.digest,
        "seconds": round(result.seconds, 2),
        "again": command_of(result.options),
        "holds": not result.violations,
        "violations": [
            _violation(violation, path, scenario)
            for violation, path, scenario in zip(result.violations, files, scenarios, strict=True)
        ],
    }


def _violation(violation: SimulatedViolation, path: Path, scenario: Path | None) -> Json:
    return {
        "requirement": violation.requirement,
        "invariant": violation.invariant,
        "message": violation.message,
        "seed": violation.seed,
        "events": violation.events,
        "seen_in_seeds": violation.seen,
        "schedule": str(path),
        "scenario": None if scenario is None else str(scenario),
        "again": f"conform simulate --replay {shlex.quote(str(path))}",
        "settings": asdict(violation.schedule.settings),
        "steps": list(steps(violation)),
        "messages": list(violation.story),
        "undescribed": dict(violation.undescribed),
        "before": violation.before,
        "after": violation.after,
    }
