"""From results to one verdict: the faults, in sentences, and the exit code of the worst."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.errors import (
    ENGINE_FAILED,
    EVIDENCE_MISSING,
    HOLDS,
    MODEL_VIOLATED,
    NOT_CONFORMANT,
    UNDECIDED,
    USAGE,
    WORST_FIRST,
)
from harness.report.readers.check import ModelResult
from harness.report.readers.exhaust import Exhaust
from harness.report.results import Results
from harness.words import counted

NAMED: Final = 8
"""The number of models that a sentence names; the page lists all of them below."""
MEANINGS: Final = {
    HOLDS: "everything holds",
    USAGE: "something was not given as it should be",
    ENGINE_FAILED: "an engine or a target failed",
    MODEL_VIOLATED: "a model does not give what is expected of it",
    NOT_CONFORMANT: "an implementation does not conform",
    UNDECIDED: "a model ran out of time",
    EVIDENCE_MISSING: "evidence is missing",
}


@dataclass(frozen=True)
class Finding:
    """A fault; `section` is the section of the page with its details."""

    exit_code: int
    sentence: str
    section: str


def not_needed(results: Results) -> str:
    """A sentence about missing results, where they are no failure: where only implementations of others were
    judged; else ""."""
    judged = results.of_others
    if not results.missing or not judged:
        return ""
    return f"Not in this report, and not needed to judge {', '.join(judged)}: {_verbs(results)}."


def _verbs(results: Results) -> str:
    """The commands whose results are missing."""
    named = (re.search(r"`(conform \w+)`", sentence) for sentence in results.missing)
    return ", ".join(dict.fromkeys(one[1] for one in named if one))


def findings(results: Results) -> list[Finding]:
    """All faults and missing results, the most serious first."""
    reasons = [*_models(results), *_steps(results)]
    if not not_needed(results):
        reasons += [Finding(EVIDENCE_MISSING, sentence, "verdict") for sentence in results.missing]
    return sorted(reasons, key=lambda finding: WORST_FIRST.index(finding.exit_code))


def _models(results: Results) -> Iterator[Finding]:
    for model in results.models:
        if not model.as_expected and (model.error or not model.without_record):
            yield _model(model)
    for status in ("missing", "stale"):
        names = [model.name for model in results.models if model.without_record and model.evidence == status]
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            sentence = f"Not checked, and the recorded result is {status}: {', '.join(names[:NAMED])}{more}."
            yield Finding(EVIDENCE_MISSING, sentence, "models")
    for generation in results.generations:
        if generation.unreached:
            goals = ", ".join(generation.unreached)
            yield Finding(
                MODEL_VIOLATED, f"No behaviour of {generation.model} reaches {goals}.", "generation"
            )


def _model(model: ModelResult) -> Finding:
    if model.error:
        code = UNDECIDED if model.undecided else ENGINE_FAILED
        return Finding(code, f"{model.name}: {model.error.splitlines()[0]}", "models")
    differences = "; ".join(
        f"{one.what}: expected {one.expected}, got {one.got}" for one in model.differences
    )
    return Finding(MODEL_VIOLATED, f"{model.name} is not as expected: {differences}.", "models")


def _steps(results: Results) -> Iterator[Finding]:
    for replay in results.replays:
        if replay.stopped:
            sentence = f"The replay of the traces {replay.source} ended before its end: {replay.stopped}"
            yield Finding(ENGINE_FAILED, sentence, "replay")
        if replay.not_loaded:
            sentence = (
                f"{replay.target} did not load {counted(len(replay.not_loaded), 'state')} of the traces "
                f"{replay.source}: its adapter is to blame."
            )
            yield Finding(ENGINE_FAILED, sentence, "replay")
        if replay.differences:
            yield Finding(
                NOT_CONFORMANT,
                f"{replay.target} differs from the specification in "
                f"{counted(len(replay.failures), 'step')} of the traces {replay.source} "
                f"({counted(replay.differences, 'difference')}).",
                "findings",
            )
        elif not (replay.target_steps or replay.not_loaded):
            yield Finding(NOT_CONFORMANT, f"The traces {replay.source} have no step on a target.", "replay")
        if replay.waiver_problems:
            place = f"Waivers of {replay.target} on the traces {replay.source}"
            yield Finding(NOT_CONFORMANT, f"{place}: {' '.join(replay.waiver_problems)}", "replay")
    for exhaust in results.exhausts:
        yield from _exhaust(exhaust)
    for simulation in results.simulations:
        if simulation.violations:
            sentence = f"Simulation of {simulation.what}: {simulation.outcome}."
            yield Finding(NOT_CONFORMANT, sentence, "findings")
        elif not simulation.events:
            yield Finding(NOT_CONFORMANT, f"Simulation of {simulation.what} did nothing.", "simulate")
        if simulation.waiver_problems:
            sentence = f"Waivers of {simulation.what}: {' '.join(simulation.waiver_problems)}"
            yield Finding(NOT_CONFORMANT, sentence, "simulate")
    for client in results.clients:
        if client.breaches:
            rules = ", ".join(one.rule for one in client.breaches)
            yield Finding(NOT_CONFORMANT, f"The client {client.name} breaks {rules}.", "clients")
    for mutation in results.mutations:
        if mutation.exit_code:
            left = f"{mutation.total.survived:,} of {mutation.total.judged:,} mutants survive"
            sentence = " ".join([f"Mutation: {left}.", *mutation.stale])
            yield Finding(mutation.exit_code, sentence, "mutate")
    survivors = [mutant.name for mutant in results.mutants if not mutant.caught_by]
    if survivors:
        yield Finding(
            EVIDENCE_MISSING, f"Seeded bugs that nothing catches: {', '.join(survivors)}.", "mutants"
        )


def _exhaust(exhaust: Exhaust) -> Iterator[Finding]:
    reasons = [*_faults(exhaust)]
    yield from reasons
    if not (reasons or exhaust.holds):
        sentence = f"The result of {exhaust.model} on {exhaust.target} says itself that not all of it holds."
        yield Finding(NOT_CONFORMANT, sentence, "exhaust")


def _faults(exhaust: Exhaust) -> Iterator[Finding]:
    what = f"{counted(exhaust.steps + exhaust.trace_steps, 'step')} of {exhaust.model}"
    if exhaust.failed:
        sentence = f"{exhaust.target} differs from the specification in {exhaust.failed:,} of {what}."
        yield Finding(NOT_CONFORMANT, sentence, "findings" if exhaust.findings else "exhaust")
    if exhaust.not_judged or exhaust.quarantined or not exhaust.steps + exhaust.trace_steps:
        left = f"{exhaust.not_judged:,} not judged, {counted(exhaust.quarantined, 'input')} not read"
        yield Finding(ENGINE_FAILED, f"Not all was judged on {exhaust.target} of {what}: {left}.", "exhaust")
    if exhaust.loaded_wrongly:
        sentence = (
            f"{exhaust.target} did not load {counted(exhaust.loaded_wrongly, 'state')} of {exhaust.model}"
        )
        yield Finding(ENGINE_FAILED, f"{sentence}: its adapter is to blame.", "exhaust")
    if exhaust.waiver_problems:
        sentence = f"Waivers of {exhaust.target} on {exhaust.model}: {' '.join(exhaust.waiver_problems)}"
        yield Finding(NOT_CONFORMANT, sentence, "exhaust")
