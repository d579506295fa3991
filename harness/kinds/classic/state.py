"""The specification's states of classic groups as typed records (spec/ClassicTypes.tla), checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, TypeAlias

from frozendict import frozendict

from harness.itf import Trace
from harness.kinds.fields import Fields, Partition, committed_offsets, read_function, read_states, typed
from harness.kinds.literals import tla_cases
from harness.kinds.rows import BESIDE, PARTITIONS, TEXT, TRUTH, Form, Row, no_literal, option_of, record_of
from harness.replay.contents import Contents
from harness.values import Value, as_function

Assignment: TypeAlias = frozenset[Partition] | None
"""The partitions of a member's assignment; None: there are no bytes at all."""


WAITS: Final = replace(TRUTH, name="waits", null=True)
"""A flag for a request that waits: JSON names the request, or has null."""


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """A member of the group, with its member id's own state."""

    instance: Annotated[str, Row(json="instanceId")]
    protocols: Annotated[tuple[str, ...], Row(json="protocols")]
    subscription: Annotated[frozenset[str], Row(json="protocols")]
    assignment: Annotated[Assignment, Row(json="assignment")]
    fresh: Annotated[bool, Row(json="isNew")]
    joining: Annotated[bool, WAITS, Row(json="awaitingJoin")]
    syncing: Annotated[bool, WAITS, Row(json="awaitingSync")]
    owes_sync: Annotated[bool, Row(json="owesSync")]

    @property
    def waits(self) -> bool:
        """Tell if a request of the member waits."""
        return self.joining or self.syncing


@dataclass(frozen=True, slots=True)
class SavedMember:
    """A member in the last record."""

    instance: str
    subscription: frozenset[str]
    assignment: Assignment


def _read_saved_members(raw: Any, path: str) -> dict[str, SavedMember]:
    """The members that are in a record."""
    members = {name: Fields(one, f"{path}[{name}]") for name, one in sorted(read_function(raw, path).items())}
    record = record_of(SavedMember)
    return {name: record.read(one) for name, one in members.items() if one.get("there", bool)}


@dataclass(frozen=True, slots=True)
class Saved:
    """The last record in the log."""

    generation: int
    type: str
    protocol: str
    leader: str
    members: Annotated[Mapping[str, SavedMember], Form("saved members", _read_saved_members, no_literal)]


NAME: Final = replace(TEXT, name="name")
"""A text that is equal in JSON."""


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """The group; `pending` are ids that were made and have not joined."""

    state: Annotated[str, Row(json="state")]
    generation: Annotated[int, Row(json="generation")]
    type: Annotated[str, NAME, Row(json="protocolType")]
    protocol: Annotated[str, Row(json="protocol")]
    leader: Annotated[str, Row(json="leader")]
    initial: bool
    new_member: Annotated[bool, Row(json="newMember")]
    extensions: int
    members: Annotated[Mapping[str, ClassicMember], BESIDE]
    pending: Annotated[frozenset[str], BESIDE]
    saved: Saved | None

    @property
    def exists(self) -> bool:
        """Tell if the group exists: a Dead one does not."""
        return self.state != "Dead"


def _read_assignments(raw: Any, path: str) -> frozendict[str, Assignment]:
    one = option_of(PARTITIONS)
    return frozendict(
        {name: one.read(given, f"{path}[{name}]") for name, given in read_function(raw, path).items()}
    )


def _literal_of_assignments(given: Mapping[str, Assignment]) -> str:
    """A function in a module that defines LogMembers."""
    one = option_of(PARTITIONS)
    cases = tla_cases("m", {name: one.literal(given[name]) for name in sorted(given)})
    return f"TLCEval([m \\in LogMembers |-> {cases}{{}}])"


ASSIGNMENTS: Final = Form("assignments", _read_assignments, _literal_of_assignments)
"""The assignment of each member that a leader names."""


@dataclass(frozen=True, slots=True)
class ClassicRequest:
    """A request of any API; None is absent."""

    member: str
    instance: str | None
    epoch: Annotated[int, Row(spec="generation")]
    """The generation, which is called epoch in an OffsetCommit."""
    type: str | None
    protocol: str | None
    protocols: tuple[str, ...]
    subscription: frozenset[str]
    assignments: Annotated[Mapping[str, Assignment], ASSIGNMENTS] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Joined:
    """A member in the leader's response to JoinGroup."""

    member: str
    instance: str
    subscription: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClassicResponse:
    """A response; `error` is "" where there is none yet, or no error."""

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


def read_answers(raw: Any, path: str) -> tuple[tuple[str, ClassicResponse], ...]:
    """Answers to requests that waited, with the member, by API and member."""
    answers = [Fields(one, path) for one in typed(raw, frozenset, path)]
    read = [
        (one.get("member", str), record_of(ClassicResponse).read(one.record("response"))) for one in answers
    ]
    return tuple(sorted(read, key=lambda answer: (answer[1].api, answer[0])))


@dataclass(frozen=True, slots=True)
class ClassicSpecStep:
    """The variable `step`; `completed` are answers to requests that waited, by member and API."""

    action: str
    branch: str
    member: str
    request: ClassicRequest
    response: ClassicResponse
    completed: Annotated[tuple[tuple[str, ClassicResponse], ...], Form("answers", read_answers, no_literal)]
    topic: str
    partitions: int
    partition: Annotated[Partition | None, Row(absent=None)]
    offset: int


@dataclass(frozen=True, slots=True)
class ClassicState:
    """One state, like `harness.kinds.consumer.state.SpecState`; `topics` are those that a commit may name."""

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
        return read_states(trace.states, name, self._state)

    def _state(self, state: Mapping[str, Value]) -> ClassicState:
        raw_group, raw_offsets = state["group"], state.get("offsets", ())
        if raw_group not in self._groups:
            self._groups[raw_group] = self._numbers[raw_group], _group(Fields(raw_group, "group"))
        if raw_offsets not in self._offsets:
            self._offsets[raw_offsets] = self._numbers[raw_offsets], committed_offsets(raw_offsets)
        (group_key, group), (offsets_key, offsets) = self._groups[raw_group], self._offsets[raw_offsets]
        if state["step"] not in self._steps:
            self._steps[state["step"]] = record_of(ClassicSpecStep).read(Fields(state["step"], "step"))
        step = self._steps[state["step"]]
        return ClassicState(group, _topics(raw_offsets), step, (group_key, 0, offsets_key), offsets)


def _topics(raw_offsets: Value) -> dict[str, int]:
    """The least number of partitions of each topic, so that every partition that a commit may name exists."""
    topics: dict[str, int] = {}
    for topic, index in as_function(raw_offsets):
        topics[topic] = max(topics.get(topic, 0), index + 1)
    return topics


def _group(fields: Fields) -> ClassicGroup:
    members, pending = {}, set()
    for name, raw in sorted(fields.function("members").items()):
        member = Fields(raw, f"group.members[{name}]")
        place = member.get("place", str)
        if place == "pending":
            pending.add(name)
        elif place == "member":
            members[name] = record_of(ClassicMember).read(member)
    values = record_of(ClassicGroup).values(fields)
    return ClassicGroup(**values, members=members, pending=frozenset(pending))


def read_response(raw: Value) -> ClassicResponse:
    """One response, as of those in flight in a closed model. BadField if the value is none."""
    return record_of(ClassicResponse).read(Fields(raw, "responses"))


def input_of(before: ClassicState, after: ClassicState) -> tuple[Any, ...]:
    """A step's state and input: equal for the same input in the same state."""
    step = after.step
    request = step.request
    given = sorted(request.assignments.items())
    return (before.key, step.action, step.member, request, tuple(given), step.partition, step.offset)
