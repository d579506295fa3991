"""Check models and compare with what is expected of them, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.engines.apalache import Apalache
from harness.engines.base import Engine, EngineError, Failure, Limits, Model, Outcome, Progress, Result
from harness.engines.tlc import Tlc
from harness.errors import EVIDENCE_MISSING, HOLDS, MODEL_VIOLATED, ConformError
from harness.evidence import Evidence, Status, record, verify
from harness.itf import write_trace
from harness.manifest import Entry

ENGINES: dict[str, Engine] = {"tlc": Tlc(), "apalache": Apalache()}


@dataclass(frozen=True)
class Difference:
    """One figure that is not as expected."""

    what: str
    expected: Any
    got: Any


@dataclass(frozen=True)
class Checked:
    """What became of one model.

    `facts` (of `Result.facts`) come from `result`, or from `evidence` where the engine is not on this
    machine. With `error` there is no answer. `counterexample` is the ITF file of one, `entry` the manifest's.
    """

    name: str
    engine: str
    version: str = ""
    facts: Mapping[str, Any] | None = None
    seconds: float = 0.0
    differences: tuple[Difference, ...] = ()
    result: Result | None = None
    evidence: Evidence | None = None
    error: ConformError | None = None
    counterexample: Path | None = None
    entry: Entry | None = None

    @property
    def exit_code(self) -> int:
        """The exit code that this model alone would give."""
        if self.error:
            return self.error.exit_code
        if self.evidence and self.evidence.status is not Status.ACCEPTED:
            return EVIDENCE_MISSING
        return MODEL_VIOLATED if self.differences else HOLDS

    def to_json(self) -> dict[str, Any]:
        """This as JSON."""
        return {
            "name": self.name,
            "purpose": self.entry and self.entry.purpose,
            "bounds": self.entry and self.entry.bounds,
            "engine": self.engine,
            "version": self.version,
            **(self.facts or {}),
            "seconds": round(self.seconds, 2),
            "as_expected": self.exit_code == HOLDS,
            "differences": [vars(difference) for difference in self.differences],
            "evidence": self.evidence and {"status": self.evidence.status, "reasons": self.evidence.reasons},
            "error": self.error and self.error.message,
            "failure": self.error.failure if isinstance(self.error, EngineError) else None,
            "generated_states": self.result and self.result.generated_states,
            "spec_hash": self.result and self.result.spec_hash,
            "args": self.result and list(self.result.args),
            "log": self.result and str(self.result.log),
            "counterexample": self.counterexample and str(self.counterexample),
        }


def compare(expected: Mapping[str, Any], facts: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The figures that are not as expected."""
    return tuple(
        Difference(what, value, facts.get(what))
        for what, value in expected.items()
        if facts.get(what) != value
    )


def check_entry(
    entry: Entry, manifest_folder: Path, out: Path, limits: Limits, progress: Progress, *, keep: bool = False
) -> Checked:
    """Check an entry of the manifest; with `keep`, record the result as evidence if it is as expected.

    Log and counterexample go to the folder `out`. Where the engine is not on this machine, the evidence
    counts instead.
    """
    try:
        checked = _run(entry.model(), entry.engine, out, limits, progress)
    except EngineError as error:
        if error.failure is not Failure.MISSING:
            raise
        return from_evidence(entry, manifest_folder)
    checked = _judge(entry, checked)
    if entry.engine == "tlc" and "depth" in {difference.what for difference in checked.differences}:
        # With several workers TLC may find a state on a longer way first, and its depth is one too many.
        once_more = _run(entry.model(), entry.engine, out, replace(limits, workers=1), progress)
        checked = _judge(entry, once_more)
    if keep and checked.result and not checked.differences:
        record(entry, checked.result, manifest_folder)
    return checked


def check_model(model: Model, engine: str, out: Path, limits: Limits, progress: Progress) -> Checked:
    """Check a model of which nothing is known but that it should hold."""
    checked = _run(model, engine, out, limits, progress)
    return replace(checked, differences=compare({"outcome": Outcome.HOLDS.value}, checked.facts or {}))


def _run(model: Model, engine: str, out: Path, limits: Limits, progress: Progress) -> Checked:
    result = ENGINES[engine].check(model, out.resolve() / f"{model.name}.log", limits, progress)
    counterexample = out / f"{model.name}.itf.json"
    if result.counterexample:
        write_trace(counterexample, result.counterexample)
    else:
        counterexample.unlink(missing_ok=True)
    return Checked(
        name=model.name,
        engine=result.engine,
        version=result.version,
        facts=result.facts(),
        seconds=result.seconds,
        result=result,
        counterexample=counterexample if result.counterexample else None,
    )


def _judge(entry: Entry, checked: Checked) -> Checked:
    return replace(checked, entry=entry, differences=compare(entry.expected(), checked.facts or {}))


def from_evidence(entry: Entry, folder: Path) -> Checked:
    """An entry's recorded result, compared with what is expected of it as long as it counts.

    `folder` is the manifest's.
    """
    evidence = verify(entry, folder)
    accepted = evidence.status is Status.ACCEPTED
    return Checked(
        name=entry.name,
        engine=entry.engine,
        version=evidence.version,
        facts=evidence.facts,
        seconds=evidence.seconds,
        differences=compare(entry.expected(), evidence.facts or {}) if accepted else (),
        evidence=evidence,
        entry=entry,
    )
