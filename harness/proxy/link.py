"""A connection to a broker that a client and the recorder share: frames, and the owner of each answer."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Coroutine
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
        self.silent = False
        """Tell if a frame was lost: then nothing more passes, in either direction."""
        self._reader, self._writer = reader, writer
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._own = _FIRST_OWN
        self._pump: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    @staticmethod
    async def opened(host: str, port: int) -> Link:
        """Connect to a broker. OSError where it is not there."""
        async with asyncio.timeout(ANSWER_S):
            return Link(*await asyncio.open_connection(host, port, limit=CHUNK))

    def start(self, requests: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Begin to read answers. When the connection ends, `requests` and all waiting callers get the
        reason."""
        self._pump = asyncio.create_task(self._read(requests, client))

    def send(self, frame: bytes, correlation_id: int) -> asyncio.Future[bytes]:
        """Send a request; its answer's frame."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if self._failure is not None:
            future.set_exception(self._failure)
        else:
            self._waiting[correlation_id] = future
            self._writer.write(struct.pack(">i", len(frame)) + frame)
        return future

    def call(self, frame: bytes, correlation_id: int) -> Coroutine[None, None, bytes]:
        """Send a request at once; its answer's frame. TimeoutError if that takes too long."""
        future = self.send(frame, correlation_id)

        async def answered() -> bytes:
            async with asyncio.timeout(ANSWER_S):
                return await future

        return answered()

    def ask(self, key: int, api: str, version: int, body: Json) -> Coroutine[None, None, Json]:
        """Send a request of the recorder's own at once; its answer."""
        self._own += 1
        answered = self.call(request_frame(CLIENT_ID, api, version, self._own, body), self._own)

        async def read() -> Json:
            return read_answer(key, version, await answered)

        return read()

    async def pass_on(self, start: bytes, reader: asyncio.StreamReader, left: int) -> None:
        """Pass a client's frame on: its first bytes, and the given number of further bytes."""
        await _copy(start, reader, None if self.silent else self._writer, left)

    def close(self) -> None:
        """Close the connection; pending answers are dropped."""
        if self._pump is not None:
            self._pump.cancel()
        self._fail(ConnectionResetError("the proxy closed the connection"))
        self._writer.close()

    def _fail(self, failure: Exception) -> None:
        """End all waiting, now and later, with the reason."""
        self._failure = failure
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(failure)
                future.exception()  # no caller may wait for it
        self._waiting.clear()

    async def _read(self, requests: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        failure: Exception = ConnectionResetError("the broker closed the connection")
        try:
            while True:
                head = await self._reader.readexactly(8)
                (size,) = struct.unpack(">i", head[:4])
                correlation = correlation_of(head[4:])
                is_read = correlation in self._waiting
                if not 4 <= size <= (LARGEST_READ if is_read else LARGEST):
                    raise Malformed(f"the broker announced an answer of {size} bytes")
                if is_read:
                    answer = head[4:] + await self._reader.readexactly(size - 4)
                    future = self._waiting.pop(correlation)
                    if not future.done():
                        future.set_result(answer)
                else:
                    await _copy(head, self._reader, None if self.silent else client, size - 4)
        except (asyncio.IncompleteReadError, OSError):
            pass
        except Malformed as error:
            failure = error
        self._fail(failure)
        requests.set_exception(failure)


async def _copy(
    start: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter | None, left: int
) -> None:
    """Copy the bytes at the start and this many more; without a writer they are dropped. IncompleteReadError
    where there are fewer."""
    part = start
    while True:
        if writer is not None:
            writer.write(part)
            await writer.drain()
        if not left:
            return
        part = await reader.read(min(left, CHUNK))
        if not part:
            raise asyncio.IncompleteReadError(b"", left)
        left -= len(part)
