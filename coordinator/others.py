"""The groups of a coordinator that are no consumer groups, all behind one door: a group id is of one kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from coordinator.admin.groups import CLASSIC, CONNECT, listed
from coordinator.admission import STATES
from coordinator.classic.model import ClassicGroup
from coordinator.classic.request import ClassicRequest
from coordinator.classic.service import ClassicGroups
from coordinator.connect.request import ConnectRequest
from coordinator.connect.service import ConnectGroups
from coordinator.dialect import Dialect
from coordinator.errors import BadInput
from coordinator.fields import Json
from coordinator.model import Group, group_state
from coordinator.offset_records import Offsets
from coordinator.offsets import verify_member
from coordinator.step import Env
from coordinator.timers import Due

if TYPE_CHECKING:
    from coordinator.log import Log


class OtherGroups:
    """Classic groups (C1) and Connect groups (W1)."""

    def __init__(self) -> None:
        self.classic = ClassicGroups()
        self.connect = ConnectGroups()

    def __contains__(self, group_id: object) -> bool:
        return group_id in self.classic.groups or group_id in self.connect.groups

    def request(
        self,
        request: ClassicRequest | ConnectRequest,
        waits: int | str,
        admit: Callable[[str], None],
        consumers: Collection[str],
        draw_id: Callable[[ClassicGroup | None], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request; `consumers` are the ids of consumer groups, the rest is as in
        classic/service.py."""
        if isinstance(request, ClassicRequest):
            others = {*consumers, *self.connect.groups}
            return self.classic.request(request, waits, admit, others, draw_id, log, env, now_ms)
        others = {*consumers, *self.classic.groups}
        return self.connect.request(request, admit, others, log, env, now_ms)

    def take_completed(self) -> list[Json]:
        """The answers to requests that waited, since the last call: [{"id", "body"}]."""
        return self.classic.take_completed()

    def refuse_waiting(self, state: str) -> None:
        """Answer each request that waits with the error of a coordinator in this state (H5)."""
        self.classic.refuse_waiting(STATES[state][0])

    def listed(self) -> list[Json]:
        """All of them, as ListGroups has them (D1)."""
        classic = [listed(g.id, g.protocol_type, g.state, CLASSIC) for g in self.classic.groups.values()]
        connect = [listed(g.id, CONNECT, group_state(g), CONNECT) for g in self.connect.groups.values()]
        return [*classic, *connect]

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1). Raises RequestRejected for a group with members, AppendFailed where the log
        refuses."""
        if group_id in self.classic.groups:
            self.classic.delete(group_id, offsets, log, env, now_ms)
        else:
            self.connect.delete(group_id, log, env, now_ms)

    def verify_member(
        self, env: Env, groups: Mapping[str, Group], group_id: str, member_id: str, epoch: int
    ) -> None:
        """O2: is it a member, by what fences members of the kind of group that it is? `groups` are those of
        consumers. Raises RequestRejected."""
        if not self.classic.verify_member(group_id, member_id, epoch):
            verify_member(env, groups.get(group_id), group_id, member_id, epoch)

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a group of another kind."""
        self.classic.refuse_consumers(group_id, dialect)
        self.connect.refuse_consumers(group_id, dialect)

    def next_due(self, now_ms: int) -> list[Due]:
        """The first timer of each kind of group that is due by then."""
        due = self.classic.next_due(now_ms), self.connect.next_due(now_ms)
        return [one for one in due if one is not None]

    def armed(self, group_id: str) -> list[Due]:
        """All timers of a group; none of one that is not here."""
        return [*self.classic.armed(group_id), *self.connect.armed(group_id)]

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a timer of a group that is here run out. False: the log refused."""
        if due.group_id in self.classic.groups:
            return self.classic.fire(due, offsets, log, env, now_ms)
        return self.connect.fire(due, log, env, now_ms)

    def describe(self, group_id: str) -> Json:
        """The whole state of a group that is here."""
        kind = self.classic if group_id in self.classic.groups else self.connect
        return kind.describe(group_id)

    def volatile(self, group: str | None) -> Json:
        """The state that records do not hold, of one group or of all."""
        return {"classic": self.classic.volatile(group), "connect": self.connect.volatile(group)}

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """P2: become what the log gives back."""
        records = list(records)
        self.classic.replay(records, env.config, now_ms)
        self.connect.replay(records, env, now_ms)

    def check_kinds(self, consumers: Collection[str]) -> None:
        """BadInput where a group id is of several kinds, as only a log that was changed by hand has it."""
        classic, connect = self.classic.groups.keys(), self.connect.groups.keys()
        if several := (classic & connect) | (classic & {*consumers}) | (connect & {*consumers}):
            raise BadInput(f"the records make {min(several)!r} a group of several kinds")

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Give groups what a coordinator's volatile state says of them. BadInput where it is none."""
        self.classic.restore(volatile, now_ms)
        self.connect.restore(volatile, now_ms)
