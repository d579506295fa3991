"""Registry of classic, Connect and share groups. A group id has exactly one type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from coordinator.classic.subscribed import subscribed
from coordinator.consumer.model import Group
from coordinator.consumer.records import Record
from coordinator.core import fields
from coordinator.core.admission import STATES
from coordinator.core.dialect import Dialect
from coordinator.core.errors import BadInput, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.core.timers import Due
from coordinator.kinds import CLASSIC, CONNECT, KINDS, Groups, Kind
from coordinator.offsets.handlers import verify_member
from coordinator.offsets.records import OffsetRecord, Offsets
from coordinator.offsets.request import CommitRequest

if TYPE_CHECKING:
    from coordinator.core.log import Log


class _Ids:
    """The group ids that are in any of several collections; none is copied, as there may be many."""

    def __init__(self, collections: Sequence[Container[str]]) -> None:
        self._collections = collections

    def __contains__(self, group_id: object) -> bool:
        return any(group_id in one for one in self._collections)


class OtherGroups:
    """The groups of each kind in kinds.py: classic (C1), Connect (W1), share groups (Q1)."""

    def __init__(self) -> None:
        self.classic, self.connect = CLASSIC.made(), CONNECT.made()
        known: Final[dict[str, Groups]] = {CLASSIC.name: self.classic, CONNECT.name: self.connect}
        self._of: Final = {kind.name: known.get(kind.name) or kind.made() for kind in KINDS}

    def __contains__(self, group_id: object) -> bool:
        return any(group_id in kind.groups for kind in self._of.values())

    def _holding(self, group_id: str) -> Groups:
        """The groups of the kind that has a group with this id."""
        return next(kind for kind in self._of.values() if group_id in kind.groups)

    def request(
        self,
        kind: Kind[Any],
        request: Any,
        waits: int | str,
        admit: Callable[[str], None],
        consumers: Container[str],
        draw_id: Callable[[Any], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request of a kind; `consumers` are the ids of consumer groups, the rest is as in
        kinds.py."""
        others = [groups.groups for name, groups in self._of.items() if name != kind.name]
        elsewhere = _Ids((consumers, *others))
        return self._of[kind.name].request(request, waits, admit, elsewhere, draw_id, log, env, now_ms)

    def take_completed(self) -> list[Json]:
        """The answers to requests that waited, since the last call: [{"id", "body"}]."""
        return self.classic.take_completed()

    def refuse_waiting(self, state: str, now_ms: int) -> None:
        """Answer each request that waits with the error of a coordinator in this state (H5)."""
        self.classic.refuse_waiting(STATES[state][0], now_ms)

    def listed(self) -> list[Json]:
        """All of these groups, as ListGroups has them (D1)."""
        return [one for kind in self._of.values() for one in kind.listed()]

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1). Raises RequestRejected for a group with members, AppendFailed where the log
        refuses."""
        self._holding(group_id).delete(group_id, offsets, log, env, now_ms)

    def subscribed(self, group_id: str) -> Callable[[str], bool] | None:
        """OffsetDelete (D1): does a member of the group subscribe to a topic? None: no such group is here.
        Raises RequestRejected for a live group whose members are no consumers."""
        if group_id in self.classic.groups:
            return subscribed(self.classic.groups[group_id])
        if group_id not in self:
            return None
        if self._holding(group_id).groups[group_id].members:
            raise RequestRejected(
                ErrorCode.NON_EMPTY_GROUP, f"Group {group_id} has members; stop them first."
            )
        return lambda topic: False

    def fence(self, env: Env, request: CommitRequest) -> CommitRequest:
        """O2: an OffsetCommit to a classic group is fenced by its generation. In any other group that is
        here, no client commits while there are members. Raises RequestRejected; a request to a group that is
        not here stays as it is."""
        group_id, classic = request.group_id, self.classic.groups
        if group_id in self and group_id not in classic and self._holding(group_id).groups[group_id].members:
            raise RequestRejected(
                ErrorCode[env.dialect.UnknownGroupError],
                f"Group {group_id} has members, and is no group of consumers; commit in another group.",
            )
        return self.classic.fence(request)

    def verify_member(
        self, env: Env, groups: Mapping[str, Group], group_id: str, member_id: str, epoch: int
    ) -> None:
        """O2: verify a member by the epoch or generation of its kind of group. `groups` are consumer groups.
        Raises RequestRejected."""
        if not self.classic.verify_member(group_id, member_id, epoch):
            verify_member(env, groups.get(group_id), group_id, member_id, epoch)

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a group of another kind."""
        for kind in self._of.values():
            kind.refuse_consumers(group_id, dialect)

    def next_due(self, now_ms: int) -> list[Due]:
        """The first timer of each kind of group that is due by then."""
        due = (kind.next_due(now_ms) for kind in self._of.values())
        return [one for one in due if one is not None]

    def armed(self, group_id: str) -> list[Due]:
        """All timers of a group; none of one that is not here."""
        return [due for kind in self._of.values() for due in kind.armed(group_id)]

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a timer of a group that is here run out. False: the log refused."""
        return self._holding(due.group_id).fire(due, offsets, log, env, now_ms)

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a timer of a group that is here run out a moment later."""
        self._holding(due.group_id).put_off(due, now_ms, first_ms)

    def describe(self, group_id: str) -> Json:
        """The whole state of a group that is here."""
        return self._holding(group_id).describe(group_id)

    def volatile(self, group: str | None) -> Json:
        """The state that records do not hold, of one group or of all."""
        return {name: kind.volatile(group) for name, kind in self._of.items()}

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """P2: restore the groups of the log."""
        records = [record for record in records if not isinstance(record, Record | OffsetRecord)]
        for kind in self._of.values():
            kind.replay(records, env, now_ms)

    def check_kinds(self, consumers: Collection[str]) -> None:
        """BadInput where two kinds have a group with the same id, which only a log that was changed by hand
        has."""
        seen, several = {*consumers}, set[str]()
        for kind in self._of.values():
            several |= seen & kind.groups.keys()
            seen |= kind.groups.keys()
        if several:
            raise BadInput(f"the records make {min(several)!r} a group of several kinds")

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Give groups their part of a coordinator's volatile state. BadInput where it is malformed."""
        fields.known(volatile, ("clockMs", "groups", "configs", "coordinator", *self._of), "volatile")
        for kind in self._of.values():
            kind.restore(volatile, now_ms)
