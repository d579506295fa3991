"""The broker on a socket: connections, frames, and their bounds.

A connection's requests are handled one after the other, as Kafka does it. A frame that is malformed or too
large closes its connection, with a line in the server's log; so does a connection that is idle for too long.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from coordinator.serve.broker import Broker
from coordinator.serve.frames import Malformed
from coordinator.serve.login import VERSIONS as SASL
from coordinator.serve.login import Login

TICK_S: Final = 0.01
"""How often time-outs and waiting requests are looked at."""
_log = logging.getLogger("coordinator.serve")


@dataclass(frozen=True, slots=True)
class Bounds:
    """No client may grow the server: connections at a time, bytes of a frame, seconds that a connection may
    be idle and that a frame may take from its first byte to its last."""

    connections: int = 1000
    frame_bytes: int = 1 << 20
    idle_s: float = 600.0
    frame_s: float = 30.0


class Server:
    """A broker for clients that connect."""

    def __init__(
        self,
        broker: Broker,
        bounds: Bounds = Bounds(),
        users: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`users` are passwords by names, for SASL/PLAIN; `tls` has the server's certificate. Both are off
        where they are None."""
        self._broker = broker
        self._users = users or {}
        self._tls = tls
        if self._users:
            broker.offered |= SASL
        self._bounds = bounds
        self._late: dict[int, asyncio.Future[bytes]] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self, host: str, port: int, stop: asyncio.Event, listening: asyncio.Event) -> int:
        """Serve until `stop` is set; the number of connections that were open then. OSError where the port is
        not free."""
        handshake_s = None if self._tls is None else self._bounds.frame_s
        server = await asyncio.start_server(
            self._connected, host, port, limit=1 << 16, ssl=self._tls, ssl_handshake_timeout=handshake_s
        )
        ticks = asyncio.create_task(self._tick())
        listening.set()
        try:
            await stop.wait()
        finally:
            server.close()
            ticks.cancel()
            open_ones = len(self._connections)
            for task in list(self._connections):
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
        return open_ones

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._deliver()

    def _deliver(self) -> None:
        """Hand out responses that are ready. A fault is logged, and the next look goes on: it may be of any
        group, so it ends neither the clock nor the connection that happened to look."""
        try:
            ready = self._broker.ready()
        except Exception:
            _log.exception("responses that wait could not be looked at")
            return
        for ticket, response in ready:
            future = self._late.pop(ticket, None)
            if future is not None and not future.done():
                future.set_result(response)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        host = str((writer.get_extra_info("peername") or ("?",))[0])
        if len(self._connections) >= self._bounds.connections:
            _log.warning("refused a connection from %s: there are %d", host, len(self._connections))
            writer.close()
            return
        self._connections.add(task)
        try:
            await self._converse(reader, writer, host)
        except Malformed as error:
            _log.warning("closed the connection from %s: %s", host, error)
        except TimeoutError:
            _log.info("closed the connection from %s: it was idle", host)
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            pass  # the client went, or the server stops
        except Exception:
            _log.exception("closed the connection from %s: a request ended in an error", host)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        login = Login(self._users)
        while True:
            async with asyncio.timeout(self._bounds.idle_s):
                (size,) = struct.unpack(">i", await reader.readexactly(4))
            if not 0 <= size <= self._bounds.frame_bytes:
                raise Malformed(f"a frame of {size} bytes; at most {self._bounds.frame_bytes} are read")
            async with asyncio.timeout(self._bounds.frame_s):
                frame = await reader.readexactly(size)
            response = login.handle(self._broker, frame, host)
            self._deliver()
            if isinstance(response, int):
                response = await self._later(response, reader)
            writer.write(struct.pack(">i", len(response)) + response)
            async with asyncio.timeout(self._bounds.frame_s):
                await writer.drain()
            if login.failed:
                raise Malformed("its client could not log in")

    async def _later(self, ticket: int, reader: asyncio.StreamReader) -> bytes:
        """The response of a request that waits, unless its client goes before."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._late[ticket] = future
        self._deliver()
        try:
            while not future.done():
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        return await asyncio.shield(future)
                if reader.at_eof():
                    raise ConnectionResetError("the client went while its request waited")
            return future.result()
        finally:
            self._late.pop(ticket, None)
            self._broker.forget(ticket)
