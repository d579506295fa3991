"""The coordinator of this kit on a socket, with all requests of its one client in a timeline.

A frame is noted when it is read, not when it is handled: so a request that was sent before an answer arrived
stands before that answer. Everything runs in one event loop, so the timeline has one order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Final
from uuid import UUID

from coordinator import Config, Coordinator
from coordinator.core.clock import SystemClock, random_ids
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.serve.broker import Broker, Sent
from coordinator.serve.cluster import Cluster
from coordinator.serve.connection import Connection, Shared
from coordinator.serve.frames import Malformed
from coordinator.serve.group_apis import GROUP_APIS, GroupApi
from coordinator.serve.server import Server
from coordinator.serve.upstream import Address
from harness.clients.front import Front
from harness.clients.timeline import COMMIT, FIND, HEARTBEAT, OFFSET_FETCH, Partitions, Setup
from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.broker.local import free_port

_HOST: Final = "127.0.0.1"
_JUDGED: Final = (HEARTBEAT, COMMIT, OFFSET_FETCH)
_FETCH, _FIND = 1, 10
_PORTS: Final = 5
"""The number of ports that are tried: another program may take a port between its choice and its use."""


@dataclass(slots=True)
class _Arrived:
    """A request that was read; its number in the timeline (0: not in it), its answer, and the time (ms) for
    which the answer is held."""

    sent: Sent
    number: int = 0
    answer: Json | None = None
    held_ms: int = 0


class _Broker(Broker):
    """A broker whose group requests go through the front."""

    def __init__(
        self,
        coordinator: Coordinator,
        cluster: Cluster,
        front: Front,
        fetched: Callable[[Partitions], None],
    ) -> None:
        super().__init__(coordinator, cluster)
        self._front = front
        self._fetched = fetched
        self._current: _Arrived | None = None

    def arrived(self, sent: Sent, connection: int) -> _Arrived:
        """Note a request in the timeline."""
        api, one = GROUP_APIS.get(sent.key), _Arrived(sent)
        if sent.key == _FIND:
            one.number = self._front.arrived(FIND, sent.body, connection)
        elif sent.key == _FETCH:
            self._fetched(_partitions(sent.body, self._front))
        elif api is not None and api.name in _JUDGED:
            with suppress(KeyError, TypeError, IndexError):  # it is refused when it is handled
                one.number = self._front.arrived(
                    api.name, api.requests(sent.version, sent.body)[0], connection
                )
        return one

    def answer(self, arrived: _Arrived) -> bytes | int:
        """The response, or the ticket of a request that waits. ConnectionAbortedError: cut the connection."""
        self._current = arrived
        return self.respond(arrived.sent)

    def grow(self, topic: str) -> None:
        """Give a topic one more partition."""
        self._cluster.add(topic, self._cluster.topics[topic].partitions + 1)
        self._set_topics(set())

    def _ask(self, api: GroupApi, sent: Sent, body: Json, ticket: int) -> Json:
        if api.name not in _JUDGED:
            return super()._ask(api, sent, body, ticket)
        assert self._current is not None
        try:
            answer, held_ms = self._front.handle(api.name, api.version, sent.client, body)
        except BadInput as error:
            raise Malformed(f"{api.name}: {error}") from None
        if answer is None:
            raise ConnectionAbortedError("the schedule cuts this connection")
        self._current.answer, self._current.held_ms = answer, held_ms
        return answer


class _Connection(Connection):
    """A connection whose reads, answers and cuts are noted. Requests are read ahead."""

    def __init__(self, shared: Shared, broker: _Broker, front: Front, number: int) -> None:
        super().__init__(shared, None)
        self._judged = broker
        self._front = front
        self._number = number
        self._unanswered: list[int] = []

    def read(self, frame: bytes) -> _Arrived:
        """Note a request when it is read."""
        arrived = self._judged.arrived(self._judged.read(frame, self.host), self._number)
        if arrived.number:
            self._unanswered.append(arrived.number)
        return arrived

    def respond(self, request: _Arrived) -> bytes | int:
        """The response, or the ticket of a request that waits. ConnectionAbortedError cuts the connection."""
        return self._judged.answer(request)

    def answer(self, request: _Arrived, response: bytes) -> None:
        """Note an answer when it is sent, which is later where the schedule holds it."""
        if request.held_ms:
            loop = asyncio.get_running_loop()
            loop.call_later(request.held_ms / 1000, self._answer_held, request, response)
        else:
            self._send(request, response)

    def _answer_held(self, request: _Arrived, response: bytes) -> None:
        self._send(request, response)
        self.go_on()

    def _send(self, request: _Arrived, response: bytes) -> None:
        if request.number in self._unanswered:
            self._unanswered.remove(request.number)
            self._front.answered(request.number, request.answer or {})
        super().answer(request, response)

    def eof_received(self) -> bool:
        """Close both sides: a client that has gone reads no answers."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """Handle the requests that a client sent before it went, if the schedule has not cut its
        connection."""
        self._cut()
        for request in list(self._read):
            with suppress(Malformed, OSError):
                if isinstance(request, _Arrived):
                    self.respond(request)
        self.end()

    def end(self) -> None:
        """Close the connection; the answers to its requests are dropped."""
        self._cut()
        super().end()

    def _cut(self) -> None:
        while self._unanswered:
            self._front.answered(self._unanswered.pop(0), None)


class _Server(Server):
    """A server that notes reads, answers and cuts."""

    def __init__(self, broker: _Broker, front: Front) -> None:
        super().__init__(broker)
        self._judged = broker
        self._front = front
        self._numbers = count(1)

    @property
    def open(self) -> int:
        """The number of connections."""
        return len(self._shared.open)

    def connection(self, address: Address | None) -> Connection:
        """A new connection."""
        return _Connection(self._shared, self._judged, self._front, next(self._numbers))


class ServedCoordinator:
    """A coordinator with the topics `partitions` (name -> number), on a port of its own, for one schedule.

    `names` is topic id -> name. `fetched` gets the partitions of each Fetch. The methods are those of
    `harness.clients.wired.Served`.
    """

    def __init__(
        self,
        setup: Setup,
        names: dict[str, str],
        partitions: dict[str, int],
        now_ms: Callable[[], int],
        fetched: Callable[[Partitions], None],
    ) -> None:
        config = Config(session_timeout_ms=setup.session_ms, heartbeat_interval_ms=setup.interval_ms)
        coordinator = Coordinator(clock=SystemClock(), ids=random_ids(), config=config)
        self.port = free_port()
        numbers = count(1)
        started_ms = coordinator.clock.now_ms()
        cluster = Cluster(_HOST, self.port, started_ms, lambda: str(UUID(int=next(numbers))))
        self._cluster = cluster
        for name, number in partitions.items():
            cluster.add(name, number)
        self.front = Front(coordinator, names, now_ms)
        self._broker = _Broker(coordinator, cluster, self.front, fetched)
        self._server = _Server(self._broker, self.front)
        self._stop = asyncio.Event()
        self._running: asyncio.Task[int] | None = None

    async def start(self) -> None:
        """Listen, at another port where one was taken meanwhile. ConformError where all were taken."""
        for _ in range(_PORTS):
            listening = asyncio.Event()
            self._running = asyncio.create_task(self._server.run(_HOST, self.port, self._stop, listening))
            ready = asyncio.create_task(listening.wait())
            try:
                await asyncio.wait([self._running, ready], return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                self._running.cancel()
                ready.cancel()
                raise
            if listening.is_set():
                return
            ready.cancel()
            if not isinstance(self._running.exception(), OSError):
                await self._running
            self.port = self._cluster.port = free_port()
        raise ConformError(
            f"{_PORTS} free ports were taken by other programs at once; run it again.", ENGINE_FAILED
        )

    async def stop(self) -> None:
        """Close all connections."""
        self._stop.set()
        if self._running is not None:
            await self._running

    async def drained(self, longest_s: float) -> None:
        """Wait until all bytes that a client sent before it ended were read."""
        loop = asyncio.get_running_loop()
        end = loop.time() + longest_s
        while self._server.open and loop.time() < end:
            await asyncio.sleep(0.01)

    def grow(self, topic: str) -> None:
        """Give a topic one more partition."""
        self._broker.grow(topic)


def _partitions(body: Json, front: Front) -> Partitions:
    """The partitions of a Fetch; its versions name topics by name or by id."""
    return frozenset(
        f"{front.names.get(topic.get('topicId') or '', topic.get('topic'))}-{one['partition']}"
        for topic in body["topics"]
        for one in topic["partitions"]
    )
