"""A log of a Connect group as lines for spec/RecordedConnect.tla."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.kinds.connect import wire as connect
from harness.kinds.connect.description import CONNECT
from harness.kinds.connect.expect import WORKER
from harness.kinds.connect.state import EVERYBODYS, PreparedWorker, Resources
from harness.kinds.consumer.state import NOT_IN_GROUP, Request
from harness.kinds.fields import Partition
from harness.kinds.registry import apis_of_others
from harness.kinds.rows import PARTITIONS, Forms, Seen, option_of
from harness.replay import wire
from harness.targets.base import Json
from harness.validate.log import ERRORS, NOT_THERE, LogReader, members_hidden, with_epoch
from harness.validate.recording import Observed, Recording

ACTIONS: Final = {
    connect.HEARTBEAT: "Request",
    connect.PREPARE: "PrepareAssignment",
    connect.INSTALL: "InstallAssignment",
}
TIMERS: Final = {
    "session": "SessionTimeout",
    "rebalance": "RebalanceTimeout",
    "assignment": "AssignmentTimeout",
    "group": "DeleteGroup",
}
_OTHERS: Final = apis_of_others(CONNECT)
NOTHING: Final[Resources] = frozenset()


def worker_literal(worker: Seen | None = None) -> str:
    """A worker in the form of spec/RecordedConnect.tla; without a worker, of an id that is not in the
    group."""
    seen = {"epoch": NOT_IN_GROUP} if worker is None else worker
    beside = {"epoch": str(seen["epoch"]), "reason": "{}", "target": "{}"}
    if "reason" in seen:
        beside["reason"] = f"{{{seen['reason']}}}"
    if "target" in seen:
        beside["target"] = f"{{{option_of(PARTITIONS).literal(seen['target'])}}}"
    return WORKER.seen_literal(seen, beside)


@dataclass(frozen=True, slots=True)
class SeenPrepared:
    """The state from which PrepareAssignment was answered."""

    epoch: int
    workers: frozenset[str]
    connectors: Resources


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """A group in its description. In `connectors`, ("A", 2) is connector A with one task; `lost` has each
    resource with the worker that had it; `prepared` is in a tuple, (None,) where nothing is prepared."""

    state: str | None
    epoch: int
    assignment_epoch: int
    members: Mapping[str, Seen]
    connectors: Resources | None
    lost: frozenset[tuple[Partition, str]] | None
    chosen: str | None
    prepared: tuple[SeenPrepared | None] | None


@dataclass(frozen=True, slots=True)
class Response:
    """A response of any of the three requests; fields of the other requests are empty."""

    error: str
    epoch: int = 0
    assigned: Resources | None = None
    compute: bool = False
    group_epoch: int = 0
    workers: frozenset[PreparedWorker] = frozenset()
    connectors: Resources = NOTHING


@dataclass(slots=True)
class Line(Observed):
    """One step, as of a consumer group; `target` is the target of an install, `twice` the part of it that a
    second worker is given, too."""

    number: int
    content: Json
    does: str
    member: str = ""
    request: Request | None = None
    reason: int | None = None
    group_epoch: int = 0
    target: Mapping[Partition, str] = field(default_factory=dict)
    twice: Resources = NOTHING
    topic: str = ""
    partitions: int = 0
    response: Response | None = None
    seen: SeenGroup | None = None


@dataclass(slots=True)
class Run:
    """The steps from a new coordinator to the next one, as of a consumer group. `versions` are those that the
    assignors of workers read, where they differ from the default."""

    topics: Mapping[str, int]
    timed: bool
    max_size: int
    versions: dict[str, tuple[int, int]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    @property
    def constant(self) -> tuple[Any, ...]:
        """The constants of the model, which are the same in all of its runs."""
        return self.max_size, tuple(sorted(self.versions.items()))


class ConnectLogReader(LogReader[Run]):
    """Reads a log of a Connect group."""

    line = Line
    timers = TIMERS

    def __init__(self, path: Path, group: str, kind: Recording[Run, Any]) -> None:
        super().__init__(path, group, kind)
        self._offers: dict[str, Json] = {}

    def _load(self, number: int, content: Json, answer: Json) -> None:
        super()._load(number, content, answer)
        self._offers = {}

    def _change_topics(self, number: int, content: Json, answer: Json) -> None:
        changes = self._topics.change(content)
        if not changes or not self._run or not self._run.lines:
            return
        (does, topic, count), *others = changes
        if others:
            self._end("after a change of several connectors at once, which no step of the model is")
        elif "#" in topic:
            self._end("after a connector that was removed is there again, which no step of the model is")
        else:
            self._add(Line(number, content, does, topic=topic, partitions=count), answer)

    def _request(self, number: int, content: Json, answer: Json) -> None:
        api, body, answered = content["api"], content["body"], answer.get("body")
        if api not in ACTIONS:
            self._found.left_out[api] += 1
            if api in _OTHERS and body["groupId"] == self._found.group:
                self._end("of a group of another kind (C1, M1)")
            if api == wire.DELETE and self._deleted(answered or {}):
                self._end("after a deletion of the group")
        elif body["groupId"] != self._found.group:
            self._found.left_out["another group"] += 1
        elif answered is not None and answered["errorCode"] in NOT_THERE:
            self._found.left_out["refused by what is no coordinator, or has no log (H5, P3)"] += 1
        elif lacks := self._not_modelled(api, body):
            self._found.left_out[lacks] += 1
            if answered is None or answered["errorCode"] != wire.ERROR_CODES["INVALID_REQUEST"]:
                self._end(f"after {lacks}")
        else:
            self._add(_line(number, content, answered), answer)
            if self._run is not None:
                self._run.versions |= _versions(body)

    def _not_modelled(self, api: str, body: Json) -> str:
        """The reason why the specification has no step for a request; notes the workers that have given
        assignors."""
        if api == connect.INSTALL and body.get("error"):
            return "an assignor that failed, which no step of the model is"
        if api != connect.HEARTBEAT:
            return ""
        if body["memberEpoch"] == 0 and body.get("rebalanceTimeoutMs", -1) <= 0:
            return "a join without a rebalance time-out, which no request of the model has"
        if max(Counter(_resources(body.get("connectorsAndTasks") or ())).values(), default=1) > 1:
            return "a connector or task that is named twice, which no request of the model has"
        offers = body.get("clientAssignors")
        if offers is None:
            named = body.get("serverAssignor") is not None or body["memberId"] in self._offers
            if body["memberEpoch"] == 0 and not named:
                return "a join without an assignor, which no request of the model has"
            return ""
        if len(offers) != 1 or body.get("serverAssignor") is not None:
            return "other than one assignor, which no request of the model has"
        offered = {name: value for name, value in offers[0].items() if name != "reason"}
        if self._offers.setdefault(body["memberId"], offered) != offered:
            return "another assignor than before, which no request of the model has"
        return ""

    def _begun(self, line: Line) -> Run:
        return Run(self._topics.existing, self._timed, self._size)

    def _seen(self, answer: Json) -> SeenGroup | None:
        group = self._group_in(answer)
        if group is None:
            return None

        def shown(name: str) -> bool:
            return name in group and name not in self._hidden

        lost = None
        if shown("lost"):
            one_by_one = ((one["memberId"], one["connectorsAndTasks"]) for one in group["lost"])
            lost = frozenset((resource, who) for who, given in one_by_one for resource in _resources(given))
        return SeenGroup(
            group["state"] if shown("state") else None,
            group["groupEpoch"],
            group["assignmentEpoch"],
            {member["memberId"]: self._worker(member) for member in group["members"]},
            _connectors(group["connectors"]) if shown("connectors") else None,
            lost,
            group.get("chosen", "") if shown("chosen") else None,
            (_prepared(group.get("prepared")),) if shown("prepared") else None,
        )

    def _worker(self, member: Json) -> Seen:
        """The fields of a member, the reason of its assignor, and its part of the target: None for a member
        that is not in the target."""
        forms: Forms = {"partitions": lambda given: frozenset(_resources(given))}
        hidden = members_hidden(self._hidden)
        seen = dict(with_epoch(member, WORKER.seen(member, hidden, forms)))
        if "assignors" not in hidden and member.get("assignors") is not None:
            seen["reason"] = _reason(member["assignors"]) or 0
        if "target" not in hidden and "target" in member:
            target = member.get("target")
            seen["target"] = None if target is None else frozenset(_resources(target))
        return seen


def _line(number: int, content: Json, answer: Json | None) -> Line:
    api, body = content["api"], content["body"]
    owned = body.get("connectorsAndTasks")
    who = body.get("memberId") or ""
    request = Request(
        member=who,
        epoch=body["memberEpoch"],
        instance=body.get("instanceId"),
        owned=None if owned is None else frozenset(_resources(owned)),
        subscription=None,
        regex=None,
        assignor=body.get("serverAssignor"),
    )
    line = Line(number, content, ACTIONS[api], who, request, _reason(body.get("clientAssignors") or ()))
    if api == connect.INSTALL:
        line.group_epoch = body["groupEpoch"]
        line.target, line.twice = _given(body["members"])
    if answer is not None:
        line.response = _response(api, answer)
    return line


def _given(members: Iterable[Mapping[str, Any]]) -> tuple[dict[Partition, str], Resources]:
    """The receiver of each partition and resource (of several the first), and those with several
    receivers."""
    given: dict[Partition, str] = {}
    twice: set[Partition] = set()
    for one in members:
        for resource in _resources(one.get("connectorsAndTasks", ())):
            if resource in given:
                twice.add(resource)
            given.setdefault(resource, one["memberId"])
    return given, frozenset(twice)


def _response(api: str, body: Json) -> Response:
    error = ERRORS.get(body["errorCode"], f"error {body['errorCode']}")
    if api == connect.INSTALL or (api == connect.PREPARE and error != "NONE"):
        return Response(error)
    if api == connect.PREPARE:
        workers = frozenset(_prepared_worker(one) for one in body["members"])
        connectors = _connectors(body["connectors"])
        return Response(error, group_epoch=body["groupEpoch"], workers=workers, connectors=connectors)
    given = body.get("assignment")
    assigned = None if given is None else frozenset(_resources(given["connectorsAndTasks"]))
    epoch = body["memberEpoch"] if error == "NONE" else 0
    return Response(error, epoch, assigned, bool(body.get("shouldComputeAssignment")))


def _prepared_worker(one: Json) -> PreparedWorker:
    resources = frozenset(_resources(one["connectorsAndTasks"]))
    content = [one["assignor"]] if one.get("assignor") is not None else []
    return PreparedWorker(one["memberId"], one["memberEpoch"], _reason(content) or 0, resources)


def _prepared(given: Json | None) -> SeenPrepared | None:
    if given is None:
        return None
    return SeenPrepared(given["groupEpoch"], frozenset(given["members"]), _connectors(given["connectors"]))


def _reason(offers: Iterable[Mapping[str, Any]]) -> int | None:
    """The reason of the assignor, if one is given (W2)."""
    for offer in offers:
        return int(offer["reason"])
    return None


def _versions(body: Json) -> dict[str, tuple[int, int]]:
    """The versions that the worker's assignor reads, if they are given and differ from the default (W1)."""
    for offer in body.get("clientAssignors") or ():
        offered = int(offer["minimumVersion"]), int(offer["maximumVersion"])
        return {} if offered == EVERYBODYS else {body["memberId"]: offered}
    return {}


def _connectors(given: Iterable[Mapping[str, Any]]) -> Resources:
    return frozenset((one["connectorId"], one["numTasks"] + 1) for one in given)


def _resources(given: Iterable[Mapping[str, Any]]) -> list[Partition]:
    """Connectors and tasks, repeated ones included."""
    resources = []
    for one in given:
        resources += [(name, 0) for name in one["connectors"]]
        resources += [(task["connectorId"], task["taskId"]) for task in one["tasks"]]
    return resources
