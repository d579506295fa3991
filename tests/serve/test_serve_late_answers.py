"""Answers to requests that waited: one that has no bytes is lost alone, with its connection."""

from __future__ import annotations

import socket
import struct
from typing import Any

import pytest
from served import FAST, broker, frame, response, serving

from coordinator.core.clock import SimulatedClock
from coordinator.core.fields import Json
from coordinator.serve.broker import Broker, Sent
from coordinator.serve.frames import Malformed

ODD = "odd"
"""The id of a member whose answers have no bytes here: no request is known that gets such an answer."""


def without_bytes(made: Broker) -> None:
    """Let the writing of the answers to that member fail."""
    works = made.response

    def response(sent: Sent, answer: Json) -> bytes:
        if answer.get("memberId") == ODD:
            raise ValueError("no bytes")
        return works(sent, answer)

    made.response = response  # type: ignore[method-assign]


def join(group: str, version: int = 3) -> bytes:
    body: dict[str, Any] = {"groupId": group, "memberId": "", "protocolType": "consumer"}
    body |= {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 20_000}
    return frame(11, version, body | {"protocols": [{"name": "range", "metadata": "AAA="}]})


def test_other_answers_of_the_same_moment_are_there() -> None:
    """The first of three groups, and a Fetch, are answered beside the one whose answer cannot be written."""
    clock = SimulatedClock()
    made = broker({"foo": 1}, clock=clock, rate=1)
    without_bytes(made)
    made._coordinator.use_ids(["first", ODD, "last"])
    tickets = [made.handle(join(group), "h") for group in ("a", "b", "c")]
    wanted = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1000}
    fetch = {"replicaId": -1, "maxWaitMs": 3000, "minBytes": 1, "maxBytes": 1000}
    tickets.append(
        made.handle(frame(1, 12, fetch | {"topics": [{"topic": "foo", "partitions": [wanted]}]}), "h")
    )
    clock.set(clock.later(3000))
    answers = dict(made.ready())
    assert set(answers) == set(tickets)
    first, lost, last, fetched = (answers[ticket] for ticket in tickets if isinstance(ticket, int))
    assert isinstance(lost, Malformed) and "API 11, version 3, cannot be written" in str(lost)
    for data, member in ((first, "first"), (last, "last")):
        assert isinstance(data, bytes) and response(11, 3, data)["memberId"] == member
    assert isinstance(fetched, bytes) and made.waiting == 0


def test_the_connection_alone_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    """The reason is in the server's log, and other clients join."""
    with serving(topics={"foo": 1}, settings=FAST) as (made, port):
        without_bytes(made)
        address = ("127.0.0.1", port)
        with socket.create_connection(address, 30) as one, socket.create_connection(address, 30) as other:
            made.todo.append(lambda: made._coordinator.use_ids([ODD]))
            one.sendall(struct.pack(">i", len(join("long"))) + join("long"))
            assert one.recv(1) == b""
            other.sendall(struct.pack(">i", len(join("innocent"))) + join("innocent"))
            (size,) = struct.unpack(">i", other.recv(4, socket.MSG_WAITALL))
            assert response(11, 3, other.recv(size, socket.MSG_WAITALL))["errorCode"] == 0
    assert "the answer to API 11, version 3, cannot be written" in caplog.text
