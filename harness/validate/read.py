"""A log of operations and answers as lines that the specification has words for.

A log is what `harness.targets.recording` writes, or any program: one JSON object a line, an operation of the
line protocol with its `answer`. Parts of an answer may be missing: what was not observed is not compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.errors import USAGE, ConformError
from harness.files import read_text
from harness.replay import wire
from harness.replay.state import NOT_IN_GROUP, Partition, Request, Response
from harness.replay.view import DELETED_TOPICS
from harness.targets.base import Json

REQUEST: Final = "Request"
_OTHER_KINDS: Final = wire.CLASSIC_VERSIONS.keys() | wire.CONNECT_VERSIONS.keys()
TIMERS: Final = {"session": "SessionTimeout", "rebalance": "RebalanceTimeout", "group": "DeleteGroup"}
ERRORS: Final = {code: name for name, code in wire.ERROR_CODES.items()}
FIELDS: Final = {
    str: ("memberId", "instanceId", "subscribedTopicRegex", "serverAssignor"),
    int: ("memberEpoch", "errorCode", "rebalanceTimeoutMs"),
    list: ("subscribedTopicNames", "topicPartitions"),
}
"""What requests and responses have, by type; each may be null."""
NOT_THERE: Final = frozenset({14, 15, 16})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: what was asked of no coordinator,
or of one whose log took no records, changes nothing (H5, P3)."""


@dataclass(frozen=True, slots=True)
class SeenMember:
    """A member as it was described; None is what the target does not show."""

    epoch: int = NOT_IN_GROUP
    previous_epoch: int | None = None
    instance: str | None = None
    subscription: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    assigned: frozenset[Partition] | None = None
    revoking: frozenset[Partition] | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A group as it was described; `targets` is None if the target assignment is not shown."""

    epoch: int
    assignment_epoch: int
    targets: Mapping[str, frozenset[Partition]] | None
    members: Mapping[str, SeenMember]


@dataclass(slots=True)
class Line:
    """One step of a run: what was done, and its response and the group after it, where they were observed.

    `number` is that of the line in the log, `said` the line itself; `script` is the target assignment that
    the assignor was told to give, last.
    """

    number: int
    said: Json
    does: str
    member: str = ""
    request: Request | None = None
    topic: str = ""
    partitions: int = 0
    response: Response | None = None
    seen: Seen | None = None
    script: Mapping[str, frozenset[Partition]] | None = None


@dataclass(slots=True)
class Run:
    """From a new coordinator to the next one, or to what the specification has no words for.

    `topics` are those that exist at its first line; `timed` says that the recorder moved the clock, so that
    every time-out is a line; `forgets`, that partitions of topics that are gone are not shown (T2);
    `max_size` is group.consumer.max.size.
    """

    topics: Mapping[str, int]
    timed: bool
    forgets: bool
    max_size: int
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Recorded:
    """A log of one group; `left_out` counts the lines that were not judged, by reason."""

    group: str
    dialect: str
    runs: list[Run] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def lines(self) -> int:
        """How many steps there are to be judged."""
        return sum(len(run.lines) for run in self.runs)


def read_log(path: Path, group: str | None = None) -> Recorded:
    """Read a log; of several groups the one that is named, else the first.

    ConformError (exit 2) with the line for what is no log, and for one in which nothing can be judged.
    """
    reader = _Reader(path, group)
    for number, text in enumerate(read_text(path, "The log").splitlines(), start=1):
        if not text.strip():
            continue
        try:
            said = json.loads(text)
            reader.read(number, said)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise ConformError(
                f"{path}, line {number} is no operation with its answer ({what}): conform validate --help "
                "says what a log is.",
                USAGE,
            ) from None
    return reader.done()


def _check_types(body: Json) -> None:
    """TypeError for a field that is not of its type: it would be compared with what it can never be."""
    for kind, names in FIELDS.items():
        for name in names:
            value = body.get(name)
            if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
                raise TypeError(f"{name} is {value!r}")


class _Reader:
    """Reads a log line by line."""

    def __init__(self, path: Path, group: str | None) -> None:
        self._path = path
        self._found = Recorded(group or "", "")
        self._ids: dict[str, str] = {}  # topic id on the wire -> topic of the specification
        self._topics: dict[str, int] = {}
        self._hidden: frozenset[str] = frozenset()
        self._timed = True
        self._size = int(wire.DEFAULTS[wire.MAX_SIZE])
        self._script: Mapping[str, Any] | None = None
        self._fails = False
        self._run: Run | None = None
        self._lost = ""

    def done(self) -> Recorded:
        """What was read."""
        found = self._found
        found.runs = [run for run in found.runs if run.lines]
        observed = [line for run in found.runs for line in run.lines if line.response or line.seen]
        if not observed:
            why = ", ".join(f"{reason}: {count}" for reason, count in found.left_out.items() if count)
            raise ConformError(
                f"{self._path} has no step of a group that was answered or observed"
                f"{f' (left out: {why})' if why else ''}: there is nothing to validate. It knows consumer "
                "groups; groups of another kind are compared by conform replay and conform exhaust.",
                USAGE,
            )
        return found

    def read(self, number: int, said: Json) -> None:
        """One line."""
        answer = said["answer"]
        does = {
            "hello": self._hello,
            "request": self._request,
            "topics": self._change_topics,
            "advance": self._fired,
            "fire": self._fired,
            "load": self._load,
            "restart": self._restart,
            "configure": self._configure,
            "describe": self._describe,
            "commit": self._commit,
            "assign": self._assign,
        }
        act = does.get(said["op"])
        if act is None:
            if said["op"] not in ("ids", "background", "records"):
                raise ValueError(f"there is no operation {said['op']!r}")
        elif "error" in answer:
            self._found.left_out["refused"] += 1
        else:
            act(number, said, answer)

    def _hello(self, number: int, said: Json, answer: Json) -> None:
        self._found.dialect = answer["dialect"]
        self._hidden = frozenset(answer.get("unobserved", ()))
        self._timed = "advance" in answer.get("controls", ())

    def _configure(self, number: int, said: Json, answer: Json) -> None:
        self._size = int(said.get(wire.MAX_SIZE, self._size))

    def _load(self, number: int, said: Json, answer: Json) -> None:
        """A new coordinator; one with a state is none that a behaviour begins with."""
        self._run, self._script, self._topics, self._ids = None, None, {}, {}
        self._lost = "after a load of a state" if said["records"] else ""
        for topic in said["topics"]:
            self._topics[self._topic_of(topic)] = topic["partitions"]

    def _commit(self, number: int, said: Json, answer: Json) -> None:
        if said["mode"] == "manual":
            self._end("after another commit mode")

    def _assign(self, number: int, said: Json, answer: Json) -> None:
        if said["group"] == (self._found.group or said["group"]):
            self._script, self._fails = said.get("target"), "error" in said

    def _restart(self, number: int, said: Json, answer: Json) -> None:
        if "keep" in said:
            self._end("after a restart from a part of the log")
        elif self._run and self._run.lines:
            self._add(Line(number, said, "FailOver"), answer)

    def _fired(self, number: int, said: Json, answer: Json) -> None:
        timers = [timer for timer in answer.get("fired", ()) if timer["group"] == self._found.group]
        if self._lost:
            self._found.left_out[self._lost] += len(timers)
            return
        for timer in timers:
            last = timer is timers[-1]
            self._add(Line(number, said, TIMERS[timer["timer"]], timer["member"]), answer if last else {})

    def _describe(self, number: int, said: Json, answer: Json) -> None:
        if said["group"] == self._found.group and self._run and self._run.lines:
            last = self._run.lines[-1]
            last.seen = last.seen or self._seen(answer)

    def _change_topics(self, number: int, said: Json, answer: Json) -> None:
        changes = [("DeleteTopic", self._live(name), -1) for name in said.get("delete", ())]
        for given in said.get("upsert", ()):
            topic = self._topic_of(given)
            does = "AddPartitions" if self._topics.get(topic, 0) > 0 else "CreateTopic"
            changes.append((does, topic, given["partitions"]))
        changes = [
            (does, topic, count) for does, topic, count in changes if self._topics.get(topic, 0) != count
        ]
        for place, (does, topic, count) in enumerate(changes, start=1):
            if does == "DeleteTopic" and self._topics.get(topic, 0) <= 0:
                continue
            if does == "CreateTopic":
                self._topics |= {
                    other: -1 for other in self._topics if wire.topic_name(other) == wire.topic_name(topic)
                }
            self._topics[topic] = count
            if self._run and self._run.lines:
                line = Line(number, said, does, topic=topic, partitions=count)
                self._add(line, answer if place == len(changes) else {})

    def _request(self, number: int, said: Json, answer: Json) -> None:
        body = said["body"]
        if said["api"] != wire.HEARTBEAT:
            self._found.left_out[said["api"]] += 1
            if said["api"] in _OTHER_KINDS and body["groupId"] == (self._found.group or body["groupId"]):
                self._end("of a group of another kind (C1, M1, W1)")
            if said["api"] == wire.DELETE and self._deleted(answer.get("body") or {}):
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
        if answer["body"]["errorCode"] in NOT_THERE:
            self._found.left_out["refused by what is no coordinator, or has no log (H5, P3)"] += 1
            return
        if not body["memberEpoch"] and body.get("rebalanceTimeoutMs", 1) <= 0:
            self._found.left_out[
                "a join without a rebalance time-out, which no request of the model has"
            ] += 1
            return
        _check_types(body)
        _check_types(answer["body"])
        request = self._heartbeat(body)
        response = self._response(answer["body"])
        member = request.member or response.member or "nobody"
        self._add(Line(number, said, REQUEST, member, request, response=response), answer)

    def _deleted(self, body: Json) -> bool:
        """D1: whether the group is gone; that may have been its offsets alone, which no run has."""
        return any(
            result["groupId"] == self._found.group and not result["errorCode"]
            for result in body.get("results", ())
        )

    def _heartbeat(self, body: Json) -> Request:
        owned, names = body.get("topicPartitions"), body.get("subscribedTopicNames")
        return Request(
            member=body.get("memberId") or "",
            epoch=body["memberEpoch"],
            instance=body.get("instanceId"),
            owned=None if owned is None else self._partitions(owned),
            subscription=None if names is None else frozenset(names),
            regex=body.get("subscribedTopicRegex"),
            assignor=body.get("serverAssignor"),
        )

    def _response(self, body: Json) -> Response:
        code = body["errorCode"]
        if code:
            return Response(ERRORS.get(code, f"error {code}"), "", 0, None, None)
        assignment = body.get("assignment")
        assigned = pending = None
        if assignment is not None:
            assigned = self._partitions(assignment.get("assignedTopicPartitions") or ())
            pending = self._partitions(assignment.get("pendingTopicPartitions") or ())
        return Response("NONE", body["memberId"] or "", body["memberEpoch"], assigned, pending)

    def _add(self, line: Line, answer: Json) -> None:
        if self._lost:
            self._found.left_out[self._lost] += 1
            return
        if self._run is None:
            existing = {topic: count for topic, count in self._topics.items() if count > 0}
            self._run = Run(existing, self._timed, DELETED_TOPICS in self._hidden, self._size)
            self._found.runs.append(self._run)
        line.seen, line.script = self._seen(answer), self._scripted()
        self._run.lines.append(line)

    def _scripted(self) -> Mapping[str, frozenset[Partition]] | None:
        """Read when it is used: it may name a topic that is created then. Where the assignor fails, the
        target assignment stays as it was."""
        if self._script is not None:
            return {name: self._partitions(parts) for name, parts in self._script.items()}
        before = self._run.lines[-1].seen if self._run and self._run.lines else None
        return before.targets if self._fails and before else None

    def _end(self, reason: str) -> None:
        self._run, self._lost = None, reason

    def _seen(self, answer: Json) -> Seen | None:
        group = answer.get("group")
        if not group or group.get("groupId", self._found.group) != self._found.group:
            return None
        members = {member["memberId"]: member for member in group["members"]}
        targets = None
        if self._shows("target"):
            targets = {name: self._partitions(member["target"]) for name, member in members.items()}
        shown = {name: self._member(member) for name, member in members.items()}
        return Seen(group["groupEpoch"], group["assignmentEpoch"], targets, shown)

    def _member(self, member: Json) -> SeenMember:
        def text(name: str) -> str | None:
            return (member[name] or "") if self._shows(name) and name in member else None

        def partitions(name: str) -> frozenset[Partition] | None:
            return self._partitions(member[name]) if self._shows(name) and name in member else None

        names = member.get("subscribedTopicNames") if self._shows("subscribedTopicNames") else None
        previous = member.get("previousMemberEpoch") if self._shows("previousMemberEpoch") else None
        return SeenMember(
            member["memberEpoch"],
            previous,
            text("instanceId"),
            None if names is None else frozenset(names),
            text("subscribedTopicRegex"),
            text("serverAssignor"),
            partitions("assigned"),
            partitions("pendingRevocation"),
        )

    def _shows(self, name: str) -> bool:
        return f"members.{name}" not in self._hidden

    def _partitions(self, topics: Iterable[Mapping[str, Any]]) -> frozenset[Partition]:
        return frozenset(
            (self._ids.setdefault(topic["topicId"], topic["topicId"]), index)
            for topic in topics
            for index in topic["partitions"]
        )

    def _topic_of(self, given: Mapping[str, Any]) -> str:
        """T2: the second topic of a name is another one."""
        uuid, name = given["id"], given["name"]
        if uuid not in self._ids:
            earlier = sum(wire.topic_name(topic) == name for topic in self._ids.values())
            self._ids[uuid] = f"{name}#{earlier + 1}" if earlier else name
        return self._ids[uuid]

    def _live(self, name: str) -> str:
        named = [topic for topic in self._topics if wire.topic_name(topic) == name]
        return named[-1] if named else name
