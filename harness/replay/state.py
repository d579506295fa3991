"""The spec's states as typed records, checked once.

A trace of another specification ends here with a sentence that names the state and the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from frozendict import frozendict

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.classic.said import Classic
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.fields import (
    BadField,
    Fields,
    Partition,
    committed_offsets,
    counts_in,
    partition_in,
    typed,
)
from harness.kinds.rows import BESIDE, Row, record_of
from harness.replay.client_state import (
    NOBODY,
    NOTHING_TOLD,
    ClientStep,
    Computation,
    Offer,
    Told,
    client_step,
    computation_of,
    offers_of,
    told_of,
)
from harness.replay.contents import Contents
from harness.values import Value

NOT_IN_GROUP = -1
AWAY = -2
"""S1: the epoch of a static member that left for a while."""


@dataclass(frozen=True, slots=True)
class Member:
    """What the coordinator keeps of one member (spec/GroupTypes.tla, `member`).

    A member that is away for a while has the epoch -2 (S1). "" is no instance id, no regex, no assignor.
    """

    epoch: Annotated[int, Row(json="memberEpoch")]
    previous_epoch: Annotated[int, Row(json="previousMemberEpoch")]
    instance: Annotated[str, Row(json="instanceId", absent="")]
    subscription: Annotated[frozenset[str], Row(json="subscribedTopicNames")]
    regex: Annotated[str, Row(json="subscribedTopicRegex", absent="")]
    assignor: Annotated[str, Row(json="serverAssignor")]
    assigned: Annotated[frozenset[Partition], Row(json="assigned")]
    revoking: Annotated[frozenset[Partition], Row(json="pendingRevocation")]
    acknowledged: Annotated[bool, Row(json="acknowledged")]
    offers: Annotated[tuple[Offer, ...], BESIDE] = ()
    told: Annotated[Told, BESIDE] = NOTHING_TOLD
    classic: Annotated[Classic | None, BESIDE] = None

    @property
    def held(self) -> frozenset[Partition]:
        """All that the member may own (R7)."""
        return self.assigned | self.revoking


@dataclass(frozen=True, slots=True)
class Group:
    """The group; `members` has only those that are in it, `metadata` only topics with partitions."""

    epoch: int
    assignment_epoch: int
    targets: Mapping[str, frozenset[Partition]]
    metadata: Mapping[str, int]
    members: Mapping[str, Member]
    computation: Computation = NOBODY

    @property
    def exists(self) -> bool:
        """Never created and deleted groups are at epoch 0 (E5 DEAD)."""
        return self.epoch > 0

    def target(self, member: str) -> frozenset[Partition]:
        """The partitions whose owner in the target assignment is this member."""
        return self.targets.get(member, frozenset())

    def holder(self, instance: str | None) -> str | None:
        """S2: the member with that instance id, if there is one."""
        for name, member in self.members.items():
            if instance and member.instance == instance:
                return name
        return None


@dataclass(frozen=True, slots=True)
class Request:
    """ConsumerGroupHeartbeat; None says absent (null on the wire), which is not the same as empty."""

    member: str
    epoch: int
    instance: Annotated[str | None, Row(absent=None)]
    owned: frozenset[Partition] | None
    subscription: frozenset[str] | None
    regex: Annotated[str | None, Row(absent=None)]
    assignor: str | None
    offers: Annotated[tuple[Offer, ...] | None, BESIDE] = None


@dataclass(frozen=True, slots=True)
class Response:
    """The spec's response; `assigned` and `pending` are None where no assignment is sent."""

    error: str
    member: str
    epoch: int
    assigned: frozenset[Partition] | None
    pending: frozenset[Partition] | None


@dataclass(frozen=True, slots=True)
class SpecStep:
    """The variable `step`: the last action with its parameters and the response it produced.

    `topic` and `partitions` are a changed topic and how many it has then (-1: deleted); `partition` and
    `offset` those of a commit or a fetch.
    """

    action: str
    branch: str
    member: str
    request: Request
    response: Response
    topic: str
    partitions: int
    partition: Partition | None
    offset: int
    client: ClientStep | None = None


@dataclass(frozen=True, slots=True)
class Admin:
    """The variable `admin` (spec/Administration.tla): what an administrator asked and was answered (D1).

    `value` is None where a configuration of the group's own is taken away; `shown` are those that count,
    `own` which of them are the group's.
    """

    states: frozenset[str]
    types: frozenset[str]
    listed: frozenset[tuple[str, str]]
    name: str
    value: int | None
    shown: tuple[tuple[str, int], ...]
    own: frozenset[str]


@dataclass(frozen=True, slots=True)
class SpecState:
    """One state: the group, the number of partitions of each topic of the cluster, the step that led here.

    `offsets` has only partitions that have a committed one. `key` are numbers (`Contents`) of the group, the
    topics, and the offsets with `configs`, the group's own configurations (D1): equal keys, equal values.
    `admin` is None where the model has no administrator. `log` are the spec's records (P1) as they
    are in the trace, which `log.check_log` reads; None where the model has no log.
    """

    group: Group
    topics: Mapping[str, int]
    step: SpecStep
    key: tuple[int, int, int]
    offsets: Mapping[Partition, int]
    log: frozenset[Value] | None = None
    configs: Mapping[str, int] = field(default_factory=dict)
    admin: Admin | None = None


class StateReader:
    """Reads the states of traces; equal values are read once, since they come again and again."""

    def __init__(self) -> None:
        self._numbers = Contents()
        self._groups: dict[tuple[Value, Value | None], tuple[int, Group]] = {}
        self._members: dict[Value, Member] = {}
        self._topics: dict[Value, tuple[int, Mapping[str, int]]] = {}
        self._offsets: dict[Value, tuple[int, Mapping[Partition, int], Mapping[str, int]]] = {}
        self._steps: dict[Value, SpecStep] = {}

    def read(self, trace: Trace, name: str) -> list[SpecState]:
        """Read all states; `name` begins errors. ConformError (exit 2) if they are of another spec."""
        CONSUMER.check(trace, name)
        states = []
        for index, state in enumerate(trace.states):
            try:
                states.append(self._state(state))
            except BadField as error:
                raise ConformError(f"{name}, state {index}: {error}.") from None
        return states

    def _state(self, state: Mapping[str, Value]) -> SpecState:
        raw_group, raw_topics = state["group"], state["topics"]
        raw_offsets = state.get("offsets", ()), state.get("configs", ())
        raw = raw_group, state.get("computation")
        if raw not in self._groups:
            group = _group(Fields(raw_group, "group"), self._members)
            if raw[1] is not None:
                group = _with_computation(group, Fields(raw[1], "computation"))
            self._groups[raw] = self._numbers[raw], group
        if raw_topics not in self._topics:
            self._topics[raw_topics] = self._numbers[raw_topics], counts_in(raw_topics, "topics")
        if raw_offsets not in self._offsets:
            committed, own = committed_offsets(raw_offsets[0]), counts_in(raw_offsets[1], "configs")
            own = {name: value for name, value in own.items() if value}
            self._offsets[raw_offsets] = self._numbers[raw_offsets], committed, own
        (group_key, group), (topics_key, topics) = self._groups[raw], self._topics[raw_topics]
        offsets_key, offsets, configs = self._offsets[raw_offsets]
        if state["step"] not in self._steps:
            self._steps[state["step"]] = _step(Fields(state["step"], "step"))
        step = self._steps[state["step"]]
        if "clientStep" in state:
            offers, said = client_step(Fields(state["clientStep"], "clientStep"))
            step = replace(step, request=replace(step.request, offers=offers), client=said)
        log: frozenset[Value] | None = typed(state["log"], frozenset, "log") if "log" in state else None
        admin = _admin(Fields(state["admin"], "admin")) if "admin" in state else None
        keys = group_key, topics_key, offsets_key
        return SpecState(group, topics, step, keys, offsets, log, configs, admin)


def _group(fields: Fields, known: dict[Value, Member]) -> Group:
    targets: dict[str, set[Partition]] = {}
    for raw, owner in fields.function("target").items():
        partition = partition_in(raw, "group.target")
        if name := typed(owner, str, f"group.target[{partition}]"):
            targets.setdefault(name, set()).add(partition)
    members = {}
    for name, raw in fields.function("members").items():
        if raw not in known:
            known[raw] = record_of(Member).read(Fields(raw, f"group.members[{name}]"))
        if (member := known[raw]).epoch != NOT_IN_GROUP:
            members[typed(name, str, "group.members")] = member
    return Group(
        epoch=fields.get("epoch", int),
        assignment_epoch=fields.get("assignmentEpoch", int),
        targets={name: frozenset(partitions) for name, partitions in targets.items()},
        metadata=fields.metadata("metadata"),
        members={name: members[name] for name in sorted(members)},
    )


def _with_computation(group: Group, fields: Fields) -> Group:
    """The group with what its members offer and are told, and with who computes its target."""
    offers, told = fields.function("offers"), fields.function("told")
    members = {
        name: replace(
            member,
            offers=offers_of(offers[name], f"{fields.path}.offers"),
            told=told_of(Fields(told[name], f"{fields.path}.told")),
        )
        for name, member in group.members.items()
    }
    return replace(group, members=members, computation=computation_of(fields))


def read_group(raw: Value, path: str) -> Group:
    """A consumer group in another variable than `group`. BadField if it is none."""
    return _group(Fields(raw, path), {})


def _step(fields: Fields) -> SpecStep:
    return SpecStep(
        action=fields.get("action", str),
        branch=fields.get("branch", str),
        member=fields.get("member", str),
        request=record_of(Request).read(fields.record("request")),
        response=read_response(fields.record("response")),
        topic=fields.get("topic", str),
        partitions=fields.get("partitions", int),
        partition=fields.partition("partition"),
        offset=fields.get_or("offset", int, 0),
    )


def _admin(fields: Fields) -> Admin:
    return Admin(
        states=fields.names("states"),
        types=fields.names("types"),
        listed=frozenset(
            (typed(state, str, "admin.listed"), typed(kind, str, "admin.listed"))
            for state, kind in fields.get("listed", frozenset)
        ),
        name=fields.get("name", str),
        value=fields.option("value", int),
        shown=tuple(sorted(counts_in(fields.function("shown"), "admin.shown").items())),
        own=fields.names("own"),
    )


def read_response(fields: Fields) -> Response:
    """A response of the consumer protocol."""
    raw = fields.option("assignment", frozendict)
    assignment = None if raw is None else Fields(raw, f"{fields.path}.assignment")
    return Response(
        error=fields.get("error", str),
        member=fields.get("member", str),
        epoch=fields.get("epoch", int),
        assigned=None if assignment is None else assignment.partitions("assigned"),
        pending=None if assignment is None else assignment.partitions("pending"),
    )
