"""Clients that send faster than the server handles: bytes that are kept, and turns of other connections."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Awaitable, Callable

import pytest
from served import ROOT, broker, frame

from coordinator.serve.connection import AHEAD, TURN_S, UNREAD, Connection
from coordinator.serve.server import Server
from coordinator.serve.upstream import Address

CHUNK = 1 << 18
"""The most bytes that asyncio reads at once."""
PORT_OF_ANY = 0


class Watched(Connection):
    """A connection that notes the most bytes that it has kept."""

    most = 0

    def go_on(self) -> None:
        super().go_on()
        Watched.most = max(Watched.most, len(self._buffer) + sum(map(len, self._read)))


class WatchedServer(Server):
    def connection(self, address: Address | None) -> Connection:
        return Watched(self._shared, address)


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def test_the_document_has_these_bounds() -> None:
    page = " ".join((ROOT / "docs/serve.md").read_text().split())
    assert f"more than {UNREAD >> 10} KiB of requests is read again" in page
    assert f"after {TURN_S * 1000:.0f} ms of its requests" in page


def served(act: Callable[[int], Awaitable[object]]) -> list[str]:
    """Do something with a server at a port; the clients of all requests, in the order of their handling."""
    made, handled = broker({"foo": 1}), []
    works = made.respond

    def respond(sent: object) -> bytes | int:
        handled.append(sent.client["id"])  # type: ignore[attr-defined]
        return works(sent)  # type: ignore[arg-type]

    made.respond = respond  # type: ignore[method-assign]

    async def main() -> None:
        server, stop, listening = WatchedServer(made), asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(server.run("127.0.0.1", PORT_OF_ANY, stop, listening))
        await listening.wait()
        await act(server._servers[0].sockets[0].getsockname()[1])
        stop.set()
        await running

    Watched.most = 0
    asyncio.run(main())
    return handled


def test_a_client_that_sends_on_and_on_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its requests are answered, in their order. Here each is a turn, as if it took long."""
    monkeypatch.setattr("coordinator.serve.connection.TURN_S", 0.0)
    count = 8000
    many = b"".join(framed(frame(18, 0, {}, client=f"{number:01000}")) for number in range(count))

    def flood(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), 30) as client:
            sender = threading.Thread(target=client.sendall, args=(many,))
            sender.start()
            answers = client.makefile("rb")
            for _ in range(count):
                assert len(answers.read(int.from_bytes(answers.read(4), "big"))) > 4
            sender.join()

    handled = served(lambda port: asyncio.to_thread(flood, port))
    assert len(many) > 7 << 20 and Watched.most < 3 * UNREAD + CHUNK
    assert handled == [f"{number:01000}" for number in range(count)]


def test_frames_behind_a_request_that_waits_are_not_kept_in_memory() -> None:
    """Though there are fewer of them than are read ahead."""
    join = {"groupId": "c", "memberId": "", "protocolType": "consumer", "sessionTimeoutMs": 10_000}
    protocols = {"rebalanceTimeoutMs": 20_000, "protocols": [{"name": "range", "metadata": "AAA="}]}
    waits = framed(frame(11, 3, join | protocols))
    behind = framed(frame(18, 0, {}, client="x" * 30_000)) * (AHEAD - 1)

    def wait(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), 0.5) as client:
            client.sendall(waits)
            with pytest.raises(TimeoutError):
                while True:
                    client.sendall(behind)  # until the buffers of the system are full

    assert served(lambda port: asyncio.to_thread(wait, port)) == ["c"]
    assert Watched.most < 3 * UNREAD + CHUNK


def test_another_connection_has_its_turn_before_a_client_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn ends after some time, and here at once: the requests of a client may take long."""
    monkeypatch.setattr("coordinator.serve.connection.TURN_S", 0.0)
    many = b"".join(framed(frame(18, 0, {}, client="many")) for _ in range(AHEAD))
    one = framed(frame(18, 0, {}, client="one"))

    async def answered(reader: asyncio.StreamReader) -> bytes:
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))

    async def both(port: int) -> None:
        first, other = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for reader, writer in (first, other):  # both are accepted
            writer.write(one)
            await answered(reader)
        first[1].write(many)  # both writes are done before the server has its turn
        other[1].write(one)
        await answered(other[0])
        for _ in range(AHEAD):
            await answered(first[0])
        for _, writer in (first, other):
            writer.close()

    handled = served(both)[2:]
    assert handled.index("one") < AHEAD - 1 and handled.count("many") == AHEAD
