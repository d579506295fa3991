"""Does operations on one coordinator and watches what must hold whatever they are.

no exception leaves the line protocol, and every answer is JSON
every operation ends: only so many timers run out in it
what is refused has changed nothing
every record that is written can be read, and is the same then
a coordinator that finds the log, or restarts on its own, has the state that the records hold; one that is
given the volatile state besides has all of it; and all are the same once they have restarted
"""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Final

from fuzz_draw import Draw, Json

from coordinator import BadInput, Coordinator, Dialect, SimulatedClock
from coordinator.core.dialect import CHOICES, DIALECTS
from coordinator.core.log import Log
from coordinator.core.timers import Due
from coordinator.core.topics import topics_change
from coordinator.kinds import KINDS
from coordinator.record_kinds import from_wire, to_wire
from coordinator.stdio import LineProtocol

MOST_TIMERS: Final = 2_000
"""The most timers that may run out in one operation: those of few groups never need more."""
MOST_ASSIGNMENTS: Final = 200_000
"""The most times in one operation that a Connect group may choose another worker, counted apart: workers
whose rebalance time-out is one millisecond are chosen in turn until their sessions end."""
COMPARED_EVERY: Final = 100
"""After so many operations a restart is compared."""
LOOKED_EVERY: Final = 8
"""The number of operations of which one is compared with the whole state before."""
EPISODE: Final = 300
"""Operations on one coordinator."""
NOT_REFUSED: Final = (0, 27, 79, 110)
"""Codes of answers that change something: none, REBALANCE_IN_PROGRESS (the session is renewed),
MEMBER_ID_REQUIRED (the id that was made is kept) and FENCED_MEMBER_EPOCH (the member is removed)."""


KIND_NAMES: Final = tuple(kind.name for kind in KINDS)


class Failure(AssertionError):
    """A property that does not hold; `kind` names it, so that a shorter sequence can be compared."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(f"{kind}: {what}")
        self.kind = kind


class Entries:
    """A storage of a log, in memory."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self.entries = list(entries)

    def read(self) -> Sequence[str]:
        return self.entries

    def append(self, entries: Sequence[str]) -> None:
        self.entries.extend(entries)

    def rewrite(self, entries: Sequence[str]) -> None:
        self.entries = list(entries)

    def close(self) -> None:
        """Do nothing: there is no file to close."""


class Bounded(Coordinator):
    """A coordinator that counts the timers that run out."""

    def __init__(self, dialect: Dialect, clock: SimulatedClock, storage: Entries) -> None:
        super().__init__(dialect=dialect, clock=clock, storage=storage)
        self.begin()

    def begin(self) -> None:
        """Count anew: an operation begins."""
        self._left = {True: MOST_ASSIGNMENTS, False: MOST_TIMERS}

    def _fire(self, due: Due) -> bool:
        chooses = due.timer == "assignment"
        self._left[chooses] -= 1
        if self._left[chooses] < 0:
            raise self._endless(due)
        return super()._fire(due)

    def _put_off(self, due: Due) -> None:
        if min(self._left.values()) < 0:  # no fault of a handler
            raise self._endless(due)
        super()._put_off(due)

    @staticmethod
    def _endless(due: Due) -> Failure:
        return Failure("endless", f"too many timers have run out, the last {due}")


class Run:
    """One coordinator under operations. Raises Failure."""

    def __init__(self, dialect: Dialect, tally: Counter[str] | None = None) -> None:
        self.storage = Entries()
        self.coordinator = Bounded(dialect=dialect, clock=SimulatedClock(), storage=self.storage)
        self._protocol = LineProtocol(self.coordinator)
        self._tally = Counter() if tally is None else tally
        self._read = 0
        """The number of records that were read back."""

    def do(self, operation: Json | str, look: bool = True) -> Json:
        """The answer. With `look` the whole state is compared where the operation is refused."""
        line = operation if isinstance(operation, str) else json.dumps(operation)
        name = operation["op"] if isinstance(operation, dict) else "line"
        self.coordinator.begin()
        try:
            before = (image(self.coordinator), list(self.storage.entries)) if look else None
            answer: Json = json.loads(self._protocol.handle(line))
        except Failure:
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise Failure(_place(error), "".join(traceback.format_exception(error)[-6:])) from error
        put_off = name == "fire" and "fires again" in answer.get("error", "")
        if (
            before is not None
            and refused(answer)
            and not put_off
            and (after := (image(self.coordinator), list(self.storage.entries))) != before
        ):
            found = _differences(before[0], after[0]) if after[0] != before[0] else "the storage"
            raise Failure("changed", f"refused, and changed: {found}: {answer}")
        self._read_records()
        self._count(name, operation, answer)
        return answer

    def _read_records(self) -> None:
        """P2: read each new record as a coordinator does that finds it in its log."""
        end = self.coordinator.end
        for record in self.coordinator.records(min(self._read, end)):
            try:
                again = to_wire(from_wire(json.loads(json.dumps(record))), record["offset"])
            except BadInput as error:
                raise Failure("record", f"{error}: {record}") from error
            _same("record", record, again)
        self._read = end

    def _count(self, name: object, operation: Json | str, answer: Json) -> None:
        body = answer.get("body")
        if isinstance(operation, dict) and isinstance(body, dict):
            self._tally[f"{operation['api']} {body.get('errorCode', 0)}"] += 1
        elif isinstance(name, str):
            self._tally[f"{name} {'done' if answer['ok'] else 'refused'}"] += 1

    def compare_restart(self) -> None:
        """P2: compare the state that the log and the volatile state restore."""
        try:
            self._compare_restart()
        except Failure:
            raise
        except Exception as error:
            trace = "".join(traceback.format_exception(error)[-6:])
            raise Failure(f"restart {_place(error)}", trace) from error

    def _compare_restart(self) -> None:
        live = self.coordinator
        again = self._another(Entries())
        again.load(
            live.records(),
            topics_change(live._env.topics)["upsert"],
            json.loads(json.dumps(live.volatile())),
        )
        _same("load", image(live), image(again))
        restarted = self._another(Entries(self.storage.entries))
        again.restart()
        again.deny(())  # rights are not the coordinator's: no log has them
        _same("restart", image(again), image(restarted))
        twin = self._another(Entries())
        twin._log = Log(live._log.records, live._log._batch_ends)
        twin._env = replace(twin._env, topics=live._env.topics, group_configs=live._env.group_configs)
        twin.restart()
        _same("restart", image(twin), image(restarted))
        if len(restarted.records()) == live.end:
            _same("log", durable(live), durable(restarted))
        elif restarted.records()[: live.end] != live.records():
            raise Failure("log", "a restart changed records")

    def _another(self, storage: Entries) -> Coordinator:
        live = self.coordinator
        return Coordinator(
            dialect=live.dialect,
            clock=SimulatedClock(live.clock.now_ms()),
            assignors=live._env.assignors,
            config=live._env.config,
            storage=storage,
        )


def refused(answer: Json) -> bool:
    """Tell if an answer is a refusal."""
    if not answer["ok"]:
        return True
    body = answer.get("body")
    return isinstance(body, dict) and body.get("errorCode", 0) not in NOT_REFUSED


def image(coordinator: Coordinator) -> Json:
    """The whole visible state of a coordinator."""
    volatile = coordinator.volatile()
    groups = {group for kind in ("groups", *KIND_NAMES) for group in volatile[kind]}
    return {
        "end": coordinator.end,
        "volatile": volatile,
        "groups": {group: coordinator.describe(group) for group in sorted(groups)},
        "offsets": dict(coordinator._offsets),
        "topics": dict(coordinator._env.topics),
    }


def durable(coordinator: Coordinator) -> Json:
    """The part of the state of a coordinator that its records hold."""
    others = coordinator.others
    return {
        "groups": {name: _durable_group(group) for name, group in sorted(coordinator._groups.items())},
        "connect": {name: _durable_group(group) for name, group in sorted(others.connect.groups.items())},
        "share": dict(sorted(others._of["share"].groups.items())),
        "lost": {name: work.lost for name, work in others.connect._work.items()},
        "classic": dict(sorted(others.classic.saved.items())),
        "offsets": dict(coordinator._offsets),
        "configs": dict(coordinator._env.group_configs),
        "topics": dict(coordinator._env.topics),
    }


def _durable_group(group: Any) -> Json:
    members = {name: (one.metadata, one.epoch, one.held) for name, one in sorted(group.members.items())}
    return {
        **{"epoch": group.epoch, "assignmentEpoch": group.assignment_epoch, "topics": dict(group.metadata)},
        **{"members": members, "targets": dict(sorted(group.targets.items()))},
    }


def _same(kind: str, one: Json, other: Json) -> None:
    if one != other:
        raise Failure(kind, _differences(one, other))


def _differences(one: Any, other: Any, where: str = "") -> str:
    """The first place where two states differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=str):
            if key not in one or key not in other:
                return f"{where}/{key} is only {'here' if key in one else 'there'}"
            if one[key] != other[key]:
                return _differences(one[key], other[key], f"{where}/{key}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return _differences(left, right, f"{where}/{place}")
    return f"{where}: {one!r} is not {other!r}"[:2_000]


def _place(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "coordinator" in one.filename]
    last = frames[-1] if frames else last
    return f"{type(error).__name__} in {last.name}"


def dialect_of(seed: str) -> Dialect:
    """The dialect of an episode: most are of KIP-848's text, the others of a version of Kafka, or a mix."""
    rng = Random(f"dialect {seed}")
    base = DIALECTS["kip-848" if rng.random() < 0.7 else rng.choice(tuple(DIALECTS))]
    changed = rng.sample(tuple(CHOICES), rng.choice((1, 2, 5))) if rng.random() < 0.2 else ()
    return base.but({name: rng.choice(CHOICES[name]) for name in changed})


def episode(seed: str, tally: Counter[str], length: int = EPISODE) -> Iterator[Json | str]:
    """Do an episode; gives each operation before it is done. Raises Failure."""
    rng = Random(seed)
    run = Run(dialect_of(seed), tally)
    draw = Draw(rng, run.coordinator)
    first = draw.first()
    for number in range(length):
        operation = first[number] if number < len(first) else draw.next()
        yield operation
        answer = run.do(operation, look=number % LOOKED_EVERY == 0)
        if isinstance(operation, dict):
            draw.learn(operation, answer)
        if (number + 1) % COMPARED_EVERY == 0:
            run.compare_restart()
            tally["restarts compared"] += 1


def failing(operations: Sequence[Json | str], dialect: Dialect) -> Failure | None:
    """The failure when these operations are done, each of them watched."""
    try:
        run = Run(dialect)
        for operation in operations:
            run.do(operation)
        run.compare_restart()
    except Failure as failure:
        return failure
    return None
