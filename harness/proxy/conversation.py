"""A conversation: one connection of a client, and the one to the broker behind it.

Requests of groups go to the broker one at a time, from all clients, so that the record has the order in which
they were done; a request that waits (JoinGroup, SyncGroup) lets others through.
"""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Final

from coordinator.serve.addresses import API_VERSIONS, REWRITTEN, UNSUPPORTED_VERSION, rewritten
from coordinator.serve.addresses import FOLLOWED as LET_THROUGH
from coordinator.serve.frames import HEADER, NUMBERS, Head, Malformed, answer_frame, head_of, read_answer
from coordinator.serve.group_apis import GROUP_APIS
from harness.proxy.faults import BEHIND, Fault, Faults
from harness.proxy.link import LARGEST, Link
from harness.proxy.messages import RECORDED, error_frame, read_group_request
from harness.proxy.record import Record, seen_after
from harness.targets.base import Json

LARGEST_REQUEST: Final = 1 << 20
"""The most bytes of a request that is read."""
SETTLE_S: Final = 0.05
"""The time after which a JoinGroup or a SyncGroup counts as waiting."""
HEARTBEAT: Final = NUMBERS["ConsumerGroupHeartbeat"]
DESCRIBE: Final = NUMBERS["ConsumerGroupDescribe"]
METADATA: Final = NUMBERS["Metadata"]
FOLLOWED: Final = {key: (GROUP_APIS[key].first, GROUP_APIS[key].last) for key in RECORDED}
"""The versions of the requests that are recorded."""
WAITS: Final = frozenset({NUMBERS["JoinGroup"], NUMBERS["SyncGroup"]})
CHANGES_TOPICS: Final = frozenset(
    NUMBERS[api] for api in ("CreateTopics", "DeleteTopics", "CreatePartitions")
)


class Cut(Exception):
    """An error: a fault cuts the connection."""


@dataclass(slots=True)
class Late:
    """A request that reaches the broker after `after` further requests of its client."""

    after: int
    deliver: Callable[[], Coroutine[None, None, None]]


@dataclass(slots=True)
class Client:
    """A process of a client, by its listener: `number` counts from 1. `places` are the addresses at which it
    reaches brokers, by the brokers' own addresses."""

    number: int
    counts: Counter[str] = field(default_factory=Counter)
    late: list[Late] = field(default_factory=list)
    places: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shared:
    """Parts that all conversations share."""

    record: Record
    faults: Faults
    lock: asyncio.Lock
    idle_s: float
    frame_s: float
    arriving: set[asyncio.Task[None]] = field(default_factory=set)
    """Late requests on their way to the broker."""


class Conversation:
    """One connection of a client; `listener` gives the address at which this client reaches a broker of the
    given host and port."""

    def __init__(
        self,
        shared: Shared,
        client: Client,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        link: Link,
        listener: Callable[[str, int], Awaitable[tuple[str, int]]],
    ) -> None:
        self._shared, self._client, self._link, self._listener = shared, client, link, listener
        self._reader, self._writer = streams
        self._host = f"/{(self._writer.get_extra_info('peername') or ('?',))[0]}"
        self._by: Json = {"listener": client.number, "connection": shared.record.connection()}

    async def run(self) -> None:
        """Run until one of the two ends closes, or a fault cuts. Malformed and TimeoutError have the reason
        of the end."""
        self._link.versions = {
            one["apiKey"]: (one["minVersion"], one["maxVersion"])
            for one in (await self._offered())["apiKeys"]
        }
        while True:
            async with asyncio.timeout(self._shared.idle_s):
                start = await self._reader.readexactly(4)
            (size,) = struct.unpack(">i", start)
            if not HEADER <= size <= LARGEST:
                raise Malformed(f"a frame of {size} bytes; a request has {HEADER} to {LARGEST}")
            async with asyncio.timeout(self._shared.frame_s):
                start += await self._reader.readexactly(HEADER)
                frame = await self._read(start, size - HEADER)
            if frame:
                await self._handle(head_of(frame), frame)

    async def _read(self, start: bytes, left: int) -> bytes:
        """The frame of a request that is read; b"" for one that was passed on."""
        key = head_of(start[4:]).key
        if key not in RECORDED and key not in REWRITTEN and key not in CHANGES_TOPICS:
            await self._link.pass_on(start, self._reader, left)
            return b""
        if left > LARGEST_REQUEST:
            raise Malformed(f"a request of API {key} has {left} bytes; at most {LARGEST_REQUEST} are read")
        return start[4:] + await self._reader.readexactly(left)

    async def _handle(self, head: Head, frame: bytes) -> None:
        if head.key in RECORDED:
            await self._of_group(head, frame)
        elif not self._link.silent:
            await self._answer(await self._of_cluster(head, frame))

    async def _of_cluster(self, head: Head, frame: bytes) -> bytes:
        """The answer about brokers, versions or topics, in the form for the client."""
        if head.key in REWRITTEN:
            if head.key == API_VERSIONS and head.version > LET_THROUGH[API_VERSIONS][1]:
                # This answer could not be read. The client asks again, in a version that is named here.
                head = Head(API_VERSIONS, 0, head.correlation_id)
                answer = answer_frame(head, {**await self._offered(), "errorCode": UNSUPPORTED_VERSION})
            else:
                answer = await self._link.call(frame, head.correlation_id)
            return await rewritten(head, answer, self._listener, FOLLOWED)
        async with self._shared.lock:
            answer = await self._link.call(frame, head.correlation_id)
            self._shared.record.topics(await self._metadata())
        return answer

    async def _offered(self) -> Json:
        """The broker's versions."""
        return await self._link.ask(API_VERSIONS, "ApiVersions", 0, {})

    async def _of_group(self, head: Head, frame: bytes) -> None:
        client_id, body = read_group_request(head, frame)
        try:
            GROUP_APIS[head.key].requests(head.version, body)
        except (KeyError, TypeError) as error:
            raise Malformed(f"{RECORDED[head.key]} {head.version} has no {error}") from None
        fault = self._fault(head, body)
        by = self._by
        match fault:
            case Fault("request lost") | Fault("behind a lost one"):
                self._link.silent = True
                return
            case Fault("cut before"):
                raise Cut
            case Fault("error"):
                await self._offered()  # the answers to all earlier requests have passed then
                await self._answer(error_frame(head, body, fault.code))
                return
            case Fault("late"):
                self._link.kept = self._link.silent = True
                self._client.late.append(
                    Late(fault.after, lambda: self._arrive(head, frame, client_id, body))
                )
                raise Cut
            case Fault("delay"):
                await asyncio.sleep(fault.ms / 1000)
            case Fault("cut after") | Fault("answer lost"):
                by = {**by, "delivered": False}
        answer = await self._done(head, frame, client_id, body, by)
        if fault is not None and fault.fault == "cut after":
            raise Cut
        if fault is not None and fault.fault == "answer lost":
            self._link.silent = True
            return
        await self._answer(answer)
        await self._let_late_ones_arrive()

    def _fault(self, head: Head, body: Json) -> Fault | None:
        client, api = self._client, RECORDED[head.key]
        client.counts[api] += 1
        nth = client.counts[api]
        fault = Fault(BEHIND) if self._link.silent else self._shared.faults(client.number, api, nth)
        if fault is not None:
            self._shared.record.fault(head, self._by, nth, body, fault)
        return fault

    async def _let_late_ones_arrive(self) -> None:
        """Note an answered request of the client, after which late ones may arrive."""
        for late in list(self._client.late):
            late.after -= 1
            if late.after <= 0:
                self._client.late.remove(late)
                arriving = asyncio.create_task(late.deliver())
                self._shared.arriving.add(arriving)
                arriving.add_done_callback(self._shared.arriving.discard)
                await asyncio.sleep(0)  # it is the next for the lock

    async def _arrive(self, head: Head, frame: bytes, client_id: str, body: Json) -> None:
        """Let a late request reach the broker; no client reads the answer."""
        try:
            await self._done(head, frame, client_id, body, {**self._by, "late": True})
        except (OSError, TimeoutError, Malformed):
            pass  # the broker did not wait so long for the request
        finally:
            self._link.close()

    async def _done(self, head: Head, frame: bytes, client_id: str, body: Json, by: Json) -> bytes:
        """The answer's frame of a group's request, which is in the record then."""
        who = {"id": client_id, "host": self._host}
        if head.key in WAITS:
            return await self._awaited(head, frame, who, body, by)
        async with self._shared.lock:
            if not self._shared.record.has_topics:
                self._shared.record.topics(await self._metadata())
            if head.key == HEARTBEAT and DESCRIBE in self._link.versions:
                return await self._heartbeat(head, frame, who, body, by)
            return await self._recorded(head, who, body, by, self._link.call(frame, head.correlation_id))

    async def _recorded(self, head: Head, who: Json, body: Json, by: Json, answer: Awaitable[bytes]) -> bytes:
        answered: Json | None = None
        try:
            frame = await answer
            answered = read_answer(head.key, head.version, frame)
            return frame
        finally:
            self._shared.record.request(head, by, who, body, answered)

    async def _heartbeat(self, head: Head, frame: bytes, who: Json, body: Json, by: Json) -> bytes:
        """Do a heartbeat: the group before, the request, and the group after it are sent right behind each
        other."""
        record, group = self._shared.record, body["groupId"]
        noted, answered, seen = record.is_known(group), None, None
        before = self._describe(group)
        sent = self._link.call(frame, head.correlation_id)
        after = self._describe(group)
        try:
            was, answer, now = await asyncio.gather(before, sent, after)
            noted = record.is_fresh(group, was)
            answered = read_answer(head.key, head.version, answer)
            seen = seen_after(body, was, now)
            return answer
        finally:
            if noted:
                record.request(head, by, who, body, answered, seen)

    def _describe(self, group: str) -> Coroutine[None, None, Json]:
        version = min(self._link.versions[DESCRIBE][1], 1)
        request = self._link.ask(DESCRIBE, "ConsumerGroupDescribe", version, {"groupIds": [group]})

        async def read() -> Json:
            [described] = (await request)["groups"]
            return dict(described)

        return read()

    async def _awaited(self, head: Head, frame: bytes, who: Json, body: Json, by: Json) -> bytes:
        """Do a request that may wait. Others go on as soon as it seems to."""
        record = self._shared.record
        async with self._shared.lock:
            if not record.has_topics:
                record.topics(await self._metadata())
            sent = self._link.send(frame, head.correlation_id)
            done, _ = await asyncio.wait([sent], timeout=SETTLE_S)
            if done:
                return await self._recorded(head, who, body, by, sent)
            waited = record.waits(head, by, who, body)
        answer = await sent
        async with self._shared.lock:  # the request that ended the waiting stands before this answer
            record.completed(waited, read_answer(head.key, head.version, answer))
        return answer

    async def _metadata(self) -> Json:
        body = {"topics": None, "allowAutoTopicCreation": False}
        return await self._link.ask(METADATA, "Metadata", 12, body)

    async def _answer(self, frame: bytes) -> None:
        self._writer.write(struct.pack(">i", len(frame)) + frame)
        async with asyncio.timeout(self._shared.frame_s):
            await self._writer.drain()
