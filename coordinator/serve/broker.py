"""The broker without input and output: from frames of requests to frames of responses, some of them later.

A request that waits (JoinGroup, SyncGroup, Fetch) gets a ticket. `ready` gives the responses that have become
ready since, by their tickets. Requests of one connection must come one after the other, as in Kafka; a
request that waits holds up no other connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, Final, NamedTuple

from kio.index import load_request_schema

from coordinator.classic.service import PENDING
from coordinator.core.errors import AppendFailed, BadInput
from coordinator.core.fields import Json
from coordinator.serve.cluster import Cluster, Topic
from coordinator.serve.cluster_apis import (
    API_VERSIONS,
    CHANGES_TOPICS,
    FETCH,
    HANDLERS,
    Handler,
    api_versions,
    fetch_ready_ms,
    fetched_once,
    unwritten,
)
from coordinator.serve.delete_offsets import OFFSET_DELETE, delete_offsets
from coordinator.serve.describe_groups import DESCRIBE_GROUPS, describe_groups
from coordinator.serve.describe_topics import (
    DESCRIBE_TOPIC_PARTITIONS,
    describe_topic_partitions,
    topic_configs,
)
from coordinator.serve.frames import HEADER, Head, Malformed, answer_frame, head_of
from coordinator.serve.group_apis import DESCRIBE_CONFIGS, GROUP_APIS, OFFSET_FETCH, GroupApi, refused_fetch
from coordinator.serve.reading import MOST_ITEMS, Bytes, Unreadable, read_client, read_request
from coordinator.serve.stored import CountedStorage, Size
from coordinator.service import Coordinator

MEMBER_ID_REQUIRED: Final = 79
UNSUPPORTED_VERSION: Final = 35
JOIN: Final = 11
HEARTBEATS: Final = frozenset({12, 68})
"""Heartbeats of both protocols: a client sends the same again and again."""
SHORT: Final = 160
"""The most bytes of a heartbeat that is kept after it was read."""
KEPT: Final = 4096
"""The number of heartbeats that are kept with their parsed form: at most 13 MB."""
COMPACTED: Final = Size(10_000, 64 << 20)
"""The log is compacted when it has this size in one of the two, and twice as much of that as after the last
compaction. Records in memory count as entries."""
PATIENCE_MS: Final = 100
"""The time after which further timers, and further groups of a DeleteGroups, let the requests of others go
first: each of them is written to the log."""
ADDS_AT_ONCE: Final = 4
"""JoinGroup below this version takes a new member without giving it an id first."""

VERSIONS: Final = {
    API_VERSIONS: (0, 4),
    DESCRIBE_GROUPS: (0, 6),
    OFFSET_DELETE: (0, 0),
    DESCRIBE_TOPIC_PARTITIONS: (0, 0),
    **{key: (first, last) for key, (first, last, _) in HANDLERS.items()},
    **{key: (api.first, api.last) for key, api in GROUP_APIS.items()},
}
"""The versions in ApiVersions: Kafka's number of the API -> first and last version."""


@cache
def _requests(key: int, version: int) -> Any:
    return load_request_schema(key, version)


class Sent(NamedTuple):
    """The parts of a request that its response needs."""

    key: int
    version: int
    correlation_id: int
    client: Json
    body: Json
    size: int = 0
    """The bytes of the frame."""


@dataclass(slots=True)
class _Waiting:
    sent: Sent
    respond: Callable[[], bytes] | None = None
    ready_ms: int | None = None


class Broker:
    """One coordinator and a cluster of one broker around it."""

    def __init__(
        self, coordinator: Coordinator, cluster: Cluster, storage: CountedStorage | None = None
    ) -> None:
        """`storage` is that of the coordinator's log, None where the log is in memory alone."""
        self.offered = dict(VERSIONS)
        """The versions in this broker's ApiVersions."""
        self._coordinator = coordinator
        self._cluster = cluster
        self._storage = storage
        self._waiting: dict[int, _Waiting] = {}
        self._tickets = 0
        self._compact_at = COMPACTED
        self._written = 0
        wanted = list(cluster.topics.values())
        cluster.restore(Topic(name, one.id, one.partitions) for name, one in coordinator.topics.items())
        for topic in wanted:
            cluster.add(topic.name, max(topic.partitions, cluster.topics[topic.name].partitions))
        self._set_topics(set())

    def stands_for(self, node: int, port: int) -> None:
        """Let clients find the coordinator at the broker with this number, which they reach at this port."""
        self._cluster.node, self._cluster.port = node, port

    def take_topics(self, topics: Iterable[Topic]) -> None:
        """Take these topics, and no others. AppendFailed where the log refuses, BadInput where a topic has
        fewer partitions than before; then nothing changes."""
        before, wanted = self._cluster.topics, {topic.name: topic for topic in topics}
        if wanted == before:
            return
        self._cluster.topics = wanted
        try:
            self._set_topics(set(before))
        except BaseException:
            self._cluster.topics = before
            raise

    def has_topic(self, name: str, partitions: int) -> bool:
        """Tell if there is a topic of this name, with this many partitions."""
        topic = self._cluster.topics.get(name)
        return topic is not None and topic.partitions == partitions

    @property
    def now_ms(self) -> int:
        """The coordinator's time."""
        return self._coordinator.clock.now_ms()

    def handle(self, frame: bytes, host: str) -> bytes | int:
        """The response to a request, or the ticket of one that waits. Malformed for a frame that is no
        request."""
        return self.respond(self.read(frame, host))

    def respond(self, sent: Sent) -> bytes | int:
        """The response to a request that was read, or the ticket of one that waits."""
        if sent.key == API_VERSIONS:
            error = UNSUPPORTED_VERSION if sent.body.get("unsupported") else 0
            return self.response(sent, api_versions(self.offered, error))
        if sent.key == DESCRIBE_GROUPS:
            describe = partial(self._coordinator.describe, principal=sent.client.get("principal", ""))
            return self.response(sent, describe_groups(describe, sent.version, sent.body))
        if sent.key == OFFSET_DELETE:
            return self.response(sent, delete_offsets(self._coordinator, sent.client, sent.body))
        if sent.key == DESCRIBE_TOPIC_PARTITIONS:
            answer = describe_topic_partitions(self._cluster, sent.body)
            return self.response(sent, answer)
        if (api := GROUP_APIS.get(sent.key)) is not None:
            return self._of_group(api, sent)
        handler = HANDLERS[sent.key][2]
        if sent.key == FETCH:
            sent = sent._replace(body=fetched_once(sent.body))
            ready_ms = fetch_ready_ms(self._cluster, sent.body, self.now_ms)
            if ready_ms > self.now_ms:
                return self._wait(_Waiting(sent, ready_ms=ready_ms))
        if sent.key in CHANGES_TOPICS:
            return self.response(sent, self._changed_topics(handler, sent))
        return self.response(sent, handler(self._cluster, sent.version, sent.body, self.now_ms))

    def _changed_topics(self, handler: Handler, sent: Sent) -> Json:
        """The answer to a request that changes topics. Where the coordinator does not take the change, the
        topics are as they were, and the answer has an error for each of them."""
        before = dict(self._cluster.topics)
        answer: Json = {}
        try:
            answer = handler(self._cluster, sent.version, sent.body, self.now_ms)
            self._set_topics(set(before))
        except AppendFailed as refused:
            self._cluster.topics = before
            return unwritten(answer, refused.sentence)
        except BaseException:
            self._cluster.topics = before
            raise
        return answer

    def ready(self) -> list[tuple[int, bytes | Malformed]]:
        """Let due time-outs happen; the responses that are ready, by their tickets. Malformed in the place of
        a response that has no bytes: its connection alone is to be closed."""
        self._coordinator.fire_due(PATIENCE_MS)
        self._compact()
        answers = []
        for late in self._coordinator.others.take_completed():
            waiting = self._waiting.pop(late["id"], None)
            if waiting is not None:
                answers.append((late["id"], self._late(waiting.sent, late["body"])))
        now_ms = self.now_ms
        for ticket, waiting in list(self._waiting.items()):
            if waiting.ready_ms is not None and waiting.ready_ms <= now_ms:
                del self._waiting[ticket]
                answers.append((ticket, self._late(waiting.sent)))
        return answers

    def _late(self, sent: Sent, body: Json | None = None) -> bytes | Malformed:
        """The response to a request that waited; `body` is the coordinator's, None for a Fetch."""
        try:
            if body is None:
                answer = HANDLERS[FETCH][2](self._cluster, sent.version, sent.body, self.now_ms)
            else:
                answer = GROUP_APIS[sent.key].answered(sent.version, [body])
            return self.response(sent, answer)
        except Exception as error:  # of any kind: the other responses belong to other clients
            return Malformed(
                f"the answer to API {sent.key}, version {sent.version}, cannot be written: {error}"
            )

    def _compact(self) -> None:
        """P3: compact the log: a long-running server keeps the state of its groups, not their history."""
        size = self._log_size()
        if all(one < limit for one, limit in zip(size, self._compact_at, strict=True)):
            return
        with suppress(AppendFailed):  # the disk is full: the next request reports that
            self._coordinator.compact()
        self._written = 0
        size = self._log_size()
        self._compact_at = Size(*(max(least, 2 * one) for least, one in zip(COMPACTED, size, strict=True)))

    def _log_size(self) -> Size:
        """The size of the log. In memory, records share texts with the groups, so that the bytes of the
        requests that wrote records since the last compaction stand for the characters."""
        size = Size(0, self._written) if self._storage is None else self._storage.size
        return size._replace(entries=max(size.entries, self._coordinator.end))

    def forget(self, ticket: int) -> None:
        """Forget the request of a connection that is gone: no client reads the response."""
        self._waiting.pop(ticket, None)

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    def _of_group(self, api: GroupApi, sent: Sent) -> bytes | int:
        try:
            requests = api.requests(sent.version, sent.body)
        except (KeyError, TypeError) as error:
            raise Malformed(f"{api.name} {sent.version} has no {error}") from None
        ticket = self._tickets = self._tickets + 1
        answers, end, last_ms = [], self._coordinator.end, self.now_ms + PATIENCE_MS
        for body in requests:
            if api.put_off is not None and self.now_ms > last_ms:
                answers.append(api.put_off(body))
                continue
            answer = self._ask(api, sent, body, ticket)
            if answer is PENDING:
                self._waiting[ticket] = _Waiting(sent)
                self._written += sent.size
                return ticket
            answers.append(answer)
        if self._coordinator.end > end:
            self._written += sent.size
        if not answers:
            return self.response(sent, {"groups": []})
        answered = api.answered(sent.version, answers)
        if sent.key == DESCRIBE_CONFIGS:
            answered["results"] += topic_configs(self._cluster, sent.body["resources"])
        if sent.key == OFFSET_FETCH:
            answered = refused_fetch(sent.version, sent.body, answered)
        return self.response(sent, answered)

    def _ask(self, api: GroupApi, sent: Sent, body: Json, ticket: int) -> Json:
        try:
            answer = self._coordinator.request(api.name, api.version, sent.client, body, id=ticket)
            required = answer.get("errorCode") == MEMBER_ID_REQUIRED
            if sent.key == JOIN and sent.version < ADDS_AT_ONCE and required:
                given = {**body, "memberId": answer["memberId"]}
                answer = self._coordinator.request(api.name, api.version, sent.client, given, id=ticket)
            return answer
        except BadInput as error:
            raise Malformed(f"{api.name}: {error}") from None
        except AppendFailed as error:
            raise Malformed(f"{api.name} could not be written: {error}") from None

    def _wait(self, waiting: _Waiting) -> int:
        ticket = self._tickets = self._tickets + 1
        self._waiting[ticket] = waiting
        return ticket

    def _set_topics(self, before: set[str]) -> None:
        """Give the coordinator the topics that differ from its own, and those of `before` that are gone. The
        log has no entry where nothing differs."""
        known, here = self._coordinator.topics, self._cluster.topics
        upsert = [one for one in here.values() if known.get(one.name) != (one.id, one.partitions)]
        gone = [name for name in before if name not in here]
        if upsert or gone:
            self._coordinator.set_topics([one.operation() for one in upsert], gone)

    def read(self, frame: bytes, host: str) -> Sent:
        """The request in a frame. Malformed for a frame that is no request."""
        head = head_of(frame)
        key, version, correlation_id = head.key, head.version, head.correlation_id
        if key not in self.offered:
            raise Malformed(f"there is no API {key} here")
        first, last = self.offered[key]
        if not first <= version <= last:
            if key == API_VERSIONS:  # the client asks again, in a version that the answer names
                return Sent(key, 0, correlation_id, {}, {"unsupported": True})
            raise Malformed(f"API {key} has the versions {first} to {last}, not {version}")
        again = key in HEARTBEATS and len(frame) <= SHORT
        client_id, body = (_read_once if again else _read)(key, version, frame[HEADER:])
        client = {"id": client_id, "host": f"/{host}"}
        return Sent(key, version, correlation_id, client, body, len(frame))

    def response(self, sent: Sent, answer: Json) -> bytes:
        """The frame of a response."""
        return answer_frame(Head(sent.key, sent.version, sent.correlation_id), answer)


def _read(key: int, version: int, content: bytes) -> tuple[str, Json]:
    """The client id and the body of a request, from the bytes behind the head of its frame. Malformed."""
    schema, data = _requests(key, version), Bytes(content, most=MOST_ITEMS)
    try:
        return read_client(schema, data), read_request(schema, data)
    except Unreadable as error:
        raise Malformed(f"API {key}, version {version}, cannot be read: {error}") from None


_read_once = lru_cache(maxsize=KEPT)(_read)
"""As _read, for requests that come again and again. Callers must not change the body."""
