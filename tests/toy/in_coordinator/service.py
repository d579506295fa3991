"""The toy groups of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator.toy.records import MEMBER, METADATA, ToyRecord

from coordinator.admin.groups import listed
from coordinator.core import fields
from coordinator.core.dialect import Dialect
from coordinator.core.errors import AppendFailed, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.core.timers import Due, Timers
from coordinator.offsets.records import Offsets

if TYPE_CHECKING:
    from coordinator.core.log import Log

APIS: Final = {"ToyGroupHeartbeat": (0, 0)}


class ToyRequest(NamedTuple):
    """ToyGroupHeartbeat."""

    group_id: str
    member_id: str
    member_epoch: int


def parse_toy(api: str, client: Mapping[str, Any], body: Json) -> ToyRequest:
    """The request; BadInput for what the schema cannot express."""
    fields.known(body, ("groupId", "memberId", "memberEpoch"), api)
    epoch = fields.integer(body, "memberEpoch", api, least=-1)
    return ToyRequest(fields.text(body, "groupId", api), fields.text(body, "memberId", api), epoch)


@dataclass
class ToyGroup:
    """The epoch of a group, and those of its members with their sessions."""

    epoch: int = 0
    members: dict[str, int] = field(default_factory=dict)
    sessions_ms: dict[str, int] = field(default_factory=dict)


class ToyGroups:
    """The groups that members join with ToyGroupHeartbeat."""

    def __init__(self) -> None:
        self.groups: dict[str, ToyGroup] = {}
        self._timers = Timers()

    def request(
        self,
        request: ToyRequest,
        waits: int | str,
        admit: Callable[[str], None],
        others: Container[str],
        draw_id: Callable[[Any], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request."""
        try:
            admit(request.group_id)
            if request.group_id in others:
                raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, "It is no toy group.")
            epoch = self._handled(request, log, env, now_ms)
        except RequestRejected as rejected:
            return _response(rejected.code, rejected.message, 0)
        except AppendFailed as refused:
            return _response(ErrorCode.COORDINATOR_NOT_AVAILABLE, refused.sentence, 0)
        return _response(ErrorCode.NONE, None, epoch)

    def _handled(self, request: ToyRequest, log: Log, env: Env, now_ms: int) -> int:
        """The epoch of the answer. Raises RequestRejected."""
        group = self.groups.get(request.group_id) or ToyGroup()
        member, epoch = request.member_id, request.member_epoch
        if epoch == 0:
            self._set(request.group_id, member, group.epoch + 1, log, env)
            epoch = self.groups[request.group_id].epoch
        elif member not in group.members:
            raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, f"{member} is not in the group; join it.")
        elif epoch == -1:
            self._set(request.group_id, member, None, log, env)
        elif epoch != group.members[member]:
            raise RequestRejected(ErrorCode.FENCED_MEMBER_EPOCH, f"{member} is at another epoch; rejoin.")
        self._renew(request.group_id, [member], now_ms + env.config.session_timeout_ms)
        return epoch

    def _set(self, group_id: str, member: str, epoch: int | None, log: Log, env: Env) -> None:
        """Change the epoch of a member, once the log has it."""
        group = self.groups.get(group_id) or ToyGroup()
        records = [
            ToyRecord(MEMBER, group_id, member, epoch),
            ToyRecord(METADATA, group_id, None, group.epoch + 1),
        ]
        log.append([records], env.config.max_batch_bytes)  # type: ignore[list-item]
        for record in records:
            self._show(record)

    def _show(self, record: ToyRecord) -> None:
        group = self.groups.setdefault(record.group_id, ToyGroup())
        if record.member_id is None:
            group.epoch = record.value or 0
        elif record.value is None:
            group.members.pop(record.member_id, None)
            group.sessions_ms.pop(record.member_id, None)
        else:
            group.members[record.member_id] = record.value

    def _renew(self, group_id: str, members: Iterable[str], deadline_ms: int) -> None:
        group = self.groups[group_id]
        for member in members:
            if member in group.members:
                group.sessions_ms[member] = deadline_ms
                self._timers.arm(Due(deadline_ms, group_id, "session", member))

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat."""
        if group_id in self.groups:
            raise RequestRejected(ErrorCode[dialect.OtherKindError], f"Group {group_id} is a toy group.")

    def listed(self) -> list[Json]:
        """The groups, as ListGroups has them."""
        return [listed(name, "toy", _state(group), "toy") for name, group in self.groups.items()]

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """A toy group is never deleted."""
        raise RequestRejected(ErrorCode.NON_EMPTY_GROUP, "A toy group is for ever.")

    def next_due(self, now_ms: int) -> Due | None:
        """The first session that is over by then."""

        def deadline_ms(due: Due) -> int | None:
            group = self.groups.get(due.group_id)
            return group.sessions_ms.get(due.member_id) if group else None

        return self._timers.next_due(deadline_ms, now_ms)

    def armed(self, group_id: str) -> list[Due]:
        """The sessions of a group."""
        group = self.groups.get(group_id) or ToyGroup()
        return [Due(end_ms, group_id, "session", name) for name, end_ms in sorted(group.sessions_ms.items())]

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a session run out."""
        try:
            self._set(due.group_id, due.member_id, None, log, env)
        except AppendFailed:
            self.put_off(due, now_ms, env.config.timer_retry_ms)
            return False
        return True

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a session end later."""
        retry_ms = self._timers.put_off(due, now_ms, first_ms)
        self.groups[due.group_id].sessions_ms[due.member_id] = retry_ms

    def describe(self, group_id: str) -> Json:
        """The whole state of a group."""
        group = self.groups[group_id]
        members = [{"memberId": name, "memberEpoch": epoch} for name, epoch in sorted(group.members.items())]
        timers = [due.described() for due in self.armed(group_id)]
        shown = {"state": _state(group), "groupEpoch": group.epoch, "members": members, "timers": timers}
        return {"groupId": group_id, "type": "toy", **shown}

    def volatile(self, group: str | None) -> Json:
        """The sessions, of one group or of all."""
        return {name: dict(one.sessions_ms) for name, one in self.groups.items() if group in (None, name)}

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """Become what the log gives back; sessions begin anew."""
        self.groups, self._timers = {}, Timers()
        for record in records:
            if isinstance(record, ToyRecord):
                self._show(record)
        for name, group in self.groups.items():
            self._renew(name, list(group.members), now_ms + env.config.session_timeout_ms)

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Sessions that go on."""
        shift_ms = now_ms - (fields.optional_integer(volatile, "clockMs", "volatile") or 0)
        given = fields.mapping(volatile, "toy", "volatile") if "toy" in volatile else {}
        for name, sessions in given.items():
            for member, end_ms in fields.as_object(sessions, name).items():
                self._renew(name, [member], end_ms + shift_ms)


def _state(group: ToyGroup) -> str:
    return "Stable" if group.members else "Empty"


def _response(code: ErrorCode, message: str | None, epoch: int) -> Json:
    return {"throttleTimeMs": 0, "errorCode": int(code), "errorMessage": message, "memberEpoch": epoch}
