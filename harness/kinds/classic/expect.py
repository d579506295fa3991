"""Expected answers and states after a step of a classic group, computed only from the specification's
states."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.kinds.classic import wire as classic
from harness.kinds.classic.state import (
    ClassicGroup,
    ClassicMember,
    ClassicResponse,
    ClassicSpecStep,
    ClassicState,
)
from harness.kinds.consumer.expect import description as consumer_description
from harness.kinds.consumer.expect import offset_commit
from harness.kinds.consumer.state import Group
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.targets.base import Json

_NO_GROUP = Group(epoch=0, assignment_epoch=0, targets={}, metadata={}, members={})


def response(exists: bool, step: ClassicSpecStep) -> Json | None:
    """The body of the response to a step's own request; None while the request waits. `exists` tells if there
    was a group before."""
    if not step.response.error:
        return None
    if step.action == "OffsetCommit":
        return offset_commit(step)
    if step.action == classic.LEAVE:
        return _left(exists, step)
    return body(step.response)


def completed(step: ClassicSpecStep) -> list[Json]:
    """The answers to requests that waited, by API and client."""
    return [
        {"id": classic.request_id(answer.api, member), "body": body(answer)}
        for member, answer in step.completed
    ]


def body(spec: ClassicResponse) -> Json:
    """A response of JoinGroup, SyncGroup or Heartbeat."""
    error = wire.ERROR_CODES[spec.error]
    if spec.api == classic.HEARTBEAT:
        return {"throttleTimeMs": 0, "errorCode": error}
    known = not error
    named = {
        "throttleTimeMs": 0,
        "errorCode": error,
        "protocolType": spec.type if known else None,
        "protocolName": spec.protocol if known else None,
    }
    if spec.api == classic.SYNC:
        return {**named, "assignment": classic.assignment(spec.assignment)}
    return {
        **named,
        "generationId": spec.generation,
        "leader": spec.leader,
        "skipAssignment": spec.skip_assignment,
        "memberId": spec.member,
        "members": [
            {
                "memberId": one.member,
                "groupInstanceId": one.instance or None,
                "metadata": classic.subscription(one.subscription),
            }
            for one in sorted(spec.members, key=lambda one: one.member)
        ],
    }


def _left(exists: bool, step: ClassicSpecStep) -> Json:
    """The response to LeaveGroup: where the group exists, each member has its own error."""
    error = wire.ERROR_CODES[step.response.error]
    if not exists:
        return {"throttleTimeMs": 0, "errorCode": error, "members": []}
    request = step.request
    left = {"memberId": request.member, "groupInstanceId": request.instance, "errorCode": error}
    return {"throttleTimeMs": 0, "errorCode": 0, "members": [left]}


def description(group: ClassicGroup, delay_ms: int) -> Json:
    """The answer to `describe`, without its timers; `delay_ms` is the initial delay."""
    if not group.exists:
        return consumer_description(_NO_GROUP)
    return {
        "groupId": wire.GROUP,
        "type": "classic",
        **record_of(ClassicGroup).described(group, classic.SHOWN),
        "delayRemainingMs": group.extensions * delay_ms if group.initial else None,
        "pending": sorted(group.pending),
        "members": [_member(name, member) for name, member in group.members.items()],
    }


def _member(name: str, member: ClassicMember) -> Json:
    metadata = classic.subscription(member.subscription)
    return {
        "memberId": name,
        **record_of(ClassicMember).described(member, classic.SHOWN),
        "protocols": [{"name": protocol, "metadata": metadata} for protocol in member.protocols],
        "awaitingJoin": classic.request_id(classic.JOIN, name) if member.joining else None,
        "awaitingSync": classic.request_id(classic.SYNC, name) if member.syncing else None,
        "sessionTimeoutMs": wire.SESSION_TIMEOUT_MS,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
    }


@dataclass
class ClassicTimers:
    """The armed timers with their deadlines, in milliseconds of the replay's clock: (timer, member) ->
    deadline.

    The state decides which timers are armed; a step starts some anew, and the others go on.
    """

    delay_ms: int
    renews_waiting: bool = False
    deadlines: dict[tuple[str, str], int] = field(default_factory=dict)

    def start(self, group: ClassicGroup, now_ms: int) -> list[Json]:
        """Arm all timers at full length, as a new coordinator does (P2)."""
        anew = {("group", ""): wire.EMPTY_RETENTION_MS, ("join", ""): self._barrier_ms(group)}
        anew["sync", ""] = wire.REBALANCE_TIMEOUT_MS
        for name in (*group.members, *group.pending):
            fresh = name in group.members and group.members[name].fresh
            anew["session", name] = classic.NEW_MEMBER_TIMEOUT_MS if fresh else wire.SESSION_TIMEOUT_MS
        return self._go_on(group, anew, now_ms)

    def follow(self, before: ClassicGroup, after: ClassicState, now_ms: int) -> list[Json]:
        """Take one step at `now_ms` into account; the armed timers after it, in `describe`'s order."""
        if after.step.action == "FailOver":
            return self.start(after.group, now_ms)
        return self._go_on(after.group, self._anew(before, after), now_ms)

    def _go_on(self, group: ClassicGroup, anew: dict[tuple[str, str], int], now_ms: int) -> list[Json]:
        never = [timer for timer in armed(group) if timer not in anew and timer not in self.deadlines]
        if never:
            timer, member = never[0]
            raise ValueError(f"the timer {timer!r} of {member!r} is armed, but no step has started it")
        self.deadlines = {
            timer: now_ms + anew[timer] if timer in anew else self.deadlines[timer] for timer in armed(group)
        }
        return [
            {"timer": timer, "group": wire.GROUP, "member": member, "deadlineMs": deadline_ms}
            for (timer, member), deadline_ms in self.deadlines.items()
        ]

    def _barrier_ms(self, group: ClassicGroup) -> int:
        return self.delay_ms if group.initial else wire.REBALANCE_TIMEOUT_MS

    def _anew(self, before: ClassicGroup, after: ClassicState) -> dict[tuple[str, str], int]:
        """The timers that a step starts, and their lengths."""
        step, group = after.step, after.group
        anew: dict[tuple[str, str], int] = {}
        if group.state != before.state:
            anew["group", ""] = wire.EMPTY_RETENTION_MS
        if before.state != "PreparingRebalance" or step.action == "JoinTimeout":
            anew["join", ""] = self._barrier_ms(group)
        if group.generation != before.generation:
            anew["sync", ""] = wire.REBALANCE_TIMEOUT_MS
        for name in self._sessions(before, after):
            anew["session", name] = wire.SESSION_TIMEOUT_MS
        for name, member in group.members.items():
            if member.fresh and not (name in before.members and before.members[name].fresh):
                anew["session", name] = classic.NEW_MEMBER_TIMEOUT_MS
        return anew

    def _sessions(self, before: ClassicGroup, after: ClassicState) -> set[str]:
        """H8: the members whose session starts anew: a member that gets an id, is in a new generation, gets
        the answer to a SyncGroup or a Heartbeat, or returns."""
        step, group = after.step, after.group
        members = set(group.pending - before.pending)
        if group.generation != before.generation:
            members |= set(group.members)
        members |= {
            member
            for member, answer in step.completed
            if answer.api == classic.SYNC and answer.error in ("NONE", "REBALANCE_IN_PROGRESS")
        }
        alive = step.response.error in ("NONE", "REBALANCE_IN_PROGRESS")
        asks = step.action == "ClassicHeartbeat" and step.member in group.members
        asks = asks and (self.renews_waiting or not group.members[step.member].waits)
        if alive and (step.branch in ("leader", "return") or asks):
            members.add(step.member)
        return members


def armed(group: ClassicGroup) -> list[tuple[str, str]]:
    """The timers of a state, in `describe`'s order: the group's own, then each session (C1, H8, E5)."""
    timers = [("group", "")] if group.state == "Empty" else []
    if group.state == "PreparingRebalance":
        timers.append(("join", ""))
    if any(member.owes_sync for member in group.members.values()):
        timers.append(("sync", ""))
    sessions = {name for name, member in group.members.items() if member.fresh or not member.waits}
    return timers + [("session", name) for name in sorted(sessions | group.pending)]
