"""A log of a classic group as lines for spec/RecordedClassic.tla.

The metadata of members and the assignments of their leader are bytes: a subscription is a set of texts
"<protocol> <bytes>", an assignment is one partition, of the topic "<bytes>".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from frozendict import frozendict

from harness.kinds.classic import wire as classic
from harness.kinds.classic.description import CLASSIC
from harness.kinds.classic.state import (
    Assignment,
    ClassicGroup,
    ClassicMember,
    ClassicRequest,
    ClassicResponse,
    Joined,
)
from harness.kinds.classic.wire import DELAY
from harness.kinds.literals import tla_cases, tla_text
from harness.kinds.registry import apis_of_others
from harness.kinds.rows import Forms, Seen, record_of
from harness.replay import wire
from harness.targets.base import Json
from harness.validate.log import ERRORS, LogReader, members_hidden
from harness.validate.recording import Recording
from harness.validate.templates import protocol_of

TIMERS: Final = {
    "session": "SessionTimeout",
    "join": "JoinTimeout",
    "sync": "SyncTimeout",
    "group": "DeleteGroup",
}
ACTIONS: Final = {
    classic.JOIN: "JoinGroup",
    classic.SYNC: "SyncGroup",
    classic.HEARTBEAT: "ClassicHeartbeat",
    classic.LEAVE: "LeaveGroup",
    wire.COMMIT: "OffsetCommit",
}
_KNOWN_MEMBER: Final = 4
"""The version of JoinGroup from which a member without an id first gets an id (C1)."""
_SKIPS: Final = 9
"""The version of JoinGroup from which a static leader that returns is told to assign nothing (S1)."""
_UNTIMED: Final = (
    "of a target whose clock is not the recorder's: time-outs of a classic group would be missing"
)
_DELAY_MS: Final = 3_000
"""Kafka's default of group.initial.rebalance.delay.ms."""
_OTHERS: Final = apis_of_others(CLASSIC)
GROUP: Final = record_of(ClassicGroup).only("type", "protocol", "leader")
MEMBER: Final = record_of(ClassicMember)
Answers = frozenset[tuple[str, ClassicResponse]]
"""Answers by the member whose request waited."""


class Words:
    """Bytes of members and leaders, which are not parsed."""

    def subscription(self, protocols: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The subscription that a member names in [{"name", "metadata"}]."""
        return frozenset(f"{one['name']} {one['metadata']}" for one in protocols)

    def assignment(self, text: str) -> Assignment:
        """The assignment that a leader sends."""
        return frozenset({(text, 0)}) if text else None

    def given(self, assignment: Assignment) -> object:
        """An assignment in the form of a description."""
        return next(iter(assignment))[0] if assignment else ""

    def of(self, protocols: set[str], subscription: frozenset[str]) -> list[str]:
        """The part that belongs to some protocols."""
        return sorted(text for text in subscription if protocol_of(text) in protocols)


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """A group in its description: `shown` are its type, protocol and leader, `members` those in the group,
    `pending` ids that have not joined."""

    state: str
    generation: int
    shown: Seen
    members: Mapping[str, Seen]
    pending: frozenset[str]

    @property
    def leader(self) -> str:
        """The leader, "" where there is none or the target shows none."""
        return str(self.shown.get("leader", ""))

    @property
    def named(self) -> frozenset[str]:
        """Every member id."""
        return self.pending | self.members.keys()

    @property
    def literal(self) -> str:
        """The group as spec/RecordedClassic.tla has it."""
        members = {name: _member_literal("member", member) for name, member in self.members.items()}
        members |= {name: _member_literal("pending", {}) for name in self.pending}
        cases = tla_cases("m", {name: members[name] for name in sorted(members)})
        there = {"state": tla_text(self.state), "generation": str(self.generation)}
        all_ = f"TLCEval([m \\in LogMembers |-> {cases}{_member_literal('', {})}])"
        return GROUP.seen_literal(self.shown, {**there, "members": all_})


def _member_literal(place: str, member: Seen) -> str:
    return MEMBER.seen_literal(member, {"place": tla_text(place)})


@dataclass(slots=True)
class Line:
    """One step, as of a consumer group; `completed` are the answers to requests that waited, None where the
    next line has them. `waits` names the request where it is answered later. `leader` is the leader at that
    time, or the next one."""

    number: int
    content: Json
    does: str
    member: str = ""
    request: ClassicRequest | None = None
    response: ClassicResponse | None = None
    completed: Answers | None = None
    seen: SeenGroup | None = None
    waits: str = ""
    leader: str = ""

    @property
    def observed(self) -> bool:
        """Tell if there is anything to compare."""
        return self.response is not None or self.seen is not None or bool(self.completed)


@dataclass(slots=True)
class Run:
    """The steps from a new coordinator to the next one. `extensions`: the number of times that the initial
    delay may be prolonged."""

    extensions: int
    lines: list[Line] = field(default_factory=list)

    @property
    def constant(self) -> tuple[int, ...]:
        """The constants of the model, which all of its runs share."""
        return (self.extensions,)


class ClassicLogReader(LogReader[Run]):
    """A reader of a log of a classic group; `line` makes its lines."""

    line: type[Line] = Line
    timers: Mapping[str, str] = TIMERS
    words = Words()

    def __init__(self, path: Path, group: str, kind: Recording[Run, Any]) -> None:
        super().__init__(path, group, kind)
        self._delay_ms = _DELAY_MS
        self._waiting: dict[str, Line] = {}

    def _configure(self, number: int, content: Json, answer: Json) -> None:
        super()._configure(number, content, answer)
        self._delay_ms = int(content.get(DELAY, self._delay_ms))

    def _load(self, number: int, content: Json, answer: Json) -> None:
        super()._load(number, content, answer)
        self._waiting.clear()
        if not self._timed:
            self._end(_UNTIMED)

    def _fail_over(self, number: int, content: Json, answer: Json) -> None:
        self._waiting.clear()
        super()._fail_over(number, content, answer)

    def _action_of(self, timer: str) -> str:
        return self.timers.get(timer, timer)

    def _request(self, number: int, content: Json, answer: Json) -> None:
        api, body = content["api"], content["body"]
        if api == wire.DELETE:
            self._end("after a request to delete groups")
        elif body.get("groupId") != self._found.group:
            self._found.left_out["another group" if "groupId" in body else api] += 1
        elif api in _OTHERS:
            self._found.left_out[api] += 1
            self._end("of a group of another kind (M1, W1)")
        elif api not in ACTIONS or (api == wire.COMMIT and not _one_answer(answer)):
            self._found.left_out[api] += 1
        elif lacks := self._lacks(api, content.get("version", CLASSIC.apis.get(api, 0)), body):
            self._found.left_out[lacks] += 1
            self._end(f"after {lacks}")
        else:
            self._add(self._line(number, content, answer), answer)

    def _lacks(self, api: str, version: int, body: Json) -> str:
        """The reason why the specification has no step for a request; "" where it has one."""
        if api == classic.JOIN and version < _KNOWN_MEMBER:
            return "a JoinGroup of a version before 4, which no step of the model is"
        if api == classic.JOIN and version < _SKIPS and body.get("groupInstanceId") is not None:
            return "a JoinGroup of a static member of a version before 9, which no step of the model is"
        if api == classic.LEAVE and len(body["members"]) != 1:
            return "a LeaveGroup of several members, which no step of the model is"
        return ""

    def _line(self, number: int, content: Json, answer: Json) -> Line:
        api, body, response = content["api"], content["body"], answer.get("body")
        request = request_of(api, body, self.words)
        line = self.line(number, content, ACTIONS[api], request.member, request)
        if response is not None:
            line.response = answered(api, response, self.words)
        elif api in (classic.JOIN, classic.SYNC):
            client = content.get("client", {}).get("id", "")
            line.waits = content.get("id") or f"{api} {client}"
            line.response = _NOTHING
        if not request.member and api == classic.JOIN:
            line.member = (line.response.member if line.response else "") or f"nobody of line {number}"
        return line

    def _complete(self, line: Line, answer: Json | None) -> None:
        if answer is None:
            return
        ended = [(self._waiting.pop(one["id"], None), one) for one in answer.get("completed", ())]
        if line.waits:
            self._waiting[line.waits] = line
        self._look(line, answer)
        self._name_who_waits(answer)
        for waiting, one in ended:
            if waiting is not None and waiting.does == "JoinGroup":
                self._name(waiting, one["body"].get("memberId") or "")
        known = [(waiting, one) for waiting, one in ended if waiting is not None]
        line.completed = frozenset(
            (waiting.member, answered(waiting.content["api"], one["body"], self.words))
            for waiting, one in known
        )

    def _begun(self, line: Line) -> Run:
        return Run(self._extensions(line))

    def _extensions(self, line: Line) -> int:
        rebalance_ms = int(line.content.get("body", {}).get("rebalanceTimeoutMs", wire.REBALANCE_TIMEOUT_MS))
        return max(-(-rebalance_ms // self._delay_ms) - 1, 0) if self._delay_ms > 0 else 0

    def _name_who_waits(self, answer: Json) -> None:
        for member in (answer.get("group") or {}).get("members", ()):
            waiting = self._waiting.get(member.get("awaitingJoin") or "")
            if waiting is not None:
                self._name(waiting, member["memberId"])

    def _name(self, line: Line, member: str) -> None:
        """Take over the id of a member that joined without one."""
        if line.request is not None and not line.request.member and member:
            line.member = member

    def _seen(self, answer: Json) -> SeenGroup | None:
        group = self._group_in(answer)
        if group is None:
            return None
        texts: Forms = {"text": lambda text: text or "", "name": lambda text: text or ""}
        return SeenGroup(
            group["state"],
            group["generation"] if group["state"] != "Dead" else 0,
            GROUP.seen(group, self._hidden, texts),
            {one["memberId"]: self._member(one) for one in group["members"]},
            frozenset(group.get("pending", ())),
        )

    def _member(self, member: Json) -> Seen:
        forms: Forms = {
            "text": lambda text: text or "",
            "list": lambda protocols: tuple(one["name"] for one in protocols),
            "texts": self.words.subscription,
            "partitions or none": self.words.assignment,
            "waits": lambda request: request is not None,
        }
        return MEMBER.seen(member, members_hidden(self._hidden), forms)


_NOTHING: Final = ClassicResponse("", "", "", -1, "", "", "", False, frozenset(), None)
"""The response to a request that waits."""


def tell_leaders(runs: Iterable[Run]) -> None:
    """Set the leader after each line: the leader in this line, or in the next line that shows one."""
    for run in runs:
        leader = ""
        for line in reversed(run.lines):
            responses = [line.response, *(one for _, one in line.completed or ())]
            leaders = {one.leader for one in responses if one is not None and one.leader}
            seen = line.seen.leader if line.seen else ""
            leader = seen or min(leaders, default="") or leader
            line.leader = leader


def _one_answer(answer: Json) -> bool:
    """Tell if all partitions of a commit have the same answer: the model has one partition, of an existing
    topic."""
    body = answer.get("body") or {"topics": ()}
    codes = {part["errorCode"] for topic in body["topics"] for part in topic["partitions"]}
    return len(codes) == 1 and wire.ERROR_CODES["UNKNOWN_TOPIC_OR_PARTITION"] not in codes


def request_of(api: str, body: Json, words: Words) -> ClassicRequest:
    who = body["members"][0] if api == classic.LEAVE else body
    given = {
        one["memberId"]: words.assignment(one.get("assignment", "")) for one in body.get("assignments", ())
    }
    protocols = body.get("protocols") or ()
    return ClassicRequest(
        who.get("memberId") or "",
        who.get("groupInstanceId"),
        body["generationId"] if "generationId" in body else body.get("generationIdOrMemberEpoch", -1),
        body.get("protocolType"),
        body.get("protocolName"),
        tuple(one["name"] for one in protocols),
        words.subscription(protocols),
        frozendict(given),
    )


def answered(api: str, body: Json, words: Words) -> ClassicResponse:
    code = body.get("errorCode", 0)
    if api == wire.COMMIT:
        parts = [part for topic in body["topics"] for part in topic["partitions"]]
        code = parts[0]["errorCode"]
    if api == classic.LEAVE and not code:
        code = body["members"][0]["errorCode"]
    error = ERRORS.get(code, f"error {code}")
    member = body.get("memberId") or ""
    if api == classic.JOIN and not code:
        protocol = body.get("protocolName", "")
        joined = frozenset(
            Joined(
                one["memberId"],
                one.get("groupInstanceId") or "",
                words.subscription([{"name": protocol, "metadata": one["metadata"]}]),
            )
            for one in body["members"]
        )
        skip = bool(body.get("skipAssignment"))
        type_ = body.get("protocolType") or ""
        return ClassicResponse(
            api, error, member, body["generationId"], type_, protocol, body["leader"], skip, joined, None
        )
    if api == classic.SYNC and not code:
        type_, protocol = body.get("protocolType") or "", body.get("protocolName") or ""
        given = words.assignment(body.get("assignment", ""))
        return ClassicResponse(api, error, "", -1, type_, protocol, "", False, frozenset(), given)
    who = member if api == classic.JOIN else ""
    return ClassicResponse(api, error, who, -1, "", "", "", False, frozenset(), None)
