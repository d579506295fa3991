"""Member ids for targets that make their own: the specification's ids, bound to the target's when they are
learned.

A target with the operation `ids` needs none of this. Without it, the id of a member that joins without one is
known only from the answer to its join (H1). Here every id to or from the target is translated, so that all
other code sees the specification's ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from harness.targets.base import (
    Answer,
    Assignments,
    Capabilities,
    Json,
    Target,
    Writer,
    as_sent,
    refusing,
    writer_of,
)
from harness.targets.waiting import NO_ID, Due, NotWaited, Waited, expect


class SymbolicIds:
    """A wrapper of a target that translates member ids; the methods are those of `Target`.

    A scripted target assignment may name a member that joins only with the next request: the target gets ""
    for it, as that request has no member id either.
    """

    _reads = True
    """Tell if a request without an answer waits; where requests are written ahead none has an answer."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._following: list[str] = []
        self._theirs: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        self._joining: dict[str, str] = {}
        """Waiting joins without a member id: the request's id, by that of the member in the specification."""

    @property
    def name(self) -> str:
        """The name of the other target."""
        return self._target.name

    def hello(self) -> Capabilities:
        """The capabilities of the other target, and `ids`."""
        known = self._target.hello()
        return replace(known, controls=known.controls | {"ids"})

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request; the answer to a join without member id binds the id in it."""
        sent = self._sent(body)
        if not self._joining.keys().isdisjoint(_named(body)):
            raise NotWaited(self.name, NO_ID)
        answer = self._target.request(api, version, client, sent, observe)
        if "memberId" in body and not body["memberId"] and self._following:
            if answer.body is None and self._reads:
                self._joining[self._following.pop(0)] = f"{api} {client.get('id')}"
            elif made := (answer.body or {}).get("memberId"):
                self._bind(self._following.pop(0), made)
        return self._translated(answer)

    def _bind(self, ours: str, made: str) -> None:
        self._theirs[ours], self._ours[made] = made, ours

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Change topics."""
        return self._translated(self._target.topics(upsert, delete, observe))

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Move the clock."""
        return self._translated(self._target.advance(ms, observe))

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Fire one timer."""
        return self._translated(self._target.fire(timer, group, self._their(member), observe))

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Script the next target assignment."""
        named = None if target is None else {self._their(name): given for name, given in target.items()}
        self._target.assign(group, named, error)

    def describe(self, group: str) -> Json:
        """Describe a group."""
        return self._group(self._target.describe(group))

    def records(self, since: int) -> list[Json]:
        """Read the log."""
        return [self._record(record) for record in self._target.records(since)]

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state: loaded ids are the specification's, so all bindings are forgotten."""
        self._following.clear()
        self._joining.clear()
        self._theirs.clear()
        self._ours.clear()
        self._target.load(records, topics, volatile)

    def restart(self, keep: int | None = None) -> Answer:
        """Load the log anew."""
        return self._translated(self._target.restart(keep))

    def ids(self, following: Sequence[str]) -> None:
        """Set the specification's ids of the next members that join without one."""
        self._following.extend(following)

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        self._target.configure(settings)

    def commit(self, mode: str) -> None:
        """Set how writes become durable."""
        self._target.commit(mode)

    def coordinator(self, state: str, observe: str | None = None) -> Answer:
        """Set the coordinator's state."""
        return self._translated(refusing(self._target, "coordinator").coordinator(state, observe))

    def rights(self, denied: Sequence[str], observe: str | None = None) -> Answer:
        """Deny operations."""
        return self._translated(refusing(self._target, "rights").rights(denied, observe))

    def background(self) -> Answer:
        """Run queued work."""
        return self._translated(self._target.background())

    def writer(self) -> SymbolicWriter | None:
        """The writing half of the other target, by the same ids."""
        writer = writer_of(self._target)
        return None if writer is None else SymbolicWriter(self, writer)

    def expect(self, due: Sequence[Due]) -> Waited | None:
        """Tell the other target, if it waits."""
        return expect(self._target, due)

    def as_sent(self, operation: Json) -> Json:
        """As the other target sent it."""
        return as_sent(self._target, operation)

    def close(self) -> None:
        """End the other target."""
        self._target.close()

    def _their(self, member: str) -> str:
        return "" if member in self._following else self._theirs.get(member, member)

    def _our(self, member: Any) -> Any:
        return self._ours.get(member, member)

    def _translated(self, answer: Answer) -> Answer:
        for late in answer.completed:
            made = str((late.get("body") or {}).get("memberId") or "")
            for ours in [ours for ours, sent in self._joining.items() if made and sent == late.get("id")]:
                del self._joining[ours]
                self._bind(ours, made)
        if not self._ours:
            return answer
        return Answer(
            self._shown(answer.body),
            None if answer.group is None else self._group(answer.group),
            [self._record(record) for record in answer.records],
            answer.consumed,
            self._shown(answer.fired),
            self._shown(answer.completed),
        )

    def _sent(self, body: Json) -> Json:
        """A body with the target's ids: of its own member, and of those that a request of a classic group
        names."""
        sent = {**body, "memberId": self._their(body["memberId"])} if body.get("memberId") else dict(body)
        for name in _NAMING & sent.keys():
            sent[name] = [{**one, "memberId": self._their(one["memberId"])} for one in sent[name]]
        return sent

    def _shown(self, value: Any) -> Any:
        """A value of the target, with the specification's ids wherever it names a member."""
        if isinstance(value, str):
            return self._our(value)
        if isinstance(value, dict):
            shown = {name: one if type(one) in _NAMELESS else self._shown(one) for name, one in value.items()}
            if "generationId" in shown and isinstance(shown.get("members"), list):
                shown["members"].sort(key=_member_id)
            return shown
        return [self._shown(one) for one in value] if isinstance(value, list) else value

    def _record(self, record: Json) -> Json:
        shown: Json = self._shown(record)
        return shown

    def _group(self, group: Json) -> Json:
        """A group, translated, and sorted by the translated ids."""
        shown: Json = self._shown(group)
        for name, key in (("members", _member_id), ("pending", str), ("timers", _place)):
            if isinstance(shown.get(name), list):
                shown[name] = sorted(shown[name], key=key)
        return shown


class SymbolicWriter(SymbolicIds):
    """The writing half of `SymbolicIds`. After a join without a member id it waits for the answer, which
    binds the id."""

    _reads = False

    def __init__(self, reading: SymbolicIds, writer: Writer) -> None:
        super().__init__(writer)
        self._reading, self._writer = reading, writer
        self._theirs, self._ours = reading._theirs, {}

    @property
    def full(self) -> bool:
        """As of the other target."""
        return self._writer.full

    @property
    def underway(self) -> int:
        """As of the other target."""
        return self._writer.underway

    @property
    def waits(self) -> bool:
        """Tell if an id is not bound. Ids that no member has taken once all is answered, as after a refused
        join, stay here, too."""
        if not self.underway:
            self._following = list(self._reading._following)
        return bool(self._following and self.underway)

    @property
    def loads(self) -> bool:
        """False: a load forgets the ids by which the pending answers are read."""
        return False

    def discard(self) -> None:
        """As of the other target."""
        self._writer.discard()


_NAMELESS: Final = frozenset({int, float, bool, type(None)})
_NAMING: Final = frozenset({"members", "assignments"})
"""Lists of a request, LeaveGroup's and SyncGroup's, whose items name members."""


def _named(body: Json) -> set[str]:
    """The members that a request names."""
    others = [one.get("memberId") for name in _NAMING & body.keys() for one in body[name]]
    return {str(one) for one in (body.get("memberId"), *others) if one}


def _member_id(member: Json) -> str:
    return str(member["memberId"])


_PLACES: Final = {"group": 0, "computation": 0, "assignment": 2}
"""The group's own timers come before those of each member, that of a Connect group's assignment after."""


def _place(timer: Json) -> tuple[int, str]:
    place = _PLACES.get(str(timer["timer"]), 1)
    return place, str(timer["member"]) if place == 1 else ""
