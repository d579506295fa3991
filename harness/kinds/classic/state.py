"""The spec's states of classic groups as typed records (spec/ClassicTypes.tla), checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from frozendict import frozendict

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.fields import BadField, Fields, Partition, committed_offsets
from harness.replay.contents import Contents
from harness.values import Value, as_function

Assignment: TypeAlias = frozenset[Partition] | None
"""What a member is assigned; None says that there are no bytes at all."""


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """A member of the group, with its member id's own state."""

    instance: str
    protocols: tuple[str, ...]
    subscription: frozenset[str]
    assignment: Assignment
    fresh: bool
    joining: bool
    syncing: bool
    owes_sync: bool

    @property
    def waits(self) -> bool:
        """Whether a request of it waits."""
        return self.joining or self.syncing


@dataclass(frozen=True, slots=True)
class SavedMember:
    """A member in the last record."""

    instance: str
    subscription: frozenset[str]
    assignment: Assignment


@dataclass(frozen=True, slots=True)
class Saved:
    """The last record in the log."""

    generation: int
    type: str
    protocol: str
    leader: str
    members: Mapping[str, SavedMember]


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """The group; `pending` are ids that were made and have not joined."""

    state: str
    generation: int
    type: str
    protocol: str
    leader: str
    initial: bool
    new_member: bool
    extensions: int
    members: Mapping[str, ClassicMember]
    pending: frozenset[str]
    saved: Saved | None

    @property
    def exists(self) -> bool:
        """Dead is a group that there is not."""
        return self.state != "Dead"


@dataclass(frozen=True, slots=True)
class ClassicRequest:
    """A request of any API; None is absent."""

    member: str
    instance: str | None
    epoch: int
    """The generation: the field of an OffsetCommit has both names."""
    type: str | None
    protocol: str | None
    protocols: tuple[str, ...]
    subscription: frozenset[str]
    assignments: Mapping[str, Assignment] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a leader is told of a member."""

    member: str
    instance: str
    subscription: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClassicResponse:
    """A response; `error` is "" where there is none, yet or at all."""

    api: str
    error: str
    member: str
    generation: int
    type: str
    protocol: str
    leader: str
    skip_assignment: bool
    members: frozenset[Joined]
    assignment: Assignment


@dataclass(frozen=True, slots=True)
class ClassicSpecStep:
    """The variable `step`; `completed` are answers to requests that waited, by member and API."""

    action: str
    branch: str
    member: str
    request: ClassicRequest
    response: ClassicResponse
    completed: tuple[tuple[str, ClassicResponse], ...]
    topic: str
    partitions: int
    partition: Partition | None
    offset: int


@dataclass(frozen=True, slots=True)
class ClassicState:
    """One state, like `harness.replay.state.SpecState`; `topics` are those that a commit may name."""

    group: ClassicGroup
    topics: Mapping[str, int]
    step: ClassicSpecStep
    key: tuple[int, int, int]
    offsets: Mapping[Partition, int]
    configs: Mapping[str, int] = field(default_factory=dict)
    """Classic groups have no configuration of their own."""


class ClassicReader:
    """Reads the states of traces; equal groups and steps are read once."""

    def __init__(self) -> None:
        self._numbers = Contents()
        self._groups: dict[Value, tuple[int, ClassicGroup]] = {}
        self._offsets: dict[Value, tuple[int, Mapping[Partition, int]]] = {}
        self._steps: dict[Value, ClassicSpecStep] = {}

    def read(self, trace: Trace, name: str) -> list[ClassicState]:
        """Read all states; `name` begins errors. ConformError (exit 2) if they are of another spec."""
        states = []
        for index, state in enumerate(trace.states):
            try:
                states.append(self._state(state))
            except BadField as error:
                raise ConformError(f"{name}, state {index}: {error}.") from None
        return states

    def _state(self, state: Mapping[str, Value]) -> ClassicState:
        raw_group, raw_offsets = state["group"], state.get("offsets", ())
        if raw_group not in self._groups:
            self._groups[raw_group] = self._numbers[raw_group], _group(Fields(raw_group, "group"))
        if raw_offsets not in self._offsets:
            self._offsets[raw_offsets] = self._numbers[raw_offsets], committed_offsets(raw_offsets)
        (group_key, group), (offsets_key, offsets) = self._groups[raw_group], self._offsets[raw_offsets]
        if state["step"] not in self._steps:
            self._steps[state["step"]] = _step(Fields(state["step"], "step"))
        step = self._steps[state["step"]]
        return ClassicState(group, _topics(raw_offsets), step, (group_key, 0, offsets_key), offsets)


def _topics(raw_offsets: Value) -> dict[str, int]:
    """How many partitions each topic must have, for all that may be committed to be there."""
    topics: dict[str, int] = {}
    for topic, index in as_function(raw_offsets):
        topics[topic] = max(topics.get(topic, 0), index + 1)
    return topics


def _strings(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(fields.get(name, tuple))


def _group(fields: Fields) -> ClassicGroup:
    members, pending = {}, set()
    for name, raw in sorted(fields.function("members").items()):
        member = Fields(raw, f"group.members[{name}]")
        place = member.get("place", str)
        if place == "pending":
            pending.add(name)
        elif place == "member":
            members[name] = _member(member)
    saved = fields.option("saved", frozendict)
    return ClassicGroup(
        fields.get("state", str),
        fields.get("generation", int),
        fields.get("type", str),
        fields.get("protocol", str),
        fields.get("leader", str),
        fields.get("initial", bool),
        fields.get("newMember", bool),
        fields.get("extensions", int),
        members,
        frozenset(pending),
        None if saved is None else _saved(Fields(saved, "group.saved")),
    )


def _member(fields: Fields) -> ClassicMember:
    return ClassicMember(
        fields.get("instance", str),
        _strings(fields, "protocols"),
        fields.names("subscription"),
        fields.option("assignment", frozenset),
        fields.get("fresh", bool),
        fields.get("joining", bool),
        fields.get("syncing", bool),
        fields.get("owesSync", bool),
    )


def _saved(fields: Fields) -> Saved:
    members = {}
    for name, raw in sorted(fields.function("members").items()):
        member = Fields(raw, f"group.saved.members[{name}]")
        if member.get("there", bool):
            members[name] = SavedMember(
                member.get("instance", str),
                member.names("subscription"),
                member.option("assignment", frozenset),
            )
    return Saved(
        fields.get("generation", int),
        fields.get("type", str),
        fields.get("protocol", str),
        fields.get("leader", str),
        members,
    )


def _request(fields: Fields) -> ClassicRequest:
    given = {
        name: Fields(_record("assignment", raw), fields.path).option("assignment", frozenset)
        for name, raw in fields.function("assignments").items()
    }
    return ClassicRequest(
        fields.get("member", str),
        fields.option("instance", str),
        fields.get("generation", int),
        fields.option("type", str),
        fields.option("protocol", str),
        _strings(fields, "protocols"),
        fields.names("subscription"),
        frozendict(given),
    )


def _record(name: str, value: Value) -> frozendict[Any, Value]:
    return frozendict({name: value})


def _response(fields: Fields) -> ClassicResponse:
    joined = [Fields(raw, f"{fields.path}.members") for raw in fields.get("members", frozenset)]
    return ClassicResponse(
        fields.get("api", str),
        fields.get("error", str),
        fields.get("member", str),
        fields.get("generation", int),
        fields.get("type", str),
        fields.get("protocol", str),
        fields.get("leader", str),
        fields.get("skipAssignment", bool),
        frozenset(
            Joined(one.get("member", str), one.get("instance", str), one.names("subscription"))
            for one in joined
        ),
        fields.option("assignment", frozenset),
    )


def read_response(raw: Value) -> ClassicResponse:
    """One response, of those on the way in a closed model say. BadField if it is none."""
    return _response(Fields(raw, "responses"))


def _step(fields: Fields) -> ClassicSpecStep:
    answers = [Fields(raw, "step.completed") for raw in fields.get("completed", frozenset)]
    completed = [(one.get("member", str), _response(one.record("response"))) for one in answers]
    return ClassicSpecStep(
        fields.get("action", str),
        fields.get("branch", str),
        fields.get("member", str),
        _request(fields.record("request")),
        _response(fields.record("response")),
        tuple(sorted(completed, key=_api_and_member)),
        fields.get("topic", str),
        fields.get("partitions", int),
        fields.partition("partition"),
        fields.get("offset", int),
    )


def _api_and_member(answer: tuple[str, ClassicResponse]) -> tuple[str, str]:
    return answer[1].api, answer[0]


def input_of(before: ClassicState, after: ClassicState) -> tuple[Any, ...]:
    """A step's state and input: equal for the same input in the same state."""
    step = after.step
    request = step.request
    given = sorted(request.assignments.items())
    return (before.key, step.action, step.member, request, tuple(given), step.partition, step.offset)
