"""Steps of the gate: their kinds and order, and the reasons why some are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from harness.dialect_name import base_of
from harness.engines.base import Limits
from harness.errors import HOLDS, ConformError
from harness.evidence import evidence_file
from harness.gate.again import Again
from harness.identify.judge import Identified
from harness.kinds.registry import TRACE_FOLDERS
from harness.kit import is_carried
from harness.manifest import Entry, Manifest
from harness.replay.dialects import TEXT
from harness.scenario.files import SUFFIX as SCENARIO
from harness.waivers import Waivers

SCENARIOS: Final = "golden"
"""The folder of traces that has scenarios."""
KINDS: Final = ("evidence", "replay", "scenario", "check", "exhaust", "random", "simulate")
"""The kinds of steps in the order in which they are done: quick ones first, random work last."""
WIRE_KINDS: Final = ("doctor", "identify", "replay")
"""Kinds of steps for a target over the wire, which cannot be loaded."""
RANDOM: Final = frozenset({"random", "simulate"})
"""The steps that are cut where the time is over."""
CHECKER: Final = frozenset({"scenario", "check", "exhaust", "random"})
"""The steps that need TLC, and so Java."""
NOT_OVER_THE_WIRE: Final = "it judges the specification, or needs operations that no broker has"
RANDOM_MODEL: Final = "MCSimulate"


class Outcome(StrEnum):
    """Outcomes of a step: done or not, and why not."""

    DONE = "done"
    CUT = "cut"
    """The time was over: random work only."""
    LEFT_OUT = "left out"
    """The step cannot or need not be done here; the message has the reason."""


@dataclass(frozen=True)
class Step:
    """One check of the gate: `kind` is one of KINDS, or waivers. `left_out` is the reason why it is not
    done."""

    kind: str
    name: str
    left_out: str = ""


@dataclass(frozen=True)
class Done:
    """The result of a step: its own exit code, a sentence, and for JSON the output of the verb of its kind.

    `place` is the file that a failure is about, or None.
    """

    step: Step
    exit_code: int
    message: str
    seconds: float
    details: dict[str, Any]
    outcome: Outcome = Outcome.DONE
    place: Path | None = None

    @property
    def failed(self) -> bool:
        """Tell if the step keeps the gate from passing."""
        return self.exit_code != HOLDS


@dataclass(frozen=True)
class GateOptions:
    """The options of the gate.

    The gate covers a manifest's tier, its evidence, and the traces in a folder, within `seconds`. Logs and
    counterexamples go to `out`. `waivers` accept differences on the target; the last step checks that each
    waiver covered one. `kinds` are those of KINDS to do, by default all that can be done: with the
    specification of an installed package, those that judge the target and need no model checker. `again` are
    the models whose results are computed anew although they are recorded. `seeds` runs of random work of each
    kind start from `seed`. A live broker may wait for timers for `wait_s` seconds in a step; `identified` is
    its dialect if that was identified.
    """

    manifest: Manifest
    traces: Path
    out: Path
    seconds: float
    tier: str = "small"
    target: str = "python"
    dialect: str = TEXT.name
    limits: Limits = field(default_factory=Limits)
    waivers: Waivers = field(default_factory=Waivers)
    waivers_file: Path | None = None
    kinds: frozenset[str] | None = None
    again: Again = field(default_factory=Again)
    seeds: int = 5
    seed: int = 848
    wait_s: float = 0
    identified: Identified | None = None

    @property
    def wanted(self) -> frozenset[str]:
        """The kinds of steps that are done."""
        if self.kinds is not None:
            return self.kinds
        return frozenset(KINDS) - CHECKER if is_carried(self.manifest.folder) else frozenset(KINDS)


def steps_of(options: GateOptions) -> list[Step]:
    """Everything that will be done or is left out. ConformError if there is nothing to do."""
    steps: list[Step] = []
    wire = over_the_wire(options.target)
    for kind in dict.fromkeys([*WIRE_KINDS, *KINDS] if wire else KINDS):
        if options.kinds is not None and kind not in options.kinds:
            steps.append(Step(kind, "all", "not asked for (--only)"))
        elif wire and kind not in WIRE_KINDS:
            steps.append(Step(kind, "all", NOT_OVER_THE_WIRE))
        else:
            steps += _LISTED[kind](options)
    if all(step.left_out for step in steps):
        raise ConformError(
            f"There is nothing to do: no {' or '.join(sorted(options.wanted))} is there for {options.target}."
        )
    return [*steps, *([Step("waivers", "accepted")] if options.waivers else [])]


def over_the_wire(target: str) -> bool:
    """Tell if the target is a broker, or librdkafka's mock cluster."""
    return target.partition(":")[0] in ("broker", "mock")


def exhausted_model(dialect: str) -> str:
    """The name of the model that is exhausted for a dialect: MCTour, MCKafka42Tour."""
    base = base_of(dialect)
    version = "" if base == TEXT.name else base.capitalize().replace("-", "").replace(".", "")
    return f"MC{version}Tour"


def _of_tier(options: GateOptions) -> list[Entry]:
    entries = [entry for entry in options.manifest.entries if entry.tier == options.tier]
    if not entries:
        raise ConformError(
            f"{options.manifest.folder / 'manifest.json'} has no model of tier {options.tier}."
        )
    return entries


def _evidence(options: GateOptions) -> Iterator[Step]:
    """Records of models that are not checked here: those of other tiers, and of this tier if it is left
    out."""
    for entry in options.manifest.entries:
        recorded = evidence_file(entry, options.manifest.folder).is_file()
        if entry.name in options.again.why and "check" in options.wanted:
            continue
        if entry.tier != options.tier or ("check" not in options.wanted and recorded):
            yield Step("evidence", entry.name)


def _replays(options: GateOptions) -> Iterator[Step]:
    base = base_of(options.dialect)
    own = f"dialects/{base}"
    if base == TEXT.name:
        yield from (Step("replay", name) for name in TRACE_FOLDERS)
        if (options.traces / own).is_dir():
            yield Step("replay", own)
    else:
        yield Step("replay", own)
        if (options.traces / f"kafka/{base}").is_dir():
            is_kafka = options.target.startswith("kafka:")
            why = "" if is_kafka else "groups migrate so on Kafka's own coordinator alone"
            yield Step("replay", f"kafka/{base}", why)
        why = f"they are of KIP-848's text, and {options.target} speaks {options.dialect}"
        yield Step("replay", ", ".join(TRACE_FOLDERS), why)


def _scenarios(options: GateOptions) -> Iterator[Step]:
    if any((options.traces / SCENARIOS).rglob(f"*{SCENARIO}")):
        yield Step("scenario", SCENARIOS, _unneeded(options, "scenario"))


def _checks(options: GateOptions) -> Iterator[Step]:
    entries = _of_tier(options)
    if "check" in options.wanted:
        others = [entry for entry in options.manifest.entries if entry.tier != options.tier]
        altered = [entry for entry in others if entry.name in options.again.why]
        yield from (Step("check", entry.name) for entry in [*entries, *altered])
        return
    recorded = sum(evidence_file(entry, options.manifest.folder).is_file() for entry in entries)
    also = "this package has no recorded results of them (make wheel records them)"
    if recorded:
        also = f"the recorded results of {recorded} of them are verified instead"
    yield Step(
        "check", f"{len(entries)} models of tier {options.tier}", f"{_unneeded(options, 'check')}; {also}"
    )


def _exhaust(options: GateOptions) -> Iterator[Step]:
    name = exhausted_model(options.dialect)
    if any(entry.name == name for entry in options.manifest.entries):
        yield Step("exhaust", name, _unneeded(options, "exhaust"))


def _random(options: GateOptions) -> Iterator[Step]:
    """Behaviours of a model of KIP-848's text, made anew from each seed."""
    if not any(entry.name == RANDOM_MODEL for entry in options.manifest.entries):
        return
    why = _unneeded(options, "random")
    if options.dialect != TEXT.name:
        why = f"{RANDOM_MODEL} is of KIP-848's text, and {options.target} speaks {options.dialect}"
    if why:
        yield Step("random", RANDOM_MODEL, why)
    else:
        yield from (Step("random", f"{RANDOM_MODEL} seed {options.seed + n}") for n in range(options.seeds))


def _simulations(options: GateOptions) -> Iterator[Step]:
    yield from (Step("simulate", f"seed {options.seed + n}") for n in range(options.seeds))


def _doctor(_: GateOptions) -> Iterator[Step]:
    yield Step("doctor", "operations")


def _identify(options: GateOptions) -> Iterator[Step]:
    yield Step("identify", "dialect", "" if options.identified else f"--dialect says {options.dialect}")


_LISTED: Final = {
    "doctor": _doctor,
    "identify": _identify,
    "evidence": _evidence,
    "replay": _replays,
    "scenario": _scenarios,
    "check": _checks,
    "exhaust": _exhaust,
    "random": _random,
    "simulate": _simulations,
}


def _unneeded(options: GateOptions, kind: str) -> str:
    """The reason why a kind of steps that needs a model checker is not done; "" if it is."""
    if kind in options.wanted:
        return ""
    if kind == "exhaust":
        return "it needs Java and Spark: --only exhaust does it where both are at hand"
    if kind == "random":
        return "it needs Java: --only random does it where that is at hand"
    return "it judges the specification, which came with this package, and not the target"
