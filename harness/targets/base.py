"""The interface of every coordinator under test, in this process or behind a wire.

The operations are those of the line protocol (python -m coordinator --help): requests and responses are JSON
objects with the fields of Kafka's message schemas in lowerCamelCase; UUIDs are RFC 4122 text; a null field
and an empty one are different.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from harness.errors import ENGINE_FAILED, USAGE, ConformError

Json: TypeAlias = dict[str, Any]
"""A JSON object."""

Assignments: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""A target assignment: member id -> [{"topicId": uuid, "partitions": [index]}]."""


def place_of(name: str, what: str) -> tuple[str, int]:
    """Host and port in a target's name, KIND:HOST:PORT. ConformError (exit 2) where that is no address."""
    kind, _, address = name.partition(":")
    host, _, port = address.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 1 << 16:
        raise ConformError(f"{name} names no {what}: write {kind}:HOST:PORT.", USAGE)
    return host, int(port)


class Refused(ConformError):
    """The target answered that it does not do an operation."""

    did = "refused"

    def __init__(self, target: str, operation: str, reason: str) -> None:
        super().__init__(f"The target {target} {self.did} {operation}: {reason}", ENGINE_FAILED)
        self.operation = operation
        self.reason = reason

    @property
    def shown(self) -> str:
        """The refusal in a report of differences."""
        return f"refused: {self.reason}"


class Died(Refused):
    """The operation ended the target's process: a difference like a refusal. `load` starts another
    process."""

    did = "died in"

    @property
    def shown(self) -> str:
        """The cause of death."""
        return self.reason


class Answer(NamedTuple):
    """The requested results of one operation.

    `body` is a request's response (None for other operations and while it is pending); `group` the
    description and `records` the new records of the group given as `observe`, by offset; `consumed` tells
    that the scripted target assignment was used; `fired` are timers that ran out, `completed` late responses
    as {"id", "body"}.
    """

    body: Json | None = None
    group: Json | None = None
    records: Sequence[Json] = ()
    consumed: bool = False
    fired: Sequence[Json] = ()
    completed: Sequence[Json] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The answer to `hello`: the target's name, the API versions that it knows, its operations.

    A target without `load`, but with `fresh`, takes a load of topics alone at 0: a new coordinator with them.
    `unobserved` are the parts that it cannot show, which are not compared, by the names of
    `harness.replay.view.NAMES`: parts of a description ("metadata", "members.acknowledged", "timers.group"),
    or "records". `lacks` are features of requests that it does not have, by the names of
    `harness.replay.features.FEATURES`.
    """

    name: str
    dialect: str
    apis: Mapping[str, Sequence[int]]
    controls: frozenset[str]
    unobserved: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


class Target(Protocol):
    """A coordinator under test.

    Every method raises Refused if the target answers that it cannot do the operation, and another
    ConformError with exit code 3 if it dies, stays silent or sends malformed answers. An error of the
    protocol is neither, but a response.
    """

    @property
    def name(self) -> str:
        """The name on the command line: `python`, `stdio:COMMAND`."""

    def hello(self) -> Capabilities:
        """The target's name and its capabilities."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request; `client` is {"id", "host", "principal"}."""

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Create or change topics {"name", "id", "partitions"}, delete topics by name."""

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Move the clock by milliseconds and run due timers."""

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Let one armed timer run out now: `session`, `rebalance` (of a member) or `group`."""

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Script the group's next target assignment, or the error of its assignor; for one use."""

    def describe(self, group: str) -> Json:
        """The group's state, epochs, members and armed timers."""

    def records(self, since: int) -> list[Json]:
        """The records of the log from this offset on."""

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace everything by a state: records, topics and the state that records do not hold.

        Scripts are forgotten, and a simulated clock moves to the volatile state's `clockMs`: a load of
        nothing at 0 is a new coordinator, which may be configured.
        """

    def restart(self, keep: int | None = None) -> Answer:
        """Start a new coordinator from the first `keep` records of the log, or from all (P2).

        A script for the next target stays: the new coordinator may use it at once, and the answer reports
        that.
        """

    def ids(self, following: Sequence[str]) -> None:
        """Set the member ids of the next joins without one."""

    def configure(self, settings: Json) -> None:
        """Set configuration, before the first request of a new coordinator."""

    def commit(self, mode: str) -> None:
        """How writes become durable: `auto`, `manual` or `fail`."""

    def background(self) -> Answer:
        """Run queued work."""

    def close(self) -> None:
        """End the target and free its resources."""


@runtime_checkable
class Refuser(Protocol):
    """A target whose coordinator can be made to refuse all requests (H5, D5). Its `hello` names both
    operations among the controls."""

    def coordinator(self, state: str, observe: str | None = None) -> Answer:
        """Become "loading", "moved" or "unavailable", or "active" again, as a new coordinator (P2)."""

    def rights(self, denied: Sequence[str], observe: str | None = None) -> Answer:
        """Deny these operations to every client, and no others."""


def refusing(target: Target, operation: str) -> Refuser:
    """The target as a `Refuser`. Refused for one that is none."""
    if not isinstance(target, Refuser):
        raise Refused(target.name, operation, "this target has no such operation")
    return target


@runtime_checkable
class Sender(Protocol):
    """A target that sends some requests differently from the given ones: with other times, or in another
    form."""

    def as_sent(self, operation: Json) -> Json:
        """The last request or timer in the form in which it was sent."""


def as_sent(target: Target, operation: Json) -> Json:
    """The operation that the target has just done, in the form in which it was sent: with its times, and
    under "wire" the version, if that was another. A timer that was waited for has "waitedS" and
    "timeOutS"."""
    is_changed = operation.get("op") in ("request", "fire")
    return target.as_sent(operation) if is_changed and isinstance(target, Sender) else operation


class Writer(Target, Protocol):
    """The writing half of a target: it takes the coming operations, in their order, and gives empty answers.
    The target then only reads the answer to each written operation.

    The target must get no other operation before all written ones are answered, or discarded.
    """

    @property
    def full(self) -> bool:
        """Tell if the most operations are under way."""

    @property
    def underway(self) -> int:
        """The number of written operations without an answer."""

    @property
    def waits(self) -> bool:
        """Tell if the next operation depends on an answer that has not come yet."""

    @property
    def loads(self) -> bool:
        """Tell if a load may be written while there are operations under way."""

    def discard(self) -> None:
        """Discard the answers to all operations under way. The target has done them: only `load` makes its
        state known again."""


@runtime_checkable
class Writable(Protocol):
    """A target whose operations may be written ahead."""

    def writer(self) -> Writer | None:
        """The writing half of the target; None for a target that wants one operation at a time."""


def writer_of(target: Target) -> Writer | None:
    """The writing half of a target, if it has one."""
    return target.writer() if isinstance(target, Writable) else None
