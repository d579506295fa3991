"""A broker in a thread of the test, and frames for one without sockets."""

from __future__ import annotations

import asyncio
import io
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from coordinator import Coordinator, Dialect
from coordinator.core.clock import Clock, SimulatedClock, SystemClock, numbered_ids, random_ids
from coordinator.serve.broker import Broker
from coordinator.serve.cluster import Cluster
from coordinator.serve.codec import from_json, to_json
from coordinator.serve.connection import Bounds
from coordinator.serve.server import Server
from coordinator.serve.stored import CountedStorage
from coordinator.serve.upstream import Upstream
from harness.targets.broker.local import free_port

ROOT = Path(__file__).parents[2]
FAST = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 150,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.min.session.timeout.ms": 1000,
    "group.initial.rebalance.delay.ms": 100,
}


class Recorded(Broker):
    """A broker that remembers which version of each API clients sent. Calls that a test puts into `todo`
    are done before the next request, in the thread of the server."""

    def __init__(
        self, coordinator: Coordinator, cluster: Cluster, storage: CountedStorage | None = None
    ) -> None:
        super().__init__(coordinator, cluster, storage)
        self.seen: set[tuple[int, int]] = set()
        self.todo: list[Callable[[], object]] = []
        self.fail_over = coordinator.restart
        self.group = coordinator.describe

    def handle(self, frame: bytes, host: str) -> bytes | int:
        if len(frame) >= 4:
            self.seen.add(struct.unpack_from(">hh", frame))
        while self.todo:
            self.todo.pop()()
        return super().handle(frame, host)


def broker(
    topics: dict[str, int],
    port: int = 9092,
    clock: Clock | None = None,
    rate: int = 10,
    dialect: str = "kip-848",
    settings: dict[str, int] | None = None,
    storage: CountedStorage | None = None,
) -> Recorded:
    simulated = clock is None
    clock = clock or SimulatedClock()
    coordinator = Coordinator(
        dialect=Dialect.named(dialect),
        clock=clock,
        ids=numbered_ids() if simulated else random_ids(),
        storage=storage,
    )
    if settings:
        coordinator.configure(settings)
    numbers = count(1)
    cluster = Cluster(
        "127.0.0.1", port, clock.now_ms(), lambda: f"00000000-0000-0000-0000-{next(numbers):012}", rate
    )
    for name, partitions in topics.items():
        cluster.add(name, partitions)
    return Recorded(coordinator, cluster, storage)


@contextmanager
def serving(
    bounds: Bounds | None = None,
    users: dict[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    upstream: int | None = None,
    **options: Any,
) -> Iterator[tuple[Recorded, int]]:
    """A broker on a socket, and its port, while the context lasts; in front of the broker at another port."""
    port = free_port()
    made = broker(port=port, **{"clock": SystemClock(), **options})
    loop = asyncio.new_event_loop()
    stop, listening, ready = asyncio.Event(), asyncio.Event(), threading.Event()

    async def main() -> None:
        behind = None if upstream is None else Upstream(("127.0.0.1", upstream), made)
        server = Server(made, bounds or Bounds(), users, tls, behind)
        running = asyncio.create_task(server.run("127.0.0.1", port, stop, listening))
        await listening.wait()
        ready.set()
        await running

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield made, port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        assert not thread.is_alive()
        loop.close()


def frame(key: int, version: int, body: dict[str, Any], client: str = "c", correlation: int = 7) -> bytes:
    """A request's bytes."""
    schema: Any = load_request_schema(key, version)
    header = schema.__header_schema__
    buffer = io.BytesIO()
    fields = {"request_api_key": schema.__api_key__, "request_api_version": schema.__version__}
    entity_writer(header)(buffer, header(**fields, correlation_id=correlation, client_id=client))
    entity_writer(schema)(buffer, from_json(schema, body))
    return buffer.getvalue()


def response(key: int, version: int, data: bytes | int) -> dict[str, Any]:
    """A response as JSON, after its correlation id."""
    assert isinstance(data, bytes)
    schema: Any = load_response_schema(key, version)
    header, start = entity_reader(schema.__header_schema__)(data, 0)
    assert header.correlation_id == 7
    message, size = entity_reader(schema)(data, start)
    assert start + size == len(data)
    return to_json(message)


def ask(made: Broker, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
    return response(key, version, made.handle(frame(key, version, body), "127.0.0.1"))
