"""The proxy on its sockets: a listener for each process of a client and each broker that an answer names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coordinator.serve.frames import Malformed
from harness.errors import ConformError
from harness.proxy.conversation import Client, Conversation, Cut, Shared
from harness.proxy.faults import Faults
from harness.proxy.link import Link
from harness.proxy.record import Record

MOST_BROKERS: Final = 100
"""The most listeners of one client: a broker's answer cannot make the proxy open more."""
Address = tuple[str, int]
"""Host and port."""
_log = logging.getLogger("harness.proxy")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The number of connections at a time, the seconds that one may be idle, and that a frame may take from
    its first byte to its last."""

    connections: int = 1000
    idle_s: float = 600.0
    frame_s: float = 30.0


class Proxy:
    """Clients in front of a broker; `run` does everything."""

    def __init__(self, upstream: Address, record: Record, faults: Faults, bounds: Bounds = Bounds()) -> None:
        self._upstream = upstream
        self._bounds = bounds
        self._shared = Shared(record, faults, asyncio.Lock(), bounds.idle_s, bounds.frame_s)
        self._servers: list[asyncio.Server] = []
        self._conversations: set[asyncio.Task[None]] = set()
        self._clients: list[Client] = []
        self._failure: ConformError | None = None
        self._stop = asyncio.Event()

    async def run(self, listen: Sequence[Address], stop: asyncio.Event, listening: asyncio.Event) -> None:
        """Serve until `stop` is set. OSError where an address is not free; ConformError where the record
        cannot be written."""
        self._stop = stop
        try:
            for number, (host, port) in enumerate(listen, start=1):
                client = Client(number)
                self._clients.append(client)
                client.places[self._upstream] = await self._listen(client, self._upstream, host, port)
            listening.set()
            await stop.wait()
        finally:
            for server in self._servers:
                server.close()
            running = self._conversations | self._shared.arriving
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    @property
    def connections(self) -> int:
        """The number of connections of clients."""
        return len(self._conversations)

    async def _listen(self, client: Client, upstream: Address, host: str, port: int) -> Address:
        """Listen for a client at a host and port (0: any free one), in the place of a broker."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._connected(client, upstream, (reader, writer))

        server = await asyncio.start_server(connected, host, port, limit=1 << 16)
        self._servers.append(server)
        return host, int(server.sockets[0].getsockname()[1])

    async def _place(self, client: Client, here: str, broker: Address) -> Address:
        """The address at which a client that connected to the host `here` reaches a broker."""
        if broker not in client.places:
            if len(client.places) >= MOST_BROKERS:
                raise Malformed(f"the broker names more than {MOST_BROKERS} brokers")
            host = client.places[self._upstream][0]
            client.places[broker] = await self._listen(client, broker, host, 0)
            _log.info("client %d reaches %s:%d at port %d", client.number, *broker, client.places[broker][1])
        return here, client.places[broker][1]

    async def _connected(
        self, client: Client, upstream: Address, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        writer = streams[1]
        who = f"client {client.number}"
        if len(self._conversations) >= self._bounds.connections:
            _log.warning("refused a connection of %s: there are %d", who, len(self._conversations))
            writer.close()
            return
        self._conversations.add(task)
        try:
            await self._converse(client, upstream, streams)
        except Malformed as error:
            _log.warning("closed a connection of %s: %s", who, error)
        except Cut:
            _log.info("a fault cut a connection of %s", who)
        except TimeoutError:
            _log.info("closed a connection of %s: it, or the broker, was silent for too long", who)
        except ConformError as error:  # the record cannot be written
            self._failure = error
            self._stop.set()
        except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError) as error:
            _log.debug("a connection of %s ended: %s", who, error)
        except Exception:  # one connection ends, whatever its bytes did to the proxy; the others go on
            _log.exception("closed a connection of %s: a request ended in an error", who)
        finally:
            self._conversations.discard(task)
            writer.close()

    async def _converse(
        self, client: Client, upstream: Address, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]
    ) -> None:
        writer = streams[1]
        here = str(writer.get_extra_info("sockname")[0])
        try:
            link = await Link.opened(*upstream)
        except (OSError, TimeoutError) as error:
            _log.warning("the broker %s:%d cannot be reached: %s", *upstream, error)
            return

        async def listener(host: str, port: int) -> Address:
            return await self._place(client, here, (host, port))

        link.start(*streams)
        try:
            await Conversation(self._shared, client, streams, link, listener).run()
        finally:
            if not link.kept:
                link.close()
