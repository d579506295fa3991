"""The proxy between sockets that fail: lines of the record, the order of answers, lost and late frames."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from brokers import FETCH, HEARTBEAT, Replace, answering, framed, heartbeat, read_frame
from proxied import faults_in, lines, proxied
from served import FAST, frame, response, serving

from harness.proxy.faults import Fault, Faults

FETCHED = {"maxWaitMs": 0, "minBytes": 0, "topics": []}


def connected(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port))
    made.settimeout(20)
    return made


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        pytest.param(None, "", id="closed"),
        pytest.param(struct.pack(">ii", -5, 7), "announced an answer of -5 bytes", id="negative"),
        pytest.param(struct.pack(">ii", 1 << 30, 7), "announced an answer of 1073741824 bytes", id="huge"),
        pytest.param(framed(struct.pack(">i", 7) + b"\xff" * 30), "cannot be read", id="unreadable"),
    ],
)
def test_a_request_without_a_readable_answer_is_recorded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sent: bytes | None, reason: str
) -> None:
    """The broker may have done the request: without its line, the next one would be no behaviour."""
    log, beats = tmp_path / "run.jsonl", 0

    def second_beat(api: int, answer: bytes) -> bytes | None:
        nonlocal beats
        beats += api == HEARTBEAT
        return sent if (api, beats) == (HEARTBEAT, 2) else answer

    with (
        caplog.at_level(logging.WARNING),
        answering(second_beat) as broker,
        proxied(broker, log) as (port,),
        connected(port) as client,
    ):
        for epoch in (0, 1):
            client.sendall(heartbeat(epoch))
            answered = read_frame(client)
        assert answered == b""
    first, second = requests_in(log)
    assert first["answer"]["body"]["memberEpoch"] == 1
    assert second["body"]["memberEpoch"] == 1 and second["answer"] == {}
    assert reason in caplog.text and "never retrieved" not in caplog.text


def scheduled(fault: Fault, faulty: str = "ConsumerGroupHeartbeat") -> Faults:
    return lambda client, api, nth: fault if (client, api, nth) == (1, faulty, 1) else None


def slow_fetches(go_on: threading.Event) -> Replace:
    def replace(api: int, answer: bytes) -> bytes:
        if api == FETCH:
            assert go_on.wait(20)
        return answer

    return replace


def test_an_injected_error_does_not_overtake_the_answers_before_it(tmp_path: Path) -> None:
    """A client takes the answers of a connection in the order of its requests."""
    go_on = threading.Event()
    with (
        answering(slow_fetches(go_on)) as broker,
        proxied(broker, tmp_path / "run.jsonl", faults=scheduled(Fault("error", code=16))) as (port,),
        connected(port) as client,
    ):
        client.sendall(framed(frame(FETCH, 4, FETCHED, correlation=1)) + heartbeat(0, correlation=2))
        threading.Timer(0.2, go_on.set).start()
        assert [struct.unpack_from(">i", read_frame(client)) for _ in range(2)] == [(1,), (2,)]


def test_nothing_more_comes_through_the_connection_of_a_lost_request(tmp_path: Path) -> None:
    """The answer to an earlier request is lost, too."""
    go_on, log = threading.Event(), tmp_path / "run.jsonl"
    with (
        answering(slow_fetches(go_on)) as broker,
        proxied(broker, log, clients=2, faults=scheduled(Fault("request lost"))) as (port, another),
        connected(port) as client,
        connected(another) as other,
    ):
        client.sendall(framed(frame(FETCH, 4, FETCHED)) + heartbeat(0))
        while not faults_in(log):
            pass
        go_on.set()
        for epoch in (0, 1):
            other.sendall(heartbeat(epoch))
            assert read_frame(other)
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)


def join(group: str, member: str = "") -> bytes:
    """The frame of a JoinGroup that makes its member at once."""
    body = {"groupId": group, "memberId": member, "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
    protocols = [{"name": "range", "metadata": ""}]
    return framed(frame(11, 3, {**body, "protocolType": "consumer", "protocols": protocols}))


def requests_in(log: Path) -> list[dict[str, Any]]:
    return [line for line in lines(log) if line["op"] in ("request", "advance")]


def test_a_late_request_that_waits_lets_its_client_go_on(tmp_path: Path) -> None:
    """The late JoinGroup waits until the first rebalance of its group ends, which no clock does here."""
    beat = framed(frame(12, 0, {"groupId": "c", "generationId": 1, "memberId": "m"}))
    log = tmp_path / "run.jsonl"
    with (
        answering() as broker,
        proxied(broker, log, faults=scheduled(Fault("late", after=1), "JoinGroup")) as (port,),
        connected(port) as first,
        connected(port) as second,
    ):
        first.sendall(join("c"))
        assert read_frame(first) == b""
        for _ in range(2):
            second.sendall(beat)
            assert read_frame(second)
    requests = [(line["api"], line.get("late", False)) for line in requests_in(log)]
    assert requests == [("Heartbeat", False), ("JoinGroup", True), ("Heartbeat", False)]


def test_the_answer_to_a_request_that_waited_stands_behind_the_request_that_brought_it(
    tmp_path: Path,
) -> None:
    log, groups = tmp_path / "run.jsonl", ("a", "b", "c")
    with (
        serving(topics={"foo": 1}, settings=FAST | {"group.initial.rebalance.delay.ms": 0}) as (_, broker),
        proxied(broker, log, clients=2) as ports,
        connected(ports[0]) as first,
        connected(ports[1]) as second,
    ):
        for done, group in enumerate(groups):
            first.sendall(join(group))
            member = response(11, 3, read_frame(first))["memberId"]
            second.sendall(join(group))
            while len(requests_in(log)) < 4 * done + 2:
                pass
            first.sendall(join(group, member))
            assert read_frame(first) and read_frame(second)
    speakers = [line.get("listener", "answer") for line in requests_in(log)]
    assert speakers == [1, 2, 1, "answer"] * len(groups)
