"""`python`: this repository's coordinator, in process; the only module of the harness that imports it."""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Sequence
from typing import Final, ParamSpec, TypeVar

from coordinator import AppendFailed, BadInput, Coordinator, Dialect, SimulatedClock
from coordinator.apis import APIS
from coordinator.classic.service import PENDING
from coordinator.core.config import ASSIGNORS, CLASS_NAMES, CONFIG_NAMES, Config
from coordinator.core.dialect import CHOICES, DIALECTS, shown
from coordinator.loading import Loaded
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused

CONTROLS: Final = frozenset(
    {"topics", "advance", "describe", "fire", "assign", "records", "load"}
    | {"restart", "commit", "background", "ids", "configure", "coordinator", "rights"}
)

P = ParamSpec("P")
T = TypeVar("T")


def spoken(dialect: str) -> str:
    """The one name of a dialect and its departures. ConformError (exit 2) for an unknown one."""
    try:
        return Dialect.named(dialect).name
    except BadInput as error:
        raise ConformError(f"The option --dialect cannot be {dialect!r}: {error}.", USAGE) from None


class PythonTarget:
    """The coordinator with a simulated clock; the methods are those of `harness.targets.base.Target`."""

    name = "python"

    def __init__(self, dialect: str) -> None:
        try:
            self._coordinator = Coordinator(dialect=Dialect.named(dialect), clock=SimulatedClock())
        except BadInput as error:
            raise ConformError(f"The target python: {error}.", USAGE) from None
        self._scripted = False
        self._last: tuple[object, object, object] | None = None
        self._copy: Callable[[], Loaded]

    def hello(self) -> Capabilities:
        """Every control of the line protocol, for every API."""
        return Capabilities(
            "python", self._coordinator.dialect.name, APIS, CONTROLS, self._coordinator.dialect.unobserved
        )

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Handle one request."""
        since = self._coordinator.end
        response = self._do("request", self._coordinator.request, api, version, client, body)
        return self._answer(observe, since, response)

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Change topics."""
        since = self._coordinator.end
        self._do("topics", self._coordinator.set_topics, upsert, delete)
        return self._answer(observe, since)

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Move the clock."""
        since = self._coordinator.end
        fired = self._do("advance", self._coordinator.advance, ms)
        if not fired and observe is None:
            return _NOTHING
        return self._answer(observe, since)._replace(fired=fired)

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Fire one timer."""
        since = self._coordinator.end
        done = self._do("fire", self._coordinator.fire, timer, group, member)
        fired = [{"timer": timer, "group": group, "member": member}] if done else ()
        return self._answer(observe, since)._replace(fired=fired)

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Script the next target assignment."""
        self._do(
            "assign", self._coordinator.script_target, group, (error or "") if target is None else target
        )
        self._scripted = True

    def describe(self, group: str) -> Json:
        """Describe a group."""
        return self._do("describe", self._coordinator.describe, group)

    def records(self, since: int) -> list[Json]:
        """Read the log."""
        return self._do("records", self._coordinator.records, since)

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state. A state with a tuple of records, no part of which any code changes, is read once
        for many loads, one after another."""
        state = records, topics, volatile
        if not isinstance(records, tuple):
            self._do("load", self._coordinator.load, *state)
        else:
            if self._last is None or not all(map(operator.is_, state, self._last)):
                self._last = None
                self._copy = self._do("load", self._coordinator.read, *state).copies()
                self._last = state
            self._do("load", self._coordinator.become, self._copy())
        self._scripted = False

    def restart(self, keep: int | None = None) -> Answer:
        """Load the log anew."""
        self._do("restart", self._coordinator.restart, keep)
        return self._answer(None, 0)

    def ids(self, following: Sequence[str]) -> None:
        """Give the next member ids."""
        self._do("ids", self._coordinator.use_ids, following)

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        self._do("configure", self._coordinator.configure, settings)
        self._last = None

    def commit(self, mode: str) -> None:
        """Set `auto` or `fail`: a request in process never waits for a commit."""
        if mode not in ("auto", "fail"):
            raise Refused(self.name, "commit", f"in process there are the modes auto and fail, not {mode!r}")
        self._do("commit", self._coordinator.fail_appends, mode == "fail")

    def coordinator(self, state: str, observe: str | None = None) -> Answer:
        """Set the coordinator's state."""
        since = self._coordinator.end
        self._do("coordinator", self._coordinator.set_state, state)
        return self._answer(observe, since)

    def rights(self, denied: Sequence[str], observe: str | None = None) -> Answer:
        """Deny operations."""
        since = self._coordinator.end
        self._do("rights", self._coordinator.deny, denied)
        return self._answer(observe, since)

    def background(self) -> Answer:
        """Do nothing: no work is ever queued."""
        return _NOTHING

    def close(self) -> None:
        """Do nothing."""

    def _answer(self, observe: str | None, since: int, body: Json | None = None) -> Answer:
        coordinator = self._coordinator
        consumed = False
        if self._scripted and not coordinator.scripted_groups():
            self._scripted, consumed = False, True
        completed = coordinator.others.take_completed()
        body = None if body is PENDING else body
        if observe is None:
            return Answer(body, consumed=consumed, completed=completed)
        return Answer(
            body,
            self._do("describe", coordinator.describe, observe),
            self._do("records", coordinator.records, since),
            consumed,
            completed=completed,
        )

    def _do(self, operation: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the coordinator. Each exception that the coordinator raises is a finding about the
        coordinator, like the death of a process."""
        try:
            return function(*args, **kwargs)
        except (BadInput, AppendFailed) as error:
            raise Refused(self.name, operation, str(error)) from None
        except Exception as error:  # a fault of the coordinator ends the run with a message
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise ConformError(
                f"The target python failed in {operation}: {type(error).__name__}: {error} "
                f"({place.filename}, line {place.lineno}).",
                ENGINE_FAILED,
            ) from error


_NOTHING: Final = Answer()


def departures() -> dict[str, tuple[str, ...]]:
    """The values of each departure, in the form of --dialect."""
    return {name: tuple(map(shown, values)) for name, values in CHOICES.items()}


def values_of(dialect: str) -> dict[str, str]:
    """The value of every departure in a dialect."""
    chosen = Dialect.named(dialect)
    return {name: shown(getattr(chosen, name)) for name in CHOICES}


def named_dialects() -> tuple[str, ...]:
    """The dialects that have a name of their own, KIP-848's text first."""
    return tuple(DIALECTS)


def settings() -> dict[str, int | str]:
    """The settings of `configure`, by Kafka's names, with the defaults of this coordinator."""
    config = Config()
    numbers = {name: getattr(config, field) for name, field in CONFIG_NAMES.items()}
    return {**numbers, ASSIGNORS: ", ".join(CLASS_NAMES.values())}
