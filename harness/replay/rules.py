"""The properties that a differing step breaks, evaluated on the target's visible state.

Each function is a property of spec/GroupProperties.tla by its name there, over the descriptions of a group
before and after a step and the step itself, as far as the target shows these. A property counts as broken
only where the state of the specification satisfies it, so that a departing dialect breaks no property by
mistake. Where no property is broken, and in Connect and classic groups, whose members hold no partitions,
only the requirement of the field that differs is named (`harness.replay.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.replay.wire import ERROR_CODES, TOPIC_NAMES
from harness.targets.base import Answer, Json

NEW_COORDINATOR: Final = ("FailOver", "Activate")
"""The actions after which a new coordinator has loaded the log (P2)."""
AWAY: Final = -2
"""The epoch of a static member that has left for a while (S1)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A property that a step breaks, its requirement, and the values."""

    requirement: str
    property: str
    says: str


Partitions = frozenset[tuple[str, int]]
"""Topic ids and indices."""


@dataclass(frozen=True, slots=True)
class _Member:
    epoch: int
    assigned: Partitions
    revoking: Partitions
    target: Partitions | None
    topics: frozenset[str] | None
    """The names to which the member subscribes; None with a regular expression, or if they are not shown."""
    instance: str | None

    @property
    def held(self) -> Partitions:
        """The partitions that no other member may get (R7)."""
        return self.assigned | self.revoking


@dataclass(frozen=True, slots=True)
class _Group:
    epoch: int
    assignment_epoch: int
    members: Mapping[str, _Member]
    names: Mapping[str, str]
    """The name of each topic of the metadata, by its id."""
    every: Partitions | None
    """All partitions of the metadata."""


@dataclass(frozen=True, slots=True)
class _Step:
    before: _Group
    after: _Group
    action: str
    member: str
    sent: Json
    body: Json
    given: Partitions | None
    """The partitions that the response assigns; None without any, or where they are a text (SyncGroup)."""

    @property
    def error(self) -> int:
        code = self.body.get("errorCode", 0)
        return code if isinstance(code, int) else 0

    @property
    def same(self) -> Iterator[tuple[str, _Member, _Member]]:
        """SameIncarnation: the members that live through the step, before and after."""
        joined = self.member if self.sent.get("memberEpoch") == 0 and not self.error else None
        for name, now in self.after.members.items():
            was = self.before.members.get(name)
            if was and name != joined and (was.epoch == AWAY) == (now.epoch == AWAY):
                yield name, was, now


Property = Callable[[_Step], Iterator[str]]


def broken_rules(
    action: str, operation: Json, before: Json | None, expected: Answer, got: Answer
) -> list[Rule]:
    """The properties that a step broke by the target's visible state, each with the values, in the order of
    `PROPERTIES`. [] if the target shows no group that has members with partitions."""
    if got.group is None:  # the target does not show its group: its answer is judged in the expected one
        got = got._replace(group=expected.group)
    actual = _step(action, operation, before, got)
    wanted = _step(action, operation, before, expected)
    if actual is None or wanted is None:
        return []
    return [
        Rule(requirement, name, message)
        for requirement, name, holds in PROPERTIES
        if (message := next(holds(actual), "")) and not next(holds(wanted), "")
    ]


def _step(action: str, operation: Json, before: Json | None, answer: Answer) -> _Step | None:
    try:
        sent = operation.get("body") or {}
        body = answer.body if isinstance(answer.body, dict) else {}
        member = sent.get("memberId") or operation.get("member") or body.get("memberId") or ""
        groups = _group(before), _group(answer.group)
        assignment = body.get("assignment")
        given = _partitions(assignment["assignedTopicPartitions"]) if isinstance(assignment, dict) else None
        return _Step(*groups, action, member, sent, body, given)
    except (KeyError, TypeError, ValueError, AttributeError):  # a group of another kind, or of another form
        return None


def _group(view: Json | None) -> _Group:
    """A description; a field that is hidden, or a group that does not exist, has its initial value."""
    view = view or {}
    metadata = view.get("metadata")
    return _Group(
        view.get("groupEpoch", 0),
        view.get("assignmentEpoch", 0),
        {one["memberId"]: _member(one) for one in view.get("members") or ()},
        {one["topicId"]: one["topicName"] for one in metadata or ()},
        None
        if metadata is None
        else frozenset((one["topicId"], index) for one in metadata for index in range(one["numPartitions"])),
    )


def _member(view: Json) -> _Member:
    names = view.get("subscribedTopicNames")
    return _Member(
        view["memberEpoch"],
        _partitions(view["assigned"]),
        _partitions(view["pendingRevocation"]),
        _partitions(view["target"]) if "target" in view else None,
        None if names is None or view.get("subscribedTopicRegex") else frozenset(names),
        view.get("instanceId"),
    )


def _partitions(listed: Any) -> Partitions:
    return frozenset((one["topicId"], index) for one in listed for index in one["partitions"])


def _shown(partitions: Partitions) -> str:
    names = sorted(f"{TOPIC_NAMES.get(topic, topic)}-{index}" for topic, index in partitions)
    return ", ".join(names) or "nothing"


def _held_disjoint(step: _Step) -> Iterator[str]:
    """R7: no partition is held by two members; and none is given in a response that another member holds."""
    holder: dict[tuple[str, int], str] = {}
    for name, member in step.after.members.items():
        for one in sorted(member.held):
            if other := holder.get(one):
                yield f"{_shown(frozenset({one}))} is held by {other} and by {name}"
            holder[one] = name
    given = step.given or frozenset()
    for name, member in step.after.members.items():
        if name != step.member and (both := given & member.held):
            yield f"{step.member} is given {_shown(both)}, which {name} still holds"


def _epochs_ordered(step: _Step) -> Iterator[str]:
    """E4: member epoch <= assignment epoch <= group epoch."""
    group = step.after
    if group.assignment_epoch > group.epoch:
        yield f"the assignment epoch {group.assignment_epoch} is above the group epoch {group.epoch}"
    for name, one in group.members.items():
        if one.epoch > group.assignment_epoch:
            yield f"member {name} is at epoch {one.epoch}, the assignment at {group.assignment_epoch}"


def _epochs_monotone(step: _Step) -> Iterator[str]:
    """E4: no epoch decreases while the group, or the incarnation of a member, lives."""
    was, now = step.before, step.after
    if now.epoch:
        for name, old, new in (
            ("group", was.epoch, now.epoch),
            ("assignment", was.assignment_epoch, now.assignment_epoch),
        ):
            if new < old:
                yield f"the {name} epoch went from {old} to {new}"
    for name, before, after in step.same:
        if after.epoch < before.epoch:
            yield f"the epoch of member {name} went from {before.epoch} to {after.epoch}"


def _legal_at_installation(step: _Step) -> Iterator[str]:
    """A4: a new target gives each partition to one member that subscribes to the topic."""
    was, group = step.before, step.after
    targets = {name: one.target for name, one in group.members.items()}
    if group.assignment_epoch == was.assignment_epoch or None in targets.values() or group.every is None:
        return
    taken: Partitions = frozenset()
    for name, member in group.members.items():
        target = member.target or frozenset()
        if both := taken & target:
            yield f"the target gives {_shown(both)} to {name} and to another member"
        names = member.topics
        if names is not None and (
            alien := frozenset(one for one in target if group.names.get(one[0]) not in names)
        ):
            yield f"the target gives {_shown(alien)} to {name}, who does not subscribe to that"
        taken |= target
    if left := group.every - taken:
        yield f"the target gives {_shown(left)} to nobody"
    if more := taken - group.every:
        yield f"the target has {_shown(more)}, which the group's metadata does not have"


def _released_only_by_acknowledgement(step: _Step) -> Iterator[str]:
    """R1: only its member's acknowledgement releases a held partition."""
    owned = step.sent.get("topicPartitions")
    for name, before, after in step.same:
        released = before.held - after.held
        acknowledged = (
            name == step.member and owned is not None and step.sent.get("memberEpoch") == before.epoch
        )
        if released and not (acknowledged and not _partitions(owned) & released):
            yield f"member {name} holds {_shown(released)} no more, and has not said that it gave that up"


def _advances_without_revocation(step: _Step) -> Iterator[str]:
    """R2: a member epoch advances only to the assignment epoch, with nothing left to revoke."""
    for name, before, after in step.same:
        if after.epoch == before.epoch:
            continue
        advanced = f"member {name} advanced to epoch {after.epoch}"
        if after.revoking:
            yield f"{advanced} and has still to revoke {_shown(after.revoking)}"
        elif after.epoch != step.after.assignment_epoch:
            yield f"{advanced}, the assignment is at {step.after.assignment_epoch}"
        elif after.target is not None and (more := after.assigned - after.target):
            yield f"{advanced} with {_shown(more)}, which its target lacks"


def _never_revoke_and_assign(step: _Step) -> Iterator[str]:
    """R5: one response never gives and takes."""
    for name, before, after in step.same:
        takes, gives = before.assigned - after.assigned, after.assigned - before.assigned
        if takes and gives and step.action not in NEW_COORDINATOR:
            yield f"one step took {_shown(takes)} from member {name} and gave it {_shown(gives)}"


def _response_matches(step: _Step) -> Iterator[str]:
    """R5, H9: the response has the state that the coordinator takes for sent."""
    member = step.after.members.get(step.member)
    if member is None or step.error or "memberEpoch" not in step.body or member.epoch == AWAY:
        return
    if step.body["memberEpoch"] != member.epoch:
        yield f"{step.member} is told epoch {step.body['memberEpoch']}, and is at {member.epoch}"
    given = step.given
    if given is not None and given != member.assigned:
        yield f"{step.member} is told {_shown(given)}, and is assigned {_shown(member.assigned)}"


def _others_untouched(step: _Step) -> Iterator[str]:
    """R6: a step of one member leaves all others as they are."""
    for name, before, after in step.same:
        if name != step.member and step.action not in NEW_COORDINATOR:
            old = before.epoch, before.assigned, before.revoking
            if old != (after.epoch, after.assigned, after.revoking):
                yield f"a step of {step.member or 'nobody'} changed member {name}"


def _errors_exactly(step: _Step) -> Iterator[str]:
    """H5: a wrong epoch is fenced, an unknown member gets its error, and no other request does."""
    member = step.before.members.get(step.member)
    if member is None:
        return
    if step.error == ERROR_CODES["UNKNOWN_MEMBER_ID"]:
        yield f"{step.member}, a member, is told UNKNOWN_MEMBER_ID"
    if step.error == ERROR_CODES["FENCED_MEMBER_EPOCH"] and step.sent.get("memberEpoch") == member.epoch:
        yield f"{step.member} is fenced at its own epoch {member.epoch}"


def _instances_unique(step: _Step) -> Iterator[str]:
    """S2: no two members have the same instance id."""
    holder: dict[str, str] = {}
    for name, member in step.after.members.items():
        if member.instance is not None:
            if other := holder.get(member.instance):
                yield f"{other} and {name} have the instance id {member.instance}"
            holder[member.instance] = name


def _fail_over_keeps(step: _Step) -> Iterator[str]:
    """P2: a fail-over loses no member, no epoch and no held partition."""
    if step.action not in NEW_COORDINATOR:
        return
    for name, before in step.before.members.items():
        after = step.after.members.get(name)
        if after is None:
            yield f"the fail-over lost member {name}"
        elif (after.epoch, after.held) != (before.epoch, before.held):
            yield f"after the fail-over {name} is at epoch {after.epoch} with {_shown(after.held)}"


PROPERTIES: Final[tuple[tuple[str, str, Property], ...]] = (
    ("R7", "HeldDisjoint", _held_disjoint),
    ("E4", "EpochsOrdered", _epochs_ordered),
    ("E4", "EpochsMonotone", _epochs_monotone),
    ("A4", "LegalAtInstallation", _legal_at_installation),
    ("R1", "ReleasedOnlyByAcknowledgement", _released_only_by_acknowledgement),
    ("R2", "AdvancesWithoutRevocation", _advances_without_revocation),
    ("R5", "NeverRevokeAndAssign", _never_revoke_and_assign),
    ("R5", "ResponseMatches", _response_matches),
    ("R6", "OthersUntouched", _others_untouched),
    ("H5", "ErrorsExactly", _errors_exactly),
    ("S2", "InstancesUnique", _instances_unique),
    ("P2", "FailOverKeeps", _fail_over_keeps),
)
"""The requirement, the property's name in spec/GroupProperties.tla, and its evaluation."""
