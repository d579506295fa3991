"""The invariants of targets that a member computes (A5 to A7): its prepared input, and the target that it
installs, which is checked against that input, however the group has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.replay import wire
from harness.simulate.groups.parts import (
    GroupView,
    Partition,
    Partitions,
    TargetView,
    Violation,
    from_wire,
    shown,
)
from harness.targets.base import Json

PREPARE: Final = "ConsumerGroupPrepareAssignment"
INSTALL: Final = "ConsumerGroupInstallAssignment"
INVALID_ASSIGNMENT: Final = wire.ERROR_CODES["INVALID_ASSIGNMENT"]
NOTHING: Final[Partitions] = frozenset()


def illegal(wanted: Mapping[str, Partitions], given: Mapping[str, Partitions]) -> str:
    """A4: the fault of a target, "" for none; from the members' subscriptions and their partitions."""
    taken: set[Partition] = set()
    for name, partitions in given.items():
        if name not in wanted:
            return f"a part for {name}, which is no member"
        if not partitions <= wanted[name]:
            return f"{shown(partitions - wanted[name])} for member {name}, which does not subscribe to that"
        if partitions & taken:
            return f"{shown(partitions & taken)} twice"
        taken |= partitions
    whole = frozenset[Partition]().union(*wanted.values())
    return f"no member for {shown(whole - taken)}" if whole != taken else ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The answer to PrepareAssignment: an epoch, and the partitions that each member may get."""

    epoch: int
    wanted: Mapping[str, Partitions]
    body: Json

    @classmethod
    def of(cls, body: Json) -> Prepared:
        """From the answer."""
        sizes = {topic["topicId"]: topic["numPartitions"] for topic in body["topics"]}
        wanted = {
            member["memberId"]: frozenset(
                (topic, index) for topic in member["subscribedTopicIds"] for index in range(sizes[topic])
            )
            for member in body["members"]
        }
        return cls(body["groupEpoch"], wanted, body)


def check_prepared(group: GroupView, wanted: Mapping[str, Partitions], prepared: Prepared) -> None:
    """A5, A6: a member that prepares anew gets the present group. Raises Violation."""
    if prepared.epoch != group.epoch or prepared.wanted != wanted:
        raise Violation(
            "A6",
            "PreparedIsTheGroup",
            f"a member was given epoch {prepared.epoch} of a group at {group.epoch} to compute from, or "
            "other members and topics than the group has",
        )


def check_prepared_again(prepared: Prepared | None, body: Json) -> None:
    """A6: a member that prepares again gets the same answer, however the group has changed. Raises
    Violation."""
    if prepared is None or prepared.body != body:
        raise Violation("A6", "PreparedOnce", "a member that prepared again was given something else")


def check_refused(prepared: Prepared | None, sent: Json, error: int) -> None:
    """A6: a target that is legal by the prepared input is installed. Raises Violation."""
    of_base = prepared is not None and prepared.epoch == sent["groupEpoch"]
    if error != INVALID_ASSIGNMENT or prepared is None or not of_base:
        return
    if sent["error"] or not illegal(prepared.wanted, parts_of(sent)):
        raise Violation("A6", "LegalIsInstalled", "an assignment was refused that is legal by its base")


def parts_of(sent: Json) -> dict[str, Partitions]:
    """Member id -> its partitions in an assignment."""
    return {one["memberId"]: from_wire(one["partitions"]) for one in sent["members"]}


def check_installed(
    group: GroupView, prepared: Prepared | None, sent: Json, before: Mapping[str, TargetView]
) -> None:
    """A6, A7, E2: an installed target comes from the prepared input and is legal by it, and is now the target
    of all members that are still in the group; an assignor's error leaves the target unchanged. Raises
    Violation."""
    if prepared is None or not sent["groupEpoch"] == prepared.epoch == group.assignment_epoch:
        raise Violation(
            "E2",
            "LegalAtInstallation",
            f"an assignment of epoch {sent['groupEpoch']} was installed at {group.assignment_epoch}, "
            f"computed from epoch {None if prepared is None else prepared.epoch}",
        )
    given = parts_of(sent)
    if sent["error"]:
        given = {name: target.partitions for name, target in before.items()}
    elif wrong := illegal(prepared.wanted, given):
        raise Violation("A7", "InstalledLegally", f"a target was installed that has {wrong}")
    for name in group.members:
        target = group.targets[name].partitions if name in group.targets else NOTHING
        if target != given.get(name, NOTHING):
            raise Violation(
                "A6", "InstalledAsComputed", f"the target of {name} is {shown(target)}, not what was computed"
            )


def check_kept(targets: Mapping[str, TargetView], before: Mapping[str, TargetView]) -> None:
    """A5: a target that a member must compute stays unchanged until the install; a static member takes its
    place (S1). Raises Violation."""
    moved = {target.partitions for name, target in before.items() if name not in targets}
    for name, target in targets.items():
        kept = before[name].partitions if name in before else NOTHING
        if target.partitions != kept and (name in before or target.partitions not in moved):
            raise Violation(
                "A5",
                "TargetIsKept",
                f"the target of {name} is {shown(target.partitions)} without being computed",
            )
