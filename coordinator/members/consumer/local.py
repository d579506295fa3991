"""A consumer process beside its coordinator, in one thread: for tests, examples and simulations.

As in the closed model of the specification, a request is handled when it is sent, and its answer is in
flight until it is received or lost. When things happen is the caller's choice, so that a run is determined
by it.
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
    """Does nothing; override what is of interest. An exception of a method comes back from `take_error`."""

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        """The partitions are given up when this method returns: commit now, if at all (K2)."""

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        """The partitions are fetched from when this method returns (K3)."""

    def on_partitions_lost(self, partitions: Partitions) -> None:
        """The partitions are another member's already: nothing can be committed (K1). Unless this method is
        overridden, what is lost is revoked (C8)."""
        self.on_partitions_revoked(partitions)

    def on_commit_complete(self, partitions: Partitions, error: int) -> None:
        """A commit that the application asked for has ended."""


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
        """Send what is to be sent now; the coordinator handles it at once."""
        request = self.member.take_request(now_ms)
        if request is not None:
            self._answer = request, self._handle(request)
        return request

    def lose_request(self, now_ms: int) -> Request | None:
        """Send what is to be sent now, in vain."""
        request = self.member.take_request(now_ms)
        if request is not None:
            self.member.failed(request.correlation, now_ms)
        return request

    def receive(self, now_ms: int) -> None:
        """The answer arrives, if one is in flight."""
        if self._answer is not None:
            (request, body), self._answer = self._answer, None
            self.member.answered(request.correlation, body, now_ms)

    def lose_answer(self, now_ms: int) -> None:
        """The connection breaks: the answer is lost."""
        if self._answer is not None:
            (request, _), self._answer = self._answer, None
            self.member.failed(request.correlation, now_ms, disconnected=True)

    def run_callback(self, now_ms: int) -> bool:
        """Run the next callback to its end; False if there is none. An error that is not an Exception, like
        an interrupt, passes through, but never without telling the member that the callback has ended."""
        callback = self.member.next_callback(now_ms)
        if callback is None:
            return False
        error: BaseException | None = None
        try:
            if callback.name is CallbackName.COMMITTED:
                self._listener.on_commit_complete(callback.partitions, callback.error)
            else:
                getattr(self._listener, callback.name.value)(callback.partitions)
        except Exception as raised:  # the application's, which `take_error` gives back
            error = raised
        except BaseException as raised:
            error = raised
            raise
        finally:
            self.member.callback_done(now_ms, error)
        return True

    def poll(self, now_ms: int) -> None:
        """The application polls: all callbacks that there are."""
        self.member.poll(now_ms)
        while self.run_callback(now_ms):
            pass

    def exchange(self, now_ms: int) -> None:
        """Send, receive and run callbacks until there is nothing to do now."""
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
