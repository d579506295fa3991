"""A broker that fails is one sentence, with the way out, and exit code 3."""

from __future__ import annotations

import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.targets import open_target, start_target
from harness.targets.broker.connection import Connection, Unreachable


@contextmanager
def server(behaviour: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[int]:
    """The port of a server that does so with its one connection, after the first request."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                behaviour(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def versions(correlation_id: int) -> bytes:
    """ApiVersions, version 0: no error, and version 1 of Metadata alone."""
    return frame(struct.pack(">ihihhh", correlation_id, 0, 1, 3, 1, 1))


def wait_for_end(connection: socket.socket) -> None:
    connection.recv(1 << 16)


def test_the_time_that_a_caller_gives_an_answer_counts() -> None:
    with server(wait_for_end) as port, pytest.raises(Unreachable, match=r"within 0\.2 s"):
        start_target(f"broker:127.0.0.1:{port}", "kip-848", 0.2)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (wait_for_end, "did not answer ApiVersions within 0.2 s: see whether it still runs, and its log."),
        (lambda _: None, "closed the connection in ApiVersions (end of the stream): see its log for why."),
        (lambda to: to.sendall(frame(b"HTTP")[:6]), "closed the connection in ApiVersions"),
        (lambda to: to.sendall(b"HTTP/1.1 400 Bad Request"), "something that is not Kafka's protocol"),
        (lambda to: to.sendall(frame(b"\0\0\0\1\0")), "something that is not Kafka's protocol"),
        (lambda to: to.sendall(versions(2)), "something that is not Kafka's protocol"),
    ],
    ids=["silent", "closes", "half a frame", "another protocol", "too short", "another request's"],
)
def test_a_broker_that_fails(behaviour: Callable[[socket.socket], None], message: str) -> None:
    with server(behaviour) as port, pytest.raises(Unreachable) as failure:
        Connection("127.0.0.1", port, timeout_s=0.2)
    assert failure.value.message.startswith(f"The broker 127.0.0.1:{port} ")
    assert message in failure.value.message
    assert failure.value.exit_code == ENGINE_FAILED


def test_no_request_goes_to_a_broker_that_failed() -> None:
    with server(lambda to: to.sendall(versions(1))) as port:
        connection = Connection("127.0.0.1", port)
        assert connection.versions == {"Metadata": (1, 1)}
        assert connection.has("Metadata", 1)
        assert not connection.has("Metadata", 2)
        with pytest.raises(Unreachable) as first:
            connection.call("Metadata", 1, {})
        with pytest.raises(Unreachable) as second:
            connection.call("ApiVersions", 0, {})
        assert second.value.message == first.value.message
        connection.close()


class Interrupted(Exception):
    """An interrupt like Ctrl-C, which is not pytest's."""


def _interrupt(*_: object) -> None:
    raise Interrupted


def test_after_an_interruption_the_next_answer_is_not_the_one_on_the_way() -> None:
    """A run that is stopped cleans up over the connection on which it was stopped."""

    def serve(connection: socket.socket) -> None:
        with connection:
            connection.recv(1 << 16)
            connection.sendall(versions(1))
            if not connection.recv(1 << 16):
                return
            signal.pthread_kill(client, signal.SIGUSR1)
            connection.sendall(versions(2))

    def serve_two() -> None:
        serve(listener.accept()[0])
        with listener.accept()[0] as connection:
            connection.recv(1 << 16)
            connection.sendall(versions(3))

    client = threading.get_ident()
    before = signal.signal(signal.SIGUSR1, _interrupt)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5.0)
        thread = threading.Thread(target=serve_two)
        thread.start()
        connection = Connection("127.0.0.1", listener.getsockname()[1], timeout_s=5.0)
        try:
            with pytest.raises(Interrupted):
                connection.call("Metadata", 1, {})
            assert connection.call("ApiVersions", 0, {})["apiKeys"]
        finally:
            connection.close()
            thread.join()
            signal.signal(signal.SIGUSR1, before)


def test_a_broker_without_the_protocol() -> None:
    with (
        server(lambda to: to.sendall(versions(1))) as port,
        pytest.raises(ConformError, match="does not have version 0 of ConsumerGroupHeartbeat: that takes"),
    ):
        open_target(f"broker:127.0.0.1:{port}")


def test_a_broker_with_an_ipv6_address() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"this machine has no IPv6 loopback: {error}")
    with (
        server(lambda to: to.sendall(versions(1)), "::1") as port,
        pytest.raises(ConformError, match=rf"The broker \[::1\]:{port} does not have version 0"),
    ):
        open_target(f"broker:[::1]:{port}")


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConformError, match=r"cannot be reached .*`conform broker up`") as failure:
        open_target(f"broker:127.0.0.1:{port}")
    assert failure.value.exit_code == ENGINE_FAILED


@pytest.mark.parametrize(
    "address",
    ["", "localhost", ":9092", "localhost:", "localhost:kafka", "localhost:0", "localhost:99999", "[]:9092"],
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ConformError, match="write broker:HOST:PORT") as failure:
        open_target(f"broker:{address}")
    assert failure.value.exit_code == USAGE
