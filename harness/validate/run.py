"""Recorded runs on the specification: TLC follows each as far as it is a behaviour."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import networkx as nx
from frozendict import frozendict

from harness.engines.base import Limits, Progress, silent
from harness.engines.tlc import VERSION, run_tlc
from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.replay.compare import Difference
from harness.replay.state import Group, Partition, Response, SpecState, StateReader
from harness.spechash import spec_hash
from harness.stategraph import read_graph
from harness.validate.read import REQUEST, Line, Recorded, Run
from harness.validate.render import assignments, render

EVENTS: Final = frozenset(
    {"SessionTimeout", "RebalanceTimeout", "DeleteGroup", "FailOver"}
    | {"CreateTopic", "AddPartitions", "DeleteTopic"}
)
MOST: Final = 5_000
"""Target assignments to look for another one among."""
TOO_MANY: Final = "set with too many elements"
"""What TLC says of more than LIMIT."""
LIMIT: Final = 1_000_000
NO_ANSWER: Final = Response("no answer", "", 0, None, None)
"""What nothing answers: so that all that the specification has is kept for the report."""
PARTITIONS: Final = ("assigned", "revoking")
"""What a member has of them."""
OWN: Final = ("run", "at")
"""The variables of spec/Recorded.tla that are not the open instance's."""


@dataclass(frozen=True, slots=True)
class Instead:
    """A step that the specification has where a line does not fit: why it is not the line."""

    action: str
    branch: str
    member: str
    differences: Sequence[Difference]


@dataclass(frozen=True, slots=True)
class Misfit:
    """The line after the longest prefix that is a behaviour: what the specification does with it, the nearest
    first, and what else was enabled there."""

    line: Line
    instead: Sequence[Instead]
    enabled: Sequence[str]


@dataclass(frozen=True, slots=True)
class Validated:
    """One run: of its lines the first `fits` are a behaviour, `trace`. `misfit` is None if all are."""

    run: Run
    fits: int
    trace: Trace
    misfit: Misfit | None


@dataclass(frozen=True, slots=True)
class Validation:
    """All runs of a log, with the engine and the hash of the specification that said so."""

    recorded: Recorded
    runs: Sequence[Validated]
    engine: str
    spec: str

    @property
    def holds(self) -> bool:
        """Is every run a behaviour?"""
        return all(run.misfit is None for run in self.runs)


def validate(
    recorded: Recorded, dialect: str, spec: Path, limits: Limits, progress: Progress = silent
) -> Validation:
    """Follow every run of a log. ConformError: exit 2 without a specification, 3 if TLC fails."""
    if not (spec / "Recorded.tla").is_file():
        raise ConformError(
            f"There is no {spec / 'Recorded.tla'}: run in the repository's folder, or name spec/ with --spec."
        )
    for run in recorded.runs:
        check_targets(run)
    sizes = sorted({run.max_size for run in recorded.runs})
    found: dict[int, Validated] = {}
    digest = ""
    for size in sizes:
        runs = [run for run in recorded.runs if run.max_size == size]
        graph, digest = _explored(runs, dialect, spec, limits, progress)
        for run, validated in zip(runs, _judged(runs, graph), strict=True):
            found[id(run)] = _explained(validated, dialect, spec, limits)
    return Validation(recorded, [found[id(run)] for run in recorded.runs], f"TLC {VERSION}", digest)


def check_targets(run: Run) -> None:
    """ConformError (exit 2) at once for what TLC would say after a minute: a new member joins, for which some
    target is computed that was not seen, and there are too many that it could be."""
    topics, known = dict(run.topics), set[str]()
    for line in run.lines:
        if line.topic:
            topics[line.topic] = line.partitions
        asked, answered = line.request, line.response
        if asked and answered and line.seen is None and line.member not in known:
            joined = not asked.epoch and asked.instance is None and answered.error == "NONE"
            there = sum(count for count in topics.values() if count > 0)
            if joined and 2**there > LIMIT:  # each may be the member's or nobody's
                raise _too_many(f"line {line.number}")
        known |= {line.member, *(line.seen.members if line.seen else ())}


def _too_many(line: str) -> ConformError:
    return ConformError(
        f"The log shows no target assignment after {line}, where there could be more than a million: "
        "describe the group after each request, or validate fewer partitions.",
        USAGE,
    )


def _explained(found: Validated, dialect: str, spec: Path, limits: Limits) -> Validated:
    """A misfit for which the specification has nothing at all: what it has with another target assignment."""
    misfit, run = found.misfit, found.run
    if misfit is None or misfit.instead or misfit.line.seen is None or assignments(run) > MOST:
        return found
    unseen = replace(
        run, lines=[*run.lines[: found.fits], replace(misfit.line, seen=None, response=NO_ANSWER)]
    )
    graph, _ = _explored([unseen], dialect, spec, limits, silent)
    again = next(_judged([unseen], graph, misfit.line))
    return replace(found, misfit=again.misfit)


def _explored(
    runs: Sequence[Run], dialect: str, spec: Path, limits: Limits, progress: Progress
) -> tuple[nx.MultiDiGraph, str]:
    with tempfile.TemporaryDirectory(prefix="conform-validate-") as name:
        folder = Path(name)
        module, config = render(runs, dialect, folder)
        dump = folder / "graph.dot"
        options = ["-deadlock", "-workers", "1", "-dump", "dot", str(dump)]
        log = folder / "tlc.log"
        try:
            run_tlc(
                module,
                config,
                options,
                log=log,
                limits=replace(limits, brief=True),
                progress=progress,
                libraries=[spec],
            )
        except ConformError as error:
            if log.is_file() and TOO_MANY in log.read_text("utf-8", "replace"):
                raise _too_many("some line") from error
            raise
        return read_graph(dump), spec_hash(spec / "Recorded.tla", None)


def _judged(runs: Sequence[Run], graph: nx.MultiDiGraph, line: Line | None = None) -> Iterator[Validated]:
    """`line` is what the line that does not fit is compared with, if that is another one."""
    reader = StateReader()
    starts = {graph.nodes[node]["state"]["run"]: node for node in graph.graph["initial"]}
    reached: dict[int, list[int]] = {}
    for node, state in graph.nodes(data="state"):
        reached.setdefault(state["run"], []).append(node)
    for number, run in enumerate(runs, start=1):
        ats = {node: graph.nodes[node]["state"]["at"] for node in reached[number]}
        fits = max(ats.values())
        end = next(node for node, at in ats.items() if at == fits)
        path = nx.shortest_path(graph, starts[number], end)
        trace = _trace([graph.nodes[node]["state"] for node in path])
        misfit = None
        if fits < len(run.lines):
            instead = [graph.nodes[node]["state"] for node, at in ats.items() if at == -(fits + 1)]
            misfit = _misfit(line or run.lines[fits], run.forgets, instead, reader)
        yield Validated(run, fits, trace, misfit)


def _trace(states: Sequence[Mapping[str, Any]]) -> Trace:
    variables = tuple(name for name in states[0] if name not in OWN)
    return Trace(
        {"description": "A recorded run"},
        variables,
        [frozendict({name: state[name] for name in variables}) for state in states],
    )


def _misfit(line: Line, forgets: bool, dumped: Sequence[Mapping[str, Any]], reader: StateReader) -> Misfit:
    states = reader.read(_trace(dumped), "The state graph") if dumped else []
    instead, enabled = {}, set()
    for state in states:
        step = state.step
        if (step.action in EVENTS) == (line.does == REQUEST) or (
            line.does != REQUEST and step.action != line.does
        ):
            enabled.add(" ".join(part for part in (step.action, step.member, step.topic) if part))
            continue
        found = tuple(differences(line, state, forgets))
        instead[step.action, step.branch, step.member, found] = Instead(
            step.action, step.branch, step.member, found
        )
    nearest = sorted(instead.values(), key=lambda one: (len(one.differences), str(one)))
    return Misfit(line, nearest, sorted(enabled))


def differences(line: Line, state: SpecState, forgets: bool) -> Iterator[Difference]:
    """Where a step of the specification is not what was recorded, in the specification's terms; `forgets` as
    in `Run`."""
    step = state.step
    if line.does != REQUEST:
        yield from _differ("member", step.member, line.member)
        yield from _differ("topic", step.topic, line.topic)
        yield from _differ("partitions", step.partitions, line.partitions)
    if line.response is not None:
        for name in ("error", "member", "epoch", "assigned", "pending"):
            yield from _differ(f"response.{name}", getattr(step.response, name), getattr(line.response, name))
    if line.seen is None:
        return
    group = state.group
    yield from _differ("group.epoch", group.epoch, line.seen.epoch)
    yield from _differ("group.assignmentEpoch", group.assignment_epoch, line.seen.assignment_epoch)
    yield from _members(group, line, state.topics if forgets else None)


def _members(group: Group, line: Line, there: Mapping[str, int] | None) -> Iterator[Difference]:
    """`there` are the topics of which partitions are shown, if those of others are not."""
    assert line.seen is not None
    seen = line.seen
    yield from _differ("group.members", sorted(group.members), sorted(seen.members))
    for name, member in group.members.items():
        if name not in seen.members:
            continue
        if seen.targets is not None:
            target = _there(group.target(name), there)
            yield from _differ(f"target of {name}", target, seen.targets.get(name, frozenset()))
        shown = seen.members[name]
        for field in shown.__dataclass_fields__:
            value = getattr(shown, field)
            if value is not None:
                known = getattr(member, field)
                if field in PARTITIONS:
                    known = _there(known, there)
                yield from _differ(f"{name}.{field}", known, value)


def _there(partitions: frozenset[Partition], topics: Mapping[str, int] | None) -> frozenset[Partition]:
    if topics is None:
        return partitions
    return frozenset((topic, index) for topic, index in partitions if index < topics.get(topic, 0))


def _differ(path: str, expected: object, got: object) -> Iterator[Difference]:
    if expected != got:
        yield Difference(path, _shown(expected), _shown(got))


def _shown(value: object) -> str:
    """Partitions as foo-0, sets sorted."""
    if value is None:
        return "(none)"
    if isinstance(value, frozenset | list):
        return "{" + ", ".join(_items(value)) + "}"
    return str(value)


def _items(values: Iterable[Any]) -> Iterator[str]:
    for value in sorted(values):
        yield f"{value[0]}-{value[1]}" if isinstance(value, tuple) else str(value)
