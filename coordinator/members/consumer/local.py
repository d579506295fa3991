"""A consumer process beside its coordinator, in one thread: for tests, examples and simulations.

As in the closed model of the specification, a request is handled when it is sent, and its answer is in flight
until it is received or lost. The caller chooses the order of events, so that a run is determined by the
caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from coordinator.members.consumer.machine import Member
from coordinator.members.consumer.types import CallbackName, Json, Partitions, Request


class Service(Protocol):
    """A coordinator in this process."""

    def request(self, api: str, version: int, client: Mapping[str, Any], body: Mapping[str, Any]) -> Json:
        """Handle one request; the body of its response."""


class Listener:
    """A listener that does nothing; subclasses override its methods. An exception of a method comes back from
    `take_error`."""

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        """Take revoked partitions, which are given up when this method returns: this is the time to commit
        (K2)."""

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        """Take new partitions, which are fetched when this method has returned (K3)."""

    def on_partitions_lost(self, partitions: Partitions) -> None:
        """Take lost partitions, which may already belong to another member: no commit can succeed (K1).
        Unless this method is overridden, on_partitions_revoked is called (C8)."""
        self.on_partitions_revoked(partitions)

    def on_commit_complete(self, partitions: Partitions, error: int) -> None:
        """Take the end of a commit that the application requested."""


class Consumer:
    """A `Member` with its listener and its connection to a coordinator."""

    def __init__(self, member: Member, service: Service, listener: Listener | None = None) -> None:
        self.member = member
        self._service = service
        self._listener = listener or Listener()
        self._client = {"id": member.member_id or "consumer", "host": "/127.0.0.1"}
        self._answer: tuple[Request, Json] | None = None

    @property
    def waits(self) -> bool:
        """Is an answer in flight?"""
        return self._answer is not None

    def send(self, now_ms: int) -> Request | None:
        """Send the due request; the coordinator handles it at once."""
        request = self.member.take_request(now_ms)
        if request is not None:
            self._answer = request, self._handle(request)
        return request

    def lose_request(self, now_ms: int) -> Request | None:
        """Send the due request, which is lost on its way."""
        request = self.member.take_request(now_ms)
        if request is not None:
            self.member.failed(request.correlation, now_ms)
        return request

    def receive(self, now_ms: int) -> None:
        """Receive the answer, if one is in flight."""
        if self._answer is not None:
            (request, body), self._answer = self._answer, None
            self.member.answered(request.correlation, body, now_ms)

    def lose_answer(self, now_ms: int) -> None:
        """Lose the answer: the connection breaks."""
        if self._answer is not None:
            (request, _), self._answer = self._answer, None
            self.member.failed(request.correlation, now_ms, disconnected=True)

    def run_callback(self, now_ms: int) -> bool:
        """Run the next callback to its end; False if there is none. An error that is not an Exception, like
        an interrupt, passes through, but the member is always told that the callback has ended."""
        callback = self.member.next_callback(now_ms)
        if callback is None:
            return False
        error: BaseException | None = None
        try:
            if callback.name is CallbackName.COMMITTED:
                self._listener.on_commit_complete(callback.partitions, callback.error)
            else:
                getattr(self._listener, callback.name.value)(callback.partitions)
        except Exception as raised:  # an error of the application, which `take_error` gives back
            error = raised
        except BaseException as raised:
            error = raised
            raise
        finally:
            self.member.callback_done(now_ms, error)
        return True

    def poll(self, now_ms: int) -> None:
        """Poll as the application does: run all waiting callbacks."""
        self.member.poll(now_ms)
        while self.run_callback(now_ms):
            pass

    def exchange(self, now_ms: int) -> None:
        """Send, receive and run callbacks until nothing is left to do."""
        self.receive(now_ms)
        self.poll(now_ms)
        while self.send(now_ms) is not None:
            self.receive(now_ms)
            self.poll(now_ms)

    def _handle(self, request: Request) -> Json:
        if request.api == "FindCoordinator":
            key = request.body["coordinatorKeys"][0]
            return {"coordinators": [{"key": key, "errorCode": 0, "errorMessage": None}]}
        return self._service.request(request.api, request.version, self._client, request.body)
