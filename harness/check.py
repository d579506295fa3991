"""Check models and compare the results exactly with the expected ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from harness.engines.base import EngineError, Failure, Limits, Model, Outcome, Progress, Result
from harness.engines.registry import ENGINES
from harness.errors import EVIDENCE_MISSING, HOLDS, MODEL_VIOLATED, UNDECIDED, ConformError
from harness.evidence import Evidence, Records, Status, record, verify
from harness.files import output_folder
from harness.itf import write_trace
from harness.manifest import Entry
from harness.property_requirements import requirements_of
from harness.retrace import with_steps

_OUTCOME: Final = {"outcome", "property"}
"""The facts of a result that are no figures."""


@dataclass(frozen=True)
class Difference:
    """One figure that differs from the expected one."""

    what: str
    expected: Any
    got: Any


@dataclass(frozen=True)
class Checked:
    """The result of checking one model.

    `facts` (of `Result.facts`) come from `result`, or from `evidence` where no engine ran: then `result` is
    read from the recorded log, if there is one. `why` is the reason why an engine ran although results are
    recorded. With `error` there is no answer; `missing` is the reason why the engine is not on this machine.
    `counterexample` is the ITF file of one, `entry` the manifest's, `module` the source of a model that the
    manifest does not have.
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
    why: str = ""
    missing: str = ""
    module: Path | None = None

    @property
    def ran(self) -> bool:
        """Tell if the engine ran for this result."""
        return self.result is not None and self.evidence is None

    @property
    def undecided(self) -> bool:
        """Tell if the time ran out before there was an answer."""
        return isinstance(self.error, EngineError) and self.error.failure is Failure.TIME_OUT

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements of the violated property; () if no property is violated, or it names no
        requirement."""
        name = (self.facts or {}).get("property")
        module = self.entry.model().module if self.entry else self.module
        return requirements_of(name, module) if name and module else ()

    @property
    def exit_code(self) -> int:
        """The exit code that this model alone would give."""
        if self.undecided:
            return UNDECIDED
        if self.error:
            return self.error.exit_code
        if self.evidence and self.evidence.status is not Status.ACCEPTED:
            return EVIDENCE_MISSING
        return MODEL_VIOLATED if self.differences else HOLDS

    def to_json(self) -> dict[str, Any]:
        """The result of the check as JSON."""
        return {
            "name": self.name,
            "purpose": self.entry and self.entry.purpose,
            "bounds": self.entry and self.entry.bounds,
            "engine": self.engine,
            "version": self.version,
            **(self.facts or {}),
            "requirements": list(self.requirements),
            "seconds": round(self.seconds, 2),
            "processor": round(self.result.processor, 2) if self.ran and self.result else None,
            "as_expected": self.exit_code == HOLDS,
            "differences": [vars(difference) for difference in self.differences],
            "ran": self.ran,
            "why": self.why,
            "evidence": self.evidence
            and {
                "status": self.evidence.status,
                "reasons": self.evidence.reasons,
                "recorded": self.evidence.recorded,
                "engine_missing": self.missing,
            },
            "error": self.error and self.error.message,
            "failure": self.error.failure if isinstance(self.error, EngineError) else None,
            "generated_states": self.result and self.result.generated_states,
            "spec_hash": self.result and self.result.spec_hash,
            "args": self.result and list(self.result.args),
            "log": self.result and str(self.result.log),
            "counterexample": self.counterexample and str(self.counterexample),
        }


def compare(expected: Mapping[str, Any], facts: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The figures that differ from the expected ones."""
    return tuple(
        Difference(what, value, facts.get(what))
        for what, value in expected.items()
        if facts.get(what) != value
    )


def check_entry(
    entry: Entry,
    records: Records,
    out: Path,
    limits: Limits,
    progress: Progress,
    *,
    keep: bool = False,
    why: str = "",
) -> Checked:
    """Run the engine on an entry of the manifest, whatever is recorded.

    A result with the expected outcome goes to this machine's store, so that a wrong figure in the manifest
    costs no second run; with `keep`, a result as expected becomes the committed record. A result that differs
    from a record of the same key is a failure. Log and counterexample go to the folder `out`. Where the
    engine is not on this machine, the record counts in its place.
    """
    try:
        checked = _run(entry.model(), entry.engine, out, limits, progress)
    except EngineError as error:
        if error.failure is not Failure.MISSING:
            raise
        return replace(from_evidence(entry, records.folder), missing=error.message)
    checked = _judge(entry, checked)
    if entry.engine == "tlc" and "depth" in {difference.what for difference in checked.differences}:
        # With several workers TLC may reach a state on a longer way first, and then reports a depth that is
        # one too many.
        once_more = _run(entry.model(), entry.engine, out, replace(limits, workers=1), progress)
        checked = _judge(entry, once_more)
    assert checked.result is not None
    recorded = _recorded(entry, records.folder, keep)
    unlike = unlike_record(checked.result, recorded)
    if not unlike and _OUTCOME.isdisjoint(difference.what for difference in checked.differences):
        records.keep(entry, checked.result)
    differences = (*checked.differences, *unlike)
    if keep and not differences:
        record(entry, checked.result, records.folder)
    return replace(checked, differences=differences, why=why)


def _recorded(entry: Entry, folder: Path, keep: bool) -> Evidence:
    """The committed record; an unreadable record counts as missing where it is about to be replaced."""
    try:
        return verify(entry, folder)
    except ConformError as error:
        if not keep:
            raise
        return Evidence(Status.MISSING, (error.message,))


def check_model(model: Model, engine: str, out: Path, limits: Limits, progress: Progress) -> Checked:
    """Check a model of which only one thing is known: it should hold."""
    checked = _run(model, engine, out, limits, progress)
    differences = compare({"outcome": Outcome.HOLDS.value}, checked.facts or {})
    return replace(checked, differences=differences, module=model.module)


def _run(model: Model, engine: str, out: Path, limits: Limits, progress: Progress) -> Checked:
    result = ENGINES[engine].check(model, out.resolve() / f"{model.name}.log", limits, progress)
    return Checked(
        name=model.name,
        engine=result.engine,
        version=result.version,
        facts=result.facts(),
        seconds=result.seconds,
        result=result,
        counterexample=_counterexample(model.name, _named(model, engine, result, limits), out),
    )


def _named(model: Model, engine: str, result: Result, limits: Limits) -> Result:
    """The result with the names of its counterexample's steps, which not every model records."""
    if engine != "tlc" or result.counterexample is None:
        return result
    return replace(result, counterexample=with_steps(model, result.counterexample, limits))


def _counterexample(name: str, result: Result, out: Path) -> Path | None:
    """Write the counterexample, or remove an earlier one."""
    path = out / f"{name}.itf.json"
    if result.counterexample:
        write_trace(path, result.counterexample)
        return path
    path.unlink(missing_ok=True)
    return None


def _judge(entry: Entry, checked: Checked) -> Checked:
    return replace(checked, entry=entry, differences=compare(entry.expected(), checked.facts or {}))


def unlike_record(result: Result, recorded: Evidence) -> tuple[Difference, ...]:
    """Entries whose valid record differs from the run that was made now.

    The progress of several workers before one finds a counterexample is different in every run, and does not
    count.
    """
    if not recorded.counts or recorded.facts is None:
        return ()
    facts, args = result.facts(), result.args
    several = "-workers" in args and args[args.index("-workers") + 1] != "1"
    if several and result.outcome is not Outcome.HOLDS:
        facts = {what: facts[what] for what in ("outcome", "property")}
    return tuple(
        Difference(f"recorded {one.what}", one.got, one.expected) for one in compare(facts, recorded.facts)
    )


def from_evidence(entry: Entry, folder: Path) -> Checked:
    """An entry's committed record, compared with the expected figures while the record is valid.

    `folder` is the manifest's.
    """
    return judge_record(entry, verify(entry, folder))


def judge_record(entry: Entry, evidence: Evidence, out: Path | None = None) -> Checked:
    """Judge a recorded result of any kind; the counterexample in its log goes to the folder `out`."""
    expected = compare(entry.expected(), evidence.facts or {}) if evidence.counts else ()
    trace = None
    if out and evidence.result:
        trace = _counterexample(entry.name, evidence.result, output_folder(out))
    return Checked(
        name=entry.name,
        engine=entry.engine,
        version=evidence.version,
        facts=evidence.facts,
        seconds=evidence.seconds,
        differences=expected,
        result=evidence.result,
        evidence=evidence,
        counterexample=trace,
        entry=entry,
    )
