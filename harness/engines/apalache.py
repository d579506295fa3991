"""Apalache, the symbolic model checker, as a subprocess."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.engines.apalache_home import find_apalache
from harness.engines.base import EngineError, Failure, Limits, Model, Outcome, Progress, Result, silent
from harness.engines.java import find_java
from harness.engines.process import run_program
from harness.itf import Trace, read_trace
from harness.spechash import spec_hash

OK: Final = 0
COUNTEREXAMPLE: Final = 12
_FAILURES: Final = {
    75: Failure.EVALUATION,
    120: Failure.TYPE,
    150: Failure.PARSE,
}
_USAGE: Final = "Failed to parse command"
_WORDS: Final = (
    ("Parsing error", Failure.PARSE),
    ("type input error", Failure.TYPE),
    ("Configuration error", Failure.CONFIGURATION),
    ("Unexpected expressions", Failure.EVALUATION),
    (_USAGE, Failure.CONFIGURATION),
)
"""What it says where its exit code is only 255 (or 1)."""

OPTIONS: Final = {
    "init": "--init",
    "next": "--next",
    "inv": "--inv",
    "temporal": "--temporal",
    "cinit": "--cinit",
    "length": "--length",
    "max_run": "--max-run",
    "tuning": "--tuning-options",
    "features": "--features",
    "smt_encoding": "--smt-encoding",
}
"""A model's arguments and the options they become."""

_STAMP = re.compile(r"\s+([A-Z])@\d\d:\d\d:\d\d\.\d+$")
_MEMORY = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit|out of memory", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[\d*m")
_STEP = re.compile(r"Step (\d+):")
_STEP_OR_STATE = re.compile(r"(?:State|Step) (\d+):")
_INVARIANT = re.compile(r"Producing verification conditions from the invariant (\S+)")
_CONDITIONS = re.compile(r"VCGen produced (\d+) verification condition")
_VIOLATED = re.compile(r"(state|action) invariant (\d+) violated")


@lru_cache(maxsize=4)
def _version(program: Path) -> str:
    try:
        ended = subprocess.run(
            [program, "version"],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env=_environment("512m"),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineError(Failure.CRASH, f"{program} does not say its version: {error}") from None
    return ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else "unknown"


def _environment(memory: str, libraries: Sequence[Path] = ()) -> dict[str, str]:
    java = find_java()
    arguments = [f"-Xmx{memory}"]
    if libraries:
        arguments.append(f"-DTLA-Library={os.pathsep.join(str(path.resolve()) for path in libraries)}")
    path = os.pathsep.join([str(java.parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "JVM_ARGS": " ".join(arguments)}


class Apalache:
    """Apalache behind the interface `Engine`.

    Arguments of a model: those of `OPTIONS`, `deadlock` (check for deadlocks, default true), `command`
    ("check", "simulate" or "typecheck", default "check").
    """

    name = "apalache"

    def version(self) -> str:
        return _version(find_apalache())

    def options(self, model: Model) -> list[str]:
        """Apalache's command and options for a model."""
        command = str(model.args.get("command", "check"))
        if command == "typecheck":
            return [command]
        options = [f"{OPTIONS[key]}={model.args[key]}" for key in OPTIONS if key in model.args]
        if not model.args.get("deadlock", True):
            options.append("--no-deadlock")
        if model.config:
            options.append(f"--config={model.config.name}")
        return [command, *options]

    def check(self, model: Model, log: Path, limits: Limits, progress: Progress = silent) -> Result:
        program, version = find_apalache(), self.version()
        options = self.options(model)
        folder = model.module.resolve().parent
        with tempfile.TemporaryDirectory(prefix="conform-apalache-") as output:
            located = _absolute_config(options, model)
            places = [f"--out-dir={output}/all", f"--run-dir={output}/run"]
            ended = run_program(
                [str(program), *located, *places, model.module.name],
                name="Apalache",
                log=log,
                folder=folder,
                timeout=limits.timeout,
                environment=_environment(limits.memory, model.libraries),
                on_line=lambda line: _show_progress(line, progress),
            )
            if ended.exit_code not in (OK, COUNTEREXAMPLE):
                raise read_failure(ended.lines, ended.exit_code, model.module.name, log, limits.memory)
            trace_file = Path(output) / "run" / "violation.itf.json"
            trace = read_trace(trace_file) if trace_file.is_file() else None
        outcome, violated = read_verdict(ended.lines, ended.exit_code)
        digest = spec_hash(model.module, model.config)
        if trace:
            trace = _named(trace, model, version, violated or outcome.value, digest)
        return Result(
            engine=self.name,
            version=version,
            outcome=outcome,
            violated=violated,
            distinct_states=None,
            generated_states=None,
            depth=read_depth(ended.lines),
            counterexample=trace,
            seconds=ended.seconds,
            log=log,
            args=(*options, model.module.name),
            exit_code=ended.exit_code,
            spec_hash=digest,
        )


def _absolute_config(options: list[str], model: Model) -> list[str]:
    """A configuration may lie in another folder than the module."""
    if model.config is None:
        return options
    where = f"--config={model.config.resolve()}"
    return [where if option.startswith("--config=") else option for option in options]


def _show_progress(line: str, progress: Progress) -> None:
    if line.startswith(("State ", "Step ", "PASS ")):
        progress(_STAMP.sub("", line))


def read_depth(lines: list[str]) -> int | None:
    """The last step that was looked at. Once Apalache has checked invariants of steps, its number of the
    state that follows is one too many."""
    numbered = _STEP if any("action invariant" in line for line in lines) else _STEP_OR_STATE
    steps = [int(match[1]) for line in lines if (match := numbered.match(line))]
    return max(steps, default=None)


def read_verdict(lines: list[str], exit_code: int) -> tuple[Outcome, str | None]:
    """The outcome and the violated invariant that an output (exit code 0 or 12) tells of."""
    if exit_code == OK:
        return Outcome.HOLDS, None
    if any(line.startswith("The outcome is: Deadlock") for line in lines):
        return Outcome.DEADLOCK, None
    return Outcome.VIOLATED, _violated_invariant(lines)


def _violated_invariant(lines: list[str]) -> str | None:
    """Conditions are numbered through all invariants, but those on states and on actions apart."""
    names: list[str] = []
    invariants: list[str] = []
    for line in lines:
        if named := _INVARIANT.search(line):
            invariants.append(named[1])
        elif (count := _CONDITIONS.search(line)) and invariants:
            names += [invariants[-1]] * int(count[1])
        elif violated := _VIOLATED.search(line):
            if len(invariants) == 1:
                return invariants[0]
            kinds = {kind for text in lines for kind in re.findall(r"Checking \d+ (state|action) inv", text)}
            return names[int(violated[2])] if len(kinds) == 1 and int(violated[2]) < len(names) else None
    return None


def _named(trace: Trace, model: Model, version: str, violated: str, digest: str) -> Trace:
    meta = {
        "description": "Counterexample",
        "model": model.name,
        "engine": "apalache",
        "version": version,
        "violated": violated,
        "spec_hash": digest,
    }
    return replace(trace, meta=meta)


def _errors(lines: list[str]) -> str:
    """Its error messages: each ends with a stamp E@time and may begin on an earlier line."""
    if usage := [line for line in lines if line.startswith(_USAGE)]:
        return _COLOUR.sub("", usage[-1])
    errors: list[str] = []
    message: list[str] = []
    for line in lines:
        stamp = _STAMP.search(line)
        message.append(_STAMP.sub("", line))
        if stamp:
            if stamp[1] == "E":
                errors += message
            message = []
    kept = errors or [line for line in lines[-20:] if not line.lstrip().startswith("at ")]
    return "\n".join(line for line in kept if line.strip() and "found an error" not in line)


def read_failure(lines: list[str], exit_code: int, name: str, log: Path, memory: str) -> EngineError:
    """What to tell the user about a run without an answer, Apalache's own words included."""
    text = "\n".join(lines)
    detail = _errors(lines)
    if _MEMORY.search(text):
        return EngineError(
            Failure.MEMORY,
            f"Apalache ran out of memory ({memory}) on {name}; allow more with --memory.\n{detail}",
        )
    by_words = next((kind for words, kind in _WORDS if words in text), Failure.CRASH)
    kind = _FAILURES.get(exit_code, by_words)
    sentences = {
        Failure.PARSE: f"Apalache cannot parse {name}.",
        Failure.TYPE: f"{name} has a type error.",
        Failure.CONFIGURATION: f"Apalache's arguments or configuration for {name} are wrong.",
        Failure.EVALUATION: f"{name} uses something that Apalache does not support.",
        Failure.CRASH: f"Apalache failed on {name} with exit code {exit_code}; its log is {log}.",
    }
    return EngineError(kind, f"{sentences[kind]}\n{detail}")
