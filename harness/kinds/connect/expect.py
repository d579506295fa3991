"""Expected answers and states after a step of a Connect group, computed only from the specification's
states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from harness.kinds.connect import wire as connect
from harness.kinds.connect.state import ConnectState, Prepared, PreparedWorker
from harness.kinds.consumer.expect import Timers, group_state
from harness.kinds.consumer.expect import description as consumer_description
from harness.kinds.consumer.state import Group, Member
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.targets.base import Json

WORKER: Final = record_of(Member).only("epoch", "previous_epoch", "assigned", "revoking", "acknowledged")
"""The fields of a consumer group's member that a worker has, too."""


def response(before: ConnectState, after: ConnectState) -> Json:
    """The body of a response, of the API that the step calls; an error's text is the target's own."""
    common = {
        "throttleTimeMs": 0,
        "errorCode": wire.ERROR_CODES[after.step.response.error],
        "errorMessage": None,
    }
    if after.step.action == "InstallAssignment":
        return common
    if after.step.action == "PrepareAssignment":
        return {**common, **_prepared_for(before, after)}
    return {**common, **_heartbeat(after)}


def _heartbeat(after: ConnectState) -> Json:
    spec = after.step.response
    answers = spec.error == "NONE" and spec.epoch >= 0
    assignment = None
    if spec.assigned is not None:
        work = connect.resources(spec.assigned)
        assignment = {"error": 0, "connectorsAndTasks": work, "version": 0, "metadata": ""}
    return {
        "memberEpoch": spec.epoch,
        "shouldComputeAssignment": after.call.compute,
        "heartbeatIntervalMs": wire.HEARTBEAT_INTERVAL_MS if answers else 0,
        "assignment": assignment,
    }


def _prepared_for(before: ConnectState, after: ConnectState) -> Json:
    """W1, W2: all workers, then those that have gone with their lost work."""
    if after.step.response.error != "NONE":
        return {"groupEpoch": 0, "assignorName": None, "connectors": [], "members": []}
    there = sorted((one for one in after.call.workers if one.epoch >= 0), key=lambda one: one.worker)
    gone = sorted((one for one in after.call.workers if one.epoch < 0), key=lambda one: one.worker)
    return {
        "groupEpoch": after.call.group_epoch,
        "assignorName": after.assignor,
        "connectors": connect.connectors(before.group.metadata),
        "members": [_worker(one, after.versions_of(one.worker)) for one in (*there, *gone)],
    }


def _worker(one: PreparedWorker, versions: tuple[int, int]) -> Json:
    return {
        "memberId": one.worker,
        "memberEpoch": one.epoch,
        "instanceId": None,
        "assignor": connect.selected(one.reason, versions) if one.epoch >= 0 else None,
        "connectorsAndTasks": connect.resources(one.resources),
    }


def description(state: ConnectState) -> Json:
    """The answer to `describe`, without its timers."""
    group, work = state.group, state.work
    if not group.exists:
        return consumer_description(group)
    return {
        "groupId": wire.GROUP,
        "type": "connect",
        "state": group_state(group),
        **record_of(Group).described(group, {}),
        "connectors": connect.connectors(group.metadata),
        "members": [_member(state, name, member) for name, member in group.members.items()],
        "lost": [
            {"memberId": name, "connectorsAndTasks": connect.resources(lost)}
            for name, lost in work.lost.items()
        ],
        "chosen": work.chosen or None,
        "prepared": prepared(work.prepared),
    }


def _member(state: ConnectState, name: str, member: Member) -> Json:
    named = name in state.work.named
    return {
        "memberId": name,
        **WORKER.described(member, connect.SHOWN),
        "target": connect.resources(state.group.target(name)) if named else None,
        "targetError": 0,
        "assignors": connect.assignors_of(state, name),
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
    }


def prepared(preparation: Prepared | None) -> Json | None:
    """The prepared state with which an InstallAssignment is compared."""
    return None if preparation is None else record_of(Prepared).described(preparation, connect.SHOWN)


@dataclass
class ConnectTimers:
    """The timers of a consumer group, and that of the worker which computes the target (W1)."""

    shared: Timers = field(default_factory=Timers)
    assignment_ms: int | None = None

    @staticmethod
    def started(state: ConnectState) -> ConnectTimers:
        """The timers of the state with which a replay starts, at time 0."""
        timers = ConnectTimers(Timers.started(state.shared))
        timers.assignment_ms = wire.REBALANCE_TIMEOUT_MS if state.due and state.work.chosen else None
        return timers

    def follow(self, before: ConnectState, after: ConnectState, now_ms: int) -> list[Json]:
        """Take one step at `now_ms` into account; the armed timers after it, in `describe`'s order."""
        action, shared = after.step.action, after.shared
        if action in ("PrepareAssignment", "InstallAssignment"):  # which keep no session
            shared = replace(shared, step=replace(shared.step, member=""))
        self.shared.follow(before.group, shared, now_ms)
        anew = (
            action in ("FailOver", "AssignmentTimeout")
            or before.work.chosen != after.work.chosen
            or before.group.assignment_epoch != after.group.assignment_epoch
        )
        if not after.due or not after.work.chosen:
            self.assignment_ms = None
        elif anew or self.assignment_ms is None:
            self.assignment_ms = now_ms + wire.REBALANCE_TIMEOUT_MS
        return self.armed(after)

    def armed(self, state: ConnectState) -> list[Json]:
        """[{"timer", "group", "member", "deadlineMs"}]: those of every group, then the chosen worker's."""
        timers = self.shared.armed(state.group.members)
        if self.assignment_ms is not None:
            deadline = {"group": wire.GROUP, "member": state.work.chosen, "deadlineMs": self.assignment_ms}
            timers.append({"timer": "assignment", **deadline})
        return timers
