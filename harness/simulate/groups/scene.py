"""The scene: coordinator, processes, messages in flight; and the checks after each event."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Final

from harness.simulate.groups.answers import before_of, check_answer
from harness.simulate.groups.cause import FENCED_MEMBER_EPOCH, NOBODY, TIMER, UNKNOWN_MEMBER_ID, Cause
from harness.simulate.groups.computed import INSTALL, PREPARE
from harness.simulate.groups.coordinator_view import GroupWatch
from harness.simulate.groups.events import Events
from harness.simulate.groups.next_request import FIND, HEARTBEAT
from harness.simulate.groups.offsets import OffsetsWatch
from harness.simulate.groups.parts import (
    Cluster,
    Partition,
    Parts,
    Topics,
    Violation,
    from_wire,
    shown,
)
from harness.simulate.groups.process import Message, Process, check_process
from harness.simulate.groups.story import ACTIVE, Settings, Story
from harness.targets.base import Json

FAULTS: Final = (
    *("request lost", "answer lost", "request duplicated", "copy delivered", "answer duplicated"),
    "wrong error",
    *("late request", "late request duplicated", "reordering", "delay", "request timed out"),
    *("partition", "lost in a partition", "crash", "restart", "leave", "unsubscribed", "stall"),
    *("callback raised", "skewed clock", "clock leap"),
    *("fail-over", "coordinator down", "log refuses", "group deleted"),
    *("topic created", "partitions added", "topic deleted", "topic recreated", "subscription changed"),
)
"""Faults and changes. Each is counted, also those that never happen."""


class Scene(Events[Process, Message, Cluster]):
    """The processes and the coordinator, and the invariants of their actions."""

    def __init__(self, parts: Parts, settings: Settings, story: Story | None = None) -> None:
        super().__init__(parts.cluster(settings.session_ms, settings.heartbeat_ms), settings, story, FAULTS)
        self.parts = parts
        self.topics: Topics = {}
        self.gone_topics: set[str] = set()
        """Ids of deleted topics: none comes back (T2)."""
        numbers = count(1)
        self.watches = {group: GroupWatch(group, numbers) for group in settings.groups}
        self.offsets = {group: OffsetsWatch() for group in settings.groups}

    # The coordinator

    def advance(self, to_ms: int) -> None:
        """Let time pass; each timer that fires is an event. Time never goes back."""
        if to_ms <= self.now_ms:
            return
        fired = self.cluster.advance(to_ms - self.now_ms, self._timer_fired)
        self.now_ms = to_ms
        self.fired(fired)

    def _timer_fired(self) -> None:
        self.stepped(self.settings.groups, TIMER)

    def stepped(self, groups: Iterable[str], cause: Cause) -> None:
        """Check the groups after a step of the coordinator."""
        for group in groups:
            watch = self.watches[group]
            existed = watch.epoch > 0
            changed = watch.step(self.cluster.group(group), cause, self.topics)
            if existed and not watch.epoch:
                self.offsets[group].forget()
            self.saw_state(group, self.cluster.group_state(group))
            if changed:
                self.check_owners(group)

    def handle(self, message: Message, process: Process | None) -> Json:
        """Let the coordinator handle a request; of `process`, if it waits for the answer."""
        request = message.request
        if request.api == FIND:
            key, error = request.body["coordinatorKeys"][0], 15 if self.coordinator == "unavailable" else 0
            return {"coordinators": [{"key": key, "errorCode": error, "errorMessage": None}]}
        client = {"id": message.who, "host": "/127.0.0.1"}
        if request.api == HEARTBEAT:
            return self._heartbeat(message, client, process)
        if request.api in (PREPARE, INSTALL):
            return self._compute(message, client)
        body = self.cluster.request(request.api, request.version, client, request.body)
        if request.api == "OffsetCommit":
            group = request.body["groupId"]
            accepted = self.offsets[group].commits(message, body, self.watches[group])
            self.counts.answers["commit accepted" if accepted else "commit refused"] += 1
        return body

    def _compute(self, message: Message, client: Json) -> Json:
        """A5: let a member prepare, or install its assignor's result."""
        request, group = message.request, message.request.body["groupId"]
        before, sender = self.cluster.group(group), request.body["memberId"]
        chosen = before is not None and before.computation.chosen == sender
        prepared = before is not None and chosen and before.computation.base is not None
        body = self.cluster.request(request.api, request.version, client, request.body)
        error, group_there = body["errorCode"], self.cluster.group(group)
        name = "prepare" if request.api == PREPARE else "install"
        self.counts.answers[f"{name} {error}"] += 1
        if error or group_there is None:
            if request.api == INSTALL and prepared:
                self.watches[group].refused(request.body, error)
            return body
        if not chosen:
            raise Violation("A5", "OnlyTheChosen", f"{sender} may compute, though it was not chosen")
        if request.api == PREPARE:
            self.watches[group].prepared(group_there, prepared, body, self.topics)
        else:
            self.stepped((group,), Cause("install", body=request.body))
        return body

    def _heartbeat(self, message: Message, client: Json, process: Process | None) -> Json:
        request = message.request
        sent, group = request.body, request.body["groupId"]
        watch = self.watches[group]
        serves = self.coordinator == ACTIVE and not self.log_fails
        before = before_of(watch, self.cluster.group(group), sent, serves)
        body = self.cluster.request(request.api, request.version, client, sent)
        error = body["errorCode"]
        owned = None if sent["topicPartitions"] is None else from_wire(sent["topicPartitions"])
        member = body["memberId"] or sent["memberId"]
        cause = Cause("request", member, sent["memberEpoch"], owned, not error, error)
        check_answer(self.cluster.group(group), before, body, cause)
        self.counts.answers[f"heartbeat {error}"] += 1
        if cause.joins and process is not None:
            process.incarnation = process.epoch = 0
        self.stepped((group,), cause)
        if cause.joins and process is not None:
            process.incarnation = watch.members[member].incarnation
        return body

    # The members

    def learn(self, process: Process, body: Json) -> None:
        """Take in the answer to a heartbeat of a process: does its incarnation end, and which epoch does it
        have (E4)?"""
        if body.get("errorCode") in (UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH):
            process.incarnation = NOBODY
        epoch = process.machine.epoch
        if epoch < process.epoch and epoch > 0 and process.incarnation:
            raise Violation(
                "E4", "EpochsMonotone", f"the epoch of {process.name} went from {process.epoch} to {epoch}"
            )
        process.epoch = epoch

    def look(self, process: Process) -> None:
        """Check a process after an event."""
        check_process(process)
        machine = process.machine
        if process.waits_for is None and process.running is None:
            uses, deadline_ms = frozenset(process.using), machine.next_deadline_ms()
            process.next_request.waits(process.state, uses, deadline_ms, process.local_ms(self.now_ms))
        owned = machine.owned
        process.watch.looks(owned, machine.offsets.positions)
        if owned is not process.owned and owned != process.owned:
            process.owned = owned
            self.check_owners(process.consumer.group)

    def check_owners(self, group: str) -> None:
        """R7, members' view: of two owners of a partition one is a zombie, whose incarnation is over and
        which does not know that yet; and the coordinator knows the partitions of the others."""
        watch, owners = self.watches[group], dict[Partition, str]()
        zombies = []
        for process in self.processes.values():
            owned = process.machine.owned
            if not owned or process.consumer.group != group:
                continue
            if not process.incarnation:
                raise Violation(
                    "K1", "AbandonsAtOnce", f"{process.name} owns {shown(owned)} and is no member any more"
                )
            if process.incarnation not in watch.alive:
                zombies.append(owned)
                if self.settings.exemption:
                    continue
            for partition in owned:
                if partition in owners:
                    raise Violation(
                        "R7",
                        "NoDoubleOwnership",
                        f"{shown({partition})} is owned by {owners[partition]} and by {process.name}",
                    )
                owners[partition] = process.name
        self.counts.zombie_owners += sum(1 for owned in zombies if not owners.keys().isdisjoint(owned))
        self._check_held(group)

    def _check_held(self, group: str) -> None:
        watch = self.watches[group]
        for process in self.processes.values():
            if process.consumer.group != group or process.incarnation not in watch.alive:
                continue
            owned, member = process.machine.owned, watch.members.get(process.machine.member_id)
            if owned and not owned <= (member.held if member else frozenset()):
                raise Violation(
                    "R7",
                    "OwnedIsHeld",
                    f"{process.name} owns {shown(owned)}, which the coordinator does not know",
                )
