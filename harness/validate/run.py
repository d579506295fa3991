"""Recorded runs on the specification: TLC follows each as far as it is a behaviour."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Generic

import networkx as nx
from jinja2 import UndefinedError

from harness.engines.base import Limits, Progress, silent
from harness.engines.tlc import VERSION, run_tlc
from harness.errors import ConformError
from harness.itf import Trace
from harness.replay.compare import Difference
from harness.spechash import spec_hash
from harness.stategraph import read_graph
from harness.targets.heard import MALFORMED
from harness.validate.recording import AnyLine, R, Recorded, Recording, S, trace_of
from harness.values import State


@dataclass(frozen=True, slots=True)
class Instead:
    """A step of the specification where a line does not fit, with its differences from the line."""

    action: str
    branch: str
    member: str
    differences: Sequence[Difference]


@dataclass(frozen=True, slots=True)
class Misfit:
    """The line after the longest prefix that is a behaviour: the specification's steps for it, the nearest
    first, and the other steps that were enabled there."""

    line: AnyLine
    instead: Sequence[Instead]
    enabled: Sequence[str]


@dataclass(frozen=True, slots=True)
class Validated(Generic[R]):
    """One run: of its lines the first `fits` are a behaviour, `trace`. `misfit` is None if all are, or if the
    specification has no word about the next one."""

    run: R
    fits: int
    trace: Trace
    misfit: Misfit | None


@dataclass(frozen=True, slots=True)
class Validation(Generic[R]):
    """All runs of a log, with the engine and the hash of the specification of this verdict."""

    recorded: Recorded[R]
    runs: Sequence[Validated[R]]
    engine: str
    spec: str

    @property
    def holds(self) -> bool:
        """Tell if every run is a behaviour."""
        return all(run.misfit is None for run in self.runs)


def validate(
    recorded: Recorded[R], dialect: str, spec: Path, limits: Limits, progress: Progress = silent
) -> Validation[R]:
    """Follow every run of a log. ConformError: exit 2 without a specification, or if it has no word about any
    line, 3 if TLC fails."""
    return _Validator(recorded.kind, dialect, spec, limits).validate(recorded, progress)


@dataclass(frozen=True, slots=True)
class _Validator(Generic[R, S]):
    """A class that follows runs of one kind of group in a dialect, on the specification in a folder."""

    kind: Recording[R, S]
    dialect: str
    spec: Path
    limits: Limits

    def validate(self, recorded: Recorded[R], progress: Progress) -> Validation[R]:
        module = self.spec / f"{self.kind.module}.tla"
        if not module.is_file():
            raise ConformError(
                f"There is no {module}: run in the repository's folder, or name "
                "spec/manifest.json with --manifest."
            )
        for run in recorded.runs:
            self.kind.check(run)
        by_run: dict[int, Validated[R]] = {}
        for constant in sorted({run.constant for run in recorded.runs}):
            runs = [run for run in recorded.runs if run.constant == constant]
            graph = self._explored(runs, progress)
            for run, validated in zip(runs, self._judged(runs, graph), strict=True):
                by_run[id(run)] = self._explained(validated)
        digest = spec_hash(module, None)
        judged = [_cut(by_run[id(run)], recorded.left_out) for run in recorded.runs]
        some = [one for one in judged if one.run.lines]
        kept = replace(recorded, runs=[one.run for one in some])
        kept.check()
        return Validation(kept, some, f"TLC {VERSION}", digest)

    def _explained(self, validated: Validated[R]) -> Validated[R]:
        """A misfit with the other enabled steps, and, where the specification has no step at all, with its
        steps for fewer observations."""
        if validated.misfit is None:
            return validated
        if (closer := self.kind.explained(validated.run, validated.fits)) is not None:
            again = next(self._judged([closer], self._explored([closer], silent)))
            validated = replace(validated, misfit=again.misfit)
        misfit = validated.misfit
        if misfit is None or misfit.instead:
            return validated
        unseen = self.kind.unseen(validated.run, validated.fits)
        if unseen is None:
            return validated
        again = next(self._judged([unseen], self._explored([unseen], silent), misfit.line))
        return replace(validated, misfit=again.misfit or misfit)

    def _explored(self, runs: Sequence[R], progress: Progress) -> nx.MultiDiGraph:
        with tempfile.TemporaryDirectory(prefix="conform-validate-") as name:
            folder = Path(name)
            try:
                module, config = self.kind.render(runs, self.dialect, folder)
            except (*MALFORMED, UndefinedError) as error:
                what = f"{type(error).__name__}: {error}"
                raise ConformError(f"The log lacks a part that {self.kind.module} needs ({what}).") from error
            dump = folder / "graph.dot"
            options = ["-deadlock", "-workers", "1", "-dump", "dot", str(dump)]
            log = folder / "tlc.log"
            try:
                run_tlc(
                    module,
                    config,
                    options,
                    log=log,
                    limits=replace(self.limits, brief=True),
                    progress=progress,
                    libraries=[self.spec],
                )
            except ConformError as error:
                content = log.read_text("utf-8", "replace") if log.is_file() else ""
                raise (self.kind.failed(content) or _too_big(content) or error) from None
            return read_graph(dump)

    def _judged(
        self, runs: Sequence[R], graph: nx.MultiDiGraph, line: AnyLine | None = None
    ) -> Iterator[Validated[R]]:
        """The result of a run; `line` is the one with which the line that does not fit is compared, if that
        is another one."""
        starts = {graph.nodes[node]["state"]["run"]: node for node in graph.graph["initial"]}
        reached: dict[int, list[int]] = {}
        for node, state in graph.nodes(data="state"):
            reached.setdefault(state["run"], []).append(node)
        for number, run in enumerate(runs, start=1):
            ats = {node: graph.nodes[node]["state"]["at"] for node in reached[number]}
            left = [node for node in ats if graph.nodes[node]["state"].get("beyond")]
            fits = max(ats.values())
            if fits < len(run.lines) and left:
                fits = max(-ats[node] - 1 for node in left)
            end = next(node for node, at in ats.items() if at == fits)
            path = nx.shortest_path(graph, starts[number], end)
            trace = trace_of([graph.nodes[node]["state"] for node in path], self.kind.constants(run))
            misfit = None
            if fits < len(run.lines) and not left:
                instead = [graph.nodes[node]["state"] for node, at in ats.items() if at == -(fits + 1)]
                misfit = self._misfit(run, line or run.lines[fits], instead)
            yield Validated(run, fits, trace, misfit)

    def _misfit(self, run: R, line: AnyLine, dumped: Sequence[State]) -> Misfit:
        states = self.kind.states(dumped) if dumped else []
        instead, enabled = {}, set()
        for state in states:
            step = state.step
            if not self.kind.is_line(line, step):
                enabled.add(" ".join(part for part in (step.action, step.member, step.topic) if part))
                continue
            different = tuple(self.kind.differences(run, line, state))
            instead[step.action, step.branch, step.member, different] = Instead(
                step.action, step.branch, step.member, different
            )
        nearest = sorted(instead.values(), key=lambda one: (len(one.differences), str(one)))
        return Misfit(line, nearest, sorted(enabled))


_TOO_BIG: Final = re.compile(r"can't handle a number this big\.\s+(-?\d+)")


def _too_big(content: str) -> ConformError | None:
    """The error for a number that TLC cannot compute with, as an offset may be; None if that is not it."""
    if match := _TOO_BIG.search(content):
        return ConformError(
            f"The log has the number {match[1]}, and TLC computes with 32 bits: leave that run out."
        )
    return None


def _cut(validated: Validated[R], left_out: Counter[str]) -> Validated[R]:
    """The lines before the first one about which the specification has no word; the others are counted."""
    lines = validated.run.lines
    if validated.misfit is not None or validated.fits == len(lines):
        return validated
    first = lines[validated.fits]
    does = first.content.get("api", first.does)
    why = f"from line {first.number} on, whose {does} the specification leaves out"
    left_out[why] += len(lines) - validated.fits
    return replace(validated, run=replace(validated.run, lines=lines[: validated.fits]))
