"""Recorded runs of Connect groups: their rendering, and the compared fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.kinds.connect.recorded_log import (
    Line,
    Response,
    Run,
    SeenGroup,
    SeenPrepared,
    worker_literal,
)
from harness.kinds.connect.state import EVERYBODYS, ConnectReader, ConnectState, PreparedWorker, Resources
from harness.kinds.consumer.expect import group_state
from harness.kinds.fields import Partition
from harness.kinds.rows import Seen
from harness.replay.compare import Difference
from harness.targets.base import Json
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, shown_differ, trace_of
from harness.validate.templates import write
from harness.values import State

HEARTBEATS: Final = frozenset({"Join", "Rejoin", "Heartbeat", "Leave", "LeaveTemporarily"})
"""The actions that a ConnectGroupHeartbeat may be."""


class ConnectRecording(Recording[Run, ConnectState]):
    """Connect groups (spec/RecordedConnect.tla)."""

    module = "RecordedConnect"

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Render a run; W4: of Connect groups there is only the draft, whatever dialect consumer groups
        have."""
        resources = {resource for run in runs for resource in _resources(run)}
        values = {
            "kafka": False,
            "members": sorted({worker for run in runs for line in run.lines for worker in _workers(line)}),
            "topics": {connector for connector, _ in resources}
            | {name for run in runs for name in run.topics},
            "partitions": resources,
            "runs": runs,
            "seen_worker": worker_literal,
            "versions": runs[0].versions,
            "everybodys": EVERYBODYS,
            "max_size": runs[0].max_size,
        }
        return write(folder, self.module, "kinds/connect/", values)

    def states(self, dumped: Sequence[State]) -> list[ConnectState]:
        """The states of the open instance."""
        return ConnectReader().read(trace_of(dumped), "The state graph")

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """A heartbeat is one of several actions."""
        return step.action in HEARTBEATS if line.does == "Request" else step.action == line.does

    def differences(self, run: Run, line: AnyLine, state: ConnectState) -> Iterator[Difference]:
        """The response, the event and the group."""
        assert isinstance(line, Line)
        if line.request is None:
            for name in ("member", "topic", "partitions"):
                yield from differ(name, getattr(state.step, name), getattr(line, name))
        if line.response is not None:
            yield from _response(_answer_of(state), line.response)
        if line.seen is not None:
            yield from _group(state, line.seen)

    def constants(self, run: Run) -> Json:
        """W1: the versions of workers."""
        return {"Versions": {worker: list(versions) for worker, versions in run.versions.items()}}


def _answer_of(state: ConnectState) -> Response:
    """The answer of the step."""
    response, call = state.step.response, state.call
    if state.step.action == "PrepareAssignment" and response.error == "NONE":
        connectors = _connectors(state.group.metadata)
        return Response("NONE", group_epoch=call.group_epoch, workers=call.workers, connectors=connectors)
    return Response(response.error, response.epoch, response.assigned, call.compute)


def _response(expected: Response, got: Response) -> Iterator[Difference]:
    for name in ("error", "epoch", "assigned", "compute", "group_epoch", "connectors"):
        yield from differ(f"response.{name}", getattr(expected, name), getattr(got, name))
    expected_workers, seen = ({_who(one): one for one in response.workers} for response in (expected, got))
    yield from differ("response.members", sorted(expected_workers), sorted(seen))
    for who in sorted(expected_workers.keys() & seen.keys()):
        for name in ("epoch", "reason", "resources"):
            yield from differ(
                f"response.members of {who}.{name}",
                getattr(expected_workers[who], name),
                getattr(seen[who], name),
            )


def _who(one: PreparedWorker) -> str:
    """A name for each worker of an answer: one that is back may be in it twice, as it is, and with its lost
    work."""
    return one.worker if one.epoch >= 0 else f"{one.worker}, which has gone"


def _group(state: ConnectState, seen: SeenGroup) -> Iterator[Difference]:
    group, work = state.group, state.work
    if seen.state is not None:
        yield from differ("group.state", group_state(group), seen.state)
    yield from differ("group.epoch", group.epoch, seen.epoch)
    yield from differ("group.assignmentEpoch", group.assignment_epoch, seen.assignment_epoch)
    if seen.connectors is not None:
        yield from differ("group.connectors", _connectors(group.metadata), seen.connectors)
    if seen.lost is not None:
        yield from differ("group.lost", _owned(work.lost), _by_owner(seen.lost))
    if seen.chosen is not None:
        yield from differ("group.chosen", work.chosen, seen.chosen)
    if seen.prepared is not None:
        known = work.prepared
        prepared = known and SeenPrepared(known.epoch, known.workers, _connectors(known.metadata))
        for name in ("epoch", "workers", "connectors"):
            shown = getattr(seen.prepared[0], name, None)
            yield from differ(f"group.prepared.{name}", getattr(prepared, name, None), shown)
    yield from differ("group.members", sorted(group.members), sorted(seen.members))
    for who in sorted(group.members.keys() & seen.members.keys()):
        yield from _worker(state, who, seen.members[who])


def _worker(state: ConnectState, who: str, seen: Seen) -> Iterator[Difference]:
    beside = ("reason", "target")
    own = {name: value for name, value in seen.items() if name not in beside}
    yield from shown_differ(who, state.group.members[who], own)
    if "reason" in seen:
        yield from differ(f"{who}.reason", state.work.reasons[who], seen["reason"])
    if "target" in seen:
        target = state.group.target(who) if who in state.work.named else None
        yield from differ(f"target of {who}", target, seen["target"])


def _connectors(counts: Mapping[str, int]) -> Resources:
    return frozenset((name, count) for name, count in counts.items() if count > 0)


def _owned(lost: Mapping[str, Resources]) -> list[str]:
    return sorted(
        f"{name}-{number} of {who}" for who, partitions in lost.items() for name, number in partitions
    )


def _by_owner(lost: frozenset[tuple[Partition, str]]) -> list[str]:
    return sorted(f"{name}-{number} of {who}" for (name, number), who in lost)


def _workers(line: Line) -> Iterator[str]:
    yield from [line.member] if line.member else []
    yield from line.seen.members if line.seen else ()


def _resources(run: Run) -> Iterator[Partition]:
    """Every connector and task in a run."""
    yield from ((name, number) for name, count in run.topics.items() for number in range(count))
    for line in run.lines:
        yield from ((line.topic, number) for number in range(line.partitions))
        yield from line.target
        yield from (line.request.owned or ()) if line.request else ()
        if line.response:
            yield from line.response.assigned or ()
            yield from (resource for worker in line.response.workers for resource in worker.resources)
        if line.seen:
            yield from (resource for resource, _ in line.seen.lost or ())
            for worker in line.seen.members.values():
                for name in ("assigned", "revoking", "target"):
                    yield from worker.get(name) or ()
