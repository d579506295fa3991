"""A consumer of a classic group beside its coordinator, in one thread: for tests, examples and simulations.

As in the closed model, a request is handled when it is sent. Its answer, which comes at once or when the
coordinator has it, is in flight until it is received or lost.
"""

from __future__ import annotations

from coordinator.members.classic.machine import ClassicMember
from coordinator.members.classic.types import Request
from coordinator.members.consumer.local import Listener, Service
from coordinator.members.consumer.types import Json


class ClassicConsumer:
    """A member with its listener and its connection to a coordinator; `client_id` names its requests."""

    def __init__(
        self, member: ClassicMember, service: Service, client_id: str, listener: Listener | None = None
    ) -> None:
        self.member = member
        self._service = service
        self._listener = listener or Listener()
        self._client = {"id": client_id, "host": "/127.0.0.1"}
        self._waiting: Request | None = None
        self._answer: tuple[Request, Json] | None = None

    @property
    def waits(self) -> bool:
        """Tell if a request is under way: waiting at the coordinator, or with its answer in flight."""
        return self._waiting is not None or self._answer is not None

    @property
    def answered(self) -> bool:
        """Is an answer in flight?"""
        return self._answer is not None

    def send(self, now_ms: int) -> Request | None:
        """Send the due request; the coordinator handles it at once, and may answer later."""
        request = self.member.take_request(now_ms)
        if request is not None:
            body = self._service.request(request.api, request.version, self._client, request.body)
            if body:
                self._answer = request, body
            else:
                self._waiting = request
        return request

    def complete(self, body: Json) -> None:
        """Take the coordinator's answer to the request that waited."""
        request, self._waiting = self._waiting, None
        if request is not None:
            self._answer = request, body

    def receive(self, now_ms: int) -> None:
        """The answer arrives, if one is in flight."""
        if self._answer is not None:
            (request, body), self._answer = self._answer, None
            self.member.answered(request.correlation, body, now_ms)

    def lose(self, now_ms: int) -> None:
        """Lose the answer: the connection breaks, or the coordinator is gone."""
        request = self._answer[0] if self._answer is not None else self._waiting
        self._waiting = self._answer = None
        if request is not None:
            self.member.failed(request.correlation, now_ms)

    def run_callbacks(self, now_ms: int) -> None:
        """Poll as the application does: run all waiting callbacks. An error that is not an Exception, like an
        interrupt, passes through, but the member is always told that the callback has ended."""
        while (callback := self.member.next_callback(now_ms)) is not None:
            error: BaseException | None = None
            try:
                getattr(self._listener, callback.name.value)(callback.partitions)
            except Exception as raised:  # an error of the application, which `poll` raises again
                error = raised
            except BaseException as raised:
                error = raised
                raise
            finally:
                self.member.callback_done(now_ms, error)

    def poll(self, now_ms: int) -> None:
        """Run the due callbacks, and then raise the first error of theirs (C6)."""
        self.run_callbacks(now_ms)
        error = self.member.take_error()
        if error is not None:
            raise error
