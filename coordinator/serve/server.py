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
from math import inf
from typing import Final

from coordinator.serve.broker import Broker
from coordinator.serve.frames import Malformed
from coordinator.serve.login import VERSIONS as SASL
from coordinator.serve.login import Login
from coordinator.serve.upstream import Address, Behind, Upstream

TICK_S: Final = 0.01
"""How often time-outs and waiting requests are looked at."""
PATIENCE_S: Final = 0.1
"""How often connections are looked at that may have been silent for too long."""
SILENT: Final = "silent"
"""Why a connection's task is cancelled; None where the server stops."""
_log = logging.getLogger("coordinator.serve")


@dataclass(frozen=True, slots=True)
class Bounds:
    """No client may grow the server: connections at a time, bytes of a frame, seconds that a connection may
    be idle and that a frame may take from its first byte to its last."""

    connections: int = 1000
    frame_bytes: int = 1 << 20
    idle_s: float = 600.0
    frame_s: float = 30.0


class UpstreamFailed(Exception):
    """There is no broker upstream. The text says why."""


class Server:
    """A broker for clients that connect."""

    def __init__(
        self,
        broker: Broker,
        bounds: Bounds = Bounds(),
        users: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        upstream: Upstream | None = None,
    ) -> None:
        """`users` are passwords by names, for SASL/PLAIN; `tls` has the server's certificate; `upstream` is
        the cluster that has the data. Each is off where it is None."""
        self._broker = broker
        self._users = users or {}
        self._tls = tls
        self._upstream = upstream
        self._servers: list[asyncio.Server] = []
        if self._users:
            broker.offered |= SASL
        self._bounds = bounds
        self._late: dict[int, asyncio.Future[bytes]] = {}
        self._connections: dict[asyncio.Task[None], float] = {}
        """Until when each may be silent, by the loop's time; infinite while it is answered."""

    async def run(self, host: str, port: int, stop: asyncio.Event, listening: asyncio.Event) -> int:
        """Serve until `stop` is set; the number of connections that were open then. OSError where the port is
        not free; UpstreamFailed where there is no broker upstream."""
        tasks = []
        try:
            address = None if self._upstream is None else self._upstream.address
            port = await self._listen(host, port, address)
            if self._upstream is not None:
                await self._begin(self._upstream, host, port)
                tasks.append(asyncio.create_task(self._upstream.watch()))
            tasks += [asyncio.create_task(self._tick()), asyncio.create_task(self._end_silent())]
            listening.set()
            await stop.wait()
        finally:
            for server in self._servers:
                server.close()
            for running in tasks:
                running.cancel()
            open_ones = len(self._connections)
            for task in list(self._connections):
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
        return open_ones

    async def _listen(self, host: str, port: int, upstream: Address | None) -> int:
        """Listen at a port (0: any free one), for a broker behind this server or for none; the port."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._connected(reader, writer, upstream)

        handshake_s = None if self._tls is None else self._bounds.frame_s
        server = await asyncio.start_server(
            connected, host, port, limit=1 << 16, ssl=self._tls, ssl_handshake_timeout=handshake_s
        )
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _begin(self, upstream: Upstream, host: str, port: int) -> None:
        try:
            await upstream.begin(port, lambda address: self._listen(host, 0, address))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, Malformed) as error:
            raise UpstreamFailed(str(error) or "it is silent") from None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._deliver()

    async def _end_silent(self) -> None:
        """One look at all connections: a timer of each for each frame would cost more than the frame."""
        while True:
            await asyncio.sleep(PATIENCE_S)
            now = asyncio.get_running_loop().time()
            for task in [task for task, until in self._connections.items() if until < now]:
                task.cancel(SILENT)

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

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: Address | None
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        host = str((writer.get_extra_info("peername") or ("?",))[0])
        if len(self._connections) >= self._bounds.connections:
            _log.warning("refused a connection from %s: there are %d", host, len(self._connections))
            writer.close()
            return
        self._connections[task] = inf
        try:
            await self._converse(reader, writer, host, upstream)
        except Malformed as error:
            _log.warning("closed the connection from %s: %s", host, error)
        except asyncio.CancelledError as cancelled:
            if cancelled.args == (SILENT,):
                _log.info("closed the connection from %s: it was idle", host)
                writer.transport.abort()  # a client that reads nothing would let no end come
        except (asyncio.IncompleteReadError, OSError):
            pass  # the client went
        except Exception:
            _log.exception("closed the connection from %s: a request ended in an error", host)
        finally:
            del self._connections[task]
            writer.close()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, upstream: Address | None
    ) -> None:
        login = Login(self._users)
        behind = None
        if self._upstream is not None and upstream is not None:
            behind = Behind(self._upstream, upstream, writer)
        try:
            while True:
                frame = await self._frame(reader)
                self._wait_for(inf)
                if behind is None or not login.lets_in or not await behind.answers(frame):
                    await self._answer(login, frame, host, reader, writer)
                if writer.transport.get_write_buffer_size() or writer.is_closing():
                    self._wait_for(self._bounds.frame_s)
                    await writer.drain()
                if login.failed:
                    raise Malformed("its client could not log in")
        finally:
            if behind is not None:
                behind.close()

    async def _frame(self, reader: asyncio.StreamReader) -> bytes:
        self._wait_for(self._bounds.idle_s)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        if not 0 <= size <= self._bounds.frame_bytes:
            raise Malformed(f"a frame of {size} bytes; at most {self._bounds.frame_bytes} are read")
        self._wait_for(self._bounds.frame_s)
        return await reader.readexactly(size)

    def _wait_for(self, seconds: float) -> None:
        """Let the connection of this task be silent for so long from now on."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._connections[task] = loop.time() + seconds

    async def _answer(
        self,
        login: Login,
        frame: bytes,
        host: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        response = login.handle(self._broker, frame, host)
        if isinstance(response, int):
            response = await self._later(response, reader)
        else:
            self._deliver()
        writer.write(struct.pack(">i", len(response)) + response)

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
