"""One coordinator behind its line protocol, in this process or another, and the form of its answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from coordinator import Coordinator
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
Partition = tuple[str, int]
Partitions = frozenset[Partition]

GROUP: Final = "g"
HEARTBEAT, COMMIT, FETCH = "ConsumerGroupHeartbeat", "OffsetCommit", "OffsetFetch"
VERSIONS: Final = {HEARTBEAT: 0, COMMIT: 9, FETCH: 9}
CLIENT: Final = {"id": "client", "host": "/127.0.0.1", "principal": "User:alice"}
NO_TOPIC_ID: Final = "00000000-0000-0000-0000-000000000000"

UNKNOWN_TOPIC_OR_PARTITION, COORDINATOR_NOT_AVAILABLE, UNKNOWN_MEMBER_ID = 3, 15, 25
INVALID_REQUEST, GROUP_MAX_SIZE_REACHED = 42, 81
UNKNOWN_TOPIC_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR = 100, 110, 111, 112
STALE_MEMBER_EPOCH: Final = 113


class Connection:
    """A connection that sends operations, and keeps those that may have changed something, for a scenario.

    `handle` takes a line and gives the answer's line, as `LineProtocol.handle` does.
    """

    def __init__(
        self, handle: Callable[[str], str | bytes], close: Callable[[], None] = lambda: None
    ) -> None:
        self.ops: list[Json] = []
        self._handle = handle
        self.close = close

    def do(self, op: str, **fields: Any) -> Json:
        """Do an operation; ok false is a failure."""
        operation = {"op": op, **fields}
        self.ops.append(operation)
        return self._answer(operation)

    def look(self, op: str, **fields: Any) -> Json:
        """Send an operation that changes nothing: no scenario needs it."""
        return self._answer({"op": op, **fields})

    def _answer(self, operation: Json) -> Json:
        answer: Json = json.loads(self._handle(json.dumps(operation)))
        assert answer.pop("ok") is True, f"{operation} was answered with: {answer.get('error')}"
        return answer

    def describe(self) -> Json:
        """The description of the group."""
        described: Json = self.look("describe", group=GROUP)["group"]
        return described

    def committed(self) -> dict[Partition, int]:
        """All offsets of the group, by topic id and partition, as an administrator sees them (O4)."""
        code, offsets = self.fetch("", -1)
        assert code == 0
        return offsets

    def fetch(self, member_id: str, epoch: int) -> tuple[int, dict[Partition, int]]:
        """The error, and all offsets of the group, by topic id and partition."""
        groups = [{"groupId": GROUP, "topics": None}]
        body = {"memberId": member_id, "generationIdOrMemberEpoch": epoch, "groups": groups}
        answer = self.look("request", api=FETCH, version=VERSIONS[FETCH], client=CLIENT, body=body)["body"]
        (group,) = answer["groups"]
        return group["errorCode"], {
            (topic["topicId"], partition["partitionIndex"]): partition["committedOffset"]
            for topic in group["topics"]
            for partition in topic["partitions"]
        }


def in_process() -> Connection:
    """A coordinator in this process."""
    return Connection(LineProtocol(Coordinator()).handle)


def as_a_program() -> Connection:
    """`python -m coordinator --stdio`."""
    program = subprocess.Popen(
        [sys.executable, "-m", "coordinator", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    stdin, stdout = program.stdin, program.stdout
    assert stdin is not None and stdout is not None

    def handle(line: str) -> bytes:
        stdin.write(line.encode() + b"\n")
        stdin.flush()
        return stdout.readline()

    def close() -> None:
        stdin.close()
        stdout.close()
        assert program.wait() == 0

    return Connection(handle, close)


def volatile_of(described: Json, now_ms: int) -> Json:
    """The state of a group that no record holds, from its description."""
    deadlines = {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in described["timers"]}
    members = {
        member["memberId"]: {
            "previousMemberEpoch": member["previousMemberEpoch"],
            "pendingRevocation": member["pendingRevocation"],
            "acknowledged": member["acknowledged"],
            "sessionDeadlineMs": deadlines["session", member["memberId"]],
            "rebalanceDeadlineMs": deadlines.get(("rebalance", member["memberId"])),
        }
        for member in described["members"]
    }
    of_group = {"emptyDeadlineMs": deadlines.get(("group", "")), "members": members}
    return {"clockMs": now_ms, "groups": {GROUP: of_group} if described["groupEpoch"] else {}}


def partitions_of(wire: Iterable[Mapping[str, Any]]) -> Partitions:
    """The set of partitions that topic partitions stand for; they must be in normal form: sorted, each
    once."""
    listed = [(topic["topicId"], index) for topic in wire for index in topic["partitions"]]
    assert listed == sorted(set(listed))
    topics = [topic["topicId"] for topic in wire]
    assert topics == sorted({topic_id for topic_id, _ in listed})
    return frozenset(listed)


def to_wire(partitions: Iterable[Partition]) -> list[Json]:
    """Topic partitions of a request."""
    topics: dict[str, list[int]] = {}
    for topic_id, index in sorted(partitions):
        topics.setdefault(topic_id, []).append(index)
    return [{"topicId": topic_id, "partitions": indexes} for topic_id, indexes in topics.items()]


_FIELDS: Final[dict[str, Any]] = {
    "throttleTimeMs": int,
    "errorCode": int,
    "errorMessage": (str, type(None)),
    "memberId": (str, type(None)),
    "memberEpoch": int,
    "shouldComputeAssignment": bool,
    "heartbeatIntervalMs": int,
    "assignment": (dict, type(None)),
}


def check_heartbeat_response(body: Json, joins: bool) -> None:
    """H9: every field in its type; an error has a message and nothing else; a join is told its member id."""
    assert body.keys() == _FIELDS.keys()
    for name, kind in _FIELDS.items():
        assert isinstance(body[name], kind), (name, body[name])
    assert body["shouldComputeAssignment"] is False and body["throttleTimeMs"] == 0
    if body["errorCode"]:
        assert body["errorMessage"] and body["errorMessage"][-1] == "."
        assert (body["memberId"], body["memberEpoch"], body["assignment"]) == (None, 0, None)
        return
    assert bool(body["memberId"]) == joins and body["errorMessage"] is None
    assert body["heartbeatIntervalMs"] == (5000 if body["memberEpoch"] > 0 else 0)
    if body["assignment"] is not None:
        assert body["assignment"].keys() == {
            "error", "assignedTopicPartitions", "pendingTopicPartitions", "metadataVersion", "metadataBytes",
        }  # fmt: skip
        assert body["assignment"]["error"] == 0


def commit_body(
    member_id: str, epoch: int, offsets: Mapping[Partition, int], names: Mapping[str, str] | None = None
) -> Json:
    """OffsetCommit by topic id; or by name, where `names` has one for the id."""
    topics = []
    for (topic_id, index), offset in sorted(offsets.items()):
        name = (names or {}).get(topic_id)
        topic = {"topicId": topic_id} if name is None else {"name": name}
        topics.append({**topic, "partitions": [{"partitionIndex": index, "committedOffset": offset}]})
    return {"groupId": GROUP, "memberId": member_id, "generationIdOrMemberEpoch": epoch, "topics": topics}


def commit_codes(sent: Json, body: Json) -> list[int]:
    """O1: the error of each partition, in the order of the request; the response must name the partitions of
    the request."""
    assert body.keys() == {"throttleTimeMs", "topics"}
    request = [
        (topic.get("name"), topic.get("topicId", NO_TOPIC_ID), partition["partitionIndex"])
        for topic in sent["topics"]
        for partition in topic["partitions"]
    ]
    answered = [
        (topic["name"], topic["topicId"], partition["partitionIndex"])
        for topic in body["topics"]
        for partition in topic["partitions"]
    ]
    assert answered == request
    return [partition["errorCode"] for topic in body["topics"] for partition in topic["partitions"]]
