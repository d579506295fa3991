"""The invariants of one group in the coordinator's view, checked after each of its steps.

They are those of spec/GroupProperties.tla, over the group before and after a step and the step's cause. This
module keeps the values of before from step to step, so that the cost of a step depends only on its changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count

from harness.simulate.groups.cause import AWAY, DELETION, FAIL_OVER, NOBODY, NOTHING, TIMER, Cause, Seen
from harness.simulate.groups.computed import (
    Prepared,
    check_installed,
    check_kept,
    check_prepared,
    check_prepared_again,
    check_refused,
    illegal,
)
from harness.simulate.groups.membership import (
    check_advances,
    check_away,
    check_due,
    check_gone,
    check_place,
    check_unchanged,
    check_undisturbed,
    place_of,
    target_of,
)
from harness.simulate.groups.parts import (
    GroupView,
    MemberView,
    Partition,
    Partitions,
    SubscriberView,
    TargetView,
    Topics,
    Violation,
    shown,
)
from harness.targets.base import Json


class GroupWatch:
    """One group. `alive` are the incarnations that the coordinator has; their numbers are never used again,
    in any group with the same `numbers`."""

    def __init__(self, name: str, numbers: Iterator[int] | None = None) -> None:
        self.name = name
        self.epoch = 0
        self.assignment_epoch = 0
        self.members: dict[str, Seen] = {}
        self.alive: set[int] = set()
        self.holder: dict[Partition, int] = {}
        """The incarnation that holds each partition."""
        self.last: dict[Partition, tuple[int, int]] = {}
        """The incarnation that held it last, and the number of incarnations that held it before (O2)."""
        self._targets: Mapping[str, TargetView] = {}
        self._metadata: dict[str, tuple[str, int]] = {}
        self._prepared: Prepared | None = None
        self._numbers = numbers or count(1)

    def step(self, group: GroupView | None, cause: Cause, topics: Topics) -> bool:
        """Check one step; tell if it changed a member. Raises Violation."""
        if group is None:
            return self._gone(cause)
        self._epochs(group)
        changed = self._changed(group, cause)
        gone = [name for name in self.members if name not in group.members] if self._fewer(group) else []
        bumps = int(self._bumps(group, cause, changed, gone, topics))
        if not self.epoch and group.assignment_epoch < group.epoch:
            bumps += 1  # E3: before the target that a member must compute the group has an empty one
        if group.epoch != self.epoch + bumps:
            raise Violation(
                "E1",
                "EpochBumpedExactly",
                f"the epoch of {self.name} went from {self.epoch} to {group.epoch}, not by {bumps}",
            )
        for name in changed:
            self._member(group, name, cause)
        moved = bool(changed or gone) or (self.epoch, self.assignment_epoch) != _epochs_of(group)
        check_unchanged(group, cause, moved)
        check_gone(group, cause, gone, self.members)
        check_place(group, cause, self.members)
        check_advances(group, cause, self.members)
        self._take_over(group, cause, changed, gone)
        if cause is FAIL_OVER:
            self._prepared = None
            for seen in self.members.values():
                seen.previous = 0
        self._target(group, cause, topics)
        check_due(group)
        self.epoch, self.assignment_epoch = _epochs_of(group)
        return bool(changed or gone)

    def _gone(self, cause: Cause) -> bool:
        if self.epoch and (self.members or cause not in (DELETION, TIMER)):
            raise Violation(
                "P3", "NothingIsLost", f"the group {self.name} is gone after a step: {cause.kind}"
            )
        had = bool(self.members)
        self.epoch = self.assignment_epoch = 0
        self.members, self.alive, self.holder = {}, set(), {}
        self._targets, self._metadata, self._prepared = {}, {}, None
        return had

    def prepared(self, group: GroupView, again: bool, body: Json, topics: Topics) -> None:
        """Note that a member prepared (A5, A6): with the present group, or with its earlier input if it asks
        `again`."""
        if again:
            check_prepared_again(self._prepared, body)
        else:
            self._prepared = Prepared.of(body)
            check_prepared(group, wanted_by(group, topics), self._prepared)

    def refused(self, sent: Json, error: int) -> None:
        """Check the refusal of an assignment whose member is the chosen one and has prepared (A6)."""
        check_refused(self._prepared, sent, error)

    def _epochs(self, group: GroupView) -> None:
        """E4: epochs are ordered, and never decrease."""
        if not self.assignment_epoch <= group.assignment_epoch or not self.epoch <= group.epoch:
            raise Violation(
                "E4",
                "EpochsMonotone",
                f"group and assignment epoch of {self.name} went from {self.epoch} and "
                f"{self.assignment_epoch} to {group.epoch} and {group.assignment_epoch}",
            )
        if group.assignment_epoch > group.epoch:
            raise Violation(
                "E4",
                "EpochsOrdered",
                f"the assignment epoch {group.assignment_epoch} of {self.name} is above the group epoch "
                f"{group.epoch}",
            )

    def _fewer(self, group: GroupView) -> bool:
        known = self.members
        return len(group.members) < len(known) or not group.members.keys() >= known.keys()

    def _changed(self, group: GroupView, cause: Cause) -> list[str]:
        """The members that are new or changed."""
        sentences = []
        joined = cause.member if cause.joins else None
        for name, member in group.members.items():
            seen = self.members.get(name)
            if (
                seen is None
                or name == joined
                or seen.epoch != member.epoch
                or seen.held != member.held
                or seen.revoking != member.revoking
                or seen.subscriber != member.metadata
            ):
                sentences.append(name)
        return sentences

    def _bumps(
        self, group: GroupView, cause: Cause, changed: list[str], gone: list[str], topics: Topics
    ) -> bool:
        """E1: is there a reason for a new version of the group's metadata?"""
        left = set(gone)
        say = [name for name in changed if not self._is_unchanged(name, group.members[name])]
        bumps = self._notice(group, cause, bool(say or gone), topics)
        for name in changed:
            member, seen = group.members[name], self.members.get(name)
            if cause.joins and name == cause.member:
                place = place_of(cause, member, self.members)
                if place is None:
                    bumps = True
                    continue
                left.discard(place)
                bumps |= _bumps_group_epoch(member.metadata, self.members[place].subscriber)
                bumps |= place != name and seen is not None
            elif seen is None or _bumps_group_epoch(member.metadata, seen.subscriber):
                bumps = True
        return bumps or bool(left)

    def _is_unchanged(self, name: str, member: MemberView) -> bool:
        seen = self.members.get(name)
        return seen is not None and seen.subscriber == member.metadata

    def _notice(self, group: GroupView, cause: Cause, subscriptions: bool, topics: Topics) -> bool:
        """E1: check that no change of the subscribed topics goes unnoticed; tell if there was a change."""
        if not subscriptions and cause.kind not in ("topics", "fail-over"):
            return False
        wanted = {
            name: topics[name]
            for member in group.members.values()
            for name in subscribed(member.metadata, topics)
        }
        recorded = {name: (topic.id, topic.partitions) for name, topic in group.metadata.items()}
        if wanted != recorded:
            raise Violation(
                "E1", "TopicsNoticed", f"{self.name} has recorded the topics {recorded}, not {wanted}"
            )
        before, self._metadata = self._metadata, recorded
        return before != recorded

    def _member(self, group: GroupView, name: str, cause: Cause) -> None:
        member, seen = group.members[name], self.members.get(name)
        if member.epoch > group.assignment_epoch:
            raise Violation(
                "E4",
                "EpochsOrdered",
                f"member {name} is at epoch {member.epoch}, the assignment at {group.assignment_epoch}",
            )
        if member.assigned | member.revoking != member.held or member.assigned & member.revoking:
            raise Violation(
                "R7",
                "HeldIsAssignedAndRevoking",
                f"member {name} holds {shown(member.held)}, which is not that",
            )
        check_away(name, member)
        if seen is None or (cause.joins and name == cause.member):
            return
        if cause.kind != "fail-over" and name != cause.member:
            raise Violation(
                "R6", "OthersUntouched", f"a step ({cause.kind}) of another changed member {name}"
            )
        if (member.epoch == AWAY) == (seen.epoch == AWAY):
            self._same_incarnation(group, name, member, seen, cause)

    def _same_incarnation(
        self, group: GroupView, name: str, member: MemberView, seen: Seen, cause: Cause
    ) -> None:
        if member.epoch < seen.epoch:
            raise Violation(
                "E4", "EpochsMonotone", f"the epoch of member {name} went from {seen.epoch} to {member.epoch}"
            )
        target = target_of(group, name)
        advances = member.epoch != seen.epoch
        if advances and (
            member.revoking or member.epoch != group.assignment_epoch or not member.assigned <= target
        ):
            raise Violation(
                "R2",
                "AdvancesWithoutRevocation",
                f"member {name} advanced to epoch {member.epoch} with {shown(member.assigned)} and still to "
                f"revoke {shown(member.revoking)}",
            )
        released = seen.held - member.held
        if released and not (
            cause.kind == "request"
            and cause.epoch == seen.epoch
            and cause.owned is not None
            and not cause.owned & released
        ):
            raise Violation(
                "R1",
                "ReleasedOnlyByAcknowledgement",
                f"member {name} holds {shown(released)} no more, and has not said that it gave it up",
            )
        gives, takes = seen.assigned - member.assigned, member.assigned - seen.assigned
        if gives and takes and cause.kind != "fail-over":
            raise Violation(
                "R5",
                "NeverRevokeAndAssign",
                f"one step took {shown(gives)} from member {name} and gave it {shown(takes)}",
            )
        check_undisturbed(name, member, seen, target)

    def _take_over(self, group: GroupView, cause: Cause, changed: list[str], gone: list[str]) -> None:
        """R7: note the present holders; releases first, so that partitions that a step hands over count as
        free."""
        for name in gone:
            self.alive.discard(self.members[name].incarnation)
            self._release(self.members.pop(name), NOTHING)
        for name in changed:
            seen = self.members.get(name)
            if seen is not None:
                fresh = cause.joins and name == cause.member
                self._release(seen, NOTHING if fresh else group.members[name].held)
        for name in changed:
            self._hold(name, group.members[name], cause)

    def _release(self, seen: Seen, keeps: Partitions) -> None:
        for partition in seen.held - keeps:
            self.holder.pop(partition, None)
        if not keeps:
            seen.held = NOTHING

    def _hold(self, name: str, member: MemberView, cause: Cause) -> None:
        seen, previous = self.members.get(name), 0
        if seen is None or (cause.joins and name == cause.member):
            self._unique_instance(name, member.metadata.instance_id)
            if seen is not None:
                self.alive.discard(seen.incarnation)
            incarnation = next(self._numbers)
            self.alive.add(incarnation)
        elif member.epoch == AWAY:
            self.alive.discard(seen.incarnation)
            incarnation = NOBODY
        else:
            incarnation = seen.incarnation
            previous = seen.epoch if member.epoch != seen.epoch else seen.previous
        for partition in member.held - (NOTHING if seen is None else seen.held):
            if partition in self.holder:
                raise Violation(
                    "R7", "HeldDisjoint", f"{shown({partition})} is held by {name} and by another member"
                )
            before, number = self.last.get(partition, (NOBODY, 0))
            if before != incarnation:
                self.last[partition] = incarnation, number + 1
        self.holder.update(dict.fromkeys(member.held, incarnation))
        self.members[name] = Seen(
            incarnation,
            member.epoch,
            member.held,
            member.assigned,
            member.revoking,
            member.metadata,
            previous,
        )

    def _unique_instance(self, name: str, instance: str | None) -> None:
        if instance is not None and any(
            other != name and seen.subscriber.instance_id == instance for other, seen in self.members.items()
        ):
            raise Violation(
                "S2", "InstancesUnique", f"{name} and another member have the instance id {instance}"
            )

    def _target(self, group: GroupView, cause: Cause, topics: Topics) -> None:
        """A4, E2: a target is legal when it is installed, and has the epoch of its input."""
        if group.assignment_epoch == self.assignment_epoch and group.targets == self._targets:
            return
        before, self._targets = self._targets, dict(group.targets)
        if cause.kind == "install":
            check_installed(group, self._prepared, cause.body, before)
            self._prepared = None
            return
        due = group.assignment_epoch < group.epoch
        if due and (group.assignment_epoch == self.assignment_epoch or not self.epoch):
            check_kept(group.targets, before)
            return
        if group.assignment_epoch != group.epoch:
            raise Violation(
                "E2",
                "LegalAtInstallation",
                f"a target was installed in {self.name} at epoch {group.assignment_epoch}, computed from "
                f"the metadata of epoch {group.epoch}",
            )
        if not any(target.error for target in group.targets.values()):
            wrong = illegal(
                wanted_by(group, topics), {name: one.partitions for name, one in group.targets.items()}
            )
            if wrong:
                raise Violation("A4", "LegalAtInstallation", f"the target of {self.name} has {wrong}")


def _epochs_of(group: GroupView) -> tuple[int, int]:
    return group.epoch, group.assignment_epoch


def wanted_by(group: GroupView, topics: Topics) -> dict[str, Partitions]:
    """The partitions that each member may get: all of the topics to which it subscribes."""
    return {
        name: frozenset(
            (topic, index)
            for topic, partitions in (topics[known] for known in subscribed(member.metadata, topics))
            for index in range(partitions)
        )
        for name, member in group.members.items()
    }


def subscribed(subscriber: SubscriberView, topics: Topics) -> set[str]:
    """T1: the existing topics that a member subscribes to."""
    names = {name for name in subscriber.subscription if name in topics}
    if subscriber.regex:
        pattern = re.compile(subscriber.regex)
        names |= {name for name in topics if pattern.fullmatch(name)}
    return names


def _bumps_group_epoch(new: SubscriberView, old: SubscriberView) -> bool:
    return (new.subscription, new.regex, new.server_assignor, new.client_assignors) != (
        old.subscription,
        old.regex,
        old.server_assignor,
        old.client_assignors,
    )
