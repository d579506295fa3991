"""One request at a time (R9), and pauses between retries."""

from __future__ import annotations

from coordinator.members.consumer.types import Json, Purpose, Request, Settings


class InFlight:
    """The request in flight, if there is one.

    A member never has two: so an answer always belongs to the last request, and no heartbeat is on its way
    that was sent before another was answered.
    """

    def __init__(self, settings: Settings) -> None:
        self._first_ms = settings.retry_backoff_ms
        self._longest_ms = settings.retry_backoff_max_ms
        self.failures = 0
        """The number of failures in a row."""
        self._sent = 0
        self.request: Request | None = None
        self.not_before_ms = 0
        """The earliest time of the next request."""

    def send(self, purpose: Purpose, api: str, version: int, body: Json) -> Request:
        """Put a request in flight."""
        self._sent += 1
        self.request = Request(self._sent, purpose, api, version, body)
        return self.request

    def end(self, correlation: int) -> Request | None:
        """The request that is over now; None for one that was given up before, whose answer is ignored."""
        request = self.request
        if request is None or request.correlation != correlation:
            return None
        self.request = None
        return request

    def succeeded(self) -> None:
        """Forget earlier failures: the next failure counts as the first."""
        self.failures = 0

    def back_off(self, now_ms: int) -> None:
        """Pause: twice as long after each failure in a row, up to the longest pause."""
        pause_ms = min(self._first_ms << min(self.failures, 30), self._longest_ms)
        self.failures += 1
        self.not_before_ms = now_ms + pause_ms
