"""The coordinator on the side of the client: faults of a schedule, other members, a timeline of requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from harness.clients.timeline import COMMIT, HEARTBEAT, NONE, Event
from harness.targets.base import Json

GROUP: Final = "g"
_GHOST: Final = {"id": "ghost", "host": "/127.0.0.1"}


class Service(Protocol):
    """A coordinator in this process."""

    def request(self, api: str, version: int, client: Json, body: Json) -> Json:
        """Handle one request; the body of its response."""


@dataclass(slots=True)
class _Ghost:
    """Another member of the group, without faults: it acknowledges each assignment at once."""

    member_id: str
    epoch: int = 0
    owned: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Front:
    """Between the client under test and a coordinator. Faults wait for the next heartbeat (or commit)."""

    service: Service
    names: Mapping[str, str]
    now_ms: Callable[[], int]
    timeline: list[Event] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    member_id: str = ""
    _ghosts: dict[str, _Ghost] = field(default_factory=dict)
    _numbers: int = 0
    _ghosts_made: int = 0

    def note(self, event: Event) -> None:
        """Write an event into the timeline."""
        self.timeline.append(event)

    def arrived(self, api: str, body: Json, connection: int) -> int:
        """Note that a request arrives; its number."""
        self._numbers += 1
        self.note(
            Event(self.now_ms(), "request", api=api, body=body, connection=connection, number=self._numbers)
        )
        return self._numbers

    def answered(self, number: int, body: Json | None) -> None:
        """Note that an answer is sent; None: the connection is cut."""
        self.note(Event(self.now_ms(), "answer", number=number, body=body))

    def handle(self, api: str, version: int, client: Json, body: Json) -> tuple[Json | None, int]:
        """The answer to a request, None where the connection must be cut, and the time (ms) for which the
        answer is held back."""
        if api == HEARTBEAT:
            return self._heartbeat(version, client, body)
        if api == COMMIT and self._take("stale"):
            return commit_refused(body, 113), 0
        return self.service.request(api, version, client, body), 0

    def _heartbeat(self, version: int, client: Json, body: Json) -> tuple[Json | None, int]:
        leaves = body["memberEpoch"] < 0
        if not leaves and (fault := self._take("refuse", "unreleased")) is not None:
            if fault["do"] == "unreleased" and body["memberEpoch"] != 0:
                self.faults.insert(0, fault)
            else:
                return refused(fault.get("error", 111)), 0
        lost = None if leaves else self._take("lose")
        if lost is not None and lost["what"] == "request":
            return None, 0
        answer = self.service.request(HEARTBEAT, version, client, body)
        if not leaves and answer["errorCode"] == NONE:
            self.member_id = answer.get("memberId") or body["memberId"]
        held = self._take("hold")
        return (None if lost is not None else answer), (held["ms"] if held else 0)

    def _take(self, *kinds: str) -> Json | None:
        for index, fault in enumerate(self.faults):
            if fault["do"] in kinds:
                times = fault.get("times", 1)
                self.faults[index : index + 1] = [] if times == 1 else [{**fault, "times": times - 1}]
                return fault
        return None

    def remove(self) -> None:
        """Let the coordinator remove the member under test, as after its session (H8): then the member is
        unknown."""
        if self.member_id:
            self._ask({"memberId": self.member_id, "memberEpoch": -1})

    def ghost(self, name: str) -> None:
        """Let another member join, or leave if it is in the group."""
        ghost = self._ghosts.pop(name, None)
        if ghost is not None:
            self._ask({"memberId": ghost.member_id, "memberEpoch": -1})
            return
        self._ghosts_made += 1
        self._ghosts[name] = _Ghost(f"ghost-{name}-{self._ghosts_made}")
        self.tick()

    def tick(self) -> None:
        """Let each of the other members send a heartbeat, as it must within each interval."""
        for ghost in list(self._ghosts.values()):
            answer = self._ask(
                {
                    "memberId": ghost.member_id,
                    "memberEpoch": ghost.epoch,
                    "rebalanceTimeoutMs": 60_000,
                    "subscribedTopicNames": ["bar", "foo"],
                    "topicPartitions": ghost.owned,
                }
            )
            if answer["errorCode"] != NONE:
                ghost.epoch, ghost.owned = 0, []
                continue
            ghost.epoch = answer["memberEpoch"]
            if answer.get("assignment") is not None:
                ghost.owned = answer["assignment"]["assignedTopicPartitions"]

    def _ask(self, body: Json) -> Json:
        whole = {
            **{"groupId": GROUP, "instanceId": None, "rackId": None, "rebalanceTimeoutMs": -1},
            **{"subscribedTopicNames": None, "subscribedTopicRegex": None, "serverAssignor": None},
            **{"topicPartitions": None},
        }
        return self.service.request(HEARTBEAT, 0, _GHOST, {**whole, **body})


def refused(error: int) -> Json:
    """The answer to a heartbeat with an error code."""
    return {
        "throttleTimeMs": 0,
        "errorCode": error,
        "errorMessage": f"error {error}",
        "memberId": None,
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def commit_refused(body: Json, error: int) -> Json:
    """The answer to an offset commit with an error code."""
    topics = [
        {
            **{key: topic[key] for key in ("topicId", "name") if key in topic},
            "partitions": [
                {"partitionIndex": one["partitionIndex"], "errorCode": error} for one in topic["partitions"]
            ],
        }
        for topic in body["topics"]
    ]
    return {"throttleTimeMs": 0, "topics": topics}
