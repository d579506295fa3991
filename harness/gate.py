"""The gate of continuous integration: check, evidence and replay as steps of one verdict."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.check import Checked, check_entry, from_evidence
from harness.engines.base import EngineError, Failure, Limits, Progress
from harness.errors import ENGINE_FAILED, HOLDS, MODEL_VIOLATED, NOT_CONFORMANT, USAGE, ConformError
from harness.manifest import Manifest
from harness.replay.files import replay_files, trace_files
from harness.replay.report import explain, left_out, to_json
from harness.scenario.files import SUFFIX as SCENARIO
from harness.scenario.files import explain as explain_scenario
from harness.scenario.files import scenario_files, stale
from harness.scenario.load import load_scenario
from harness.scenario.run import play
from harness.waivers import Waivers

TRACE_FOLDERS = ("golden", "counterexamples", "corpus")
"""The committed traces, in the folder of traces; and those of the target's dialect, in dialects/."""
SCENARIOS = "golden"
"""The folder of them that has scenarios."""


@dataclass(frozen=True)
class Step:
    """One thing that the gate does: `kind` is check, evidence, replay, scenario or waivers."""

    kind: str
    name: str


@dataclass(frozen=True)
class Done:
    """What became of a step: its own exit code, a sentence, and for JSON what the verb of its kind writes."""

    step: Step
    exit_code: int
    message: str
    seconds: float
    details: dict[str, Any]


@dataclass
class Gate:
    """A gate over a manifest's tier, its evidence, and the traces in a folder.

    `seconds` is the time for all of it: what does not fit is not run, and failed. Logs and counterexamples go
    to `out`. `waivers` accept differences of the replays; that each did is a step of its own, the last one.
    """

    manifest: Manifest
    tier: str
    traces: Path
    target: str
    dialect: str
    out: Path
    limits: Limits
    seconds: float
    waivers: Waivers = field(default_factory=Waivers)
    _started: float = field(default_factory=time.monotonic)

    def steps(self) -> list[Step]:
        """Everything that will be done: what is quick first, models of the tier last."""
        tiers = [(entry.tier == self.tier, entry.name) for entry in self.manifest.entries]
        models = [Step("check", name) for in_tier, name in tiers if in_tier]
        if not models:
            raise ConformError(f"{self.manifest.folder / 'manifest.json'} has no model of tier {self.tier}.")
        records = [Step("evidence", name) for in_tier, name in tiers if not in_tier]
        own = f"dialects/{self.dialect}"
        folders = [*TRACE_FOLDERS, *([own] if (self.traces / own).is_dir() else [])]
        replays = [Step("replay", name) for name in folders]
        written = any((self.traces / SCENARIOS).rglob(f"*{SCENARIO}"))
        scenarios = [Step("scenario", SCENARIOS)] if written else []
        accepted = [Step("waivers", "accepted")] if self.waivers else []
        return [*records, *replays, *scenarios, *models, *accepted]

    def run(self, step: Step, progress: Progress) -> Done:
        """Do one step. Nothing is raised for a step that fails: that is what it says."""
        started = time.monotonic()
        try:
            done = self._run(step, progress)
        except ConformError as error:
            message = error.message
            if isinstance(error, EngineError) and error.failure is Failure.TIME_OUT:
                message = f"not finished: the {self.seconds / 60:g} minutes of the gate are over"
            done = Done(step, error.exit_code, message, 0, {"name": step.name, "error": message})
        return replace(done, seconds=time.monotonic() - started)

    def _run(self, step: Step, progress: Progress) -> Done:
        left = self.seconds - (time.monotonic() - self._started)
        if left <= 0:
            raise EngineError(Failure.TIME_OUT, "no time is left")
        if step.kind == "replay":
            return self._replay(step, progress)
        if step.kind == "waivers":
            return self._accepted(step)
        if step.kind == "scenario":
            return self._scenarios(step, left)
        entry = self.manifest.entry(step.name)
        if step.kind == "evidence":
            checked = from_evidence(entry, self.manifest.folder)
        else:
            limits = replace(self.limits, timeout=left)
            checked = check_entry(entry, self.manifest.folder, self.out, limits, progress)
        return Done(step, checked.exit_code, _message(checked), 0, checked.to_json())

    def _scenarios(self, step: Step, seconds: float) -> Done:
        scenarios = [load_scenario(file) for file in scenario_files([self.traces / step.name])]
        played = play(scenarios, self.manifest.folder, replace(self.limits, timeout=seconds))
        wrong = [line for one in played for line in (*explain_scenario(one), *stale(one))]
        errata = sum(len(scenario.errata) for scenario in scenarios)
        message = f"{len(scenarios)} scenarios, {errata} uncorrected states"
        message = "\n".join([f"{message}: {len(wrong)} differences", *wrong] if wrong else [message])
        details = {"name": step.name, "scenarios": len(scenarios), "errata": errata, "differences": wrong}
        return Done(step, MODEL_VIOLATED if wrong else HOLDS, message, 0, details)

    def _accepted(self, step: Step) -> Done:
        """Whether every waiver covered something, and is not over."""
        problems, used = list(self.waivers.problems()), self.waivers.used.total()
        message = "\n".join(problems) or f"{used} differences waived, by every waiver some"
        return Done(step, NOT_CONFORMANT if problems else HOLDS, message, 0, {"problems": problems})

    def _replay(self, step: Step, progress: Progress) -> Done:
        files = trace_files([self.traces / step.name])
        accepted = self.waivers.again()
        result = replay_files(
            files,
            self.target,
            self.dialect,
            progress=lambda so_far: progress(f"{so_far.traces} of {len(files)} traces"),
            waives=accepted.covers,
        )
        self.waivers.used += accepted.used
        steps = f"{result.traces} traces, {result.judged:,} steps on {self.target}"
        message = "\n".join([f"{steps}, {result.differences} differences", *left_out(result, accepted)])
        if result.failures:
            message += "\n" + "\n".join(explain(result.failures[0], self.target, self.dialect))
        details = {"source": step.name, **to_json(result, self.target, self.dialect, accepted)}
        return Done(step, NOT_CONFORMANT if result.failures else HOLDS, message, 0, details)


def _message(checked: Checked) -> str:
    if checked.evidence and not checked.facts:
        return f"evidence {checked.evidence.status.value}: {'; '.join(checked.evidence.reasons)}"
    facts = checked.facts or {}
    words = [f"{facts.get('outcome')} {facts.get('property') or ''}".strip()]
    if facts.get("distinct_states") is not None:
        words.append(f"{facts['distinct_states']:,} distinct states")
    if checked.evidence:
        reasons = f" ({'; '.join(checked.evidence.reasons)})" if checked.evidence.reasons else ""
        words.append(
            f"by {checked.engine} {checked.version}, evidence {checked.evidence.status.value}{reasons}"
        )
    words += [f"{one.what} expected {one.expected}, got {one.got}" for one in checked.differences]
    return ", ".join(words)


def junit(steps: Sequence[Done]) -> str:
    """The steps as JUnit's XML: a failed step is a failure, one that could not be made an error."""
    errors = [done for done in steps if done.exit_code in (ENGINE_FAILED, USAGE)]
    failures = [done for done in steps if done.exit_code != HOLDS and done not in errors]
    counts = {"tests": str(len(steps)), "failures": str(len(failures)), "errors": str(len(errors))}
    seconds = f"{sum(done.seconds for done in steps):.3f}"
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "conform gate", **counts, "time": seconds})
    for done in steps:
        names = {"classname": f"conform.{done.step.kind}", "name": done.step.name}
        case = ElementTree.SubElement(suite, "testcase", {**names, "time": f"{done.seconds:.3f}"})
        if done.exit_code != HOLDS:
            first, *_ = done.message.splitlines()
            tag = "error" if done in errors else "failure"
            said = {"message": first, "type": f"exit code {done.exit_code}"}
            ElementTree.SubElement(case, tag, said).text = done.message
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
