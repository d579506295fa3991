"""States of the committed traces, loaded: forms of records that the target itself has not written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from harness.doctor.features import refuses
from harness.doctor.shape import as_json
from harness.doctor.talk import FOO, Talk, Wrong
from harness.errors import ConformError
from harness.identify.own import own_traces
from harness.itf import read_trace
from harness.kinds.registry import UNIVERSAL
from harness.replay import wire
from harness.replay.compare import differences
from harness.replay.decode import Decoder
from harness.replay.features import STATIC
from harness.replay.files import SUFFIX
from harness.replay.prepared import Step
from harness.targets.base import Answer, Refused

AWAY: Final = -2
"""The member epoch of a static member that left for a while (S1)."""
_COMMIT: Final = "OffsetCommit"


@dataclass(frozen=True)
class State:
    """The state after a step of a trace; `has` is the reason of its choice."""

    has: str
    trace: str
    step: Step


def _has_members(step: Step) -> bool:
    return len((step.expected.group or {}).get("members", ())) > 1


def _has_offsets(step: Step) -> bool:
    return any(record["key"]["type"] == _COMMIT for record in step.load.records)


def _has_one_away(step: Step) -> bool:
    members = (step.expected.group or {}).get("members", ())
    return any(member["memberEpoch"] == AWAY for member in members)


_STATIC: Final = "a static member that is away"
_CHOSEN: Final[dict[str, Callable[[Step], bool]]] = {
    "two members": _has_members,
    "committed offsets": _has_offsets,
    _STATIC: _has_one_away,
}
_WORDS: Final = {"two members": "", "committed offsets": "offset", _STATIC: "static"}
"""A word in the names of the files that most likely have such a state: these are read first."""


@cache
def states(dialect: str) -> tuple[State, ...]:
    """The first state of each sort in the traces of a dialect; a sort without any state is left out."""
    chosen = (_first(dialect, has) for has in _CHOSEN)
    return tuple(state for state in chosen if state)


def _first(dialect: str, has: str) -> State | None:
    files = [file for folder in own_traces(dialect) for file in sorted(folder.glob(f"*{SUFFIX}"))]
    decoder = Decoder()
    for file in sorted(files, key=lambda file: _WORDS[has] not in file.name.lower()):
        try:
            trace = decoder.decode(read_trace(file), file.name)
        except ConformError:  # the file is no trace of a group
            continue
        if trace.kind != UNIVERSAL.name:
            continue
        for step in trace.steps:
            if _CHOSEN[has](step):
                return State(has, f"{file.parent.name}/{file.name}", step)
    return None


def load(talk: Talk) -> str:
    """The words for the loaded states; Wrong for a state that is refused, or described differently.

    A target without static members cannot reach a state that has one, and need not load it.
    """
    without = _without_static_members(talk)
    loaded = list(_loaded(talk, not without))
    sentence = f" States of committed traces, too: {', '.join(loaded)}." if loaded else ""
    return f"{sentence} None with a static member, {without}." if without else sentence


def _without_static_members(talk: Talk) -> str:
    """The reason why no static member is loaded: an entry of hello, or a new coordinator's answer to a join;
    "" where there are static members."""
    if STATIC in talk.known.lacks:
        return f"as hello says that it lacks {STATIC}"
    talk.target.load([], [FOO] if talk.can("topics") else [], {"clockMs": 0})
    if not refuses(talk, STATIC):
        return ""
    return (
        "as joins with an instance id are refused; where there are no static members, "
        f'say so in hello ("lacks":["{STATIC}"]), so that replays leave them out'
    )


def _loaded(talk: Talk, static: bool) -> Iterator[str]:
    for state in states(talk.known.dialect):
        if state.has == _STATIC and not static:
            continue
        made = state.step.load
        if (made.topics and not talk.can("topics")) or (
            _has_offsets(state.step) and _COMMIT not in talk.known.apis
        ):
            continue
        sent = f"load of {state.has}, the state after step {state.step.index} of {state.trace}"
        try:
            talk.target.load(made.records, made.topics, made.volatile)
        except Refused as refusal:
            raise Wrong(sent, f"refused: {refusal.reason}", "what a trace loads is taken") from None
        if talk.can("describe"):
            wanted = talk.view.of(Answer(group=state.step.expected.group), made.there)
            described = talk.view.of(Answer(group=talk.target.describe(wire.GROUP)), made.there)
            for one in differences(wanted, described):
                says = f"{one.path} is {as_json(one.expected)}"
                raise Wrong(f"{sent}, then describe", {one.path: one.got}, says)
        yield state.has
