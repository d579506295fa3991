"""The clients in a log of a consumer group, as lines for spec/RecordedClient.tla.

A record of `conform proxy` has the connection of each request, tells if its answer was sent, and lists the
requests that did not reach the broker. Other logs do not, so that more remains open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.kinds.consumer.recorded_log import heartbeat_of, response_of
from harness.kinds.consumer.state import Request, Response
from harness.replay import wire
from harness.targets.base import Json
from harness.validate.log import lines_of, no_operation
from harness.validate.recording import Recorded, Recording
from harness.validate.topics import Topics

BEAT: Final = "Heartbeat"
ANOTHER: Final = "Another"
OFFSETS: Final = {"OffsetCommit": "Commit", "OffsetFetch": "Fetch"}
NEVER_ARRIVED: Final = frozenset({"request lost", "cut before", "behind a lost one", "late", "error"})
"""Faults whose line is the record's only trace of the request; a late request has another line for its
arrival."""
NOT_RECORDED: Final = "not recorded"
"""The fault whose line tells that the requests of a group are not in the record."""
RETRIABLE: Final = {
    7: "REQUEST_TIMED_OUT",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
}
DOUBTS: Final = frozenset(wire.ERROR_CODES[name] for name in ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"))
"""Errors of a request for offsets that a member may take for a fence."""


@dataclass(slots=True)
class Line:
    """A request of a client. `answer` is None if the client certainly got none; `connection` counts the
    connections of the member in the order in which it first uses them, 0 is unknown."""

    number: int
    content: Json
    does: str
    request: Request
    connection: int
    answer: Response | None = None
    rebalance: bool = False
    named: bool = True
    doubted: bool = False

    @property
    def observed(self) -> bool:
        """True: every request is judged."""
        return True


@dataclass(slots=True)
class Run:
    """The requests of one member id, from its first join on. `instance` is "" for a dynamic member."""

    member: str
    listener: int | None
    instance: str
    lines: list[Line] = field(default_factory=list)
    connections: dict[int, int] = field(default_factory=dict)
    doubted: bool = False

    @property
    def constant(self) -> tuple[Any, ...]:
        """The constants, which are the same in all runs."""
        return ()

    def place(self, connection: int) -> int:
        """The member's number of a connection."""
        return self.connections.setdefault(connection, len(self.connections) + 1) if connection else 0


class ClientReader:
    """Reads the requests of the members of a group."""

    def __init__(self, path: Path, group: str, kind: Recording[Run, Any]) -> None:
        self._path = path
        self._found = Recorded(path, group, "", kind)
        self._topics = Topics()
        self._open: dict[str, Run] = {}
        self._last: dict[int, Run] = {}  # connection -> the run of its last heartbeat
        self._unseen = False

    def whole(self) -> Recorded[Run]:
        """Read the whole log. ConformError (exit 2) with the line where the log is malformed."""
        for number, content in lines_of(self._path):
            try:
                self._read(number, content)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise no_operation(self._path, number, error) from None
        return self._found

    def _read(self, number: int, content: Json) -> None:
        answer, operation = content["answer"], content["op"]
        if "error" in answer or self._unseen:
            return
        if operation == "load":
            self._topics, self._open, self._last = Topics(content.get("topics", ())), {}, {}
        elif operation == "topics":
            self._topics.change(content)
        elif operation == "request":
            if content.get("late"):
                return  # the request was sent at the line of its fault
            delivered = answer.get("body") if content.get("delivered", True) else None
            self._request(number, content, content.get("listener"), content["body"], delivered)
        elif (
            operation == "fault"
            and content["fault"] == NOT_RECORDED
            and content["group"] == self._found.group
        ):
            self._unseen = True
            self._found.runs.clear()
            self._found.left_out["a group that was there before the record"] += 1
        elif operation == "fault" and "body" in content and content["fault"] in NEVER_ARRIVED:
            delivered = {"errorCode": content["code"]} if content["fault"] == "error" else None
            self._request(number, content, content["client"], content["body"], delivered)

    def _request(
        self, number: int, content: Json, listener: int | None, body: Json, answer: Json | None
    ) -> None:
        if content["api"] == wire.HEARTBEAT and body["groupId"] == self._found.group:
            self._heartbeat(number, content, listener, body, answer)
        elif content["api"] in OFFSETS and _group_of(body) == self._found.group:
            self._offsets(number, content, body, answer)

    def _heartbeat(
        self, number: int, content: Json, listener: int | None, body: Json, answer: Json | None
    ) -> None:
        connection = content.get("connection", 0)
        self._joins_as_another(number, content, body, connection)
        run = self._run_of(body, answer or {}, listener, connection)
        if run is None:
            return
        line = Line(number, content, BEAT, heartbeat_of(body, self._topics), run.place(connection))
        line.answer = None if answer is None else self._response(answer, line.request)
        line.rebalance = body.get("rebalanceTimeoutMs", -1) > 0
        line.doubted, run.doubted = run.doubted, False
        run.lines.append(line)
        if connection:
            self._last[connection] = run

    def _run_of(self, body: Json, answer: Json, listener: int | None, connection: int) -> Run | None:
        """The run of a heartbeat. H1: a join without a member id gets its id in the answer; until then the
        connection identifies the member."""
        member = body.get("memberId") or ""
        before = self._last.get(connection)
        run = self._open.get(member) if member else before
        if run is None and body["memberEpoch"] != 0:
            self._found.left_out["of a member that joined before the log"] += 1
            return None
        if run is None:
            if not (member or answer.get("memberId") or connection):
                self._found.left_out["a join without a member id that was not answered"] += 1
                return None
            run = Run(member, listener, body.get("instanceId") or "")
            self._found.runs.append(run)
        run.member = run.member or member or answer.get("memberId") or ""
        if run.member:
            self._open[run.member] = run
        return run

    def _joins_as_another(self, number: int, content: Json, body: Json, connection: int) -> None:
        """K1: two member ids on one connection are the same process."""
        run = self._last.get(connection)
        if run is not None and not body["memberEpoch"] and (body.get("memberId") or "") != run.member:
            request = heartbeat_of(body, self._topics)
            run.lines.append(Line(number, content, ANOTHER, request, run.place(connection)))
            del self._last[connection]

    def _response(self, answer: Json, request: Request) -> Response:
        error = RETRIABLE.get(answer["errorCode"])
        return Response(error, "", 0, None, None) if error else response_of(answer, self._topics, request)

    def _offsets(self, number: int, content: Json, body: Json, answer: Json | None) -> None:
        """Note a request for offsets (O2, O4): a request that names neither a member nor an epoch is not
        fenced; its sender may be an administrator."""
        member, epoch = body.get("memberId") or "", body.get("generationIdOrMemberEpoch", -1)
        connection = content.get("connection", 0)
        named = member in self._open
        run = self._open[member] if named else self._last.get(connection)
        if run is None or (epoch < 0 and not member):
            return
        request = Request(member, epoch, None, None, None, None, None)
        line = Line(number, content, OFFSETS[content["api"]], request, run.place(connection), named=named)
        run.lines.append(line)
        run.doubted = run.doubted or bool(DOUBTS & _errors(answer or {}))


def _group_of(body: Json) -> str:
    """The group of a request for offsets; OffsetFetch has a list with one group."""
    return str(body["groupId"] if "groupId" in body else body["groups"][0]["groupId"])


def _errors(answer: Mapping[str, Any]) -> set[int]:
    """The error codes of an answer about offsets."""
    groups = [answer, *(answer.get("groups") or ())]
    topics = [topic for group in groups for topic in group.get("topics") or ()]
    parts = [one for topic in topics for one in topic.get("partitions") or ()]
    return {one.get("errorCode", 0) for one in (*groups, *parts)}
