"""Recorded runs of classic groups: their rendering, and the compared fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from frozendict import frozendict

from harness.kinds.classic.recorded_log import Answers, Line, Run, SeenGroup, Words, tell_leaders
from harness.kinds.classic.state import (
    ClassicGroup,
    ClassicReader,
    ClassicRequest,
    ClassicResponse,
    ClassicSpecStep,
    ClassicState,
    read_response,
)
from harness.kinds.fields import Fields
from harness.replay.compare import Difference
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, shown_differ, trace_of
from harness.validate.templates import write
from harness.values import State, Value

_SHOWN: Final = ("error", "member", "generation", "type", "protocol", "leader", "skip_assignment")
_WORDS: Final = Words()
_BYTES: Final = ("subscription", "assignment")
"""Fields of a member that are bytes."""
NO_REQUEST: Final = ClassicRequest("", None, -1, None, None, (), frozenset(), frozendict())


class ClassicRecording(Recording[Run, ClassicState]):
    """Classic groups (spec/RecordedClassic.tla)."""

    module = "RecordedClassic"

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Render a run; in KIP-848's text a generation is in the log at once (C2), in Kafka's dialects it is
        not."""
        tell_leaders(runs)
        values = {
            "kafka": False,
            "runs": runs,
            "members": sorted({member for run in runs for line in run.lines for member in members_of(line)}),
            "texts": sorted({text for run in runs for line in run.lines for text in _texts(line)}),
            "extensions": runs[0].extensions,
            "generation_recorded": not dialect.startswith("kafka"),
            "no_request": NO_REQUEST,
        }
        return write(folder, self.module, "kinds/classic/", values)

    def states(self, dumped: Sequence[State]) -> list[ClassicState]:
        """The states of the open instance; the answers of a step are all due ones."""
        states = ClassicReader().read(trace_of(dumped), "The state graph")
        return [
            replace(state, step=replace(state.step, completed=due_answers(raw["due"])))
            for state, raw in zip(states, dumped, strict=True)
        ]

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """By its action."""
        return step.action == line.does

    def differences(self, run: Run, line: AnyLine, state: ClassicState) -> Iterator[Difference]:
        """The differences of the response, the answers to waiting requests, the event and the group."""
        assert isinstance(line, Line)
        step = state.step
        if line.request is None:
            yield from differ("member", step.member, line.member)
        if line.response is not None:
            yield from response_differences("response", step.response, line.response, _WORDS)
        yield from completed_differences(step, line.completed, _WORDS)
        if line.seen is not None:
            yield from group_differences(state.group, line.seen, _WORDS)


def due_answers(due: Value) -> tuple[tuple[str, ClassicResponse], ...]:
    """The answers in the variable `due`, with the member that waited."""
    answers = [Fields(raw, "due") for raw in cast(frozenset[Value], due)]
    return tuple((one.get("member", str), read_response(one.get("response", frozendict))) for one in answers)


def completed_differences(
    step: ClassicSpecStep, completed: Answers | None, words: Words
) -> Iterator[Difference]:
    """The differences of the answers to waiting requests."""
    if completed is None:
        return
    got = {(member, one.api): one for member, one in completed}
    expected = {(member, one.api): one for member, one in step.completed}
    yield from differ("answered, of those that waited", _names(expected), _names(got))
    for who in sorted(expected.keys() & got.keys()):
        path = f"answer to the {who[1]} of {who[0]}"
        yield from response_differences(path, expected[who], got[who], words)


def _names(answers: Mapping[tuple[str, str], ClassicResponse]) -> list[str]:
    return [f"{api} of {member}" for member, api in sorted(answers)]


def response_differences(
    path: str, expected: ClassicResponse, got: ClassicResponse, words: Words
) -> Iterator[Difference]:
    """Differences of a response; an error has few fields."""
    if expected.error != got.error or expected.error not in ("", "NONE"):
        yield from differ(f"{path}.error", expected.error or "(waits)", got.error or "(waits)")
        if expected.error == got.error and expected.api == "JoinGroup":
            yield from differ(f"{path}.member", expected.member, got.member)
        return
    if expected.api not in ("JoinGroup", "SyncGroup"):
        return
    for name in _SHOWN:
        yield from differ(f"{path}.{name}", getattr(expected, name), getattr(got, name))
    yield from differ(f"{path}.assignment", words.given(expected.assignment), words.given(got.assignment))
    pairs = {
        one.member: (one.instance, words.of({expected.protocol}, one.subscription))
        for one in expected.members
    }
    seen = {one.member: (one.instance, sorted(one.subscription)) for one in got.members}
    yield from differ(f"{path}.members", sorted(pairs), sorted(seen))
    for name in sorted(pairs.keys() & seen.keys()):
        yield from differ(f"{path}.members of {name}", str(pairs[name]), str(seen[name]))


def group_differences(group: ClassicGroup, seen: SeenGroup, words: Words) -> Iterator[Difference]:
    """Differences of a group, in the fields that the log shows."""
    yield from differ("group.state", group.state, seen.state)
    if not group.exists or group.state != seen.state:
        return
    yield from differ("group.generation", group.generation, seen.generation)
    yield from shown_differ("group", group, seen.shown)
    yield from differ("group.members", sorted(group.members), sorted(seen.members))
    yield from differ("group.pending", sorted(group.pending), sorted(seen.pending))
    for name in sorted(group.members.keys() & seen.members.keys()):
        member, shown = group.members[name], seen.members[name]
        own = {field: value for field, value in shown.items() if field not in _BYTES}
        yield from shown_differ(name, member, own)
        if "subscription" in shown:
            content = words.of(set(member.protocols), member.subscription)
            yield from differ(f"{name}.subscription", str(content), str(sorted(shown["subscription"])))
        if "assignment" in shown:
            given = words.given(member.assignment), words.given(shown["assignment"])
            yield from differ(f"{name}.assignment", *given)


def members_of(line: Line) -> Iterator[str]:
    """Every member id that a line names."""
    yield from [line.member] if line.member else []
    yield from [line.request.member, *line.request.assignments] if line.request else []
    yield from line.seen.named if line.seen else ()
    yield from (member for member, _ in line.completed or ())


def _texts(line: Line) -> Iterator[str]:
    yield from line.request.subscription if line.request else ()
    for response in [line.response, *(one for _, one in line.completed or ())]:
        for joined in response.members if response else ():
            yield from joined.subscription
    for member in line.seen.members.values() if line.seen else ():
        yield from member.get("subscription", ())
