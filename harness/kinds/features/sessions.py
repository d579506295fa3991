"""Groups whose members have a session and no other timer: the common part of such kinds.

A kind has dataclasses of its group and its step. This module reads and loads states, follows sessions, and
makes the calls of events, whose actions begin with a word of the kind.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from frozendict import frozendict

from harness.itf import Trace
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.kinds.description import Kind
from harness.kinds.fields import Fields, read_states
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.replay.calls import Call, ChangeTopics, FireTimer, Restart, SendRequest
from harness.replay.contents import Contents
from harness.targets.base import Json
from harness.values import State, Value


class AnyGroup(Protocol):
    """A group: its epoch, 0 if there is none, its state, and its members by their names."""

    @property
    def epoch(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def named(self) -> Mapping[str, Any]: ...


class AnyResponse(Protocol):
    """The answer to a request."""

    @property
    def error(self) -> str: ...


A = TypeVar("A", bound=AnyResponse)
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class PlainStep(Generic[Q, A]):
    """The variable `step`; the answer of an event has no error."""

    action: str
    branch: str
    member: str
    topic: str
    partitions: int
    request: Q
    response: A

    @property
    def error(self) -> str:
        """The error of the answer."""
        return self.response.error


G = TypeVar("G", bound=AnyGroup)
P = TypeVar("P", bound=PlainStep[Any, Any])


@dataclass(frozen=True, slots=True)
class PlainState(Generic[G, P]):
    """A state: the group, the partitions of topics, and the step into it. Equal keys are equal groups and
    topics."""

    group: G
    step: P
    topics: Mapping[str, int]
    key: tuple[int, int, int]

    @property
    def configs(self) -> Mapping[str, int]:
        """None: such groups have no configurations."""
        return {}


class PlainReader(Generic[G, P]):
    """A reader of the states of traces of a kind, whose first variable has the group; `group` reads that
    variable."""

    def __init__(self, kind: Kind, group: Callable[[Fields], G], step: type[P]) -> None:
        self._kind, self._group, self._step = kind, group, step
        self._numbers = Contents()

    def read(self, trace: Trace, name: str) -> list[PlainState[G, P]]:
        """ConformError (exit 2) for a trace of another specification."""
        self._kind.check(trace, name)
        return read_states(trace.states, name, self._state)

    def _state(self, state: State) -> PlainState[G, P]:
        variable, raw = self._kind.variables[0], Fields(frozendict[Any, Value](state), "the state")
        topics = raw.metadata("topics") if "topics" in state else {}
        group = self._group(Fields(state[variable], variable))
        step = record_of(self._step).read(Fields(state["step"], "step"))
        key = self._numbers[state[variable]], self._numbers[state.get("topics", "")], 0
        return PlainState(group, step, topics, key)


TIMEOUT: Final = "Timeout"
TOPIC: Final = "Topic"
FAIL_OVER: Final = "FailOver"
DELETION: Final = "Delete"
"""The ends of the names of events: a session ends, a topic changes, a new coordinator, DeleteGroups."""
Handler: TypeAlias = Callable[[PlainState[Any, Any], PlainState[Any, Any]], Call]
"""A function from the states before and after a step to its call."""


def events(word: str) -> dict[str, Handler]:
    """The handlers of the events whose names begin with a word."""
    return {
        f"{word}{TIMEOUT}": lambda before, after: FireTimer("session", after.step.member),
        f"{word}{TOPIC}": _change_topic,
        f"{word}{FAIL_OVER}": lambda before, after: Restart(None),
        f"{word}{DELETION}": lambda before, after: SendRequest(wire.DELETE, wire.client("admin"), _DELETED),
    }


_DELETED: Final[Json] = {"groupsNames": [wire.GROUP]}


def _change_topic(before: PlainState[Any, Any], after: PlainState[Any, Any]) -> Call:
    topic, count = after.step.topic, after.step.partitions
    return ChangeTopics((wire.topic(topic, count),), ()) if count > 0 else ChangeTopics((), (topic,))


def deleted(error: str) -> Json:
    """The response of DeleteGroups."""
    return {"throttleTimeMs": 0, "results": [{"groupId": wire.GROUP, "errorCode": wire.ERROR_CODES[error]}]}


class Written(NamedTuple, Generic[G]):
    """The records of a kind: `word` begins their types. `values` has in their order the end of each type, and
    the value of a group, or `of_member` of a member; a record is written where its value changes. `nobody` is
    the value of a member that is not in the group; `deleted` are the ends of the types that are deleted with
    a group, in their order."""

    word: str
    values: Sequence[tuple[str, bool, Callable[[Any], Json]]]
    nobody: Any
    deleted: Sequence[str]

    def step(self, before: G, after: G) -> Iterator[Json]:
        """The records of a step, without offsets: those of removed members first, in the reverse order."""
        old, new = before.named, after.named
        if before.epoch and not after.epoch:
            yield from (self._record(end, None) for end in self.deleted)
            return
        gone, members = sorted(old.keys() - new.keys()), [end for end, of, _ in self.values if of]
        yield from (self._record(end, None, name) for name in gone for end in reversed(members))
        for end, of_member, value in self.values:
            if not of_member and value(before) != value(after):
                yield self._record(end, value(after))
            for name, one in new.items() if of_member else ():
                if value(old.get(name, self.nobody)) != value(one):
                    yield self._record(end, value(one), name)

    def _record(self, end: str, value: Json | None, member: str | None = None) -> Json:
        of = {} if member is None else {"memberId": member}
        return {"key": {"type": f"{self.word}{end}", "groupId": wire.GROUP, **of}, "value": value}


def decoder_of(
    reader: Callable[[], PlainReader[Any, Any]], decoding: Callable[[], Decoding[Any]]
) -> Callable[[Contents], KindDecoder[Any]]:
    """The registry's entry for such a kind: it makes a decoder, which numbers inputs with the given
    numbering."""
    return lambda inputs: KindDecoder(reader(), lambda meta, name: decoding(), inputs)


class SessionLoad(KindLoad[PlainState[G, P]]):
    """A whole state; `name` is that of the kind, `none` is no group."""

    name: ClassVar[str]
    records_of: ClassVar[Written[Any]]
    none: ClassVar[Any]

    def whole(self) -> list[Json]:
        """The group's records."""
        return list(self.records_of.step(self.none, self.state.group))

    @property
    def volatile(self) -> Json:
        """The sessions."""
        sessions = {timer["member"]: timer["deadlineMs"] for timer in self.timers}
        return {"clockMs": self.now_ms, self.name: {wire.GROUP: sessions} if sessions else {}}

    @property
    def title(self) -> str:
        """The group's state."""
        return self.state.group.title


class SessionDecoding(Decoding[PlainState[G, P]]):
    """A trace of such a kind. `load` makes whole states."""

    others = frozenset[str]()
    load: ClassVar[type[SessionLoad[Any, Any]]]

    def __init__(self) -> None:
        self._ends_ms: dict[str, int] = {}

    @abstractmethod
    def described(self, group: G) -> Json:
        """The answer to `describe`, without its timers."""

    @abstractmethod
    def body(self, after: PlainState[G, P]) -> Json:
        """The body of the response of a step that has one."""

    def configuration(self, states: Sequence[PlainState[G, P]]) -> Json:
        """The defaults."""
        return wire.DEFAULTS

    def start(self, state: PlainState[G, P]) -> SessionLoad[G, P]:
        """At time 0."""
        self._ends_ms = dict.fromkeys(state.group.named, wire.SESSION_TIMEOUT_MS)
        return self._load(state, 0)

    def follow(self, before: PlainState[G, P], after: PlainState[G, P], now_ms: int) -> SessionLoad[G, P]:
        """After a step: an answer without an error renews the session, a fail-over renews all sessions."""
        anew = [after.step.member] if after.step.error == "NONE" else []
        anew = list(after.group.named) if after.step.action.endswith(FAIL_OVER) else anew
        self._ends_ms |= dict.fromkeys(anew, now_ms + wire.SESSION_TIMEOUT_MS)
        return self._load(after, now_ms)

    def _load(self, state: PlainState[G, P], now_ms: int) -> SessionLoad[G, P]:
        timers: list[Json] = [
            {"timer": "session", "group": wire.GROUP, "member": name, "deadlineMs": self._ends_ms[name]}
            for name in state.group.named
            if name in self._ends_ms  # in a wrong trace a member appears that no step has let in
        ]
        return self.load(state, timers, now_ms, self.described(state.group))

    def expected(self, before: PlainState[G, P], after: PlainState[G, P], now_ms: int) -> Expected:
        """The response and the records."""
        step = after.step
        deletes = step.action.endswith(DELETION)
        body = deleted(step.error) if deletes else self.body(after) if step.error else None
        return Expected(
            branch=step.branch,
            error=step.error,
            given=(before.key, step),
            body=body,
            records=list(self.load.records_of.step(before.group, after.group)),
        )
