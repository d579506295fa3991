"""A connection to a broker that a client and the recorder share: frames, and the owner of each answer."""

from __future__ import annotations

import asyncio
import struct
from typing import Final

from coordinator.serve.frames import Malformed, correlation_of, read_answer, request_frame
from harness.targets.base import Json

CLIENT_ID: Final = "conform-proxy"
CHUNK: Final = 1 << 16
LARGEST: Final = 100 * 2**20
"""The most bytes of a frame that is passed on unread (the default limit of Kafka's own brokers)."""
LARGEST_READ: Final = 16 * 2**20
"""The most bytes of an answer that is read."""
ANSWER_S: Final = 30.0
"""The seconds that the broker may take for an answer, except to requests that wait."""
_FIRST_OWN: Final = -(2**31)


class Link:
    """One connection to a broker. Answers to requests of `send` come as futures; all others are passed on to
    the client. ConnectionError where the broker is gone; Malformed where an answer cannot be read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.versions: dict[int, tuple[int, int]] = {}
        """The first and last version of each API of the broker, by Kafka's numbers."""
        self.kept = False
        """Tell if the connection outlives that of the client, for a request that comes late."""
        self._reader, self._writer = reader, writer
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._own = _FIRST_OWN
        self._pump: asyncio.Task[None] | None = None

    @staticmethod
    async def opened(host: str, port: int) -> Link:
        """Connect to a broker. OSError where it is not there."""
        async with asyncio.timeout(ANSWER_S):
            return Link(*await asyncio.open_connection(host, port, limit=CHUNK))

    def start(self, client: asyncio.StreamWriter) -> asyncio.Task[None]:
        """Begin to read answers; the reading task ends with the connection."""
        self._pump = asyncio.create_task(self._read(client))
        return self._pump

    def send(self, frame: bytes, correlation_id: int) -> asyncio.Future[bytes]:
        """Send a request; its answer's frame."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[correlation_id] = future
        if self._pump is None or self._pump.done():
            future.set_exception(ConnectionResetError("the broker closed the connection"))
        else:
            self._writer.write(struct.pack(">i", len(frame)) + frame)
        return future

    async def call(self, frame: bytes, correlation_id: int) -> bytes:
        """Send a request and wait for its answer's frame."""
        future = self.send(frame, correlation_id)
        async with asyncio.timeout(ANSWER_S):
            return await future

    def ask(self, key: int, api: str, version: int, body: Json) -> asyncio.Task[Json]:
        """Send a request of the recorder's own at once; its answer."""
        self._own += 1
        future = self.send(request_frame(CLIENT_ID, api, version, self._own, body), self._own)

        async def read() -> Json:
            async with asyncio.timeout(ANSWER_S):
                return read_answer(key, version, await future)

        return asyncio.create_task(read())

    async def pass_on(self, start: bytes, reader: asyncio.StreamReader, left: int) -> None:
        """Pass a client's frame on: its first bytes, and the given number of further bytes."""
        self._writer.write(start)
        await copy(reader, self._writer, left)

    def close(self) -> None:
        """Close the connection; pending answers are dropped."""
        if self._pump is not None:
            self._pump.cancel()
        self._writer.close()

    async def _read(self, client: asyncio.StreamWriter) -> None:
        failure: Exception = ConnectionResetError("the broker closed the connection")
        try:
            while True:
                head = await self._reader.readexactly(8)
                (size,) = struct.unpack(">i", head[:4])
                future = self._waiting.pop(correlation_of(head[4:]), None)
                if not 4 <= size <= (LARGEST if future is None else LARGEST_READ):
                    raise Malformed(f"the broker announced an answer of {size} bytes")
                if future is None:
                    client.write(head)
                    await copy(self._reader, client, size - 4)
                else:
                    answer = head[4:] + await self._reader.readexactly(size - 4)
                    if not future.done():
                        future.set_result(answer)
        except (asyncio.IncompleteReadError, OSError):
            pass
        except Malformed as error:
            failure = error
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(failure)
                    future.exception()  # no caller may wait for it
            self._waiting.clear()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int) -> None:
    """Copy this many bytes. IncompleteReadError where there are fewer."""
    while left:
        part = await reader.read(min(left, CHUNK))
        if not part:
            raise asyncio.IncompleteReadError(b"", left)
        writer.write(part)
        await writer.drain()
        left -= len(part)
    await writer.drain()
