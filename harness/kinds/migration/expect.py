"""Expected answers and states after a step of a group that migrates, computed only from the specification's
states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from harness.kinds.classic import expect as classic
from harness.kinds.consumer import expect
from harness.kinds.consumer.state import SpecState
from harness.kinds.migration.state import MigrationState
from harness.kinds.migration.steps import TRANSLATED, WAITS_FOR
from harness.replay import wire
from harness.replay.dialects import Forms
from harness.targets.base import Json

_OF_THE_GROUP: Final = ("group", "computation")
"""Timers of the group, even where they name a member."""


def response(before: MigrationState, after: MigrationState, forms: Forms) -> Json | None:
    """The body of the response to a step's own request; None while the request waits, or if the step is
    none."""
    if after.step.action in TRANSLATED:
        there = before.is_classic or before.group.exists or forms.leaves_each
        return classic.response(there, after.old.step)
    return expect.response(after.shared, forms) if after.step.response.error else None


def description(state: MigrationState, delay_ms: int) -> Json:
    """The answer to `describe`, without its timers; `delay_ms` is the initial delay of a classic group."""
    if state.is_classic:
        return classic.description(state.old.group, delay_ms)
    return expect.description(state.group)


def as_heartbeat(before: MigrationState, after: MigrationState) -> SpecState:
    """The state after a step, with a request of the classic protocol that a consumer group has accepted as
    the heartbeat to which it is translated (M2, H8)."""
    shared, old = after.shared, after.old.step
    alive = ("NONE", "REBALANCE_IN_PROGRESS") if old.action == "ClassicHeartbeat" else ("NONE",)
    if after.step.action not in TRANSLATED or old.response.error not in alive:
        return shared
    anew = old.branch == "mixed-join" and old.member in before.group.members
    accepted = replace(shared.step.response, error="NONE")
    others = {"mixed-join": "Join", "mixed-return": "Return"}
    action = "Rejoin" if anew else others.get(old.branch, "Heartbeat")
    return replace(shared, step=replace(shared.step, action=action, response=accepted))


@dataclass
class MigrationTimers:
    """The timers of a classic group, or those of a consumer group with those of its members of the classic
    protocol: the times by which they must rejoin, or send their SyncGroup (M2)."""

    classic: classic.ClassicTimers
    shared: expect.Timers
    members_ms: dict[tuple[str, str], int] = field(default_factory=dict)

    def start(self, state: MigrationState, now_ms: int) -> list[Json]:
        """Arm all timers at full length: for a new coordinator, or a converted group."""
        self.members_ms = {}
        if state.is_classic:
            return self.classic.start(state.old.group, now_ms)
        self.shared.start(state.shared, now_ms)
        return self._armed(state, now_ms)

    def follow(self, before: MigrationState, after: MigrationState, now_ms: int) -> list[Json]:
        """Take one step at `now_ms` into account; the armed timers after it, in `describe`'s order."""
        converts = before.is_classic != after.is_classic and not (
            before.group.exists and not after.is_classic
        )
        if converts or after.step.action == "FailOver":
            return self.start(after, now_ms)
        if after.is_classic:
            return self.classic.follow(before.old.group, after.old, now_ms)
        step = as_heartbeat(before, after)
        self.shared.follow(before.group, step, now_ms)
        if after.old.step.branch.startswith("mixed-") and step is not after.shared:
            self.members_ms.pop(("sync", after.step.member), None)
        return self._armed(after, now_ms)

    def _armed(self, state: MigrationState, now_ms: int) -> list[Json]:
        phases = {name: one.classic.phase for name, one in state.group.members.items() if one.classic}
        armed = [
            (timer, name)
            for name, phase in phases.items()
            for timer, in_ in WAITS_FOR.items()
            if phase in in_
        ]
        self.members_ms = {one: self.members_ms.get(one, now_ms + wire.REBALANCE_TIMEOUT_MS) for one in armed}
        shared = self.shared.armed(state.group.members)
        own = [
            {"timer": timer, "group": wire.GROUP, "member": name, "deadlineMs": deadline_ms}
            for (timer, name), deadline_ms in self.members_ms.items()
        ]
        groups = [one for one in shared if one["timer"] in _OF_THE_GROUP]
        of_each = [one for one in (*shared, *own) if one["timer"] not in _OF_THE_GROUP]
        of_members = ([one for one in of_each if one["member"] == name] for name in state.group.members)
        return [*groups, *chain.from_iterable(of_members)]
