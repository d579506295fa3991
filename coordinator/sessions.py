"""Groups whose members have a session, and no other timer: the common part of such kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from coordinator.admin.groups import check_deletion, listed
from coordinator.consumer.load import check_epochs
from coordinator.consumer.model import Topics
from coordinator.core import fields
from coordinator.core.dialect import Dialect
from coordinator.core.errors import AppendFailed, BadInput, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.plain_records import PlainRecord
from coordinator.core.step import Env
from coordinator.core.timers import Due, Timers
from coordinator.offsets.deleted import append_deletion
from coordinator.offsets.records import Offsets

if TYPE_CHECKING:
    from coordinator.core.log import Log


class Request(Protocol):
    """A request to a group, by a member."""

    @property
    def group_id(self) -> str: ...
    @property
    def member_id(self) -> str: ...


class Group(Protocol):
    """A group that exists; `state` as ListGroups has it. A member has an epoch, the one before, and the value
    of its record as `description`, empty where the log has none."""

    @property
    def state(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def assignment_epoch(self) -> int: ...
    @property
    def members(self) -> Mapping[str, Any]: ...


Q = TypeVar("Q", bound=Request)
G = TypeVar("G", bound=Group)


class SessionGroups(ABC, Generic[Q, G]):
    """The groups of one kind, as values that steps replace. `name` is that of the kind."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self.groups: dict[str, G] = {}
        self._ends_ms: dict[tuple[str, str], int] = {}
        """When the session of each member of a group ends."""
        self._timers = Timers()

    @abstractmethod
    def check(self, request: Q) -> None:
        """RequestRejected for a request that every group would refuse."""

    @abstractmethod
    def handled(self, group: G | None, request: Q, env: Env) -> tuple[G, Json]:
        """The group after a request, and the response. Raises RequestRejected."""

    @abstractmethod
    def refusal(self, code: ErrorCode, message: str) -> Json:
        """A response with an error and no other data."""

    @abstractmethod
    def without(self, group: G, topics: Topics, member_id: str) -> G:
        """The group after the session of a member has ended."""

    @abstractmethod
    def records(self, group_id: str, before: G | None, after: G | None) -> list[Any]:
        """The records that change one group into the other; None for a group that does not exist."""

    @abstractmethod
    def groups_of(self, records: Iterable[PlainRecord], before: G | None) -> dict[str, G]:
        """The groups in these records; `before` is the group that they change, if they change one."""

    def request(
        self,
        request: Q,
        waits: int | str,
        admit: Callable[[str], None],
        others: Container[str],
        draw_id: Callable[[Any], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request (kinds.py); no request waits, and members bring their ids."""
        group_id = request.group_id
        try:
            admit(group_id)
            self.check(request)
            if group_id in others:
                sentence = f"Group {group_id} is no {self.name} group; use another id."
                raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, sentence)
            after, response = self.handled(self.groups.get(group_id), request, env)
            self.commit(group_id, after, log, env)
        except RequestRejected as rejected:
            return self.refusal(rejected.code, rejected.message)
        except AppendFailed as refused:
            return self.refusal(refused.code, refused.sentence)
        self._renew(group_id, [request.member_id], now_ms + env.session_timeout_ms(group_id))
        return response

    def commit(self, group_id: str, after: G | None, log: Log, env: Env) -> None:
        """Make a step durable, and then visible (P3). AppendFailed where the log refuses."""
        before = self.groups.get(group_id)
        records = self.records(group_id, before, after)
        log.append([records], env.config.max_batch_bytes)
        if records:
            self.groups.pop(group_id, None)
            self.groups |= self.groups_of(records, before)
            for member in before.members if before is not None else ():
                if not self._is_member(group_id, member):  # its id may never come again
                    self._ends_ms.pop((group_id, member), None)

    def _renew(self, group_id: str, members: Iterable[str], end_ms: int) -> None:
        for member in members:
            if self._is_member(group_id, member):
                self._ends_ms[group_id, member] = end_ms
                self._timers.arm(Due(end_ms, group_id, "session", member))

    def _is_member(self, group_id: str, member: str) -> bool:
        return group_id in self.groups and member in self.groups[group_id].members

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a group that is here (H5)."""
        if group_id in self.groups:
            sentence = f"Group {group_id} is a {self.name} group; use another id."
            raise RequestRejected(ErrorCode[dialect.OtherKindError], sentence)

    def listed(self) -> list[Json]:
        """The groups, as ListGroups has them (D1)."""
        return [listed(name, self.name, group.state, self.name) for name, group in self.groups.items()]

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1), as `check_deletion` allows it: offsets go, too. AppendFailed where the log
        refuses."""
        check_deletion(self.groups, {}, group_id)
        records = self.records(group_id, self.groups[group_id], None)
        append_deletion(log, offsets, group_id, records, env.config.max_batch_bytes)
        del self.groups[group_id]

    def next_due(self, now_ms: int) -> Due | None:
        """The first session that has ended by then."""
        return self._timers.next_due(
            lambda due: (
                self._ends_ms[due.group_id, due.member_id]
                if self._is_member(due.group_id, due.member_id)
                else None
            ),
            now_ms,
        )

    def armed(self, group_id: str) -> list[Due]:
        """The sessions of a group."""
        members = sorted(self.groups[group_id].members) if group_id in self.groups else ()
        return [Due(self._ends_ms[group_id, member], group_id, "session", member) for member in members]

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a session run out. False: the log refused, and the session ends again a moment later."""
        after = self.without(self.groups[due.group_id], env.topics, due.member_id)
        try:
            self.commit(due.group_id, after, log, env)
        except AppendFailed:
            self.put_off(due, now_ms, env.config.timer_retry_ms)
            return False
        return True

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a session end later, if its member is still there (kinds.py)."""
        if self._is_member(due.group_id, due.member_id):
            retry_ms = self._timers.put_off(due, now_ms, first_ms)
            self._ends_ms[due.group_id, due.member_id] = retry_ms

    def volatile(self, group: str | None) -> Json:
        """The ends of sessions, by group and member, of one group or of all."""
        return {
            name: {due.member_id: due.deadline_ms for due in self.armed(name)}
            for name in sorted(self.groups)
            if group in (None, name)
        }

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """P2: restore the groups of the log; sessions begin anew. BadInput for a group that no step makes."""
        ours = [record for record in records if isinstance(record, PlainRecord)]
        self.groups, self._ends_ms, self._timers = self.groups_of(ours, None), {}, Timers()
        for name, group in self.groups.items():
            _check(name, group)
            self._renew(name, group.members, now_ms + env.session_timeout_ms(name))

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Set sessions that go on. BadInput where the JSON is malformed."""
        shift_ms = now_ms - (fields.optional_integer(volatile, "clockMs", "volatile") or 0)
        given = fields.mapping(volatile, self.name, "volatile") if self.name in volatile else {}
        for group_id, sessions in given.items():
            if group_id not in self.groups:
                raise BadInput(
                    f"volatile names the {self.name} group {group_id!r}, which the records do not have"
                )
            for member in fields.as_object(sessions, group_id):
                if not self._is_member(group_id, member):
                    raise BadInput(
                        f"volatile names {member!r} of the {self.name} group {group_id!r}, "
                        "which the records do not have"
                    )
                end_ms = fields.integer(sessions, member, f"the sessions of {group_id}")
                self._renew(group_id, [member], end_ms + shift_ms)


def _check(group_id: str, group: Group) -> None:
    epochs = [epoch for one in group.members.values() for epoch in (one.epoch, one.previous_epoch)]
    check_epochs(group_id, group.epoch, [group.assignment_epoch, *epochs])
    for member_id, member in group.members.items():
        if not member.description:
            raise BadInput(
                f"the records give member {member_id!r} of group {group_id!r} an epoch, but no metadata"
            )
