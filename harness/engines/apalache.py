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

from harness.engines import apalache_output
from harness.engines.apalache_home import PINNED, find_apalache
from harness.engines.apalache_output import COUNTEREXAMPLE, OK, read_depth, read_failure, read_verdict
from harness.engines.base import EngineError, Failure, Limits, Model, Progress, Result, cut_off, silent
from harness.engines.java import find_java
from harness.engines.process import run_program
from harness.engines.tlc_config import read_config, trace_origin
from harness.itf import Trace, read_trace
from harness.spechash import spec_hash

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

_STAMP = re.compile(r"\s+[A-Z]@\d\d:\d\d:\d\d\.\d+$")


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
    pinned = PINNED
    program = f"apalache {PINNED}"
    parser = Path(apalache_output.__file__)

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

    def command(self, model: Model) -> tuple[str, ...]:
        return (*self.options(model), model.module.name)

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
        result = self._result(model, ended.lines, ended.exit_code, log)
        if trace:
            violated = result.violated or result.outcome.value
            trace = _named(trace, model, version, violated, result.spec_hash)
        return replace(
            result,
            version=version,
            counterexample=trace,
            seconds=ended.seconds,
            processor=ended.processor,
            length=len(trace.states) - 1 if trace else None,
        )

    def reread(self, model: Model, lines: list[str], log: Path) -> Result:
        exit_code = apalache_output.read_exit_code(lines)
        if exit_code not in (OK, COUNTEREXAMPLE):
            raise cut_off(log)
        return self._result(model, lines, exit_code, log)

    def trimmed(self, lines: list[str]) -> list[str]:
        return lines

    def _result(self, model: Model, lines: list[str], exit_code: int, log: Path) -> Result:
        outcome, violated = read_verdict(lines, exit_code)
        return Result(
            engine=self.name,
            version=self.pinned,
            outcome=outcome,
            violated=violated,
            distinct_states=None,
            generated_states=None,
            depth=read_depth(lines),
            length=apalache_output.read_length(lines),
            counterexample=None,
            seconds=0,
            log=log,
            args=self.command(model),
            exit_code=exit_code,
            spec_hash=spec_hash(model.module, model.config),
        )


def _absolute_config(options: list[str], model: Model) -> list[str]:
    """The configuration with an absolute path: it may lie in another folder than the module."""
    if model.config is None:
        return options
    where = f"--config={model.config.resolve()}"
    return [where if option.startswith("--config=") else option for option in options]


def _show_progress(line: str, progress: Progress) -> None:
    if line.startswith(("State ", "Step ", "PASS ")):
        progress(_STAMP.sub("", line))


def _named(trace: Trace, model: Model, version: str, violated: str, digest: str) -> Trace:
    meta = {
        "description": "Counterexample",
        "model": model.name,
        "engine": "apalache",
        "version": version,
        "violated": violated,
        "spec_hash": digest,
        **(trace_origin(read_config(model.config)) if model.config else {}),
    }
    return replace(trace, meta=meta)
