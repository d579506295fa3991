"""Frames from a seed, 100,000 in `make fuzz`: the broker neither ends nor grows, no other group changes.

Frames are valid, mutated, cut, of wrong lengths, out of order, and noise. They go to a broker without
sockets; a few hundred come over connections that are half open, too.
"""

from __future__ import annotations

import gc
import random
import socket
import struct
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from served import FAST, ask, broker, frame, serving

from coordinator.core.clock import SimulatedClock
from coordinator.serve.broker import _read_once
from coordinator.serve.connection import Bounds
from coordinator.serve.frames import Malformed
from coordinator.serve.stored import Size

WARM = 10_000
"""Frames after which everything that is made once exists."""
TRACED = 15_000
LEFT = 128 * 1024
"""Bytes that may be left of the traced frames: a leak of 9 bytes a frame would be more."""
WATCHED = {
    **{"groupId": "watched", "memberId": "w", "memberEpoch": 0, "rebalanceTimeoutMs": 60000},
    **{"subscribedTopicNames": ["foo"], "subscribedTopicRegex": None, "topicPartitions": []},
}


def good_frames() -> list[bytes]:
    """Requests of all kinds, of two groups and three members."""
    found = []
    for member in "abc":
        for epoch in (-1, 0, 1, 2):
            found.append(frame(68, 1, {**WATCHED, "groupId": "g", "memberId": member, "memberEpoch": epoch}))
    partition = {"partitionIndex": 1, "committedOffset": 5, "committedMetadata": ""}
    join = {"groupId": "c", "sessionTimeoutMs": 9000, "protocolType": "consumer"}
    protocols = {"protocols": [{"name": "range", "metadata": "AAA="}]}
    wanted = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 10}
    read = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 1, "maxBytes": 10}
    return [
        *found,
        frame(8, 9, {"groupId": "g", "topics": [{"name": "foo", "partitions": [partition]}]}),
        frame(9, 9, {"groups": [{"groupId": "g", "topics": None}]}),
        frame(9, 1, {"groupId": "g", "topics": [{"name": "foo", "partitionIndexes": [0]}]}),
        frame(11, 3, {**join, "memberId": "", **protocols}),
        frame(11, 5, {**join, "memberId": "m", **protocols}),
        frame(12, 4, {"groupId": "c", "memberId": "m", "generationId": 1}),
        frame(13, 1, {"groupId": "c", "memberId": "m"}),
        frame(14, 5, {"groupId": "c", "memberId": "m", "generationId": 1, "assignments": []}),
        frame(42, 2, {"groupsNames": ["g", "c"]}),
        frame(47, 0, {"groupId": "g", "topics": [{"name": "foo", "partitions": [{"partitionIndex": 1}]}]}),
        frame(3, 9, {"topics": None}),
        frame(3, 12, {"topics": [{"topicId": None, "name": "bar"}]}),
        frame(18, 3, {"clientSoftwareName": "a", "clientSoftwareVersion": "1"}),
        frame(69, 0, {"groupIds": ["g", "watched"]}),
        frame(16, 5, {}),
        frame(10, 4, {"keyType": 0, "coordinatorKeys": ["g"]}),
        frame(1, 12, {**read, "topics": [{"topic": "foo", "partitions": [wanted]}]}),
    ]


def mutated(good: list[bytes], chance: random.Random, heads: float = 0.1) -> bytes:
    """A frame as it is, or changed in one to three places; or noise. `heads` is the share of changes that may
    be of API and version, too."""
    if chance.random() < heads / 5:
        return chance.randbytes(chance.randrange(64))
    data = bytearray(chance.choice(good))
    for _ in range(chance.choice([0, 0, 1, 1, 3])):
        where = chance.randrange(0 if chance.random() < heads else 8, len(data)) if len(data) > 8 else 0
        match chance.randrange(4):
            case 0:
                del data[where:]
            case 1:
                data[where:where] = chance.randbytes(chance.randrange(6))
            case 2 if len(data) > where:
                data[where] = chance.randrange(256)
            case _:
                data[where : where + 4] = struct.pack(">i", chance.choice([-1, 0, 2**31 - 1, 2**20]))
    return bytes(data)


class Fuzzed:
    """A broker with a member that is watched, and frames for it from one seed."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        settings = {"group.consumer.session.timeout.ms": 60_000}
        self.broker = broker({"foo": 2}, clock=self.clock, settings=settings)
        self.good, self.chance = good_frames(), random.Random(848)
        self.seen: Counter[str] = Counter()
        self.epoch = ask(self.broker, 68, 1, WATCHED)["memberEpoch"]
        self.before = self.watched()

    def watched(self) -> dict[str, Any]:
        described = self.broker._coordinator.describe("watched")
        return {name: value for name, value in described.items() if name != "timers"}

    def frames(self, count: int, heads: float = 0.1) -> None:
        for number in range(count):
            try:
                answer = self.broker.handle(mutated(self.good, self.chance, heads), "127.0.0.1")
            except Malformed:
                self.seen["malformed"] += 1
                continue
            self.seen["waits" if isinstance(answer, int) else "answered"] += 1
            if number % 50 == 0:
                self.pass_time(500)

    def pass_time(self, ms: int) -> None:
        """The watched member sends its heartbeat, and what is due happens."""
        self.clock.set(self.clock.later(ms))
        beat = {**WATCHED, "memberEpoch": self.epoch, "subscribedTopicNames": None, "topicPartitions": None}
        assert ask(self.broker, 68, 1, beat)["errorCode"] == 0
        self.seen["completed"] += len(self.broker.ready())

    def settle(self) -> None:
        """Half an hour passes, the longest session that a frame can ask for; groups of frames are deleted."""
        for _ in range(65):
            self.pass_time(30_000)
        names = [one["groupId"] for one in ask(self.broker, 16, 5, {})["groups"]]
        ask(self.broker, 42, 2, {"groupsNames": [name for name in names if name != "watched"]})
        assert [one["groupId"] for one in ask(self.broker, 16, 5, {})["groups"]] == ["watched"]
        assert self.broker.waiting == 0


@pytest.mark.parametrize(
    "frames", [30_000, pytest.param(100_000, marks=pytest.mark.fuzz)], ids=lambda number: f"{number:,}"
)
def test_frames_of_all_kinds_neither_end_the_broker_nor_change_other_groups(
    frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that some of the frames leave are counted: their groups are deleted, the log is compacted."""
    monkeypatch.setattr("coordinator.serve.broker.COMPACTED", Size(200, 1 << 20))
    fuzzed = Fuzzed()
    fuzzed.frames(WARM)
    fuzzed.settle()
    gc.collect()
    tracemalloc.start()
    try:
        fuzzed.frames(TRACED, heads=0)  # a schema that is new is read into memory once
        fuzzed.settle()
        fuzzed.broker.seen.clear()  # of the test alone
        _read_once.cache_clear()  # bounded: a test of its own
        gc.collect()
        left, _ = tracemalloc.get_traced_memory()
        largest = tracemalloc.take_snapshot().statistics("lineno")[:5]
    finally:
        tracemalloc.stop()
    assert left < LEFT, largest
    fuzzed.frames(frames - WARM - TRACED)
    assert fuzzed.watched() == fuzzed.before
    seen = fuzzed.seen
    assert min(seen["malformed"], seen["answered"]) > frames // 10, seen
    assert min(seen["waits"], seen["completed"]) > frames // 1000, seen


def received(connection: socket.socket) -> bytes:
    """Bytes until the server closes, or an answer of some kind is there."""
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def test_lengths_that_lie_and_connections_that_are_half_open(caplog: pytest.LogCaptureFixture) -> None:
    """Over sockets: the server stays, gives the reason of each close, and no connection holds it back."""
    chance = random.Random(849)
    good = good_frames()
    bounds = Bounds(connections=50, frame_bytes=1 << 16, frame_s=0.2)
    with serving(topics={"foo": 2}, settings=FAST, bounds=bounds) as (_, port):
        half_open = []
        for _ in range(300):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            data = mutated(good, chance)
            kind = chance.choice(["right", "shorter", "longer", "huge", "negative", "half open", "two"])
            size = {"shorter": len(data) // 2, "longer": len(data) + 9, "huge": 2**31 - 1, "negative": -1}
            connection.sendall(struct.pack(">i", size.get(kind, len(data))) + data)
            if kind == "half open":
                connection.shutdown(socket.SHUT_WR)
                half_open.append(connection)
                continue
            if kind in ("huge", "negative"):
                assert received(connection) == b""
            connection.close()
        for connection in half_open:
            received(connection)
            connection.close()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as last:
            data = frame(18, 0, {})
            last.sendall(struct.pack(">i", len(data)) + data)
            assert len(last.recv(1 << 16)) > 100
    assert "a frame of 2147483647 bytes" in caplog.text and "a frame of -1 bytes" in caplog.text
