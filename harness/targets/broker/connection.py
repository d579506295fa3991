"""One connection to a broker: frames, correlation ids, versions and time-outs; the messages are JSON."""

from __future__ import annotations

import select
import socket
import struct
import time
from typing import Final

from coordinator.serve.frames import NUMBERS, Malformed, correlation_of, read_answer, request_frame
from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Json

TIMEOUT_S: Final = 30.0
"""The time that connecting, and each answer, may take."""
LARGEST: Final = 100 * 2**20
"""The most bytes of an answer: more is not Kafka's protocol (this is the default limit of Kafka's own
brokers)."""
CLIENT_ID: Final = "conform"

_NAMES: Final = {number: name for name, number in NUMBERS.items()}


class Unreachable(ConformError):
    """The broker cannot be connected to, is silent, closed the connection or sends malformed answers (exit
    3)."""

    def __init__(self, address: str, what: str, way_out: str) -> None:
        super().__init__(f"The broker {address} {what}: {way_out}.", ENGINE_FAILED)


def address_of(host: str, port: int) -> str:
    """HOST:PORT; an IPv6 address is in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Connection:
    """A synchronous client of one broker; one request at a time.

    Every method raises Unreachable when the broker fails; from then on `call` raises it at once. After a call
    that was interrupted (Ctrl-C) the next one connects anew, so that it does not get the other's answer.
    """

    def __init__(self, host: str, port: int, timeout_s: float = TIMEOUT_S) -> None:
        self.address = address_of(host, port)
        self._place = host, port
        self._timeout_s = timeout_s
        self._correlation_id = 0
        self._failure: Unreachable | None = None
        self._asked: tuple[str, int] | None = None
        self._socket = self._connected()
        try:
            self.versions = self._negotiated()
        except BaseException:
            self._socket.close()
            raise

    def _connected(self) -> socket.socket:
        try:
            connected = socket.create_connection(self._place, self._timeout_s)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, OverflowError, UnicodeError) as error:
            raise Unreachable(
                self.address,
                f"cannot be reached ({error})",
                "start one with `conform broker up`, or name one that runs as broker:HOST:PORT",
            ) from None
        return connected

    def _negotiated(self) -> dict[str, tuple[int, int]]:
        """The APIs of the broker with their first and last versions, by Kafka's names."""
        answer = self.call("ApiVersions", 0, {})
        return {
            _NAMES[api["apiKey"]]: (api["minVersion"], api["maxVersion"])
            for api in answer["apiKeys"]
            if api["apiKey"] in _NAMES
        }

    def has(self, api: str, version: int) -> bool:
        """Tell if the broker has this version of an API."""
        first, last = self.versions.get(api, (0, -1))
        return first <= version <= last

    def call(self, api: str, version: int, body: Json, client_id: str = CLIENT_ID) -> Json:
        """Send one request and wait for its response. ValueError, in words, for a malformed body."""
        self.begin(api, version, body, client_id)
        return self._answer()

    def begin(self, api: str, version: int, body: Json, client_id: str = CLIENT_ID) -> None:
        """Begin a request whose answer may take long: call `poll` for it before any other call."""
        if self._failure is not None:
            raise self._failure
        self._correlation_id += 1
        frame = request_frame(client_id, api, version, self._correlation_id, body)
        try:
            if self._asked:
                self._socket.close()
                self._socket = self._connected()
            self._asked = api, version
            self._exchanged(api, struct.pack(">i", len(frame)) + frame)
        except Unreachable as failure:
            self._failure = failure
            raise

    def poll(self, wait_s: float) -> Json | None:
        """The answer to the begun request, if it comes in this time."""
        if not select.select([self._socket], [], [], wait_s)[0]:
            return None
        return self._answer()

    def another(self) -> Connection:
        """A further connection to the same broker."""
        return Connection(*self._place, self._timeout_s)

    def _answer(self) -> Json:
        api, version = self._asked or ("", 0)
        try:
            answer = self._decoded(api, version, self._exchanged(api, None))
        except Unreachable as failure:
            self._failure = failure
            raise
        self._asked = None
        return answer

    def _exchanged(self, api: str, frame: bytes | None) -> bytes:
        """Send a frame; or receive one, where there is none to send."""
        deadline = time.monotonic() + self._timeout_s
        try:
            if frame is not None:
                self._socket.settimeout(self._timeout_s)
                self._socket.sendall(frame)
                return b""
            (length,) = struct.unpack(">i", self._received(4, deadline))
            if not 0 <= length <= LARGEST:
                raise self._nonsense(api)
            return self._received(length, deadline)
        except TimeoutError:
            what = f"did not answer {api} within {self._timeout_s:g} s"
            raise Unreachable(self.address, what, "see whether it still runs, and its log") from None
        except OSError as error:
            what = f"closed the connection in {api} ({error})"
            raise Unreachable(self.address, what, "see its log for why") from None

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _decoded(self, api: str, version: int, frame: bytes) -> Json:
        try:
            answer = read_answer(NUMBERS[api], version, frame)
        except Malformed:
            raise self._nonsense(api) from None
        if correlation_of(frame) != self._correlation_id:
            raise self._nonsense(api)
        return answer

    def _received(self, length: int, deadline: float) -> bytes:
        parts = []
        while length:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            part = self._socket.recv(min(length, 1 << 16))
            if not part:
                raise ConnectionResetError("end of the stream")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _nonsense(self, api: str) -> Unreachable:
        return Unreachable(
            self.address,
            f"answered {api} with something that is not Kafka's protocol",
            "see whether a Kafka broker listens there, without TLS and SASL",
        )
