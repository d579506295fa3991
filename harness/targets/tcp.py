"""`tcp:HOST:PORT`: a coordinator inside a server that speaks the line protocol on a connection.

Each connection has a coordinator of its own, as each start of a program has. So a target that has neither
`load` nor `fresh` is made new by another connection.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from typing import IO, cast

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import place_of
from harness.targets.program import Lines
from harness.targets.stdio import TIMEOUT_S, StdioTarget


class TcpTarget(StdioTarget):
    """A server; the methods are those of `harness.targets.base.Target`. ConformError: exit 2 for a malformed
    address, 3 for a server that is not there."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__(address, timeout_s, f"tcp:{address}")

    def _opened(self) -> Lines:
        return Wire(self.name, self._timeout_s)


class Wire(Lines):
    """One connection."""

    def __init__(self, name: str, timeout_s: float) -> None:
        place = place_of(name, "server")
        with ExitStack() as stack:
            try:
                self._socket = socket.create_connection(place, timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except (OSError, UnicodeError) as error:
                raise ConformError(
                    f"The target {name} cannot be reached ({error}): start the server, which listens there.",
                    ENGINE_FAILED,
                ) from None
            stack.callback(self._socket.close)
            self._socket.settimeout(None)
            # two ends, as a program has
            output = cast(IO[bytes], self._socket.makefile("rb", buffering=0))
            other = self._socket.dup()
            stack.callback(other.close)
            written = cast(IO[bytes], other.makefile("wb", buffering=0))
            super().__init__(written, output, name, timeout_s)
            self._resources = stack.pop_all()

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        super().close()
        self._resources.close()

    def _ended(self, operation: str) -> ConformError:
        return self.failed(f"closed the connection before it answered {operation}")

    def _tail(self) -> str:
        return " See the server's log."
