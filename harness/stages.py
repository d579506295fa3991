"""The work of `make`, in stages: each is done again only where one of its dependencies has changed.

    python -m harness.stages [STAGE ...]     all stages, or those of these names or groups in any case

A stage is a verb of `conform` with its words. Everything on which a stage depends is hashed by content: the
code, files, the definitions of its models (`harness.definitions`), and the stages whose output it reads. The
check of the models and the golden scenarios are done whenever anything has changed; `SHOWN` are the models
that run then in any case, recorded or not. Where nothing has changed nothing is done, and the last summary is
shown with its date. A stage that failed never counts as done.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from harness.definitions import definitions, present_names
from harness.dumps import FOLDER
from harness.engines.process import adopt_orphans, processor_s, stop_on_signals
from harness.errors import ENGINE_FAILED, ConformError
from harness.files import output_folder, read_json, read_text, write_text
from harness.forms import formed
from harness.manifest import Manifest, read_manifest
from harness.spechash import file_hash
from harness.stage_list import (
    BUILD,
    CODE,
    GOALS,
    PAGE,
    REPORT,
    RESULTS,
    SPEC,
    STATES,
    SUMMARY,
    TOURED,
    TRACES,
    Stage,
    stages,
)

_PROGRESS: Final = re.compile(r"( …|\(([^()]* tasks?, )?for \d+ s\))$|^\s*$")
"""Lines about the progress of a stage: beside each other they mean nothing."""


@dataclass(frozen=True)
class State:
    """Facts about a finished stage: `parts` are its dependencies, name -> hash."""

    parts: dict[str, str]
    when: str
    seconds: float
    exit_code: int


class Inputs:
    """Hashes of the dependencies of stages, by content; each is made once."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._known: dict[str, dict[str, str]] = {}

    def of(self, stage: Stage) -> dict[str, str]:
        """Name -> hash of everything on which a stage depends, without the stages that it needs."""
        parts = {"the command": hashlib.sha256(" ".join(stage.words).encode()).hexdigest()}
        for place in (*CODE, *stage.inputs):
            parts |= self._once(place, partial(_files, Path(place)))
        for model in stage.models:
            parts |= self._once(f"model {model}", partial(self._definitions, model))
        return parts

    def _once(self, name: str, make: Callable[[], dict[str, str]]) -> dict[str, str]:
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    def _definitions(self, model: str) -> dict[str, str]:
        entry = self._manifest.entry(model)
        config = entry.model().configuration
        hashes = definitions(entry.module, config, entry.args.values())
        names = present_names(entry.module)
        return {
            f"{model}: {f'definition {names.get(name, name)}' if name else 'a declaration'}": value
            for name, value in hashes.items()
        }


def _files(place: Path) -> dict[str, str]:
    """Path -> hash of a file, or of those in a folder."""
    if not place.is_dir():
        return {str(place): file_hash(place)} if place.is_file() else {}
    files = (path for path in sorted(place.rglob("*")) if "__pycache__" not in path.parts)
    return {str(path): file_hash(path) for path in files if path.is_file()}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of changed, new and removed dependencies."""
    return [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]


def why(stage: Stage, state: State | None, now: Mapping[str, str], remade: Sequence[str]) -> str:
    """The reason why a stage must be done; "" if it need not be."""
    if state is None:
        return "it was not done before"
    if state.exit_code:
        return f"it failed ({state.exit_code})"
    if stage.result and not stage.result.is_file():
        return f"{stage.result} is not there"
    if remade:
        return f"{remade[0]} was done anew"
    changed = changes(state.parts, now)
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"{', '.join(changed[:3])}{more} changed" if changed else ""


class Runner:
    """A runner that does stages side by side, one on each processor, each after those that it needs."""

    def __init__(self, inputs: Inputs, everything: Sequence[Stage]) -> None:
        self._inputs = inputs
        self._all = everything
        self._printing = threading.Lock()
        self._planned = self._ended = 0
        self.done: dict[str, State] = {}
        self.kept: dict[str, State] = {}

    def plan(self, forced: frozenset[str]) -> dict[str, str]:
        """Stage -> the reason why it is done."""
        reasons: dict[str, str] = {}
        for stage in self._all:
            state = read_state(stage)
            remade = [name for name in stage.needs if name in reasons]
            reason = why(stage, state, self._inputs.of(stage), remade)
            if stage.name in forced or stage.group in forced:
                reason = reason or "it was asked for"
            if reason:
                reasons[stage.name] = reason
            elif state:
                self.kept[stage.name] = state
        if reasons.keys() - {REPORT} and not forced:
            reasons |= {
                one.name: "in every run" for one in self._all if one.always and one.name not in reasons
            }
        return {stage.name: reasons[stage.name] for stage in self._all if stage.name in reasons}

    def run(self, plan: Mapping[str, str]) -> None:
        """Do the stages of a plan. The first one alone: it uses all processors, and users watch it."""
        waiting = [stage for stage in self._all if stage.name in plan and stage.name != REPORT]
        self._planned = len(waiting)
        if waiting and waiting[0].name == "check":
            self._do(waiting.pop(0), plan["check"], live=True)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            begun: dict[Future[None], list[Stage]] = {}
            while waiting or begun:
                left = {stage.name for stage in chain(waiting, *begun.values())}
                ready = [stage for stage in waiting if not left & set(stage.needs)]
                waiting = [stage for stage in waiting if stage not in ready]
                for one, *others in _processes(ready):
                    if others:
                        future = pool.submit(self._do_together, [one, *others], plan)
                    else:
                        future = pool.submit(self._do, one, plan[one.name])
                    begun[future] = [one, *others]
                for future in wait(begun, return_when=FIRST_COMPLETED).done:
                    del begun[future]
                    future.result()

    def report(self, reason: str) -> int:
        """Write the report and show its summary, which is kept; the verdict as an exit code."""
        stage = self._all[-1]
        parts, began = self._inputs.of(stage), time.monotonic()
        ended = subprocess.run(stage.command, stdout=subprocess.PIPE, text=True)
        text = f"{ended.stdout}{self._account()}\n"
        self._print(f"== {stage.name}: {reason}\n{text}")
        write_text(output_folder(SUMMARY.parent) / SUMMARY.name, text)
        self._keep(stage, parts, time.monotonic() - began, ended.returncode)
        return ended.returncode

    def _account(self) -> str:
        """The stages of this run, and the dates since which the others are unchanged."""
        kept = {name: state for name, state in self.kept.items() if name != REPORT}
        words = f"stages: {len(self.done)} done now"
        if kept:
            first = min(state.when for state in kept.values())
            words += f"; {len(kept)} unchanged since {first} or later: {', '.join(sorted(kept))}"
        return textwrap.fill(words, 80, subsequent_indent="  ")

    def _do(self, stage: Stage, reason: str, live: bool = False) -> None:
        self._print(f"   {stage.name} begins: {reason}")
        parts, began = self._prepare(stage), time.monotonic()
        with _log(stage).open("w", encoding="utf-8") as stream:
            output = None if live else stream
            code = subprocess.run(stage.command, stdout=output, stderr=output).returncode
        self._end(stage, parts, time.monotonic() - began, code)

    def _do_together(self, several: Sequence[Stage], plan: Mapping[str, str]) -> None:
        """Do stages in one process, one after the other. If it dies, the remaining ones have failed."""
        parts = {stage.name: self._prepare(stage) for stage in several}
        tasks = [{"arguments": stage.arguments, "log": str(_log(stage))} for stage in several]
        command = [sys.executable, "-m", "harness.pipeline", json.dumps(tasks)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for stage in several:
                self._print(f"   {stage.name} begins: {plan[stage.name]}")
                line = process.stdout.readline()
                ended = json.loads(line) if line else {"code": process.wait() or ENGINE_FAILED, "seconds": 0}
                self._end(stage, parts[stage.name], ended["seconds"], ended["code"])

    def _prepare(self, stage: Stage) -> dict[str, str]:
        """Remove the files that an earlier run of a stage left. The hashes of its present dependencies."""
        if stage.result:
            stage.result.unlink(missing_ok=True)
        write_text(_log(stage), "")
        return self._inputs.of(stage)

    def _end(self, stage: Stage, parts: dict[str, str], seconds: float, code: int) -> None:
        self._keep(stage, parts, seconds, code)
        text = _log(stage).read_text(encoding="utf-8")
        with self._printing:
            self._ended += 1
            print(_block(stage.name, seconds, code, f"{self._ended} of {self._planned}", text), flush=True)

    def _keep(self, stage: Stage, parts: dict[str, str], seconds: float, code: int) -> None:
        """Keep the facts about a stage."""
        state = State(parts, datetime.now().isoformat(" ", "minutes"), round(seconds, 1), code)
        write_text(STATES / f"{stage.name}.json", json.dumps(asdict(state)))
        self.done[stage.name] = state

    def _print(self, text: str) -> None:
        with self._printing:
            print(text, flush=True)


def _log(stage: Stage) -> Path:
    return STATES / f"{stage.name}.log"


def _processes(ready: Sequence[Stage]) -> list[list[Stage]]:
    """Stages that can be done now, grouped by their process: first those on Spark, which take long."""
    on_spark = [stage for stage in ready if stage.spark]
    alone = [[stage] for stage in ready if not stage.spark]
    return [on_spark, *alone] if on_spark else alone


def _block(name: str, seconds: float, code: int, count: str, text: str) -> str:
    """A heading and the output of a stage that has ended: at most three lines of it, all if the stage failed.

    Stages run side by side, so the output of each is printed at once, under its name.
    """
    failed = f", exit code {code}" if code else ""
    lines = [line for line in text.rstrip().splitlines() if code or (line and not _PROGRESS.search(line))]
    shown = lines if code else lines[:3]
    return "\n".join([f"== {name}: {seconds:.1f} s{failed} ({count})", *(f"   {line}" for line in shown)])


def read_state(stage: Stage) -> State | None:
    """Facts about a stage; None if there are none, or if they cannot be read."""
    path = STATES / f"{stage.name}.json"
    try:
        return formed(read_json(path, "The state"), State, f"{path}:") if path.is_file() else None
    except ConformError:
        return None


def _tidy(everything: Sequence[Stage]) -> None:
    """Remove results and traces that no stage writes: they would pass for results of this run."""
    known = {stage.result for stage in everything}
    for path in output_folder(RESULTS).glob("*.json"):
        if path not in known and not path.name.startswith("measured"):
            path.unlink()
    for kind, models in (("tour", TOURED), ("goals", GOALS)):
        for path in (TRACES / kind).glob("*"):
            if not path.name.startswith(tuple(f"{model}-" for model in models)):
                path.unlink()


def main(words: Sequence[str]) -> int:
    """Do the necessary stages; the exit code of the verdict, or of a stage that failed."""
    everything = stages()
    known = {name for stage in everything for name in (stage.name, stage.group)}
    if unknown := sorted(set(words) - known):
        raise ConformError(f"There is no stage {unknown[0]}; there are {', '.join(sorted(known))}.")
    output_folder(STATES)
    os.environ.setdefault(FOLDER, str(BUILD / "dumps"))
    runner = Runner(Inputs(read_manifest(Path(SPEC) / "manifest.json")), everything)
    plan = runner.plan(frozenset(words))
    if words:
        plan = {name: reason for name, reason in plan.items() if {name, name.partition("-")[0]} & set(words)}
        runner.run(plan)
        return max((abs(state.exit_code) for state in runner.done.values()), default=0)
    if not plan and SUMMARY.is_file() and PAGE.is_file():
        when = datetime.fromtimestamp(SUMMARY.stat().st_mtime).isoformat(" ", "minutes")
        print(f"Nothing has changed since {when}: nothing was run. The summary of then:\n")
        print(read_text(SUMMARY, "The summary"), end="")
        return 0
    began = time.monotonic()
    _tidy(everything)
    runner.run(plan)
    code = runner.report(plan.get(REPORT, ""))
    print(f"time: {time.monotonic() - began:.0f} s, {processor_s():.0f} s of processor time", flush=True)
    return code or next((ENGINE_FAILED for state in runner.done.values() if state.exit_code), 0)


if __name__ == "__main__":
    stop_on_signals()
    adopt_orphans()  # of this program alone: a test that calls main must not become a parent of others
    try:
        sys.exit(main(sys.argv[1:]))
    except ConformError as error:
        print(f"make: {error.message}", file=sys.stderr)
        sys.exit(error.exit_code)
