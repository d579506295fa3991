"""The broker on a socket: its clock, and its connections (connection.py). Idle connections are closed."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Mapping
from time import monotonic
from typing import Final

from coordinator.core.errors import AppendFailed, BadInput
from coordinator.serve.broker import Broker
from coordinator.serve.connection import Bounds, Connection, Shared
from coordinator.serve.login import VERSIONS as SASL
from coordinator.serve.upstream import FAILURES, Address, Upstream

TICK_S: Final = 0.01
"""The seconds between two looks at time-outs and waiting requests."""
PATIENCE_S: Final = 0.1
"""The seconds between two looks at silent connections."""
_log = logging.getLogger("coordinator.serve")


class UpstreamFailed(Exception):
    """An error: there is no broker upstream that can be used. The text has the reason."""


class Server:
    """A broker for clients that connect."""

    def __init__(
        self,
        broker: Broker,
        bounds: Bounds | None = None,
        users: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        upstream: Upstream | None = None,
    ) -> None:
        """`users` has passwords by names, for SASL/PLAIN; `tls` has the server's certificate; `upstream` is
        the cluster that has the data. Each of them is off where it is None."""
        self._broker = broker
        self._tls = tls
        self._upstream = upstream
        self._servers: list[asyncio.Server] = []
        if users:
            broker.offered |= SASL
        self._looks = False
        self._shared = Shared(broker, bounds or Bounds(), users or {}, upstream, self._look_soon)

    def connection(self, address: Address | None) -> Connection:
        """A new connection, of a client that reaches the broker at this address here."""
        return Connection(self._shared, address)

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
            open_ones = len(self._shared.open)
            for connection in list(self._shared.open):
                connection.end()
        return open_ones

    async def _listen(self, host: str, port: int, upstream: Address | None) -> int:
        """Listen at a port (0: any free one), for a broker behind this server or for none; the port."""

        # Only TLS has a handshake; asyncio refuses a time-out for a handshake without TLS.
        handshake_s = None if self._tls is None else self._shared.bounds.frame_s
        server = await asyncio.get_running_loop().create_server(
            lambda: self.connection(upstream), host, port, ssl=self._tls, ssl_handshake_timeout=handshake_s
        )
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _begin(self, upstream: Upstream, host: str, port: int) -> None:
        try:
            await upstream.begin(port, lambda address: self._listen(host, 0, address))
        except (BadInput, AppendFailed) as error:
            raise UpstreamFailed(f"the topics of {upstream} cannot be taken over: {error}") from None
        except FAILURES as error:
            why = str(error) or "it is silent"
            raise UpstreamFailed(f"no broker of Kafka answers at {upstream}: {why}") from None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._deliver()

    async def _end_silent(self) -> None:
        """One look at all connections: a timer for each frame of each connection would cost more than the
        frame."""
        while True:
            await asyncio.sleep(PATIENCE_S)
            now = monotonic()
            for connection in [one for one in self._shared.open if one.until < now]:
                connection.end_silent()

    def _look_soon(self) -> None:
        """Look once for all requests that the event loop finds at the same time."""
        if not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        """Hand out the responses that are ready. A fault is logged, and the next look goes on: the fault may
        belong to any group, so it ends neither the clock nor the connection that triggered the look."""
        self._looks = False
        try:
            ready = self._broker.ready()
        except Exception:  # of any kind, as the docstring says
            _log.exception("responses that wait could not be looked at")
            return
        for ticket, response in ready:
            connection = self._shared.waiting.pop(ticket, None)
            if connection is not None:
                connection.answered(response)
