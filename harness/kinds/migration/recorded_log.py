"""A log of a group that migrates as lines for spec/RecordedMigration.tla: those of a classic group and those
of a consumer group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.kinds.classic import recorded_log as old
from harness.kinds.classic import wire as classic
from harness.kinds.classic.recorded_log import TIMERS, ClassicLogReader
from harness.kinds.classic.subscription_data import Classic, subscription_data
from harness.kinds.consumer.recorded_log import (
    REQUEST,
    SeenGroup,
    heartbeat_of,
    left_out,
    response_of,
    seen_of,
)
from harness.kinds.consumer.state import Request, Response
from harness.kinds.migration.words import MigrationWords, differ
from harness.replay import wire
from harness.targets.base import Json
from harness.validate.recording import Recording

PHASES: Final = {"PreparingRebalance": "prepare", "CompletingRebalance": "complete", "Stable": "stable"}


@dataclass(slots=True)
class Line(old.Line):
    """One step. Fields of a consumer group have names of their own: `heartbeat` with the response `answer`,
    the described `group`, and the `words` of its members of the classic protocol, None if those are not
    shown."""

    heartbeat: Request | None = None
    answer: Response | None = None
    group: SeenGroup | None = None
    words: Mapping[str, Classic] | None = None
    topic: str = ""
    partitions: int = 0

    @property
    def whole(self) -> bool:
        """Tell if a heartbeat has the fields that the model does not have, and that Kafka expects in a full
        request."""
        return int(self.content.get("body", {}).get("rebalanceTimeoutMs", -1)) >= 0

    @property
    def observed(self) -> bool:
        """Tell if there is anything to compare."""
        answered = self.response is not None or self.answer is not None or bool(self.completed)
        return answered or self.seen is not None or self.group is not None


@dataclass(slots=True)
class Run(old.Run):
    """The steps from a new coordinator to the next one. `start` is the stable classic group at its
    beginning."""

    topics: Mapping[str, int] = field(default_factory=dict)
    max_size: int = 0
    start: old.SeenGroup | None = None

    @property
    def constant(self) -> tuple[int, ...]:
        """The constants of the model, which are the same in all of its runs."""
        return (self.extensions, self.max_size)


class MigrationLogReader(ClassicLogReader):
    """Reads a log of a group that migrates."""

    line = Line
    timers = TIMERS | {"rebalance": "RebalanceTimeout"}
    words = MigrationWords()

    def __init__(self, path: Path, group: str, kind: Recording[old.Run, Any]) -> None:
        super().__init__(path, group, kind)
        self._start: old.SeenGroup | None = None

    def _load(self, number: int, content: Json, answer: Json) -> None:
        """OpenMigration: a behaviour may begin with a stable classic group."""
        super()._load(number, content, answer)
        self._start = None
        loaded = content["volatile"].get("classic", {}).get(self._found.group)
        if self._timed and loaded is not None and loaded["state"] == "Stable":
            self._lost, self._start = "", self._seen({"group": loaded})

    def _begun(self, line: old.Line) -> Run:
        return Run(
            self._extensions(line),
            topics=self._topics.existing,
            max_size=self._size,
            start=self._start,
        )

    def _look(self, line: old.Line, answer: Json) -> None:
        group = answer.get("group") or {}
        if group.get("type") == "classic":
            super()._look(line, answer)
        elif group.get("groupId") == self._found.group and isinstance(line, Line) and line.group is None:
            line.group = seen_of(group, self._topics, self._hidden)
            if self._shows("classicMemberMetadata"):
                line.words = {
                    member["memberId"]: self._classic_of(member)
                    for member in group["members"]
                    if "classicMemberMetadata" in member
                }

    def _classic_of(self, member: Json) -> Classic:
        phase, protocols = str(member["classicState"]), member["classicMemberMetadata"]["supportedProtocols"]
        names = tuple(one["name"] for one in protocols)
        return Classic(PHASES.get(phase, phase), names, self.words.subscription(protocols))

    def _change_topics(self, number: int, content: Json, answer: Json) -> None:
        before = dict(self._topics.counts)
        changes = self._topics.change(content)
        if not changes or not self._run or not self._run.lines:
            return
        does, topic, count = changes[0]
        if len(changes) > 1 or does != "AddPartitions" or count != before[topic] + 1:
            self._end("after a change of topics other than one more partition, which no step of the model is")
        else:
            self._add(Line(number, content, does, topic=topic, partitions=count), answer)

    def _request(self, number: int, content: Json, answer: Json) -> None:
        api, body = content["api"], content["body"]
        if body.get("groupId") != self._found.group:
            super()._request(number, content, answer)
        elif api == wire.HEARTBEAT:
            self._heartbeat(number, content, answer.get("body"), answer)
        elif api == wire.COMMIT and body.get("groupInstanceId") is not None:
            self._found.left_out[api] += 1
        else:
            super()._request(number, content, answer)

    def _heartbeat(self, number: int, content: Json, answered: Json | None, answer: Json) -> None:
        body = content["body"]
        if answered is None:
            self._end("after a request without a response")
            return
        if body.get("clientAssignors"):
            self._end("from a member on that may compute the target itself (A5, M4)")
        if body.get("subscribedTopicRegex"):
            self._end("from a regular expression on, which no request of the model has")
        if why := left_out(body, answered["errorCode"]):
            self._found.left_out[why] += 1
            return
        request = heartbeat_of(body, self._topics)
        response = response_of(answered, self._topics, request)
        member = request.member or response.member or "nobody"
        self._add(Line(number, content, REQUEST, member, heartbeat=request, answer=response), answer)

    def _lacks(self, api: str, version: int, body: Json) -> str:
        if lacks := super()._lacks(api, version, body):
            return lacks
        if api == classic.JOIN and body.get("memberId") and body.get("groupInstanceId") is not None:
            return "a JoinGroup with a member id and an instance id, which no step of the model is"
        if api == classic.LEAVE and body["members"][0].get("groupInstanceId") is not None:
            return "a LeaveGroup of an instance id, which no step of the model is"
        if api == classic.JOIN and differ(body["protocols"]):
            return "a JoinGroup whose protocols say several things, which no step of the model is"
        content = self.words.subscription(body["protocols"]) if api == classic.JOIN else frozenset()
        if not self._are_there(subscription_data(content).owned):
            return "a JoinGroup that owns partitions which there are not, which no step of the model is"
        given = [self.words.assignment(one.get("assignment", "")) for one in body.get("assignments", ())]
        if not all(self._are_there(partitions or frozenset()) for partitions in given):
            return "a SyncGroup that assigns partitions which there are not, which no step of the model is"
        return ""

    def _are_there(self, owned: frozenset[tuple[str, int]]) -> bool:
        return all(index < self._topics.counts.get(topic, 0) for topic, index in owned)
