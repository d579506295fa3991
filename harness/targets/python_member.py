"""`python`: this repository's member, as a process that a replay drives."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.members.consumer import Member, Purpose, Request, Settings, State
from coordinator.members.consumer.types import to_wire
from harness.errors import ENGINE_FAILED, ConformError
from harness.replay import wire
from harness.targets.base import Json


class PythonProcess:
    """The member; the methods are those of `harness.targets.members.Process`.

    The member's clock moves to its next deadline whenever it must send: the model has no times.
    """

    def __init__(self, member_id: str, instance_id: str | None, reports_while_revoking: bool) -> None:
        settings = Settings(
            wire.GROUP,
            instance_id=instance_id,
            auto_commit=False,
            max_poll_interval_ms=wire.REBALANCE_TIMEOUT_MS,
            reports_while_revoking=reports_while_revoking,
        )
        self._member = Member(settings, member_id)
        self._now_ms = 0
        self._running = False
        self._request: Request | None = None

    def subscribe(self, topics: Sequence[str]) -> None:
        """Subscribe to topic names."""
        self._member.subscribe(topics, now_ms=self._now_ms)

    def send(self) -> Json:
        """Wait until a heartbeat is due."""
        self._member.poll(self._now_ms)
        request = self._member.take_request(self._now_ms)
        while request is None or request.purpose not in (Purpose.HEARTBEAT, Purpose.LEAVE):
            if request is not None:
                self._member.failed(request.correlation, self._now_ms)
            due_ms = self._member.next_deadline_ms()
            if due_ms is None:
                raise ConformError(f"The member sends nothing any more: {self._member.state}.", ENGINE_FAILED)
            self._now_ms = max(self._now_ms, due_ms)
            request = self._member.take_request(self._now_ms)
        self._request = request
        return request.body

    def receive(self, body: Json) -> None:
        """Take the answer, and poll."""
        if self._request is not None:
            self._member.answered(self._request.correlation, body, self._now_ms)
            self._request = None
        self._poll()

    def lose(self) -> None:
        """Let the request time out."""
        if self._request is None:
            self.send()
        if self._request is not None:
            self._member.failed(self._request.correlation, self._now_ms)
            self._request = None

    def finish_revocation(self) -> None:
        """Run all callbacks to their end."""
        self._callbacks()

    def leave(self, temporarily: bool) -> Json:
        """Close, or unsubscribe for good where closing is temporary."""
        if temporarily or self._member.settings.instance_id is None:
            self._member.close(self._now_ms)
        else:
            self._member.unsubscribe(self._now_ms)
        self._callbacks()
        return self.send()

    def observe(self) -> Json:
        """The member's description of itself."""
        return {
            "up": self._member.state is not State.FATAL,
            "epoch": self._member.epoch,
            "owned": to_wire(self._member.owned),
            "mustRevoke": self._member.must_revoke,
        }

    def _poll(self) -> None:
        self._member.poll(self._now_ms)
        self._callbacks(but_revocation=True)

    def _callbacks(self, but_revocation: bool = False) -> None:
        """Run callbacks; `but_revocation` leaves the callback of a revocation running."""
        while self._running or self._member.next_callback(self._now_ms) is not None:
            self._running = but_revocation and self._member.must_revoke
            if self._running:
                return
            self._member.callback_done(self._now_ms)
