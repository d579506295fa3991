"""Connections that are silent for too long are closed; those that wait for an answer are not."""

from __future__ import annotations

import logging
import socket
import struct
import time

import pytest
from served import FAST, frame, serving

from coordinator.serve.connection import AHEAD, Bounds

SHORT = Bounds(idle_s=0.3, frame_s=0.3)


def sent(connection: socket.socket, data: bytes) -> None:
    connection.sendall(struct.pack(">i", len(data)) + data)


def test_a_request_that_waits_is_answered_after_longer_than_a_connection_may_be_idle(
    caplog: pytest.LogCaptureFixture,
) -> None:
    protocols = {"protocolType": "consumer", "protocols": [{"name": "range", "metadata": "AAA="}]}
    data = frame(11, 3, {"groupId": "c", "memberId": "", "sessionTimeoutMs": 9000, **protocols})
    delay = {"group.initial.rebalance.delay.ms": 1000}
    caplog.set_level(logging.INFO)
    with (
        serving(SHORT, topics={"foo": 1}, settings=FAST | delay) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
    ):
        began = time.monotonic()
        sent(connection, data)
        assert len(connection.recv(1 << 16)) > 4
        assert time.monotonic() - began > 2 * SHORT.idle_s
        assert "idle" not in caplog.text
        assert connection.recv(1) == b"", "and then it is idle"
    assert "closed the connection from 127.0.0.1: it was idle" in caplog.text


def test_a_client_that_reads_no_answers_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    """The answers to a client that reads nothing would otherwise stay in memory for ever."""
    caplog.set_level(logging.INFO)
    data = frame(3, 9, {"topics": None, "allowAutoTopicCreation": False})
    with (
        serving(SHORT, topics={f"topic{number}": 100 for number in range(50)}) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
    ):
        many = 1000 * (struct.pack(">i", len(data)) + data)
        with pytest.raises(ConnectionError):
            for _ in range(1000):  # more than all buffers between the two hold
                connection.sendall(many)
    assert "it was idle" in caplog.text


def test_a_frame_that_comes_byte_by_byte_has_its_time_from_the_first_byte(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    bounds = Bounds(idle_s=30, frame_s=0.5)
    with (
        serving(bounds, topics={"foo": 1}) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
        pytest.raises(ConnectionError),
    ):
        for byte in struct.pack(">i", 300) + bytes(300):
            connection.sendall(bytes([byte]))
            time.sleep(0.05)
    assert "it was idle" in caplog.text


def test_many_requests_at_once_are_all_answered_in_their_order() -> None:
    """More requests than are handled before other connections have their turn."""
    many = 3 * AHEAD + 1
    frames = [frame(18, 0, {}, correlation=number) for number in range(many)]
    with (
        serving(topics={"foo": 1}) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
        connection.makefile("rb") as answers,
    ):
        connection.sendall(b"".join(struct.pack(">i", len(data)) + data for data in frames))
        results = []
        for _ in range(many):
            (size,) = struct.unpack(">i", answers.read(4))
            results.append(struct.unpack_from(">i", answers.read(size))[0])
    assert results == list(range(many))
