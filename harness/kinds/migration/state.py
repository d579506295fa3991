"""The specification's states of groups that migrate as typed records (spec/OpenMigration.tla), checked once:
those of a consumer group and those of a classic group, one of which exists at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.itf import Trace
from harness.kinds.classic.state import ClassicReader, ClassicState
from harness.kinds.classic.subscription_data import Classic, subscription_data
from harness.kinds.consumer.state import Group, SpecState, SpecStep, StateReader, read_group
from harness.kinds.features.computing_state import Offer
from harness.kinds.fields import BadField, Fields, read_function, read_states, typed, value_at
from harness.replay.contents import Contents
from harness.values import State, Value

NEW: Final = "consumer", "step"
OLD: Final = "classic", "classicStep"
"""The variables of each kind of group that are `group` and `step` in its own traces."""
_KEYS: Final = "consumer", "classic", "phase", "words"
_PHASES: Final = "prepare", "complete", "both", "stable"
"""Phases of the members of the classic protocol in a consumer group; "" stands for no such member."""
CLASSIC_VERSION: Final = -1
"""M4: the version of the metadata that a member adds for its assignor in the classic protocol."""


@dataclass(frozen=True, slots=True)
class MigrationState:
    """One state. `shared` is that of the consumer group, in which members of the classic protocol have
    `classic`; `old` is that of the classic group, with the steps of the classic protocol's requests.
    `converted` is the consumer group that the step has made of a classic one, before a member joined it."""

    shared: SpecState
    old: ClassicState
    converted: Group
    key: tuple[int, int, int]

    @property
    def group(self) -> Group:
        """The group while it is a consumer group."""
        return self.shared.group

    @property
    def step(self) -> SpecStep:
        """The step into the state: for a request of the classic protocol only the action and the member."""
        return self.shared.step

    @property
    def topics(self) -> Mapping[str, int]:
        """Number of partitions of each topic."""
        return self.shared.topics

    @property
    def configs(self) -> Mapping[str, int]:
        """None."""
        return {}

    @property
    def is_classic(self) -> bool:
        """Tell if there is a classic group."""
        return self.old.group.exists

    def group_of_step(self, after: MigrationState) -> Group:
        """The consumer group of a step from this state: for a classic group, the result of its conversion."""
        return with_classic(after.converted, classic_data_in(self.old)) if self.is_classic else self.group


class MigrationReader:
    """Reads the states of traces."""

    def __init__(self) -> None:
        self._shared = StateReader()
        self._old = ClassicReader()
        self._numbers = Contents()
        self._groups: dict[tuple[Value, ...], tuple[int, Group]] = {}
        self._converted: dict[Value, Group] = {}

    def read(self, trace: Trace, name: str) -> list[MigrationState]:
        """Read all states; `name` begins errors. ConformError (exit 2) if they are of another spec."""
        variables = (*trace.variables, "group")
        shared = self._shared.read(replace(trace, variables=variables, states=renamed(trace, *NEW)), name)
        old = self._old.read(replace(trace, variables=variables, states=renamed(trace, *OLD)), name)
        every = zip(trace.states, shared, old, strict=True)
        return read_states(every, name, lambda states: self._state(*states))

    def _state(self, raw: State, shared: SpecState, old: ClassicState) -> MigrationState:
        key = tuple(raw.get(variable, 0) for variable in (*_KEYS, "computation"))
        if key not in self._groups:
            self._groups[key] = self._numbers[key], with_classic(shared.group, _classic_data(raw))
        if raw["converted"] not in self._converted:
            self._converted[raw["converted"]] = read_group(raw["converted"], "converted")
        number, group = self._groups[key]
        converted = self._converted[raw["converted"]]
        return MigrationState(replace(shared, group=group), old, converted, (number, *shared.key[1:]))


def renamed(trace: Trace, group: str, step: str) -> list[State]:
    """The states with these variables as `group` and `step`."""
    return [raw.set("group", raw[group]).set("step", raw[step]) for raw in trace.states]


def with_classic(group: Group, data: Mapping[str, Classic]) -> Group:
    """The group with its members of the classic protocol and their data."""
    members = {
        name: replace(member, classic=data[name], offers=_offers(data[name])) if name in data else member
        for name, member in group.members.items()
    }
    return replace(group, members=members)


def _offers(classic: Classic) -> tuple[Offer, ...]:
    """M4: its protocols as assignors that the member offers, with its user data as their metadata."""
    user_data = subscription_data(classic.subscription).user_data
    version = CLASSIC_VERSION
    return tuple(Offer(name, version, version, version, 0, user_data) for name in classic.protocols)


def classic_data_in(old: ClassicState) -> dict[str, Classic]:
    """The data that the members of a classic group have sent."""
    members = old.group.members.items()
    return {name: Classic("stable", one.protocols, one.subscription) for name, one in members}


def _classic_data(raw: State) -> dict[str, Classic]:
    """The data that members of the classic protocol in a consumer group have sent."""
    words, data = read_function(raw["words"], "words"), {}
    for name, phase in read_function(raw["phase"], "phase").items():
        if phase not in ("", *_PHASES):
            raise BadField(f'phase[{name}] must be "" or one of {", ".join(_PHASES)}, not {phase!r}')
        if phase:
            one = Fields(value_at(words, name, "words"), f"words[{name}]")
            protocols = [typed(each, str, f"{one.path}.protocols") for each in one.get("protocols", tuple)]
            data[str(name)] = Classic(str(phase), tuple(protocols), one.names("subscription"))
    return data
