"""One connection of a client: frames of requests in, frames of responses out.

Requests of a connection are handled one after the other, as in Kafka. A request that waits holds up the
requests behind it, and no other connection. Requests of a client that has gone are handled, too: a producer
that wants no acknowledgement closes its connection after the last record. A frame that is malformed or too
large closes its connection, with a line in the server's log.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, Final, cast

from coordinator.core.errors import AppendFailed, BadInput
from coordinator.serve.broker import Broker
from coordinator.serve.frames import Malformed
from coordinator.serve.login import Login
from coordinator.serve.upstream import Address, Behind, Upstream

AHEAD: Final = 64
"""The number of frames that are read ahead of their handling, and that are handled before other connections
have their turn."""
TURN_S: Final = 0.02
"""The seconds after which other connections have their turn, though a client has sent more frames."""
UNREAD: Final = 1 << 16
"""The bytes of frames after which no further frame is read ahead, and of the rest after which the connection
reads no more until requests were handled."""
SIZE: Final = 4
"""The bytes of the size before each frame."""
_log = logging.getLogger("coordinator.serve")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds, so that no client may grow the server: connections at a time, bytes of a frame, seconds that a
    connection may be idle and that a frame may take from its first byte to its last."""

    connections: int = 1000
    frame_bytes: int = 1 << 20
    idle_s: float = 600.0
    frame_s: float = 30.0


@dataclass
class Shared:
    """The parts of a server that its connections share. `users` has passwords by names; `look_soon` lets the
    server hand out responses that have become ready, as its clock does, too."""

    broker: Broker
    bounds: Bounds
    users: Mapping[str, str]
    upstream: Upstream | None
    look_soon: Callable[[], None]
    open: set[Connection] = field(default_factory=set)
    waiting: dict[int, Connection] = field(default_factory=dict)
    """Connections by the ticket of the request that waits."""


class Connection(asyncio.Protocol):
    """One connection; `address` is that of the broker behind it, None where there is none."""

    def __init__(self, shared: Shared, address: Address | None) -> None:
        self.until = inf
        """The time at which the connection has been silent for too long, by the monotonic clock; no such time
        while a request waits."""
        self.host = "?"
        self._shared = shared
        self._address = address
        self._login = Login(shared.users)
        self._behind: Behind | None = None
        self._transport = asyncio.Transport()
        self._buffer = bytearray()
        self._read: deque[Any] = deque()
        self._sizes: deque[int] = deque()
        """The bytes of the frames that were read ahead."""
        self._busy = self._gone = self._ended = False
        self._begun = False
        """Tell if a frame has begun to arrive and its last byte is missing."""
        self._ticket: int | None = None
        self._current: Any = None
        self._passing: asyncio.Task[None] | None = None
        self._writable = True
        self._drained = asyncio.Event()

    # Steps of a request, in their order

    def read(self, frame: bytes) -> Any:
        """The request in a frame. Malformed for a frame that is no request."""
        return frame

    def respond(self, request: Any) -> bytes | int:
        """The response to a request that was read, or the ticket of one that waits. Malformed for a frame
        that is no request; OSError cuts the connection."""
        return self._login.handle(self._shared.broker, request, self.host)

    def answer(self, request: Any, response: bytes) -> None:
        """Send the response to a request. The next request is handled after that."""
        self.write(len(response).to_bytes(SIZE, "big") + response)
        self._busy = False

    def answered(self, response: bytes | Malformed) -> None:
        """Send the response to the request that waits, and go on. Malformed in its place ends the
        connection."""
        self._ticket = None
        if isinstance(response, Malformed):
            self._fail(response)
            return
        self.answer(self._current, response)
        self.go_on()

    def go_on(self) -> None:
        """Handle the requests that were read, until one waits or none is left. A client that has sent more
        than AHEAD frames, or whose requests take longer than a turn, lets other connections go first."""
        self._take_frames()
        handled, end = False, monotonic() + TURN_S
        while self._read and not self._busy and self._writable and not (handled and monotonic() > end):
            handled = True
            self._sizes.popleft()
            self._handle(self._read.popleft())
        if self._ended:
            return
        if self._gone:
            self._go_on_alone(handled)
        elif self._busy:
            self.until = inf if self._writable else self.until
            if len(self._buffer) > UNREAD:
                self._transport.pause_reading()
        elif self._writable:
            if handled or not self._begun:
                bounds = self._shared.bounds
                self.until = monotonic() + (bounds.frame_s if self._buffer else bounds.idle_s)
            self._begun = bool(self._buffer)
            if len(self._buffer) > UNREAD and (self._read or self._has_frame()):
                self._transport.pause_reading()  # a client may send faster than its requests are handled
            else:
                self._transport.resume_reading()
            if handled and (self._begun or self._read):
                asyncio.get_running_loop().call_soon(self.go_on)

    def _go_on_alone(self, handled: bool) -> None:
        """Handle the requests that a client sent before it went. No client reads the answer to a request that
        waits."""
        self.until = monotonic() + self._shared.bounds.frame_s
        if self._ticket is not None or not (self._busy or handled or self._read):
            self.end()
        elif self._writable and not self._busy:
            asyncio.get_running_loop().call_soon(self.go_on)

    def _has_frame(self) -> bool:
        buffer = self._buffer
        return len(buffer) >= SIZE and len(buffer) - SIZE >= int.from_bytes(buffer[:SIZE], "big", signed=True)

    def _take_frames(self) -> None:
        buffer, most = self._buffer, self._shared.bounds.frame_bytes
        while len(buffer) >= SIZE and len(self._read) < AHEAD and sum(self._sizes) < UNREAD:
            size = int.from_bytes(buffer[:SIZE], "big", signed=True)
            try:
                if not 0 <= size <= most:
                    raise Malformed(f"a frame of {size} bytes; at most {most} are read")
                if len(buffer) < SIZE + size:
                    return
                self._read.append(self.read(bytes(buffer[SIZE : SIZE + size])))
                self._sizes.append(size)
                del buffer[: SIZE + size]
            except Malformed as error:  # the requests before this one are answered first
                self._read.append(error)
                self._sizes.append(0)
                buffer.clear()
                self._transport.pause_reading()
                return

    def _handle(self, request: Any) -> None:
        self._busy = True
        try:
            if isinstance(request, Malformed):
                raise request
            if self._behind is not None and self._login.lets_in and self._behind.passes(request):
                self._passing = asyncio.get_running_loop().create_task(self._pass_on(self._behind, request))
                return
            response = self.respond(request)
            if self._shared.broker.waiting:
                self._shared.look_soon()
            if isinstance(response, int):
                self._ticket, self._current = response, request
                self._shared.waiting[response] = self
                return
            self.answer(request, response)
            if self._login.failed:
                raise Malformed("its client could not log in")
        except Exception as error:  # any fault of one request ends its connection alone
            self._fail(error)

    async def _pass_on(self, behind: Behind, request: bytes) -> None:
        try:
            await behind.pass_on(request)
        except Exception as error:  # any fault of one request ends its connection alone
            self._fail(error)
        self._busy, self._passing = False, None
        self.go_on()

    # The end

    def _fail(self, error: Exception) -> None:
        if isinstance(error, (Malformed, AppendFailed, BadInput)):
            _log.warning("closed the connection from %s: %s", self.host, error)
        elif not isinstance(error, OSError | asyncio.IncompleteReadError):  # else the other side has gone
            _log.error(
                "closed the connection from %s: a request ended in an error", self.host, exc_info=error
            )
        self.end()

    def end_silent(self) -> None:
        """Close the connection of a client that was silent for too long."""
        _log.info("closed the connection from %s: it was idle", self.host)
        self._transport.abort()  # a client that reads nothing would delay the end for ever
        self.end()

    def end(self) -> None:
        """Close the connection after the written bytes; the responses of its requests are dropped."""
        if self._ended:
            return
        self._ended = True
        self._shared.open.discard(self)
        self._read.clear()
        self._sizes.clear()
        self._buffer.clear()
        self._drained.set()
        if self._ticket is not None:
            self._shared.waiting.pop(self._ticket, None)
            self._shared.broker.forget(self._ticket)
        if self._passing is not None:
            self._passing.cancel()
        if self._behind is not None:
            self._behind.close()
        self._transport.close()

    # The client's side, as `Behind` writes to it

    def write(self, data: bytes) -> None:
        """Write to the client; do nothing where it is gone."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the client has read enough. ConnectionResetError where it is gone."""
        if not self._writable:
            self._drained.clear()
            await self._drained.wait()
        if self._ended:
            raise ConnectionResetError("the client went")

    # Calls of the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a client, unless there are too many."""
        self._transport = cast("asyncio.Transport", transport)
        self.host = str((transport.get_extra_info("peername") or ("?",))[0])
        shared = self._shared
        if len(shared.open) >= shared.bounds.connections:
            _log.warning("refused a connection from %s: there are %d", self.host, len(shared.open))
            self.end()
            return
        shared.open.add(self)
        if shared.upstream is not None and self._address is not None:
            here = str(transport.get_extra_info("sockname")[0])
            self._behind = Behind(shared.upstream, self._address, self, here)
        self.go_on()

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests."""
        self._buffer += data
        self.go_on()

    def pause_writing(self) -> None:
        """Handle nothing more until the client has read."""
        self._writable = False
        self.until = monotonic() + self._shared.bounds.frame_s
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        self._writable = True
        self._drained.set()
        self.go_on()

    def eof_received(self) -> bool:
        """Answer what a client sent before it closed its side; with TLS it has closed both."""
        self._gone = True
        self.go_on()
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, error: Exception | None) -> None:
        """Handle the requests of a client that went."""
        self._gone = self._writable = True
        self._drained.set()
        self.go_on()
