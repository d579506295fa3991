"""A trace as a scenario: a counterexample, a goal, a random behaviour, to be read and kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer.scenario.load import EVENTS
from harness.kinds.consumer.scenario.model import REQUEST, Scenario, ScriptStep, Section
from harness.kinds.consumer.scenario.transcript import transcript
from harness.kinds.consumer.state import SpecState, StateReader
from harness.kinds.consumer.steps import OTHER_ACTIONS
from harness.kinds.registry import kind_of

_REQUESTS = frozenset({"Join", "Rejoin", "Return", "Heartbeat", "Leave", "LeaveTemporarily"})


def steps_of(states: Sequence[SpecState]) -> tuple[ScriptStep, ...]:
    """The steps that reach the coordinator, with their transcripts. ConformError for an unknown action."""
    return tuple(
        _step(before, after) for before, after in pairwise(states) if after.step.action not in OTHER_ACTIONS
    )


def _step(before: SpecState, after: SpecState) -> ScriptStep:
    step = after.step
    if step.action not in _REQUESTS and step.action not in EVENTS.values():
        raise ConformError(f"A scenario has no step for the action {step.action!r}.")
    target = None
    if after.group.assignment_epoch != before.group.assignment_epoch and after.group.members:
        target = {name: partitions for name, partitions in sorted(after.group.targets.items()) if partitions}
    requests = step.action in _REQUESTS or step.partition is not None
    return ScriptStep(
        does=REQUEST if step.action in _REQUESTS else step.action,
        member=step.member,
        request=step.request if requests else None,
        topic=step.topic,
        partitions=step.partitions,
        partition=step.partition,
        offset=step.offset if step.action == "OffsetCommit" else 0,
        target=target,
        sections={"expect": Section(transcript(after, None)["expect"], 0, 0)},
    )


def scenario_of_trace(trace: Trace, name: str, file: str) -> Scenario:
    """A trace as a scenario called `name`. ConformError (exit 2) if it is no trace of the group protocol."""
    if not (kind := kind_of(trace, f"The trace {file}")).retold:
        raise ConformError(
            f"The trace {file} is of a {kind.adjective} group: only those of consumer groups can be printed "
            f"as scenarios. conform graph --trace {file} --sequence draws it."
        )
    states = StateReader().read(trace, f"The trace {file}")
    first = states[0]
    meta = trace.meta
    shows = [str(meta[key]) for key in ("description", "model") if meta.get(key)]
    if violated := meta.get("violated"):
        shows.append(f"violates {violated}")
    return Scenario(
        file=file,
        name=name,
        source=f"a trace: {file}",
        shows=", ".join(shows) or "what the trace has",
        requirements=(),
        topics={topic: count for topic, count in first.topics.items() if count > 0},
        first=first.group if first.group.exists else None,
        steps=steps_of(states),
    )
