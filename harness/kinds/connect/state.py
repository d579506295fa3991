"""The specification's states of Connect groups as typed records (spec/Connect.tla), checked once: those of a
consumer group, and further ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from frozendict import frozendict

from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.kinds.consumer.state import Group, SpecState, SpecStep, StateReader
from harness.kinds.fields import Fields, Partition, read_function, read_states, typed
from harness.kinds.rows import Counts, Owners, Row, Sizes, record_of
from harness.replay.contents import Contents
from harness.values import State, Value

Versions = frozendict[str, tuple[int, int]]
VERSIONS: Final[Mapping[str, Versions]] = {
    "SameVersions": frozendict(),
    "SomeVersions": frozendict({"w1": (4, 4), "w2": (1, 3), "w3": (3, 5)}),
}
"""The Versions of models by the name of their definition: of each worker, or of all workers."""
EVERYBODYS: Final = (0, 2)
ASSIGNOR: Final = "compatible"
"""The assignor that every worker offers, unless a model has lists."""
Names = tuple[str, ...]
NO_LISTS: Final[frozendict[str, Names]] = frozendict()
Resources = frozenset[Partition]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The state from which PrepareAssignment was answered."""

    epoch: Annotated[int, Row(json="groupEpoch")]
    workers: Annotated[frozenset[str], Row(json="members")]
    metadata: Annotated[Sizes, Row(json="connectors")]


@dataclass(frozen=True, slots=True)
class Work:
    """The specification's `work`; `lost` has only workers with lost work."""

    chosen: str
    prepared: Prepared | None
    named: frozenset[str]
    lost: Owners
    reasons: Counts


@dataclass(frozen=True, slots=True)
class PreparedWorker:
    """A worker in the answer to PrepareAssignment."""

    worker: str
    epoch: int
    reason: int
    resources: Resources


@dataclass(frozen=True, slots=True)
class CallMade:
    """The specification's `call`."""

    reason: int | None
    compute: bool
    group_epoch: int
    workers: frozenset[PreparedWorker]
    target: Owners
    twice: Resources


@dataclass(frozen=True, slots=True)
class ConnectState:
    """One state; `key` are numbers from one reader: equal keys mean equal group, work, connectors, versions
    and lists, by worker. `names` is the list of a heartbeat and `assignor` the name that PrepareAssignment
    answers (spec/ConnectNames.tla); other models have one name, and no lists."""

    shared: SpecState
    work: Work
    call: CallMade
    key: tuple[int, int, int]
    versions: Versions
    lists: frozendict[str, Names] = NO_LISTS
    names: Names | None = None
    assignor: str = ASSIGNOR

    @property
    def group(self) -> Group:
        """The group in the form of a consumer group; targets only of workers in the computed target."""
        return self.shared.group

    @property
    def step(self) -> SpecStep:
        """The step into the state, in the form of a consumer group's step."""
        return self.shared.step

    @property
    def topics(self) -> Mapping[str, int]:
        """The connectors, as topics."""
        return self.shared.topics

    @property
    def configs(self) -> Mapping[str, int]:
        """None: only consumer groups have configurations of their own (D1)."""
        return {}

    def versions_of(self, worker: str) -> tuple[int, int]:
        """The first and the last version of metadata that a worker's assignor reads."""
        return self.versions.get(worker, EVERYBODYS)

    def names_of(self, worker: str) -> Names:
        """The assignors that a worker offers, its preferred one first."""
        return self.lists.get(worker, (ASSIGNOR,))

    @property
    def names_offered(self) -> Names | None:
        """The assignors in a heartbeat of the step; in a model without lists, those that go with a reason."""
        if self.lists:
            return self.names
        joins = self.step.action in ("Join", "Rejoin")
        return (ASSIGNOR,) if joins or self.call.reason is not None else None

    @property
    def due(self) -> bool:
        """Tell if the group epoch has moved on since its target was computed (E2)."""
        return self.group.epoch > self.group.assignment_epoch


class ConnectReader:
    """Reads the states of traces."""

    def __init__(self) -> None:
        self._shared = StateReader()
        self._numbers = Contents()
        self._work: dict[tuple[Versions, Value, Value], tuple[int, Work]] = {}

    def read(self, trace: Trace, name: str) -> list[ConnectState]:
        """Read all states; `name` begins errors. ConformError (exit 2) if they are of another spec."""
        versions = _versions(trace, name)
        both = zip(trace.states, self._shared.read(trace, name), strict=True)
        return read_states(both, name, lambda states: self._state(*states, versions))

    def _state(self, raw: State, shared: SpecState, versions: Versions) -> ConnectState:
        known = versions, raw.get("lists", ""), raw["work"]
        if known not in self._work:
            read = record_of(Work).read(Fields(raw["work"], "work"))
            self._work[known] = self._numbers[known], read
        number, work = self._work[known]
        call = record_of(CallMade).read(Fields(raw["call"], "call"))
        targets = {who: target for who, target in shared.group.targets.items() if who in work.named}
        shared = replace(shared, group=replace(shared.group, targets=targets))
        key = shared.key[0], shared.key[1], number
        return ConnectState(shared, work, call, key, versions, *_naming(raw))


def _naming(raw: State) -> tuple[frozendict[str, Names], Names | None, str]:
    """The lists of a state, and the list in its step."""
    if "lists" not in raw:
        return NO_LISTS, None, ASSIGNOR
    fields, lists = Fields(raw["naming"], "naming"), read_function(raw["lists"], "lists")
    of_step = fields.option("list", tuple)
    read = {worker: typed(names, tuple, f"lists.{worker}") for worker, names in lists.items()}
    return frozendict(read), of_step, fields.get("assignor", str)


def _versions(trace: Trace, name: str) -> Versions:
    """The Versions of its model: one of VERSIONS by its name, or of each worker [first, last]. Scenarios have
    the default."""
    constants = trace.meta.get("constants")
    raw: Any = constants.get("Versions", "SameVersions") if isinstance(constants, dict) else "SameVersions"
    if isinstance(raw, str) and raw in VERSIONS:
        return VERSIONS[raw]
    try:
        return frozendict({str(worker): (int(least), int(most)) for worker, (least, most) in raw.items()})
    except (AttributeError, TypeError, ValueError):
        raise ConformError(
            f"{name} has {raw!r} as its Versions, neither one of {', '.join(VERSIONS)} nor two numbers of "
            "each worker.",
            USAGE,
        ) from None
