"""Settings, counts and story of one run of the simulation, for groups of any kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from harness.targets.base import Json

ACTIVE: Final = "active"
MOST: Final = 10**9
"""The largest number in a schedule: 11 days, where it is a time."""
Duration: TypeAlias = Annotated[int, Meta(ge=1, le=MOST)]
"""Milliseconds. Time does not pass where a session or an interval has none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The assumptions under which a schedule is played. Without `r9` the network may deliver requests that
    living processes gave up (R9); without `exemption` removed members that do not know of their removal may
    not own anything either (R7). Both must fail. `kind` is the kind of the groups."""

    session_ms: Duration = 45_000
    heartbeat_ms: Duration = 5_000
    groups: tuple[str, ...] = ("g",)
    r9: bool = True
    exemption: bool = True
    kind: str = "consumer"

    def to_json(self) -> Json:
        return asdict(self)


@dataclass
class Counts:
    """Counts of a run: events by kind, faults by kind, states of groups after their steps, rebalances that
    ended in STABLE, answers of the coordinator by error code, partitions that two processes owned while one
    of them was removed and did not know that."""

    kinds: Counter[str]
    faults: Counter[str]
    states: Counter[str]
    answers: Counter[str]
    rebalances: int = 0
    zombie_owners: int = 0

    @classmethod
    def none(cls, faults: Iterable[str] = ()) -> Counts:
        """Nothing yet; `faults` are counted even if they never happen."""
        return cls(Counter(), Counter(dict.fromkeys(faults, 0)), Counter(), Counter())

    @property
    def events(self) -> int:
        """The number of all events."""
        return sum(self.kinds.values())

    def add(self, other: Counts) -> None:
        """The sum, in place."""
        for mine, its in (
            (self.kinds, other.kinds),
            (self.faults, other.faults),
            (self.states, other.states),
            (self.answers, other.answers),
        ):
            mine.update(its)
        self.rebalances += other.rebalances
        self.zombie_owners += other.zombie_owners


class Story:
    """The data of a sequence diagram: messages and notes, in order; the groups before the last event and,
    where the event violates a property, after it (snapshot.py)."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.before: dict[str, Json] = {}
        self.after: dict[str, Json] = {}
        self.undescribed: Counter[str] = Counter()
        """Faults of `describe`, each with its group: states that the report does not have."""

    def message(self, sender: str, receiver: str, label: str, kind: str) -> None:
        """A request or an answer arrives, is lost, …"""
        self.messages.append({"from": sender, "to": receiver, "label": label, "kind": kind})

    def note(self, who: str, label: str) -> None:
        """Note an event of one process, or of all ("")."""
        self.messages.append({"from": who, "to": who, "label": label, "kind": "note"})

    def lines(self) -> Iterator[str]:
        """One line each: "A -> coordinator: join"."""
        for one in self.messages:
            if one["kind"] == "note":
                yield f"{one['from'] or 'all'}: {one['label']}"
            else:
                kind = "" if one["kind"] in ("request", "answer") else f" ({one['kind']})"
                yield f"{one['from']} -> {one['to']}: {one['label']}{kind}"
