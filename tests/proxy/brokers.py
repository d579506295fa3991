"""A broker of blocking sockets whose answers a test may replace, and the frames of its clients."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from served import broker, frame

HEARTBEAT, FETCH = 68, 1
Replace = Callable[[int, bytes], bytes | None]
"""Takes the API of a request and the frame of its answer; gives the bytes to send, or None to close."""


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def read_frame(connection: socket.socket) -> bytes:
    """The next frame without its length; b"" at the end."""
    start = _read(connection, 4)
    return _read(connection, *struct.unpack(">i", start)) if start else b""


def _read(connection: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size and (part := connection.recv(size - len(read))):
        read += part
    return read


@contextmanager
def answering(replace: Replace = lambda _, answer: answer) -> Iterator[int]:
    """A broker in threads of the test, on a clock that stands still; its port."""
    made, one_at_a_time = broker({"foo": 4}, dialect="kafka-4.2"), threading.Lock()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while request := read_frame(connection):
                with one_at_a_time:
                    answer = made.handle(request, "127.0.0.1")
                if isinstance(answer, int):  # it waits for ever
                    continue
                sent = replace(struct.unpack_from(">h", request)[0], framed(answer))
                if sent is None:
                    return
                connection.sendall(sent)

    def listen() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def heartbeat(epoch: int, correlation: int = 7) -> bytes:
    """The frame of a heartbeat."""
    body: dict[str, Any] = {"groupId": "g", "memberId": "m", "memberEpoch": epoch}
    if not epoch:
        body |= {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    return framed(frame(HEARTBEAT, 0, body, correlation=correlation))
