"""Doing the steps of the gate, one at a time, within its time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.check import Checked, check_entry, from_evidence, judge_record
from harness.engines.base import EngineError, Failure, Limits, Progress, silent
from harness.engines.process import stop_programs
from harness.errors import ENGINE_FAILED, HOLDS, MODEL_VIOLATED, NOT_CONFORMANT, ConformError
from harness.evidence import Records
from harness.gate.over_the_wire import announced, examined
from harness.gate.random_work import random_traces, simulated
from harness.gate.steps import RANDOM, Done, GateOptions, Outcome, Step, steps_of
from harness.identify.explain import grouped
from harness.kinds.registry import KIND_FOLDERS
from harness.manifest import Entry
from harness.replay.causes import Cause, causes
from harness.replay.causes import lines as cause_lines
from harness.replay.files import replay_files, trace_files
from harness.replay.report import explain_causes, left_out, not_loaded, not_replayed, to_json
from harness.replay.run import Replayed
from harness.scenario.files import explain as explain_scenario
from harness.scenario.files import play_files, scenario_files, stale
from harness.words import counted

MOST_CAUSES = 12
"""The number of causes of one step that are printed."""


@dataclass
class Gate:
    """The requested steps, and the time that is left.

    Fixed checks are never cut: a check for which the time does not suffice has failed. Random work is cut
    where the time is over, and reports that. `now` is a clock in seconds.
    """

    options: GateOptions
    now: Callable[[], float] = time.monotonic
    _begin: float = field(init=False)
    _cut: bool = field(init=False, default=False)
    _pool: ThreadPoolExecutor | None = field(init=False, default=None)
    _checks: dict[str, Future[Checked]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._begin = self.now()

    def steps(self) -> list[Step]:
        """Everything that will be done or is left out, in order."""
        return steps_of(self.options)

    def run(self, step: Step, progress: Progress) -> Done:
        """Do one step. Nothing is raised for a step that fails: its result has the failure."""
        if step.left_out:
            return Done(step, HOLDS, step.left_out, 0, {"name": step.name}, Outcome.LEFT_OUT)
        started = self.now()
        try:
            done = self._run(step, progress)
        except ConformError as error:
            done = self._failed(step, error)
        return replace(done, seconds=self.now() - started)

    def _failed(self, step: Step, error: ConformError) -> Done:
        message, over = error.message, isinstance(error, EngineError) and error.failure is Failure.TIME_OUT
        if over:
            message = f"the {self.options.seconds / 60:g} minutes of the gate are over"
            if step.kind in RANDOM:
                self._cut = True
                return Done(step, HOLDS, message, 0, {"name": step.name}, Outcome.CUT)
            message = f"not finished: {message}"
        return Done(step, error.exit_code, message, 0, {"name": step.name, "error": message})

    def _run(self, step: Step, progress: Progress) -> Done:
        if step.kind == "waivers":
            return self._accepted(step)
        limits = replace(self.options.limits, timeout=self._left())
        seed = int(step.name.rpartition(" ")[2]) if step.kind in RANDOM else 0
        match step.kind:
            case "doctor":
                return examined(self.options, step, progress)
            case "identify":
                return announced(self.options, step)
            case "replay":
                return self._replay(step, self.options.traces / step.name, progress)
            case "scenario":
                return self._scenarios(step, limits)
            case "exhaust":
                return self._exhaust(step, limits, progress)
            case "random":
                traces = random_traces(self.options, seed, limits, progress)
                return self._replay(step, traces, progress)
            case "simulate":
                return self._simulate(step, seed, progress)
        return self._check(step, progress)

    def _left(self) -> float:
        """The seconds that are left. EngineError if there are none."""
        left = self.options.seconds - (self.now() - self._begin)
        if left <= 0:
            raise EngineError(Failure.TIME_OUT, "no time is left")
        return left

    def _check(self, step: Step, progress: Progress) -> Done:
        entry = self.options.manifest.entry(step.name)
        if step.kind == "evidence":
            checked = from_evidence(entry, self.options.manifest.folder)
        else:
            if self._checks is None:
                self._checks = self._begin_checks(progress)
            checked = self._checks[entry.name].result()
        message = _message(checked)
        if step.name in self.options.again.listed:
            message += ", too long to be computed anew here: make soak does"
        return Done(step, checked.exit_code, message, 0, checked.to_json(), place=entry.module)

    def _begin_checks(self, progress: Progress) -> dict[str, Future[Checked]]:
        """Begin all models that must run, the longest first, one on each processor; recorded results are
        there already."""
        processors = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(max(1, processors // (self.options.limits.workers or 1)))
        names = [step.name for step in self.steps() if step.kind == "check"]
        entries = sorted(map(self.options.manifest.entry, names), key=lambda entry: -entry.seconds)
        return {entry.name: self._pool.submit(self._checked, entry, progress) for entry in entries}

    def _checked(self, entry: Entry, progress: Progress) -> Checked:
        records = Records(self.options.manifest.folder)
        why = self.options.again.why.get(entry.name, "")
        if not why:
            record = records.find(entry)
            if record.counts:
                return judge_record(entry, record)
            why = record.why
        limits = replace(self.options.limits, timeout=self._left())
        progress(f"{entry.name}: {why}")
        return check_entry(entry, records, self.options.out, limits, silent, why=why)

    def close(self) -> None:
        """End the models that still run."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
            stop_programs()

    def _scenarios(self, step: Step, limits: Limits) -> Done:
        files = scenario_files([self.options.traces / step.name])
        played = play_files(files, self.options.manifest.folder, limits)
        wrong = {
            one.scenario.file: lines for one in played if (lines := [*explain_scenario(one), *stale(one)])
        }
        errata = sum(len(one.scenario.errata) for one in played)
        lines = [line for sentences in wrong.values() for line in sentences]
        message = f"{counted(len(played), 'scenario')}, {counted(errata, 'uncorrected state')}"
        message = "\n".join(
            [f"{message}: {counted(len(lines), 'difference')}", *lines] if lines else [message]
        )
        details = {"name": step.name, "scenarios": len(played), "errata": errata, "differences": lines}
        place = Path(next(iter(wrong))) if wrong else None
        return Done(step, MODEL_VIOLATED if wrong else HOLDS, message, 0, details, place=place)

    def _replay(self, step: Step, folder: Path, progress: Progress) -> Done:
        files = trace_files([folder])
        target, dialect, accepted = self.options.target, self.options.dialect, self.options.waivers.again()

        def show(traces: int) -> None:
            self._left()
            progress(f"{traces} of {len(files)} traces")

        result = replay_files(
            files,
            target,
            dialect,
            progress=lambda so_far: show(so_far.traces),
            waives=accepted.covers,
            some=step.name not in KIND_FOLDERS,
            wait_s=self.options.wait_s,
        )
        self.options.waivers.add(accepted)
        steps = f"{counted(result.traces, 'trace')}, {counted(result.judged, 'step')} on {target}"
        message = "\n".join(
            [f"{steps}, {counted(result.differences, 'difference')}", *left_out(result, accepted)]
        )
        by_cause = self._causes(result, progress)
        if result.failures:
            message += "\ncauses, the most serious first:\n"
            message += "".join(f"  {line}\n" for line in cause_lines(by_cause[:MOST_CAUSES]))
            if len(by_cause) > MOST_CAUSES:
                message += f"  and {len(by_cause) - MOST_CAUSES} more, in the JSON\n"
            shown = explain_causes(by_cause, result.failures, target, dialect, self.options.wait_s)
            message += "\n".join(shown)
        if sentence := not_loaded(result, target):
            message += f"\n{sentence}"
        details = {"source": step.name, **to_json(result, target, dialect, accepted, by_cause)}
        details["waiver_problems"] = []  # a waiver may cover a difference of another step: see `_accepted`
        if not (result.judged or result.failures or result.not_loaded):
            return Done(step, HOLDS, "; ".join(not_replayed(result)), 0, details, Outcome.LEFT_OUT)
        exit_code = NOT_CONFORMANT if result.failures else HOLDS
        exit_code = ENGINE_FAILED if result.not_loaded else exit_code
        place = Path(result.failures[0].trace) if result.failures else None
        return Done(step, exit_code, message, 0, details, place=place)

    def _causes(self, result: Replayed, progress: Progress) -> list[Cause]:
        """The causes of the differences; departures are not tried on the kit's own coordinator."""
        if not result.failures or self.options.target == "python":
            return causes(result.failures)

        def show(line: str) -> None:
            self._left()
            progress(line)

        waives = self.options.waivers.again().covers
        return grouped(result, self.options.dialect, show, waives)

    def _exhaust(self, step: Step, limits: Limits, progress: Progress) -> Done:
        # imported here, so that a gate without this step needs no Spark
        from harness.gate.exhaust import exhausted

        accepted = self.options.waivers.again()
        done = exhausted(self.options, step, accepted, limits, progress)
        self.options.waivers.add(accepted)
        return done

    def _simulate(self, step: Step, seed: int, progress: Progress) -> Done:
        def show(line: str) -> None:
            self._left()
            progress(line)

        accepted = self.options.waivers.again()
        verdict = simulated(self.options, seed, accepted, show)
        self.options.waivers.add(accepted)
        outcome = Outcome.LEFT_OUT if verdict.lacking else Outcome.DONE
        return Done(step, verdict.exit_code, verdict.message, 0, verdict.details, outcome)

    def _accepted(self, step: Step) -> Done:
        """Tell if every waiver covered a difference, and none has expired. A step that was cut off might have
        used a waiver."""
        waivers = self.options.waivers
        problems, used = list(waivers.problems()), waivers.used.total()
        expired = [problem for problem in problems if " expired on " in problem]
        failing = expired if self._cut else problems
        message = "\n".join(problems) or f"{counted(used, 'difference')} waived, by every waiver some"
        if problems and not failing:
            message += "\nThat is no failure here: random work that was cut might have had it."
        exit_code = NOT_CONFORMANT if failing else HOLDS
        return Done(step, exit_code, message, 0, {"problems": problems}, place=self.options.waivers_file)


def nothing_done(done: Sequence[Done]) -> bool:
    """Tell if no step was done: a gate that judged nothing must not pass."""
    return not any(one.outcome is Outcome.DONE and one.step.kind != "waivers" for one in done)


def _message(checked: Checked) -> str:
    if checked.evidence and not checked.facts:
        return f"evidence {checked.evidence.status.value}: {'; '.join(checked.evidence.reasons)}"
    facts = checked.facts or {}
    words = [f"{facts.get('outcome')} {facts.get('property') or ''}".strip()]
    if facts.get("distinct_states") is not None:
        words.append(f"{facts['distinct_states']:,} distinct states")
    if checked.evidence:
        reasons = f" ({'; '.join(checked.evidence.reasons)})" if checked.evidence.reasons else ""
        date = f", recorded {checked.evidence.recorded}" if checked.evidence.recorded else ""
        words.append(
            f"by {checked.engine} {checked.version}, evidence {checked.evidence.status.value}{reasons}{date}"
        )
        if checked.missing:
            words.append(f"not computed anew ({checked.missing})")
    elif checked.why:
        words.append(f"computed in {checked.seconds:.0f} s: {checked.why}")
    words += [f"{one.what} expected {one.expected}, got {one.got}" for one in checked.differences]
    return ", ".join(words)
