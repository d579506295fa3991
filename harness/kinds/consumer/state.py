"""The specification's states as typed records, checked once.

A trace of another specification ends here with a sentence that names the state and the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, TypeAlias

from frozendict import frozendict

from harness.itf import Trace
from harness.kinds.classic.subscription_data import Classic
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.features.admission_state import ADMITS_ALL, Admission, admission_of
from harness.kinds.features.computing_state import (
    NOBODY,
    NOTHING_TOLD,
    ClientStep,
    Computation,
    Offer,
    UserData,
    client_step,
    computation_of,
    offers_of,
)
from harness.kinds.fields import (
    BadField,
    Fields,
    Partition,
    committed_offsets,
    counts_in,
    partition_epochs,
    read_states,
    typed,
    value_at,
)
from harness.kinds.rows import BESIDE, Form, Owners, Row, Sizes, no_literal, record_of
from harness.replay.contents import Contents
from harness.values import Value

NOT_IN_GROUP = -1
AWAY = -2
"""S1: the epoch of a static member that left for a while."""


@dataclass(frozen=True, slots=True)
class Member:
    """The coordinator's state of one member (spec/GroupTypes.tla, `member`).

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
    told: Annotated[UserData, BESIDE] = NOTHING_TOLD
    classic: Annotated[Classic | None, BESIDE] = None

    @property
    def held(self) -> frozenset[Partition]:
        """All partitions that the member may own (R7)."""
        return self.assigned | self.revoking


@dataclass(frozen=True, slots=True)
class Group:
    """The group; `members` has only those that are in it, `metadata` only topics with partitions."""

    epoch: Annotated[int, Row(json="groupEpoch")]
    assignment_epoch: Annotated[int, Row(json="assignmentEpoch")]
    targets: Annotated[Owners, Row(spec="target")]
    metadata: Sizes
    members: Annotated[Mapping[str, Member], BESIDE]
    computation: Annotated[Computation, BESIDE] = NOBODY

    @property
    def exists(self) -> bool:
        """Tell if the group exists: one that was never created, or was deleted, has epoch 0 (E5 DEAD)."""
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
    """ConsumerGroupHeartbeat; None means absent (null on the wire), which is not the same as empty."""

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
    """The specification's response; `assigned` and `pending` are None where no assignment is sent."""

    error: str
    member: str
    epoch: int
    assigned: frozenset[Partition] | None
    pending: frozenset[Partition] | None


def _read_response(raw: Value, path: str) -> Response:
    return read_response(Fields(raw, path))


@dataclass(frozen=True, slots=True)
class SpecStep:
    """The variable `step`: the last action with its parameters and its response.

    `topic` and `partitions` are a changed topic and its number of partitions afterwards (-1: deleted);
    `partition` and `offset` those of a commit or a fetch.
    """

    action: str
    branch: str
    member: str
    request: Request
    response: Annotated[Response, Form("response", _read_response, no_literal)]
    topic: str
    partitions: int
    partition: Annotated[Partition | None, Row(absent=None)]
    offset: Annotated[int, Row(absent=0)]
    client: Annotated[ClientStep | None, BESIDE] = None


@dataclass(frozen=True, slots=True)
class Admin:
    """The variable `admin` (spec/Administration.tla): an administrator's request and its answer (D1).

    `value` is None where a configuration of the group's own is removed; `shown` are the values in force,
    `own` those among them that are the group's.
    """

    states: frozenset[str]
    types: frozenset[str]
    listed: frozenset[tuple[str, str]]
    name: str
    value: int | None
    shown: tuple[tuple[str, int], ...]
    own: frozenset[str]


_BESIDE: Final = ("offsets", "configs", "admission", "partitionEpochs")
"""Variables of some models that the coordinator keeps beside the group."""
Since: TypeAlias = Mapping[str, Mapping[Partition, int]]
"""By member, the member epoch at which the member was given a partition (PartitionEpochs; O2)."""


_Beside: TypeAlias = tuple[int, Mapping[Partition, int], Mapping[str, int], Admission, Since]


@dataclass(frozen=True, slots=True)
class SpecState:
    """One state: the group, the number of partitions of each topic of the cluster, the step into it.

    `offsets` has only partitions with a committed offset. `key` are numbers (`Contents`) of the group, the
    topics, and the offsets with `configs`, the group's own configurations (D1), with `admission` and with
    `since`, the member epoch at which each member was given each partition (O2): equal keys, equal values.
    `admin` is None where the model has no administrator. `log` are the specification's records (P1) as in the
    trace, which `log.check_log` reads; None where the model has no log.
    """

    group: Group
    topics: Mapping[str, int]
    step: SpecStep
    key: tuple[int, int, int]
    offsets: Mapping[Partition, int]
    log: frozenset[Value] | None = None
    configs: Mapping[str, int] = field(default_factory=dict)
    admin: Admin | None = None
    admission: Admission = ADMITS_ALL
    since: Since = field(default_factory=dict)


class StateReader:
    """A reader of the states of traces; equal values are read once, since they come again and again."""

    def __init__(self) -> None:
        self._numbers = Contents()
        self._groups: dict[tuple[Value, Value | None], tuple[int, Group]] = {}
        self._members: dict[Value, Member] = {}
        self._topics: dict[Value, tuple[int, Mapping[str, int]]] = {}
        self._beside: dict[Value, _Beside] = {}
        self._steps: dict[Value, SpecStep] = {}

    def read(self, trace: Trace, name: str) -> list[SpecState]:
        """Read all states; `name` begins errors. ConformError (exit 2) if they are of another spec."""
        CONSUMER.check(trace, name)
        return read_states(trace.states, name, self._state)

    def _state(self, state: Mapping[str, Value]) -> SpecState:
        raw_group, raw_topics = state["group"], state["topics"]
        raw_beside = tuple(state.get(name, ()) for name in _BESIDE)
        raw = raw_group, state.get("computation")
        if raw not in self._groups:
            group = _group(Fields(raw_group, "group"), self._members)
            if raw[1] is not None:
                group = _with_computation(group, Fields(raw[1], "computation"))
            self._groups[raw] = self._numbers[raw], group
        if raw_topics not in self._topics:
            self._topics[raw_topics] = self._numbers[raw_topics], counts_in(raw_topics, "topics")
        if raw_beside not in self._beside:
            self._beside[raw_beside] = self._numbers[raw_beside], *_read_beside(*raw_beside)
        (group_key, group), (topics_key, topics) = self._groups[raw], self._topics[raw_topics]
        offsets_key, offsets, configs, admits, since = self._beside[raw_beside]
        if state["step"] not in self._steps:
            self._steps[state["step"]] = record_of(SpecStep).read(Fields(state["step"], "step"))
        step = self._steps[state["step"]]
        if "clientStep" in state:
            offers, client = client_step(Fields(state["clientStep"], "clientStep"))
            step = replace(step, request=replace(step.request, offers=offers), client=client)
        log: frozenset[Value] | None = typed(state["log"], frozenset, "log") if "log" in state else None
        admin = _admin(Fields(state["admin"], "admin")) if "admin" in state else None
        keys = group_key, topics_key, offsets_key
        return SpecState(group, topics, step, keys, offsets, log, configs, admin, admits, since)


def _read_beside(
    offsets: Value, configs: Value, admission: Value, since: Value
) -> tuple[Mapping[Partition, int], Mapping[str, int], Admission, Since]:
    """The variables of `_BESIDE` as in a trace, () for one that the model does not have."""
    own = {name: value for name, value in counts_in(configs, "configs").items() if value}
    admits = ADMITS_ALL if admission == () else admission_of(Fields(admission, "admission"))
    return committed_offsets(offsets), own, admits, partition_epochs(since) if since else {}


def _group(fields: Fields, known: dict[Value, Member]) -> Group:
    members = {}
    for name, raw in fields.function("members").items():
        if raw not in known:
            known[raw] = record_of(Member).read(Fields(raw, f"group.members[{name}]"))
        if (member := known[raw]).epoch != NOT_IN_GROUP:
            members[typed(name, str, "group.members")] = member
    there = {name: members[name] for name in sorted(members)}
    return Group(**record_of(Group).values(fields), members=there)


def _with_computation(group: Group, fields: Fields) -> Group:
    """The group with its members' offers and assignor data, and the member that computes its target."""
    offers, data = fields.function("offers"), fields.function("told")
    members = {
        name: replace(
            member,
            offers=offers_of(value_at(offers, name, f"{fields.path}.offers"), f"{fields.path}.offers"),
            told=record_of(UserData).read(
                Fields(value_at(data, name, f"{fields.path}.told"), f"{fields.path}.told")
            ),
        )
        for name, member in group.members.items()
    }
    return replace(group, members=members, computation=computation_of(fields))


def read_group(raw: Value, path: str) -> Group:
    """A consumer group in another variable than `group`. BadField if it is none."""
    return _group(Fields(raw, path), {})


def _listed(raw: Any) -> tuple[str, str]:
    """State and type of a listed group."""
    if isinstance(raw, tuple) and len(raw) == 2:
        return typed(raw[0], str, "admin.listed"), typed(raw[1], str, "admin.listed")
    raise BadField(f"admin.listed must have pairs of a state and a type, not {raw!r}")


def _admin(fields: Fields) -> Admin:
    return Admin(
        states=fields.names("states"),
        types=fields.names("types"),
        listed=frozenset(_listed(one) for one in fields.get("listed", frozenset)),
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
