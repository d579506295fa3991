"""Events of whole groups of any kind: the way from an event to the method that does it, and the events that
are the same for each kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from harness.errors import ConformError
from harness.simulate.groups.parts import RequestView, Violation
from harness.simulate.groups.story import ACTIVE, Counts, Settings, Story
from harness.simulate.groups.words import in_words
from harness.targets.base import Json


class FailingLog(Protocol):
    """A coordinator whose log may refuse appends."""

    def fail_appends(self, failing: bool) -> None: ...


class Touched(Protocol):
    """The parts of a process on which the common events act; `request` and `answer` are in flight."""

    name: str
    leap_ms: int
    request: Any
    answer: Json | None
    polled_in_vain: bool

    @property
    def running(self) -> object: ...


_WITHOUT_PROCESS: Final = ("start", "late")
"""Events of a process that is not there yet, or not any more."""
P = TypeVar("P", bound=Touched)
M = TypeVar("M")
"""A request in flight."""
C = TypeVar("C", bound=FailingLog)
"""The coordinator."""


class Events(ABC, Generic[P, M, C]):
    """The processes and the coordinator, to which events happen. `events` are the possible ones with their
    fields; the method of "fail-over" is `_fail_over`. It takes the process, where the event is one of a
    process, and the event, and returns False where that is void."""

    events: ClassVar[Mapping[str, tuple[str, ...]]]

    def __init__(self, cluster: C, settings: Settings, story: Story | None, faults: Iterable[str]) -> None:
        self.cluster, self.settings, self.story = cluster, settings, story
        self.now_ms = 0
        self.coordinator = ACTIVE
        self.log_fails = False
        self.processes: dict[str, P] = {}
        self.starts: Counter[str] = Counter()
        self.late: dict[str, list[M]] = {}
        """Requests of processes that are gone, and without R9 those that living processes gave up."""
        self.counts = Counts.none(faults)
        self._states = dict.fromkeys(settings.groups, "Dead")
        self._does: dict[str, Callable[..., bool]] = {
            name: getattr(self, f"_{name.replace('-', '_')}") for name in self.events
        }

    def apply(self, event: Json) -> bool:
        """Do one event, and check the touched groups and processes; False if the event is void. Raises
        Violation."""
        try:
            happened = self._apply(event)
        except (Violation, ConformError):  # the latter is of the harness: its log cannot be written
            raise
        except Exception as error:  # any exception of the parts under test is a finding
            raised = f"{type(error).__name__}: {error}"
            raise Violation("G8", "NothingRaises", f"{raised}, at the event {in_words(event)}") from error
        if happened:
            self.counts.kinds[event["do"]] += 1
        return happened

    def _apply(self, event: Json) -> bool:
        self.advance(event["at"])
        does = self._does[event["do"]]
        if "who" not in self.events[event["do"]] or event["do"] in _WITHOUT_PROCESS:
            return does(event)
        process = self.processes.get(event["who"])
        if process is None:
            return False
        happened = does(process, event)
        self.look(process)
        self.end_if_over(process)
        return happened

    @abstractmethod
    def advance(self, to_ms: int) -> None:
        """Let time pass; each timer that fires is an event. Time never goes back."""

    @abstractmethod
    def look(self, process: P) -> None:
        """Check a process after an event."""

    @abstractmethod
    def end_if_over(self, process: P) -> None:
        """End a process whose application has closed its member, when the member is done."""

    @abstractmethod
    def ended(self, process: P) -> None:
        """End the process; its last request may still arrive at any time."""

    @abstractmethod
    def draw(self, sender: str, receiver: str, message: RequestView | Json, kind: str) -> None:
        """Write a message into the story."""

    @abstractmethod
    def begin_callback(self, process: P) -> bool:
        """Begin the next callback of a member, and check it; False if there is none."""

    @abstractmethod
    def end_callback(self, process: P, raises: bool = False) -> None:
        """End the running callback, if there is one; where it `raises`, with an exception."""

    def note(self, who: str, event: Json) -> bool:
        """Write an event into the story."""
        if self.story:
            self.story.note(who, in_words(event))
        return True

    def fired(self, timers: Iterable[Json]) -> None:
        """Count timers of the coordinator that fired, and write them into the story."""
        for timer in timers:
            self.counts.kinds[f"{timer['timer']} timeout"] += 1
            if self.story:
                owner = timer["member"] or timer["group"]
                self.story.note("coordinator", f"{timer['timer']} timeout of {owner}")

    def saw_state(self, group: str, state: str) -> None:
        """Count the state of a group after a step."""
        self.counts.states[state] += 1
        self.counts.rebalances += state == "Stable" != self._states[group]
        self._states[group] = state

    # The events

    def _wait(self, event: Json) -> bool:
        """Let time pass, which every event does."""
        return True

    def _log(self, event: Json) -> bool:
        if self.log_fails == event["fails"]:
            return False
        self.log_fails = event["fails"]
        self.cluster.fail_appends(self.log_fails)
        self.counts.faults["log refuses"] += self.log_fails
        return self.note("coordinator", event)

    def _crash(self, process: P, event: Json) -> bool:
        self.counts.faults["crash"] += 1
        self.note(process.name, event)
        self.ended(process)
        return True

    def _poll(self, process: P, event: Json) -> bool:
        """Poll as the application; a `slow` one stays in the first callback, until that is done. Where it
        `raises`, its callbacks fail."""
        if process.running is not None:
            return False
        process.polled_in_vain = True
        while self.begin_callback(process):
            process.polled_in_vain = False
            if event.get("slow"):
                break
            self.end_callback(process, bool(event.get("raises")))
        return True

    def _done(self, process: P, event: Json) -> bool:
        if process.running is None:
            return False
        self.end_callback(process)
        return True

    def _leap(self, process: P, event: Json) -> bool:
        """Move the clock of a process ahead, as after a long pause of the whole process."""
        process.leap_ms += event["ms"]
        self.counts.faults["clock leap"] += 1
        return self.note(process.name, event)

    def _lose(self, process: P, event: Json) -> bool:
        """Lose the request or the answer in flight."""
        if process.request is not None:
            self.draw(process.name, "coordinator", process.request.request, "lost")
            process.request = None
            self.counts.faults["request lost"] += 1
        elif process.answer is not None:
            self.draw("coordinator", process.name, process.answer, "lost")
            process.answer = None
            self.counts.faults["answer lost"] += 1
        else:
            return False
        return True
