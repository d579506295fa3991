"""Sequence diagrams of traces of a group that migrates (spec/OpenMigration.tla), perhaps with its members
(spec/ClosedKafkaMigration.tla): each step in the form of its kind of group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.itf import Trace
from harness.kinds.classic.sequence import ClassicEvents, answered_late, classic_changes
from harness.kinds.classic.steps import CLASSIC_HANDLERS
from harness.kinds.consumer.sequence import GroupEvents, group_changes, owned_by
from harness.kinds.migration.state import MigrationReader, MigrationState
from harness.kinds.migration.steps import OFFSETS, TRANSLATED
from harness.report.sequence import Event, Note, Shows, Step
from harness.report.sequence_words import COORDINATOR, NOBODY, natural

_LATE = {"JoinTimeout": "time to rejoin", "SyncTimeout": "time to sync"}
_PROCESSES = "processes"
"""The variable of spec/ClosedKafkaMigration.tla with the client processes."""
_CLIENT = {
    "ReceiveResponse": "gets the answer",
    "FinishRevocation": "has given up its partitions",
    "GiveUp": "waits no more, and joins again",
    "LoseResponse": "loses the answer",
    "Crash": "process dies",
    "Start": "process starts",
}


def migration_steps(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[Step], list[Event]]:
    """Lanes and rows. ConformError (exit 2) for a trace of another specification."""
    states = MigrationReader().read(trace, f"The trace {title}")
    from_the_first = 0 in failing or any(_changes(None, states[0]))
    steps = [
        Step(index, state.step.action, state.step.branch, tuple(failing.get(index, ())))
        for index, state in enumerate(states)
        if index or from_the_first
    ]
    named = {state.step.member for state in states} - {""}
    named |= {NOBODY for state in states if state.step.action in OFFSETS and not state.step.member}
    for state in states:
        named |= {*state.group.members, *state.old.group.members, *state.old.group.pending}
    shown = [event for event in _events(trace, states) if event.step or from_the_first]
    return [*sorted(named, key=natural), COORDINATOR], steps, shown


def _events(trace: Trace, states: Sequence[MigrationState]) -> Iterator[Event]:
    consumer = GroupEvents(trace, [state.shared for state in states])
    classic = ClassicEvents(trace, [state.old for state in states])
    for index, state in enumerate(states):
        before = states[index - 1] if index else None
        if before is not None:
            action, member = state.step.action, state.step.member
            if action in TRANSLATED or (before.is_classic and action in CLASSIC_HANDLERS.keys() - OFFSETS):
                yield from classic.step(index)
            elif action in _CLIENT:
                yield Note(index, member, _CLIENT[action], action == "Crash")
            elif action in _LATE:
                yield Note(index, COORDINATOR, f"{_LATE[action]} of {member} runs out")
            else:
                yield from consumer.step(index)
                yield from answered_late(index, state.old.step)
            if _PROCESSES in trace.variables:
                yield from owned_by(trace.states, index, _PROCESSES)
        if lines := tuple(_changes(before, state)):
            yield Shows(index, lines)


def _changes(before: MigrationState | None, after: MigrationState) -> Iterator[str]:
    """The changes of the group in a step, in lines; after a conversion the whole group."""
    if after.is_classic:
        known = before.old.group if before is not None and before.is_classic else None
        yield from classic_changes(known, after.old.group)
    else:
        there = before is not None and before.group.exists == after.group.exists
        yield from group_changes(before.group if there and before is not None else None, after.group)
