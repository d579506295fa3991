"""One group by the rules of KIP-848 and the requirements, to compare a coordinator with; written without the
coordinator's code.

Where the rules leave a choice (a target assignment, the id of a member), the coordinator's choice is given to
the reference, which checks that the choice is allowed (A4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from line_protocol import (
    FENCED_MEMBER_EPOCH,
    GROUP_MAX_SIZE_REACHED,
    INVALID_REQUEST,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    UNRELEASED_INSTANCE_ID,
    Json,
    Partition,
    Partitions,
    partitions_of,
)

AWAY: Final = -2
SESSION_MS: Final = 45_000
RETENTION_MS: Final = 7 * 24 * 60 * 60 * 1000
NOTHING: Final[Partitions] = frozenset()

Topics = dict[str, tuple[str, int]]
"""Topic name -> id and number of partitions."""

Targets = Mapping[str, Partitions]
"""Member id -> its part of the target assignment."""


@dataclass(frozen=True)
class Member:
    """The state of one incarnation of a member; deadlines in milliseconds."""

    incarnation: int
    instance: str | None
    names: frozenset[str]
    regex: str | None
    assignor: str | None
    rebalance_ms: int
    session_at: int
    rebalance_at: int | None = None
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = NOTHING
    revoking: Partitions = NOTHING
    acknowledged: bool = False

    @property
    def says(self) -> tuple[frozenset[str], str | None, str | None]:
        """The fields that bump the group epoch when they change (E1)."""
        return self.names, self.regex, self.assignor

    def subscribes(self, topic: str) -> bool:
        """T1."""
        return topic in self.names or (self.regex is not None and re.fullmatch(self.regex, topic) is not None)


@dataclass
class State:
    """The whole state of a group at one moment. A group that does not exist has epoch 0."""

    epoch: int = 0
    metadata: Topics = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    targets: dict[str, Partitions] = field(default_factory=dict)
    empty_at: int | None = None
    offsets: dict[Partition, int] = field(default_factory=dict)
    granted: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the incarnation that was assigned the partition last: its owner, for commits (O2)."""

    def copy(self) -> State:
        return replace(
            self,
            members=dict(self.members),
            targets=dict(self.targets),
            offsets=dict(self.offsets),
            granted=dict(self.granted),
        )


@dataclass(frozen=True)
class Expected:
    """The answer to a heartbeat; `incarnation` is the one of the member that was answered (0: none)."""

    code: int = 0
    epoch: int = 0
    assignment: tuple[Partitions, Partitions] | None = None
    """Assigned and pending."""
    incarnation: int = 0


class ReferenceGroup:
    """The group, the cluster's topics and the time."""

    def __init__(self, max_size: int) -> None:
        self.state = State()
        self.topics: Topics = {}
        self.now_ms = 0
        self._max_size = max_size
        self._incarnations = count(1)

    # Heartbeats

    def error_of(self, body: Json, member_id: str) -> int:
        """S2, H5, H6: the error of a valid heartbeat that is refused."""
        members, epoch, instance = self.state.members, body["memberEpoch"], body.get("instanceId")
        holder = self._holder(instance)
        returns = holder is not None and epoch == 0 and members[holder].epoch == AWAY
        if holder not in (None, member_id) and not returns:
            return UNRELEASED_INSTANCE_ID
        if epoch == 0:
            adds = member_id not in members and not returns
            return GROUP_MAX_SIZE_REACHED if adds and len(members) >= self._max_size else 0
        if member_id not in members:
            return UNKNOWN_MEMBER_ID
        member = members[member_id]
        if epoch == AWAY:
            return 0 if member.instance == instance else UNKNOWN_MEMBER_ID
        if epoch in (-1, member.epoch):
            return 0
        owned = self._owned(body)
        retries = epoch == member.previous_epoch and (
            owned is None or owned <= self.state.targets.get(member_id, NOTHING)
        )
        return 0 if retries else FENCED_MEMBER_EPOCH

    def heartbeat(self, body: Json, member_id: str, installed: Targets) -> Expected:
        """One valid request, and the target that was installed where one was due."""
        members, epoch = self.state.members, body["memberEpoch"]
        code = self.error_of(body, member_id)
        if code == FENCED_MEMBER_EPOCH or (not code and epoch == -1):
            self.remove(member_id, installed)
            return Expected(code, epoch if not code else 0)
        if code:
            return Expected(code)
        if epoch == AWAY:
            member = replace(members[member_id], epoch=AWAY, previous_epoch=0, revoking=NOTHING)
            members[member_id] = replace(
                member, acknowledged=False, rebalance_at=None, session_at=self.now_ms + SESSION_MS
            )
            return Expected(epoch=AWAY)
        if epoch == 0:
            self._join(body, member_id, installed)
            return self._reconcile(body, member_id, "join")
        member = members[member_id]
        members[member_id] = self._told(member, body)
        self._update(members[member_id].says != member.says, installed)
        return self._reconcile(body, member_id, "current" if epoch == member.epoch else "retry")

    def _join(self, body: Json, member_id: str, installed: Targets) -> None:
        """Join, Rejoin and Return (H1, S1)."""
        state, instance = self.state, body.get("instanceId")
        member = Member(
            next(self._incarnations), instance, frozenset(), None, None, 0, self.now_ms + SESSION_MS
        )
        member = self._told(member, body)
        holder = self._holder(instance)
        bumps = True
        if holder is not None and state.members[holder].epoch == AWAY:
            away = state.members.pop(holder)
            bumps = away.says != member.says or member_id in state.members
            state.targets[member_id] = state.targets.pop(holder, NOTHING)
        state.members[member_id] = member
        state.empty_at = None
        self._update(bumps, installed)

    def _told(self, member: Member, body: Json) -> Member:
        """H7: an absent field keeps its value; an empty regular expression removes the expression."""
        names, regex = body.get("subscribedTopicNames"), body.get("subscribedTopicRegex")
        timeout_ms = body.get("rebalanceTimeoutMs", -1)
        return replace(
            member,
            instance=body.get("instanceId") or member.instance,
            names=member.names if names is None else frozenset(names),
            regex=member.regex if regex is None else regex or None,
            assignor=body.get("serverAssignor") or member.assignor,
            rebalance_ms=member.rebalance_ms if timeout_ms == -1 else timeout_ms,
        )

    def _reconcile(self, body: Json, member_id: str, kind: str) -> Expected:
        """R1 to R6, and the timers of H8 and R4."""
        state, owned = self.state, self._owned(body)
        old, target = state.members[member_id], state.targets.get(member_id, NOTHING)
        acknowledges = kind == "current" and owned is not None and not owned & old.revoking
        surplus = old.assigned - target
        if (old.revoking and not acknowledges) or surplus:
            kept = NOTHING if acknowledges else old.revoking
            new = replace(old, assigned=old.assigned & target, revoking=kept | surplus)
        else:
            previous = old.previous_epoch if old.epoch == state.epoch else old.epoch
            free = target - self.held_by_others(member_id)
            new = replace(old, epoch=state.epoch, previous_epoch=previous, assigned=free, revoking=NOTHING)
        rebalance_at = old.rebalance_at
        if not new.revoking:
            rebalance_at = None
        elif not old.revoking or acknowledges:
            rebalance_at = self.now_ms + old.rebalance_ms
        acknowledged = old.acknowledged and new.assigned == old.assigned
        if kind == "current" and owned is not None:
            acknowledged = new.assigned == old.assigned == owned
        new = replace(
            new,
            rebalance_at=rebalance_at,
            session_at=self.now_ms + SESSION_MS,
            acknowledged=acknowledged,
        )
        state.members[member_id] = new
        state.granted.update(dict.fromkeys(new.assigned, new.incarnation))
        converged = new.epoch == state.epoch and not new.revoking
        assignment = (new.assigned, target - new.assigned if converged else NOTHING)
        silent = acknowledged and converged and new.assigned == target
        return Expected(0, new.epoch, None if silent else assignment, new.incarnation)

    def held_by_others(self, member_id: str) -> Partitions:
        """R7: everything that another member may own."""
        held = [m.assigned | m.revoking for other, m in self.state.members.items() if other != member_id]
        return NOTHING.union(*held)

    # Events

    def remove(self, member_id: str, installed: Targets | None) -> None:
        """H2, H5, H8, R4: the member left, was fenced or timed out. The target is None where the test did not
        see one."""
        del self.state.members[member_id]
        self.state.targets.pop(member_id, None)
        if not self.state.members:
            self.state.empty_at = self.now_ms + RETENTION_MS
        self._update(True, installed)

    def timers(self) -> dict[tuple[str, str], int]:
        """The timers that are armed: timer and member -> deadline."""
        armed = {}
        for member_id, member in self.state.members.items():
            armed["session", member_id] = member.session_at
            if member.rebalance_at is not None:
                armed["rebalance", member_id] = member.rebalance_at
        if self.state.empty_at is not None:
            armed["group", ""] = self.state.empty_at
        return armed

    def notice_topics(self, installed: Targets) -> None:
        """E1, T2: topics changed."""
        ids = {topic_id for topic_id, _ in self.topics.values()}
        self.state.offsets = {p: offset for p, offset in self.state.offsets.items() if p[0] in ids}
        if self.state.epoch:
            self._update(False, installed)

    def delete_group(self) -> None:
        """E5."""
        self.state = State()

    def fail_over(self, kept: State, installed: Targets) -> None:
        """P2: a new coordinator loads a log that ended when the group was `kept`."""
        self.state = kept.copy()
        members = self.state.members
        for member_id, member in members.items():
            members[member_id] = replace(
                member,
                previous_epoch=0,
                acknowledged=False,
                session_at=self.now_ms + SESSION_MS,
                rebalance_at=None,
                assigned=member.assigned | member.revoking,
                revoking=NOTHING,
            )
        if self.state.epoch and not members:
            self.state.empty_at = self.now_ms + RETENTION_MS
        self.notice_topics(installed)
        for member_id, member in members.items():
            revoking = member.assigned - self.state.targets.get(member_id, NOTHING)
            if revoking and member.epoch != AWAY:
                members[member_id] = replace(
                    member,
                    assigned=member.assigned - revoking,
                    revoking=revoking,
                    rebalance_at=self.now_ms + member.rebalance_ms,
                )

    # Offsets

    def fenced(self, member_id: str, epoch: int) -> int:
        """O2: the error of a request with that member id and epoch."""
        member = self.state.members.get(member_id)
        if member is None:
            return UNKNOWN_MEMBER_ID
        return 0 if epoch == member.epoch and epoch > 0 else STALE_MEMBER_EPOCH

    def commit(self, body: Json) -> list[int]:
        """O1, O2: the error of each partition, in the order of the request."""
        member_id, epoch = body["memberId"], body["generationIdOrMemberEpoch"]
        simple = (member_id, epoch) == ("", -1) and not self.state.members
        whole = 0 if simple else self.fenced(member_id, epoch)
        codes = []
        for topic in body["topics"]:
            topic_id = topic.get("topicId") or self.topics.get(topic["name"], ("", 0))[0]
            size = {known: partitions for known, partitions in self.topics.values()}.get(topic_id, 0)
            for partition in topic["partitions"]:
                index, offset = partition["partitionIndex"], partition["committedOffset"]
                code = whole
                if not whole and not size:
                    code = UNKNOWN_TOPIC_ID if topic.get("topicId") else UNKNOWN_TOPIC_OR_PARTITION
                elif not whole and not 0 <= index < size:
                    code = UNKNOWN_TOPIC_OR_PARTITION
                elif not whole and offset < 0:
                    code = INVALID_REQUEST
                if not code:
                    self.state.offsets[topic_id, index] = offset
                codes.append(code)
        return codes

    # The group epoch and its target

    def _update(self, changed: bool, installed: Targets | None) -> None:
        """E1: bump once if members changed or the topics that they subscribe to; E2: a target is due then."""
        state = self.state
        subscribed = {
            name: topic
            for name, topic in self.topics.items()
            if any(member.subscribes(name) for member in state.members.values())
        }
        if changed or subscribed != state.metadata:
            state.epoch += 1
            state.metadata = subscribed
            if installed is None:
                return
            check_target(state, installed)
            state.targets = {member_id: installed.get(member_id, NOTHING) for member_id in state.members}

    def _holder(self, instance: str | None) -> str | None:
        members = self.state.members.items()
        return next((name for name, member in members if instance and member.instance == instance), None)

    def _owned(self, body: Json) -> Partitions | None:
        wire = body.get("topicPartitions")
        return None if wire is None else partitions_of(wire)


def check_target(state: State, targets: Targets) -> None:
    """A4: each partition of a subscribed topic has one owner, which subscribes to the topic; no other
    partition has an owner."""
    assert targets.keys() <= state.members.keys(), "A4: the target names who is no member"
    given = [(partition, member_id) for member_id, part in targets.items() for partition in part]
    names = {topic_id: name for name, (topic_id, _) in state.metadata.items()}
    due = {(topic_id, i) for topic_id, partitions in state.metadata.values() for i in range(partitions)}
    assert sorted(partition for partition, _ in given) == sorted(due), f"A4: {due} are to be assigned"
    for (topic_id, _), member_id in given:
        assert state.members[member_id].subscribes(names[topic_id]), f"A4: {member_id} does not subscribe"
