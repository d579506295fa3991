"""Expected answers and states after a step, computed only from the specification's states.

This module does not know the coordinator under test: the forms are those of the line protocol, the values
those of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.kinds.classic import wire as classic
from harness.kinds.consumer.state import Group, Member, SpecState, SpecStep
from harness.kinds.features import admin
from harness.kinds.features import computing as client
from harness.kinds.features.admission_state import ACTIVATE
from harness.kinds.features.commits import LEADER_EPOCH, CommitStep, partition_of
from harness.kinds.features.computing_state import NOTHING_TOLD, Computation
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.replay.dialects import TEXT, Forms
from harness.targets.base import Assignments, Json


def response(after: SpecState, forms: Forms) -> Json:
    """The body of a response, of the API that the step into this state calls."""
    if after.step.action in admin.RESPONSES:
        return admin.RESPONSES[after.step.action](after)
    if after.step.action in client.RESPONSES:
        return client.RESPONSES[after.step.action](after)
    if after.step.action in _OFFSETS:
        return (offset_commit if after.step.action == "OffsetCommit" else offset_fetch)(after.step)
    interval_ms = after.configs.get(wire.HEARTBEAT_INTERVAL, wire.HEARTBEAT_INTERVAL_MS)
    return heartbeat(after.step, forms, interval_ms)


def heartbeat(step: SpecStep, forms: Forms, interval_ms: int = wire.HEARTBEAT_INTERVAL_MS) -> Json:
    """ConsumerGroupHeartbeat (H9); the text of an error message is the target's own and left out here."""
    spec = step.response
    error = spec.error != "NONE"
    answers = not error and spec.epoch >= 0
    answers_member_id = not error and (forms.answers_member_id or step.request.epoch == 0)
    data = NOTHING_TOLD if step.client is None else step.client.told
    assignment = None
    if spec.assigned is not None:
        assignment = {
            "error": data.error,
            "assignedTopicPartitions": wire.expected_partitions(spec.assigned),
            "pendingTopicPartitions": wire.expected_partitions(spec.pending or frozenset()),
            "metadataVersion": data.version,
            "metadataBytes": data.metadata,
        }
    return {
        "throttleTimeMs": 0,
        "errorCode": wire.ERROR_CODES[spec.error],
        "errorMessage": None,
        "memberId": spec.member if answers_member_id else None,
        "memberEpoch": spec.epoch,
        "shouldComputeAssignment": step.client is not None and step.client.compute,
        "heartbeatIntervalMs": interval_ms if answers else 0,
        "assignment": assignment,
    }


def offset_commit(step: CommitStep) -> Json:
    """OffsetCommit (O1, O2): every error belongs to a partition."""
    topic, index = partition_of(step)
    partition = {"partitionIndex": index, "errorCode": wire.ERROR_CODES[step.response.error]}
    topics = [{"name": None, "topicId": wire.topic_id(topic), "partitions": [partition]}]
    return {"throttleTimeMs": 0, "topics": topics}


def offset_fetch(step: SpecStep) -> Json:
    """OffsetFetch (O1, O4): a fence is an error of the group, an unknown topic one of the partition."""
    topic, index = partition_of(step)
    error = wire.ERROR_CODES[step.response.error]
    of_topic = step.response.error in _OF_A_TOPIC
    partition = {
        "partitionIndex": index,
        "committedOffset": step.offset if not error else -1,
        "committedLeaderEpoch": LEADER_EPOCH,
        "metadata": "",
        "errorCode": error,
    }
    topics = [{"name": None, "topicId": wire.topic_id(topic), "partitions": [partition]}]
    fenced = bool(error) and not of_topic
    answer = {
        "groupId": wire.GROUP,
        "topics": [] if fenced else topics,
        "errorCode": error if fenced else 0,
    }
    return {"throttleTimeMs": 0, "groups": [answer]}


_OF_A_TOPIC: Final = frozenset({"UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION"})


def group_state(group: Group) -> str:
    """E5."""
    if not group.exists:
        return "Dead"
    if not group.members:
        return "Empty"
    if group.epoch > group.assignment_epoch:
        return "Assigning"
    for name, member in group.members.items():
        if member.epoch != group.epoch or member.revoking or member.assigned != group.target(name):
            return "Reconciling"
    return "Stable"


def member_state(group: Group, name: str, member: Member) -> str:
    """The state of a member, by Kafka's name for the event that the member waits for."""
    if member.revoking:
        return "UNREVOKED_PARTITIONS"
    if member.epoch == group.assignment_epoch and member.assigned != group.target(name):
        return "UNRELEASED_PARTITIONS"
    return "STABLE"


def description(group: Group) -> Json:
    """The answer to `describe`, without its timers."""
    return {
        "groupId": wire.GROUP,
        "state": group_state(group),
        **record_of(Group).described(group, {}),
        "metadata": wire.metadata(group.metadata),
        "members": [_member(group, name, member) for name, member in group.members.items()],
        **client.shown(group.computation),
    }


def _member(group: Group, name: str, member: Member) -> Json:
    return {
        "memberId": name,
        **record_of(Member).described(member, wire.SHOWN),
        "state": member_state(group, name, member),
        "target": wire.expected_partitions(group.target(name)),
        "targetError": member.told.error,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "rackId": None,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
        **_of_client_assignors(member),
        **_of_classic(member),
    }


_PHASES: Final = {
    "prepare": "PreparingRebalance",
    "complete": "CompletingRebalance",
    "stable": "Stable",
    "both": "PreparingRebalance",
}


def _of_classic(member: Member) -> Json:
    """Further fields of a member that uses the classic protocol (M2)."""
    if member.classic is None:
        return {}
    return {"classicState": _PHASES[member.classic.phase], **classic.member_metadata(member.classic)}


def _of_client_assignors(member: Member) -> Json:
    """The assignors of a member and the user data of its target (A1, H9), if the member has any."""
    shown: Json = {}
    if member.offers:
        shown["clientAssignors"] = [*map(client.recorded, member.offers)]
    if member.told.version or member.told.metadata:
        shown["targetMetadata"] = {"version": member.told.version, "bytes": member.told.metadata}
    return shown


def new_target(before: Group, after: Group, installed: bool = False) -> Assignments | None:
    """The target assignment that a step installs, for the target's script; None where none is computed (E2).

    A group without members gets the empty target without an assignor; so does a group whose first target a
    member must compute. A target that a member has `installed` (A5) comes from no assignor either.
    """
    if after.assignment_epoch == before.assignment_epoch or not after.members:
        return None
    if installed or after.computation.chosen:
        return None
    return {name: wire.topic_partitions(after.target(name)) for name in after.members}


_OFFSETS: Final = ("OffsetCommit", "OffsetFetch")
_KEEP_NO_SESSION: Final = (*_OFFSETS, "PrepareAssignment", "InstallAssignment", "ComputationTimeout")
"""Requests that are no heartbeats, and so keep no session (O1)."""


def session_timeout_ms(state: SpecState) -> int:
    """H8: the group's own, or the broker's (D1)."""
    return state.configs.get(wire.SESSION_TIMEOUT, wire.SESSION_TIMEOUT_MS)


@dataclass
class Timers:
    """The armed timers with their deadlines (H8, R4, E5), in milliseconds of the replay's clock.

    This is the only expected value that needs more than two states: a deadline counts from a step in the
    past. In the specification time-outs are untimed; the replay's clock moves a little before every step, so
    that a timer that is wrongly armed anew, or wrongly not armed anew, has another deadline.
    """

    forms: Forms = TEXT
    session_ms: dict[str, int] = field(default_factory=dict)
    rebalance_ms: dict[str, int] = field(default_factory=dict)
    empty_ms: int | None = None
    computation_ms: int | None = None
    """The time at which another member computes the target in place of `chosen` (A5)."""
    chosen: str = ""

    @staticmethod
    def started(state: SpecState, forms: Forms = TEXT) -> Timers:
        """The timers of the state with which a replay starts, at time 0."""
        timers = Timers(forms)
        timers.start(state, 0)
        return timers

    def start(self, state: SpecState, now_ms: int) -> None:
        """Arm all timers of the state at full length: a new coordinator does not know how long they ran
        (P2)."""
        group, session_ms = state.group, now_ms + session_timeout_ms(state)
        rejoin = self.forms.rejoins_instead
        revoking = [
            name for name, one in group.members.items() if one.revoking and not (one.classic and rejoin)
        ]
        self.session_ms = {name: session_ms for name in group.members}
        self.rebalance_ms = {name: now_ms + wire.REBALANCE_TIMEOUT_MS for name in revoking}
        self.empty_ms = now_ms + wire.EMPTY_RETENTION_MS if group.exists and not group.members else None
        self.computation_ms = now_ms + wire.REBALANCE_TIMEOUT_MS if group.computation.notified else None
        self.chosen = group.computation.chosen

    def follow(self, before: Group, after: SpecState, now_ms: int) -> list[Json]:
        """Take one step at `now_ms` into account; the armed timers after it, in `describe`'s order."""
        step, group = after.step, after.group
        self._follow_computation(before.computation, after, now_ms)
        if step.action in ("FailOver", ACTIVATE):
            self.start(after, now_ms)
        elif (
            step.member in group.members
            and step.response.error == "NONE"
            and step.action not in _KEEP_NO_SESSION
        ):
            if step.action != "LeaveTemporarily" or not self.forms.away_runs_on:
                self.session_ms[step.member] = now_ms + session_timeout_ms(after)
            self._follow_revocation(
                before.members.get(step.member), group.members[step.member], step.member, now_ms
            )
        for deadlines in (self.session_ms, self.rebalance_ms):
            for name in [name for name in deadlines if name not in group.members]:
                del deadlines[name]
        if not group.exists or group.members:
            self.empty_ms = None
        elif before.members:
            self.empty_ms = now_ms + wire.EMPTY_RETENTION_MS
        return self.armed(group.members)

    def _follow_computation(self, before: Computation, after: SpecState, now_ms: int) -> None:
        """A5: the time-out starts when the chosen member is told, once, and has the length of its rebalance
        time-out. A member that joins again is chosen anew."""
        computation, step = after.group.computation, after.step
        self.chosen = computation.chosen
        anew = step.member == self.chosen and step.action in ("Join", "Rejoin", "Return")
        anew = anew and step.response.error == "NONE"
        if not computation.notified:
            self.computation_ms = None
        elif not before.notified or before.chosen != self.chosen or anew:
            self.computation_ms = now_ms + wire.REBALANCE_TIMEOUT_MS

    def _follow_revocation(self, before: Member | None, after: Member, name: str, now_ms: int) -> None:
        """R4: the time-out starts with the first request to revoke; another revocation after an
        acknowledgement starts it anew."""
        if not after.revoking or (after.classic and self.forms.rejoins_instead):
            self.rebalance_ms.pop(name, None)
        elif (
            before is None
            or not before.revoking
            or not before.revoking <= after.revoking
            or (self.forms.growth_rearms and before.revoking != after.revoking)
        ):
            self.rebalance_ms[name] = now_ms + wire.REBALANCE_TIMEOUT_MS

    def armed(self, members: Mapping[str, Member]) -> list[Json]:
        """[{"timer", "group", "member", "deadlineMs"}]: the group's timer, then each member's. ValueError, in
        words, where steps and states contradict each other."""
        timers = []
        if self.empty_ms is not None:
            timers.append(_timer("group", "", self.empty_ms))
        if self.computation_ms is not None:
            timers.append(_timer("computation", self.chosen, self.computation_ms))
        for name in members:
            if name not in self.session_ms:
                raise ValueError(f"{name!r} is a member, but no request of it was accepted since it was none")
            timers.append(_timer("session", name, self.session_ms[name]))
            if name in self.rebalance_ms:
                timers.append(_timer("rebalance", name, self.rebalance_ms[name]))
        return timers


def _timer(timer: str, member: str, deadline_ms: int) -> Json:
    return {"timer": timer, "group": wire.GROUP, "member": member, "deadlineMs": deadline_ms}
