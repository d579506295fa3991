"""Scenarios on the specification: TLC plays all their scripts in one run and judges every state."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from frozendict import frozendict

from harness.engines import tlc_output
from harness.engines.base import Limits
from harness.engines.tlc import run_tlc, variant
from harness.engines.tlc_config import read_config
from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer.scenario.model import Erratum, Scenario
from harness.kinds.consumer.scenario.render import Universe, render, universe
from harness.kinds.consumer.scenario.transcript import Mismatch, Transcript, mismatches, transcript
from harness.kinds.consumer.state import StateReader
from harness.scenario.chains import chains
from harness.stategraph import read_graph
from harness.values import State, Value, function

OWN_VARIABLES = ("scenario", "at", "bumped")
"""The variables of spec/Golden.tla that are not the open instance's."""
DEFAULT_LIMITS = Limits("1g", None, 1)


@dataclass(frozen=True)
class Played:
    """The result of playing a scenario.

    `trace` is the behaviour as far as the script goes, `transcripts` its states in a document's form, one for
    each step. `mismatches` are the differences of the file, `unused` the steps (from 1) whose target is not
    due. `accepted` are errata whose uncorrected state the specification does not reject.
    """

    scenario: Scenario
    trace: Trace
    transcripts: Sequence[Transcript]
    mismatches: Sequence[Mismatch]
    unused: Sequence[int]
    accepted: Sequence[Erratum]

    @property
    def stuck(self) -> int:
        """The number of the first step (from 1) that the specification does not have; 0 if it has all."""
        done = len(self.transcripts)
        return done + 1 if done < len(self.scenario.steps) else 0

    @property
    def missing(self) -> list[int]:
        """The steps with a state that is yet to be written."""
        steps = enumerate(self.scenario.steps, start=1)
        return [n for n, step in steps if not step.states.keys() >= {"expect", *step.sections}]

    @property
    def broken(self) -> bool:
        """Tell if the written part of the file is no behaviour of the specification."""
        return bool(self.stuck or self.mismatches or self.unused)

    @property
    def holds(self) -> bool:
        """Tell if the scenario is a behaviour of the specification as written, and its errata are not."""
        return not (self.stuck or self.missing or self.mismatches or self.unused or self.accepted)


def play(
    scenarios: Sequence[Scenario], spec: Path, limits: Limits = DEFAULT_LIMITS, log: Path | None = None
) -> list[Played]:
    """Play scenarios on the specification in the folder `spec`, by one run of TLC.

    ConformError: exit 2 if there is no such specification, 3 if TLC fails.
    """
    if not (spec / "Golden.tla").is_file():
        raise ConformError(
            f"There is no {spec / 'Golden.tla'}: run in the repository's folder, or name "
            "spec/manifest.json with --manifest."
        )
    with tempfile.TemporaryDirectory(prefix="conform-golden-") as name:
        folder = Path(name)
        module, config = render(scenarios, folder)
        dump = folder / "graph.dot"
        options = ["-deadlock", "-continue", "-workers", "1", "-seed", "0", "-dump", "dot", str(dump)]
        with variant(read_config(config)) as chosen:
            ended = run_tlc(
                module,
                chosen,
                options,
                log=log or folder / "tlc.log",
                limits=replace(limits, brief=True),
                libraries=[spec],
            )
        graph = read_graph(dump)
    wrong: dict[int, set[int]] = {}
    for _, report in tlc_output.counterexamples(ended.lines):
        last: Mapping[str, Any] = report.states[-1]
        wrong.setdefault(last["scenario"], set()).add(last["at"])
    return list(_judged(scenarios, chains(graph), wrong))


def _judged(
    scenarios: Sequence[Scenario], behaviours: Mapping[int, list[Any]], wrong: Mapping[int, set[int]]
) -> Iterator[Played]:
    number = 0
    for scenario in scenarios:
        number += 1
        trace = own_trace(scenario, behaviours[number])
        transcripts = list(_transcripts(trace, behaviours[number]))
        different = list(mismatches(scenario, transcripts))
        if {mismatch.step for mismatch in different} != wrong.get(number, set()):
            raise ConformError(
                f"{scenario.file}: the harness finds the steps {sorted({one.step for one in different})} "
                f"other than written, TLC {sorted(wrong.get(number, set()))}: one of them is mistaken."
            )
        accepted = []
        for erratum in [erratum for erratum in scenario.errata if erratum.printed]:
            number += 1
            if erratum.step not in wrong.get(number, set()):
                accepted.append(erratum)
        yield Played(scenario, trace, transcripts, different, list(_unused(scenario, trace)), accepted)


def _unused(scenario: Scenario, trace: Trace) -> Iterator[int]:
    """The steps with a target although none is installed (E2)."""
    epochs = [state.group.assignment_epoch for state in StateReader().read(trace, "The behaviour")]
    for number, step in enumerate(scenario.steps[: len(epochs) - 1], start=1):
        if step.target is not None and epochs[number] == epochs[number - 1]:
            yield number


def _transcripts(trace: Trace, chain: Sequence[State]) -> Iterator[Transcript]:
    reader = StateReader()
    states = reader.read(trace, "The behaviour")
    between: list[State] = [
        frozendict({**own, "group": state["bumped"]}) for own, state in _pairs(trace, chain)
    ]
    bumped = reader.read(Trace({}, trace.variables, between), "The behaviour")
    for after, bump in zip(states[1:], bumped[1:], strict=True):
        yield transcript(after, bump.group)


def _pairs(trace: Trace, chain: Sequence[State]) -> Iterator[tuple[State, State]]:
    return zip(trace.states, chain, strict=True)


def own_trace(scenario: Scenario, chain: Sequence[State]) -> Trace:
    """The behaviour with only the members and topics of this scenario, and without Golden's variables."""
    known = universe([scenario])
    variables = tuple(name for name in chain[0] if name not in OWN_VARIABLES)
    states: list[State] = [
        frozendict({name: _own(name, state[name], known) for name in variables}) for state in chain
    ]
    meta = {"description": "Golden scenario", "scenario": Path(scenario.file).name, "name": scenario.name}
    return Trace(meta, variables, states)


def _own(name: str, value: Value, known: Universe) -> Value:
    if name == "topics":
        return _only(value, known.topics)
    if name == "offsets":
        return _only(value, known.partitions)
    if name == "group" and isinstance(value, frozendict):
        return frozendict(
            {
                **value,
                "members": _only(value["members"], known.members),
                "target": _only(value["target"], known.partitions),
                "metadata": _only(value["metadata"], known.topics),
            }
        )
    return value


def _only(value: Value, keys: frozenset[Any]) -> Value:
    assert isinstance(value, frozendict) or value == ()
    return function({key: item for key, item in value.items() if key in keys}) if value else ()
