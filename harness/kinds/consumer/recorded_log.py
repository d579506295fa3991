"""A log of a consumer group as lines for spec/Recorded.tla."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.state import NOT_IN_GROUP, Member, Request, Response
from harness.kinds.fields import Partition
from harness.kinds.registry import apis_of_others
from harness.kinds.rows import Forms, Seen, record_of
from harness.replay import wire
from harness.replay.view import DELETED_TOPICS
from harness.targets.base import Json
from harness.validate.log import ERRORS, NOT_THERE, LogReader, members_hidden, with_epoch
from harness.validate.recording import Observed, Recording
from harness.validate.topics import Topics

REQUEST: Final = "Request"
_OTHER_KINDS: Final = apis_of_others(CONSUMER)
TIMERS: Final = {"session": "SessionTimeout", "rebalance": "RebalanceTimeout", "group": "DeleteGroup"}


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """A group in its description; None stands for a field that is not shown. In `metadata`, ("foo", 2) is
    topic foo with two partitions."""

    state: str | None
    metadata: frozenset[Partition] | None
    epoch: int
    assignment_epoch: int
    targets: Mapping[str, frozenset[Partition]] | None
    members: Mapping[str, Seen]


def member_literal(member: Seen | None = None) -> str:
    """A member in the form of spec/Recorded.tla; without a member, of an id that is not in the group."""
    seen = {"epoch": NOT_IN_GROUP} if member is None else member
    return record_of(Member).seen_literal(seen, {"epoch": str(seen["epoch"])})


@dataclass(slots=True)
class Line(Observed):
    """One step of a run: the operation, and its response and the group after it, where they were observed.

    `number` is that of the line in the log, `content` the line itself; `script` is the last target assignment
    that was scripted.
    """

    number: int
    content: Json
    does: str
    member: str = ""
    request: Request | None = None
    topic: str = ""
    partitions: int = 0
    response: Response | None = None
    seen: SeenGroup | None = None
    script: Mapping[str, frozenset[Partition]] | None = None


@dataclass(slots=True)
class Run:
    """The steps from a new coordinator to the next one, or to an operation that the specification does not
    have.

    `topics` are those that exist at its first line; `timed` tells that the recorder moved the clock, so that
    every time-out is a line; `forgets`, that partitions of deleted topics are not shown (T2); `max_size` is
    group.consumer.max.size; at the lines `explained` (1 is the first) the specification also shows the armed
    timers.
    """

    topics: Mapping[str, int]
    timed: bool
    forgets: bool
    max_size: int
    lines: list[Line] = field(default_factory=list)
    explained: Collection[int] = ()

    @property
    def constant(self) -> tuple[int, ...]:
        """The constants of the model, which are the same in all of its runs."""
        return (self.max_size,)


def left_out(body: Json, error: int) -> str:
    """The reason why a heartbeat and its answer are no step of the model, "" if they are a step."""
    if error in NOT_THERE:
        return "refused by what is no coordinator, or has no log (H5, P3)"
    if not body["memberEpoch"] and body.get("rebalanceTimeoutMs", 1) <= 0:
        return "a join without a rebalance time-out, which no request of the model has"
    return ""


class ConsumerReader(LogReader[Run]):
    """A reader of the log of a consumer group; without a name the first group of the log."""

    line = Line
    timers = TIMERS

    def __init__(self, path: Path, group: str, kind: Recording[Run, Any]) -> None:
        super().__init__(path, group, kind)
        self._script: Mapping[str, Any] | None = None
        self._fails = False

    def _load(self, number: int, content: Json, answer: Json) -> None:
        super()._load(number, content, answer)
        self._script = None

    def _assign(self, number: int, content: Json, answer: Json) -> None:
        if content["group"] == (self._found.group or content["group"]):
            target = content.get("target")
            self._script = None if target is None else {name: target[name] for name in target}
            self._fails = content.get("error") is not None

    def _change_topics(self, number: int, content: Json, answer: Json) -> None:
        changes = self._topics.change(content)
        for one in changes if self._run and self._run.lines else ():
            line = Line(number, content, one.does, topic=one.topic, partitions=one.partitions)
            self._add(line, answer if one is changes[-1] else None)

    def _request(self, number: int, content: Json, answer: Json) -> None:
        body = content["body"]
        if content["api"] != wire.HEARTBEAT:
            self._found.left_out[content["api"]] += 1
            if content["api"] in _OTHER_KINDS and body["groupId"] == (self._found.group or body["groupId"]):
                self._end("of a group of another kind (C1, M1, W1)")
            if content["api"] == wire.DELETE and self._deleted(answer.get("body") or {}):
                self._end("after a deletion of the group")
            return
        self._found.group = self._found.group or body["groupId"]
        if body["groupId"] != self._found.group:
            self._found.left_out["another group"] += 1
            return
        if answer.get("body") is None:
            self._end("after a request without a response")
            return
        if body.get("clientAssignors"):
            self._end("from a member on that may compute the target itself (A5)")
        if why := left_out(body, answer["body"]["errorCode"]):
            self._found.left_out[why] += 1
            return
        request = heartbeat_of(body, self._topics)
        response = response_of(answer["body"], self._topics, request)
        member = request.member or response.member or "nobody"
        self._add(Line(number, content, REQUEST, member, request, response=response), answer)

    def _begun(self, line: Line) -> Run:
        return Run(self._topics.existing, self._timed, DELETED_TOPICS in self._hidden, self._size)

    def _complete(self, line: Line, answer: Json | None) -> None:
        super()._complete(line, answer)
        line.script = self._scripted()

    def _scripted(self) -> Mapping[str, frozenset[Partition]] | None:
        """The scripted target, read when it is used: it may name a topic that is created meanwhile. Where the
        assignor fails, the target assignment stays as it was."""
        if self._script is not None:
            return {name: self._topics.partitions(parts) for name, parts in self._script.items()}
        before = self._run.lines[-1].seen if self._run and self._run.lines else None
        return before.targets if self._fails and before else None

    def _seen(self, answer: Json) -> SeenGroup | None:
        group = self._group_in(answer)
        if group is None:
            return None
        return seen_of(group, self._topics, self._hidden)


def heartbeat_of(body: Json, topics: Topics) -> Request:
    """The body of a ConsumerGroupHeartbeat."""
    owned, names = body.get("topicPartitions"), body.get("subscribedTopicNames")
    return Request(
        member=body.get("memberId") or "",
        epoch=body["memberEpoch"],
        instance=body.get("instanceId"),
        owned=None if owned is None else topics.partitions(owned),
        subscription=None if names is None else frozenset(names),
        regex=body.get("subscribedTopicRegex"),
        assignor=body.get("serverAssignor"),
    )


def response_of(body: Json, topics: Topics, request: Request) -> Response:
    """The body of the response. Without a member id the answer is for the member of the request, if it has
    joined before (H9, MemberIdAnswered)."""
    code = body["errorCode"]
    if code:
        return Response(ERRORS.get(code, f"error {code}"), "", 0, None, None)
    assignment = body.get("assignment")
    assigned = pending = None
    if assignment is not None:
        assigned = topics.partitions(assignment.get("assignedTopicPartitions") or ())
        pending = topics.partitions(assignment.get("pendingTopicPartitions") or ())
    member = body.get("memberId") or (request.member if request.epoch else "")
    return Response("NONE", member, body["memberEpoch"], assigned, pending)


def seen_of(group: Json, topics: Topics, hidden: Collection[str]) -> SeenGroup:
    """A described group, from a target that does not show the `hidden` fields."""
    metadata = group.get("metadata") if "metadata" not in hidden else None
    members = {member["memberId"]: member for member in group["members"]}
    targets = None
    if "members.target" not in hidden and all(one.get("target") is not None for one in members.values()):
        targets = {name: topics.partitions(member["target"]) for name, member in members.items()}
    forms: Forms = {"text": lambda text: text or "", "texts": frozenset, "partitions": topics.partitions}
    not_shown = members_hidden(hidden)
    shown = {
        name: with_epoch(member, record_of(Member).seen(member, not_shown, forms))
        for name, member in members.items()
    }
    return SeenGroup(
        group.get("state") if "state" not in hidden else None,
        None if metadata is None else topics.sizes(metadata),
        group["groupEpoch"],
        group["assignmentEpoch"],
        targets,
        shown,
    )
