"""One member with a hand-written coordinator: its requests are taken, its answers are made up."""

from __future__ import annotations

from typing import Any

from coordinator.members.consumer import Member, Partitions, Purpose, Request, Settings
from coordinator.members.consumer.types import to_wire

FOO, BAR = "00000000-0000-4000-8000-0000000000f0", "00000000-0000-4000-8000-0000000000ba"
IDS = {"foo": FOO, "bar": BAR}
NAMES = {topic_id: name for name, topic_id in IDS.items()}
INTERVAL_MS = 5_000
HEARTBEAT, LEAVE, COMMIT, FETCH = (
    Purpose.HEARTBEAT,
    Purpose.LEAVE,
    Purpose.COMMIT_BEFORE_REVOCATION,
    Purpose.FETCH_OFFSETS,
)
LOAD_IN_PROGRESS, NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
REBALANCE, UNSUPPORTED_VERSION = 27, 35
UNKNOWN, FENCED, UNRELEASED, STALE_EPOCH = 25, 110, 111, 113

Json = dict[str, Any]


def parts(*names: str) -> Partitions:
    """parts("foo-0") as the member has it."""
    return frozenset((IDS[name.split("-")[0]], int(name.split("-")[1])) for name in names)


def foo(index: int) -> tuple[str, int]:
    return next(iter(parts(f"foo-{index}")))


def names(partitions: Partitions) -> list[str]:
    return sorted(f"{NAMES[topic]}-{index}" for topic, index in partitions)


def answer(
    epoch: int = 0, assigned: tuple[str, ...] | None = None, error: int = 0, member: str | None = None
) -> Json:
    """A response of ConsumerGroupHeartbeat."""
    given = None if assigned is None else {"error": 0, "assignedTopicPartitions": to_wire(parts(*assigned))}
    return {
        "throttleTimeMs": 0,
        "errorCode": error,
        "errorMessage": f"error {error}" if error else None,
        "memberId": member,
        "memberEpoch": epoch,
        "heartbeatIntervalMs": 0 if error or epoch < 0 else INTERVAL_MS,
        "assignment": given,
    }


class Driver:
    """A driver of one member; `callbacks` are all that ran: ("revoked", ["foo-0"]). Those named in `raising`
    raise."""

    def __init__(self, member_id: str = "m", raising: tuple[str, ...] = (), **settings: Any) -> None:
        self.member = Member(Settings("g", **settings), member_id)
        self.now_ms = 0
        self.callbacks: list[tuple[str, list[str]]] = []
        self.errors: list[int] = []
        """The error codes of commits that ended with an error."""
        self.raising = raising
        self.sent: Request | None = None

    # What the member sends

    def take(self) -> Request | None:
        """Take the request that the member sends now."""
        request = self.member.take_request(self.now_ms)
        self.sent = request or self.sent
        return request

    def wait(self) -> Request:
        """Wait for the next request of the member; the application polls all the time."""
        self.member.poll(self.now_ms)
        began_ms = self.now_ms
        while (request := self.take()) is None:
            due_ms = self.member.next_deadline_ms()
            assert due_ms is not None, f"{self.member.state} waits for nothing"
            assert self.now_ms - began_ms < 1_000_000, f"{self.member.state} waits forever"
            self.now_ms = max(self.now_ms + 1, due_ms)
            self.member.poll(self.now_ms)
        return request

    def heartbeat(self) -> Json:
        """The next heartbeat, or leave; offsets that are asked for before are 10, commits succeed."""
        while (request := self.wait()).purpose not in (HEARTBEAT, LEAVE):
            self.offsets(request)
        return request.body

    def heartbeat_now(self) -> Json:
        """The heartbeat, or leave, that it sends now."""
        request = self.take()
        assert request is not None and request.purpose in (HEARTBEAT, LEAVE)
        return request.body

    # Answers to the member

    def reply(self, body: Json) -> None:
        assert self.sent is not None
        self.member.answered(self.sent.correlation, body, self.now_ms)

    def ok(self, epoch: int, *assigned: str) -> None:
        """The member's heartbeat is accepted, with an assignment."""
        self.reply(answer(epoch, assigned))

    def kept(self, epoch: int) -> None:
        """The member's heartbeat is accepted, without an assignment."""
        self.reply(answer(epoch))

    def error(self, code: int) -> None:
        self.reply(answer(error=code))

    def lose(self, disconnected: bool = False) -> None:
        """No answer comes."""
        assert self.sent is not None
        self.member.failed(self.sent.correlation, self.now_ms, disconnected=disconnected)

    def offsets(self, request: Request, error: int = 0, group_error: int = 0) -> None:
        """Answer an OffsetCommit, an OffsetFetch or a FindCoordinator."""
        if request.api == "FindCoordinator":
            self.reply({"coordinators": [{"key": "g", "errorCode": error}]})
        elif request.api == "OffsetCommit":
            self.reply({"topics": _answers(request.body["topics"], error)})
        else:
            topics = _answers(request.body["groups"][0]["topics"], error)
            self.reply({"groups": [{"groupId": "g", "errorCode": group_error, "topics": topics}]})

    # The application

    def subscribe(self, *topics: str) -> Driver:
        self.member.subscribe(topics or ("foo",), now_ms=self.now_ms)
        return self

    def fetching(self) -> Request:
        """Become a member whose first OffsetFetch, for foo-0, is in flight; that request."""
        self.subscribe()
        self.heartbeat()
        self.ok(1, "foo-0")
        self.poll()
        self.heartbeat()
        self.kept(1)
        request = self.wait()
        assert request.purpose is FETCH
        return request

    def run_callbacks(self) -> None:
        """All that there are now."""
        while (callback := self.member.next_callback(self.now_ms)) is not None:
            name = callback.name.value.removeprefix("on_partitions_")
            self.callbacks.append((name, names(callback.partitions)))
            self.errors += [callback.error] if callback.error else []
            error = RuntimeError(f"{name} raised") if name in self.raising else None
            self.member.callback_done(self.now_ms, error)

    def poll(self) -> None:
        self.member.poll(self.now_ms)
        self.run_callbacks()

    def poll_until_revoking(self) -> None:
        """The application polls, and is in the callback of a revocation from then on."""
        self.member.poll(self.now_ms)
        callback = self.member.next_callback(self.now_ms)
        assert callback is not None and callback.name.value == "on_partitions_revoked"

    def stable(self, *assigned: str, epoch: int = 1) -> Driver:
        """Subscribed, joined, and at rest with these partitions, at offset 10."""
        self.subscribe()
        self.heartbeat()
        self.ok(epoch, *assigned)
        self.poll()
        self.heartbeat()
        self.kept(epoch)
        while (request := self.take()) is not None:
            self.offsets(request)
        assert names(self.member.fetchable) == sorted(assigned)
        self.callbacks.clear()
        return self


def owned(body: Json) -> list[str] | None:
    """The partitions that a heartbeat reports as owned; None if the field is absent."""
    if body["topicPartitions"] is None:
        return None
    return names(
        frozenset(
            (topic["topicId"], index) for topic in body["topicPartitions"] for index in topic["partitions"]
        )
    )


def committed(body: Json) -> dict[str, int]:
    """The offsets of an OffsetCommit."""
    return {
        f"{NAMES[topic['topicId']]}-{one['partitionIndex']}": one["committedOffset"]
        for topic in body["topics"]
        for one in topic["partitions"]
    }


def _answers(topics: list[Json], error: int) -> list[Json]:
    return [
        {
            "topicId": topic["topicId"],
            "partitions": [
                {"partitionIndex": index, "committedOffset": -1 if error else 10, "errorCode": error}
                for index in topic.get("partitionIndexes")
                or [one["partitionIndex"] for one in topic["partitions"]]
            ],
        }
        for topic in topics
    ]
