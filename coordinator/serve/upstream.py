"""A real broker behind the coordinator: this server answers requests of groups, the broker those of data.

The broker keeps topics and records. Addresses in its answers are replaced by those of this server, so that
clients speak only with this server. The coordinator's topics are those of the broker, read once a second.
Transactions are not passed on, because their offsets belong to groups that the broker does not have.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias

from kio.index import load_request_schema

from coordinator.core.fields import Json
from coordinator.serve.addresses import FOLLOWED, REWRITTEN, Listener, rewritten
from coordinator.serve.broker import Broker
from coordinator.serve.cluster import Topic
from coordinator.serve.cluster_apis import HANDLERS
from coordinator.serve.frames import HEADER, NUMBERS, Head, Malformed, head_of, read_answer, request_frame
from coordinator.serve.reading import Bytes, Unreadable, read_client

Address: TypeAlias = tuple[str, int]
"""Host and port."""
CLIENT_ID: Final = "coordinator"
CHUNK: Final = 1 << 16
LARGEST: Final = 100 * 2**20
"""The most bytes of an answer that is passed on unread (the default limit of Kafka's own brokers)."""
LARGEST_READ: Final = 16 * 2**20
"""The most bytes of an answer that is read."""
ANSWER_S: Final = 30.0
"""The seconds that the broker may take for a connection, and for an answer to a request of our own."""
REFRESH_S: Final = 1.0
"""The seconds between two reads of the broker's topics."""
MOST_BROKERS: Final = 100
"""The most brokers: an answer cannot make the server open more listeners."""
METADATA: Final = NUMBERS["Metadata"]
METADATA_VERSION: Final = 12
PRODUCE: Final = NUMBERS["Produce"]
FIND_COORDINATOR: Final = NUMBERS["FindCoordinator"]
CONFIGS: Final = frozenset({NUMBERS["DescribeConfigs"], NUMBERS["IncrementalAlterConfigs"]})
"""The configuration APIs: answered here for groups, by the broker for topics and brokers."""
OF_GROUP: Final = 32
"""Type of a resource with configurations: a group."""
PASSED: Final = CONFIGS | {
    NUMBERS[name]
    for name in (
        *("Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "InitProducerId", "DeleteRecords"),
        *("Metadata", "DescribeCluster", "DescribeTopicPartitions", "DescribeLogDirs", "DescribeProducers"),
        *("CreateTopics", "DeleteTopics", "CreatePartitions", "ListConfigResources"),
    )
}
"""The APIs that the broker answers."""
_log = logging.getLogger("coordinator.serve")


class Upstream:
    """The cluster of the broker at `address`, which is reached without TLS and passwords. The coordinator of
    `broker` takes over its topics."""

    def __init__(self, address: Address, broker: Broker) -> None:
        self.address = address
        self._broker = broker
        self._places: dict[Address, int] = {}
        self._listen: Callable[[Address], Awaitable[int]] | None = None
        self._own: Passage | None = None
        self._reading = asyncio.Lock()

    def __str__(self) -> str:
        """HOST:PORT of the broker; an IPv6 address is in brackets."""
        host, port = self.address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def begin(self, port: int, listen: Callable[[Address], Awaitable[int]]) -> None:
        """Read versions, brokers and topics. `port` is that of this server for the broker at the address,
        `listen` opens a port for another broker. OSError or TimeoutError where no broker answers, Malformed
        where an answer cannot be read, BadInput or AppendFailed where its topics cannot be taken over."""
        self._listen = listen
        self._places[self.address] = port
        own = await Passage.opened(self.address)
        try:
            offered = await own.ask("ApiVersions", 0, {})
            metadata = await own.ask("Metadata", METADATA_VERSION, ALL_TOPICS)
        finally:
            own.close()
        passed = {one["apiKey"]: one for one in offered["apiKeys"] if one["apiKey"] in PASSED}
        here = {key: known for key, known in self._broker.offered.items() if _is_answered_here(key)}
        self._broker.offered = {key: _followed(one) for key, one in passed.items()} | here
        brokers = sorted(metadata["brokers"], key=lambda one: int(one["nodeId"]))
        if not brokers:
            raise Malformed("the broker names no brokers in its Metadata")
        chosen = next((one for one in brokers if (one["host"], one["port"]) == self.address), brokers[0])
        address = chosen["host"], chosen["port"]
        if len(brokers) == 1:
            self._places[address] = port
        self._broker.stands_for(chosen["nodeId"], await self._place(address))
        self._broker.take_topics(_topics(metadata))

    async def watch(self) -> None:
        """Keep the coordinator's topics equal to the broker's, for ever. A call that fails is logged once,
        and tried again."""
        failed = False
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                await self._read_topics()
                failed = False
            except Exception as error:  # of any kind: nobody else would read the topics
                if not failed:
                    _log.warning("the topics of %s cannot be read: %s", self, error)
                failed = True

    async def notice(self, head: Head, answer: bytes) -> None:
        """Take over the topics of an answer before its client gets it. Errors as of `begin`; BadInput comes
        from a broker that lags behind, where a topic had more partitions before."""
        if head.key == METADATA:
            topics = [one for one in read_answer(head.key, head.version, answer)["topics"] if _is_there(one)]
            if not all(self._broker.has_topic(one["name"], len(one["partitions"])) for one in topics):
                await self._read_topics()

    async def _read_topics(self) -> None:
        async with self._reading:
            try:
                self._own = self._own or await Passage.opened(self.address)
                self._broker.take_topics(
                    _topics(await self._own.ask("Metadata", METADATA_VERSION, ALL_TOPICS))
                )
            except BaseException:  # an answer may be left in the connection
                if self._own is not None:
                    self._own.close()
                self._own = None
                raise

    def passes(self, frame: bytes) -> bool:
        """Tell if a request is for the broker. Malformed for a request that this server does not have."""
        head = head_of(frame)
        if head.key not in CONFIGS:
            return head.key in PASSED and head.key in self._broker.offered
        resources = self._broker.read(frame, "").body["resources"] or []
        return all(one["resourceType"] != OF_GROUP for one in resources)

    def listener(self, here: str) -> Listener:
        """The addresses of brokers for a client that connected to the host `here`."""

        async def at(host: str, port: int) -> Address:
            return here, await self._place((host, port))

        return at

    async def _place(self, address: Address) -> int:
        if address not in self._places:
            if len(self._places) >= MOST_BROKERS:
                raise Malformed(f"the broker names more than {MOST_BROKERS} brokers")
            assert self._listen is not None
            self._places[address] = await self._listen(address)
            _log.info("%s:%d is reached at port %d", *address, self._places[address])
        return self._places[address]


ALL_TOPICS: Final[Json] = {"topics": None, "allowAutoTopicCreation": False}


FAILURES: Final = (OSError, TimeoutError, asyncio.IncompleteReadError, Malformed)
"""Errors of a broker that is not there, or answers with something that is not Kafka's protocol."""


def _topics(metadata: Json) -> list[Topic]:
    """The topics in an answer to Metadata, of version 10 or later, that groups may subscribe to."""
    return [
        Topic(one["name"], one["topicId"], len(one["partitions"]))
        for one in metadata["topics"]
        if _is_there(one)
    ]


def _is_there(topic: Json) -> bool:
    return topic["errorCode"] == 0 and not topic.get("isInternal")


def _is_answered_here(key: int) -> bool:
    return key in CONFIGS or key == FIND_COORDINATOR or (key not in PASSED and key not in HANDLERS)


def _followed(offered: Json) -> tuple[int, int]:
    first, last = FOLLOWED.get(offered["apiKey"], (0, offered["maxVersion"]))
    return max(first, offered["minVersion"]), min(last, offered["maxVersion"])


class Client(Protocol):
    """A client that gets answers."""

    def write(self, data: bytes) -> None:
        """Write to the client."""

    async def drain(self) -> None:
        """Wait until the client has read enough. ConnectionResetError where it is gone."""


class Behind:
    """The broker at an address, behind one connection of a client that connected to the host `here`."""

    def __init__(self, upstream: Upstream, address: Address, client: Client, here: str) -> None:
        self._upstream, self._address, self._client = upstream, address, client
        self._listener = upstream.listener(here)
        self._passage: Passage | None = None

    def passes(self, frame: bytes) -> bool:
        """Tell if a request is for the broker. Malformed for a request that this server does not have."""
        return self._upstream.passes(frame)

    async def pass_on(self, frame: bytes) -> None:
        """Let the broker answer a request. Errors as of Passage."""
        if self._passage is None:
            self._passage = await Passage.opened(self._address)
        await self._passage.pass_on(frame, self._client, self._listener, self._upstream.notice)

    def close(self) -> None:
        """Close the connection to the broker."""
        if self._passage is not None:
            self._passage.close()


class Passage:
    """A connection to a broker, with one request at a time: a client's requests are handled one after the
    other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @staticmethod
    async def opened(address: Address) -> Passage:
        """Connect to a broker. OSError or TimeoutError where it is not there."""
        async with asyncio.timeout(ANSWER_S):
            return Passage(*await asyncio.open_connection(*address, limit=CHUNK))

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def ask(self, api: str, version: int, body: Json) -> Json:
        """The answer to a request of our own."""
        async with asyncio.timeout(ANSWER_S):
            await self._send(request_frame(CLIENT_ID, api, version, 0, body))
            return read_answer(NUMBERS[api], version, await self._answer(await self._size()))

    async def pass_on(
        self,
        frame: bytes,
        client: Client,
        listener: Listener,
        notice: Callable[[Head, bytes], Awaitable[None]],
    ) -> None:
        """Let the broker answer a client's request. An answer that is read is passed to `notice` first.

        IncompleteReadError where the broker closes the connection, Malformed for an answer that cannot be
        read.
        """
        head = head_of(frame)
        await self._send(frame)
        if head.key == PRODUCE and not _is_acknowledged(head, frame):
            return
        size = await self._size()
        if head.key in REWRITTEN:
            answer = await self._answer(size)
            await notice(head, answer)
            answer = await rewritten(head, answer, listener, {})
            client.write(struct.pack(">i", len(answer)) + answer)
            return
        client.write(struct.pack(">i", size))
        while size:
            part = await self._reader.read(min(size, CHUNK))
            if not part:
                raise asyncio.IncompleteReadError(b"", size)
            client.write(part)
            await client.drain()
            size -= len(part)

    async def _send(self, frame: bytes) -> None:
        self._writer.write(struct.pack(">i", len(frame)) + frame)
        await self._writer.drain()

    async def _size(self) -> int:
        (size,) = struct.unpack(">i", await self._reader.readexactly(4))
        if not 4 <= size <= LARGEST:
            raise Malformed(f"the broker announced an answer of {size} bytes")
        return int(size)

    async def _answer(self, size: int) -> bytes:
        if size > LARGEST_READ:
            raise Malformed(
                f"the broker announced an answer of {size} bytes; at most {LARGEST_READ} are read"
            )
        return await self._reader.readexactly(size)


def _is_acknowledged(head: Head, frame: bytes) -> bool:
    """Tell if a broker answers this Produce: with acks=0 it does not."""
    schema = load_request_schema(head.key, head.version)
    data = Bytes(frame)
    try:
        data.take(HEADER)
        read_client(schema, data)
        if head.version >= 3:
            data.text(schema.__flexible__)
        return bool(data.fixed(">h"))
    except Unreadable as error:
        raise Malformed(f"Produce, version {head.version}, cannot be read: {error}") from None
