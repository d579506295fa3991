"""A proxy in a thread of the test, in front of a broker, and its record."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.proxy.faults import Faults, no_faults
from harness.proxy.record import Record
from harness.proxy.run import Bounds, Proxy
from harness.targets.broker.local import free_port
from harness.targets.recording import opened_log


@contextmanager
def proxied(
    upstream: int, log: Path, clients: int = 1, faults: Faults = no_faults, bounds: Bounds | None = None
) -> Iterator[list[int]]:
    """The ports of the clients, while the context lasts; the record is complete behind it."""
    ports = [free_port() for _ in range(clients)]
    loop = asyncio.new_event_loop()
    stop, listening, ready = asyncio.Event(), asyncio.Event(), threading.Event()

    async def main() -> None:
        with opened_log(log) as note:
            made = Proxy(("127.0.0.1", upstream), Record(note, "kafka-4.2"), faults, bounds or Bounds())
            running = asyncio.create_task(made.run([("127.0.0.1", port) for port in ports], stop, listening))
            await listening.wait()
            ready.set()
            await running

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield ports
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        assert not thread.is_alive()
        loop.close()


def lines(log: Path) -> list[dict[str, Any]]:
    """The whole lines of a record. The proxy may be in the middle of its last line."""
    text = log.read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def faults_in(log: Path) -> list[dict[str, Any]]:
    """The faults of a record, drawn or planned."""
    return [line for line in lines(log) if line["op"] == "fault" and "nth" in line]
