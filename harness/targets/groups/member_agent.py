"""The agent of this kit's own member: a small consumer over Kafka's protocol, driven by lines of JSON.

python -m harness.targets.groups.member_agent [reference | MODULE:CLASS]

MODULE:CLASS is a subclass of coordinator.members.consumer.Member. The lines are those of docs/clients.md.
Heartbeats go on while a callback waits for its `release`.
"""

from __future__ import annotations

import json
import os
import queue
import struct
import sys
import threading
import time
from typing import Any, Final

from harness.errors import ConformError
from harness.simulate.groups.parts import Consumer, Machine, Partitions, RequestView
from harness.targets.base import Json
from harness.targets.broker.connection import Connection
from harness.targets.broker.forms import from_kafka, to_kafka
from harness.targets.broker.names import Names
from harness.targets.groups.client import client_parts

_CALLBACKS: Final = {"on_partitions_revoked": "revoked", "on_partitions_assigned": "assigned"} | {
    "on_partitions_lost": "lost"
}
_PAUSE_S: Final = 0.005
_FETCH_S: Final = 0.05
_MAX_POLL_MS: Final = 600_000
_LAST_OFFSET_DELTA: Final = 23
"""The place of the field in a record batch of version 2."""


class _Names(Names):
    """The names on a broker without other users: groups, too, keep theirs."""

    def group(self, group: str) -> str:
        return group


class MemberAgent:
    """One process of a consumer: `name` is that of its member."""

    def __init__(self, name: str) -> None:
        self._parts = client_parts(name)
        self._commands: queue.Queue[Json] = queue.Queue()
        self._member: Any = None
        self._place = "", 0
        self._names = _Names("")
        self._connections: dict[str, Connection] = {}
        self._topics: dict[str, str] = {}
        self._running = self._paused = False
        self._next_fetch_s = 0.0

    def run(self) -> None:
        """Do commands until the consumer is closed."""
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            try:
                self._do(self._commands.get(timeout=_PAUSE_S))
                continue
            except queue.Empty:
                pass
            if self._member is not None and not self._go_on(self._member):
                return

    def _read(self) -> None:
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "crash":
                os._exit(1)
            self._commands.put(command)
        os._exit(0)  # the harness has gone

    def _tell(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), flush=True)

    def _do(self, command: Json) -> None:
        member, now_ms = self._member, _now_ms()
        match command["do"]:
            case "subscribe":
                if member is None:
                    host, _, port = command["bootstrap"].rpartition(":")
                    self._place = host, int(port)
                    member = self._member = self._made(command)
                member.subscribe(command["topics"], now_ms=now_ms)
            case "release" if self._running:
                self._running = False
                member.callback_done(now_ms)
            case "commit":
                member.commit()
            case "pause" | "poll":
                self._paused = command["do"] == "pause"
            case "close":
                member.close(now_ms)

    def _made(self, command: Json) -> Machine:
        instance, auto_commit = command.get("instance"), command["autoCommit"]
        return self._parts.member(
            Consumer(command["group"], instance=instance, auto_commit=auto_commit, max_poll_ms=_MAX_POLL_MS)
        )

    def _go_on(self, member: Any) -> bool:
        """Poll, send due requests, read records; False when the consumer is closed."""
        now_ms = _now_ms()
        if not self._paused:
            member.poll(now_ms)
            if not self._running:
                self._callback(member, now_ms)
        request = member.take_request(now_ms)
        if request is not None:
            self._exchange(member, request)
        if time.monotonic() >= self._next_fetch_s and member.fetchable and not self._running:
            self._next_fetch_s = time.monotonic() + _FETCH_S
            self._fetch(member)
        if member.closed and member.state.value in ("UNSUBSCRIBED", "FATAL"):
            self._tell("closed")
            return False
        return True

    def _callback(self, member: Any, now_ms: int) -> None:
        callback = member.next_callback(now_ms)
        error = member.take_error()
        if error is not None:
            fatal = member.state.value == "FATAL"
            self._tell("error", code=getattr(error, "code", -1), text=str(error), fatal=fatal)
        if callback is None:
            return
        if callback.name.value == "on_commit_complete":
            self._tell("committed", error=callback.error)
            member.callback_done(now_ms)
            return
        self._running = True
        self._tell(_CALLBACKS[callback.name.value], partitions=self._shown(callback.partitions))

    def _connection(self, purpose: str) -> Connection:
        """The group's connection, or that of fetches. ConformError where no server listens."""
        if purpose not in self._connections:
            self._connections[purpose] = Connection(*self._place)
        return self._connections[purpose]

    def _drop(self, purpose: str) -> None:
        dropped = self._connections.pop(purpose, None)
        if dropped is not None:
            dropped.close()

    def _exchange(self, member: Any, request: RequestView) -> None:
        try:
            connection = self._connection("group")
            form = to_kafka(request.api, request.version, request.body, self._names, connection.has)
            answer = from_kafka(form, connection.call(form.api, form.version, form.body), self._names)
        except ConformError:
            self._drop("group")
            member.failed(request.correlation, _now_ms(), disconnected=True)
        else:
            member.answered(request.correlation, answer, _now_ms())

    def _fetch(self, member: Any) -> None:
        """Read the available records of each partition that may be fetched and has a position."""
        positions = member.offsets.positions
        topics = [
            {"topicId": topic, "partitions": [{"partition": index, "fetchOffset": positions[topic, index]}]}
            for topic, index in sorted(member.fetchable)
            if (topic, index) in positions
        ]
        if not topics:
            return
        try:
            answer = self._connection("fetch").call("Fetch", 16, {**_FETCH, "topics": topics})
        except ConformError:
            self._drop("fetch")
            return
        for topic in answer["responses"]:
            for one in topic["partitions"]:
                partition = topic["topicId"], one["partitionIndex"]
                records = one["records"]
                if records:
                    next_offset = _next_offset(records)
                    member.set_position(partition, next_offset)
                    [shown] = self._shown(frozenset({partition}))
                    self._tell("position", partition=shown, offset=next_offset)

    def _shown(self, partitions: Partitions) -> list[str]:
        if any(topic not in self._topics for topic, _ in partitions):
            answer = self._connection("fetch").call("Metadata", 12, {"topics": None})
            self._topics = {topic["topicId"]: topic["name"] for topic in answer["topics"]}
        return sorted(f"{self._topics[topic]}-{index}" for topic, index in partitions)


_FETCH: Final = {"maxBytes": 1 << 20, "isolationLevel": 0, "sessionEpoch": -1, "forgottenTopicsData": []} | {
    "maxWaitMs": 0,
    "minBytes": 0,
}


def _next_offset(batch: bytes) -> int:
    """The offset after the last record of a batch."""
    (base,) = struct.unpack_from(">q", batch)
    (delta,) = struct.unpack_from(">i", batch, _LAST_OFFSET_DELTA)
    return int(base + delta + 1)


def _now_ms() -> int:
    return int(time.monotonic() * 1000)


if __name__ == "__main__":
    MemberAgent(sys.argv[1] if len(sys.argv) > 1 else "reference").run()
