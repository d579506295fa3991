"""A worker of a Connect group as a state machine without input and output (W2, W4; draft, "Worker").

The driver sends the request of `take_request`, passes the answer to `answered` (or calls `failed`), and runs
the callbacks of `next_callback`: onRevoked before onAssigned, and onRevoked also when the worker is fenced.
The machine reads no clock: all times are milliseconds of the driver's.

Left out: starting connectors and tasks, which the callbacks do, and discovery of the coordinator.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.connect import wire
from coordinator.consumer.model import NOTHING, Partitions
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json
from coordinator.members.connect.assignor import Computed, DelayedAssignor

HEARTBEAT: Final = "ConnectGroupHeartbeat"
PREPARE: Final = "ConnectGroupPrepareAssignment"
INSTALL: Final = "ConnectGroupInstallAssignment"

REVOKED: Final = "onRevoked"
ASSIGNED: Final = "onAssigned"

_FENCED: Final = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH)
_AGAIN: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


class Callback(NamedTuple):
    """A call of WorkerRebalanceListener: REVOKED or ASSIGNED, with connectors and tasks."""

    name: str
    resources: Partitions


class Request(NamedTuple):
    """A request to send."""

    api: str
    body: Json


class Settings(NamedTuple):
    """A worker's settings."""

    group_id: str
    worker_id: str
    rebalance_timeout_ms: int = 60_000
    assignor_name: str = "sessioned"
    retry_ms: int = 100


class Worker:
    """A worker, which keeps its id when it rejoins (spec/Connect.tla, 3)."""

    def __init__(self, settings: Settings, assignor: DelayedAssignor | None = None) -> None:
        self.settings = settings
        self.assignor = assignor or DelayedAssignor()
        self.epoch = 0
        self.error: int | None = None
        """The error after which this worker sends no more requests."""
        self.left = False
        self.owned: Partitions = NOTHING
        """The connectors and tasks that the worker runs: those of callbacks that have returned."""
        self._callbacks: list[Callback] = []
        self._runs = False
        self._due_ms = 0
        self._reports = self._says_reason = self._prepares = self._leaves = False
        self._again = False
        """True where the next heartbeat must repeat all fields."""
        self._computed: Computed | None = None
        self._sent: str | None = None
        self._leave_sent = False

    # The driver

    def take_request(self, now_ms: int) -> Request | None:
        """The request to send now; None while one is in flight, or nothing is to be sent. A fenced worker
        rejoins, and a leaving worker leaves, when its callbacks have returned."""
        if self._sent or self.error is not None or self.left:
            return None
        if self.assignor.fire(now_ms):
            self._says_reason = True
        if self._leaves:
            if self._callbacks or now_ms < self._due_ms:
                return None
            self._leave_sent = True
            return self._send(HEARTBEAT, {"memberEpoch": -1})
        if self._computed is not None:
            return self._install(self._computed)
        if self._prepares:
            return self._send(PREPARE, {"memberEpoch": self.epoch})
        rejoins = self.epoch == 0 and bool(self._callbacks)
        wanted = self._says_reason or now_ms >= self._due_ms
        return self._heartbeat() if wanted and not rejoins else None

    def next_deadline_ms(self) -> int:
        """The time to call `take_request` again, if nothing happens before."""
        delay_ms = self.assignor.deadline_ms
        return self._due_ms if delay_ms is None else min(self._due_ms, delay_ms)

    def answered(self, body: Json, now_ms: int) -> None:
        """The answer to the request in flight. ValueError if none is."""
        if self._sent is None:
            raise ValueError("no request is in flight; take one first")
        api, self._sent = self._sent, None
        code: int = body["errorCode"]
        if api == PREPARE:
            self._prepares = False
            if code == ErrorCode.NONE:
                self._computed = self.assignor.compute(body)
        elif api == INSTALL:
            computed, self._computed = self._computed, None
            if code == ErrorCode.NONE and computed is not None:
                self.assignor.installed(computed, now_ms)
                self._due_ms = now_ms
        elif self._leaves:
            # H2: the worker is out, whatever the answer, unless a coordinator comes that can take the leave
            self.left = self._leave_sent and code not in _AGAIN
            self._due_ms = now_ms + (self.settings.retry_ms if self._leave_sent else 0)
        else:
            self._heard(code, body, now_ms)

    def failed(self, now_ms: int) -> None:
        """Note that no answer came: a heartbeat is sent again with all its fields; a target is computed again
        when the coordinator asks again."""
        if self._sent in (PREPARE, INSTALL):
            self._prepares, self._computed = False, None
        else:
            self._say_again(now_ms)
        self._sent, self._due_ms = None, now_ms + self.settings.retry_ms

    def leave(self) -> None:
        """Give up everything, and then leave the group. A leave without an answer is sent again."""
        self._leaves, self._due_ms = True, 0
        self._abandon()

    def next_callback(self) -> Callback | None:
        """The callback to run now; None while another runs."""
        if self._runs or not self._callbacks:
            return None
        self._runs = True
        return self._callbacks[0]

    def callback_done(self, now_ms: int) -> None:
        """Take the end of the callback. ValueError if none was running."""
        if not self._runs:
            raise ValueError("no callback is running; take one first")
        self._runs = False
        done = self._callbacks.pop(0)
        self.owned = self.owned - done.resources if done.name == REVOKED else self.owned | done.resources
        if not self._callbacks and self.epoch:
            self._reports = True
            self._due_ms = now_ms

    # What comes back

    def _heard(self, code: int, body: Json, now_ms: int) -> None:
        if code in _FENCED:
            # W4: everything is abandoned first, and onRevoked is called; then the worker rejoins with its id.
            self.epoch, self._prepares, self._computed = 0, False, None
            self._due_ms = now_ms
            self._abandon()
        elif code in _AGAIN:
            self._say_again(now_ms)
        elif code != ErrorCode.NONE:
            self.error = code
            self._abandon()
        elif body["memberEpoch"] < self.epoch:
            # E4: no coordinator lets an epoch fall
            self._say_again(now_ms)
        else:
            self.epoch = body["memberEpoch"]
            self._due_ms = now_ms + max(body["heartbeatIntervalMs"], self.settings.retry_ms)
            self._prepares = body["shouldComputeAssignment"]
            if body["assignment"] is not None:
                self._follow(wire.from_wire(body["assignment"]["connectorsAndTasks"], "the assignment"))

    def _say_again(self, now_ms: int) -> None:
        """Repeat all fields in the next heartbeat, because the coordinator may not have got the last one;
        repeated fields change nothing (spec/Connect.tla, 8)."""
        self._again = True
        self._due_ms = now_ms + self.settings.retry_ms

    def _follow(self, target: Partitions) -> None:
        """Give up work that the assignment lacks, then take the new work (draft: a before b)."""
        kept = self._callbacks[:1] if self._runs else []
        owned = self.owned
        for one in kept:
            owned = owned - one.resources if one.name == REVOKED else owned | one.resources
        self._callbacks = kept
        if owned - target:
            self._callbacks.append(Callback(REVOKED, owned - target))
        if target - owned:
            self._callbacks.append(Callback(ASSIGNED, target - owned))
        if not self._callbacks:
            self._reports = True

    def _abandon(self) -> None:
        """Give up all work, also work that is being taken; without any work no callback is called."""
        self._follow(NOTHING)
        self._reports = False

    # Requests

    def _heartbeat(self) -> Request:
        """All fields to join; else the running work and the reason, each only if it is news."""
        joins, again = self.epoch == 0, self._again
        reports = (self._reports or again) and not self._callbacks
        body: Json = {"memberEpoch": self.epoch, "instanceId": None, "serverAssignor": None}
        body["rebalanceTimeoutMs"] = self.settings.rebalance_timeout_ms if joins else -1
        body["connectorsAndTasks"] = wire.to_wire(self.owned) if joins or reports else None
        body["clientAssignors"] = [self._offer()] if joins or again or self._says_reason else None
        self._reports = self._says_reason = self._again = False
        return self._send(HEARTBEAT, body)

    def _offer(self) -> Json:
        no_data = {"minimumVersion": 0, "maximumVersion": 0, "version": 0, "metadata": ""}
        return {"name": self.settings.assignor_name, **no_data, "reason": self.assignor.reason}

    def _install(self, computed: Computed) -> Request:
        body: Json = {"memberEpoch": self.epoch, "groupEpoch": computed.group_epoch, "error": 0}
        return self._send(INSTALL, {**body, "members": computed.members()})

    def _send(self, api: str, body: Json) -> Request:
        self._sent = api
        return Request(api, {"groupId": self.settings.group_id, "memberId": self.settings.worker_id, **body})
