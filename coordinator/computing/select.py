"""The choice of the client-side assignor that computes the target of a group, and of the member that runs it
(A1, A5, A8)."""

from __future__ import annotations

from collections.abc import Mapping, Set

from coordinator.computing.model import IDLE, Computation
from coordinator.consumer.model import AWAY, ClientAssignor, MemberMetadata
from coordinator.core.step import Step, Timer

Members = Mapping[str, MemberMetadata]
Placed = tuple[int, ClientAssignor]
"""An offer, with its place in its member's list."""


def offer_of(member: MemberMetadata, name: str) -> ClientAssignor | None:
    """The member's offer with that name; a name is offered at most once (H3)."""
    return next((offer for offer in member.client_assignors if offer.name == name), None)


def placed(member: MemberMetadata) -> dict[str, Placed]:
    """The member's offers by name, each with its place in the list."""
    return {offer.name: (place, offer) for place, offer in reversed([*enumerate(member.client_assignors)])}


def common_offers(members: Members) -> dict[str, dict[str, Placed]]:
    """The names that all members offer -> member id -> its offer. The cost is that of reading all lists."""
    lists: dict[str, dict[str, Placed]] = {}
    names: set[str] = set()
    for member_id, member in members.items():
        offers = placed(member)
        names = names & offers.keys() if lists else {*offers}
        if not names:  # as in most groups, however many members they have
            return {}
        lists[member_id] = offers
    return {name: {member_id: offers[name] for member_id, offers in lists.items()} for name in names}


def covering(members: Members, name: str) -> list[str]:
    """Covering (A8): the members that can read the metadata of all given members, by id; none if a member
    does not offer the assignor."""
    offers = {member_id: offer_of(member, name) for member_id, member in members.items()}
    known = {member_id: offer for member_id, offer in offers.items() if offer is not None}
    return readers(known) if len(known) == len(members) else []


def readers(offers: Mapping[str, ClientAssignor]) -> list[str]:
    """The members that can read the metadata of all these offers of one assignor, by id."""
    least = min(offer.minimum_version for offer in offers.values())
    most = max(offer.maximum_version for offer in offers.values())
    return sorted(
        member_id
        for member_id, offer in offers.items()
        if offer.minimum_version <= least and offer.maximum_version >= most
    )


def selected(members: Members) -> str:
    """Selected (A1): of the assignors that all members offer and a member can run, the one with the least sum
    of ranks in their lists, then by name. "" for none: then the members vote for a server-side assignor."""
    common = common_offers(members)
    runnable = [
        name
        for name, offers in common.items()
        if readers({member_id: offer for member_id, (_, offer) in offers.items()})
    ]
    return min(runnable, key=lambda name: (rank(common[name]), name), default="")


def rank(offers: Mapping[str, Placed]) -> int:
    """Rank (A1): the sum of an assignor's places in the lists of the members, all of which offer it."""
    return sum(place for place, _ in offers.values())


def by_member(step: Step) -> bool:
    """ClientSide: does a member compute the due target? Connect groups have their own rule (W1)."""
    if step.env.client_side:
        return False
    return step.epoch > step.assignment_epoch and bool(selected(step.metadata_of_members()))


def settle(step: Step, gone: Set[str] = frozenset()) -> None:
    """Settle (A5): a member is chosen exactly while a member must compute the due target.

    A member that has prepared continues, however the group changes (A6); `gone` are members that just went
    away (S1).
    """
    if step.env.client_side:
        return
    computation = step.computation
    if computation.chosen == step.replaced:
        computation = IDLE._replace(tried=computation.tried)
    members = step.metadata_of_members()
    name = selected(members) if step.epoch > step.assignment_epoch else ""
    if not name:
        step.compute_by(IDLE)
        return
    computation = computation._replace(tried=computation.tried & members.keys())
    present = _present(step, gone)
    eligible = [member_id for member_id in covering(members, name) if member_id in present]
    may_go_on = present if computation.base is not None else eligible
    step.compute_by(computation if computation.chosen in may_go_on else choose(computation, eligible))


def _present(step: Step, gone: Set[str]) -> set[str]:
    """All members but those that are away (S1)."""
    here = {step.replaced, step.place_of}
    return {
        member_id
        for member_id in step.metadata_of_members()
        if member_id not in gone
        and (
            member_id in here
            or member_id not in step.group.members
            or step.group.members[member_id].epoch != AWAY
        )
    }


def choose(computation: Computation, eligible: list[str]) -> Computation:
    """Choose (A5): the member that computes, the first by id. A member that timed out is retried last."""
    untried = [member_id for member_id in eligible if member_id not in computation.tried]
    if untried:
        return Computation(untried[0], tried=computation.tried)
    return Computation(eligible[0]) if eligible else IDLE._replace(tried=computation.tried)


def should_compute(step: Step, member_id: str) -> bool:
    """Tell if the member is the one that computes. Its rebalance time-out starts when it is told to (A5)."""
    computation = step.computation
    if computation.chosen != member_id:
        return False
    if computation.deadline_ms is None:
        timeout_ms = step.metadata_of_members()[member_id].rebalance_timeout_ms
        step.result.timers.append(Timer("computation", member_id, step.now_ms + timeout_ms))
    return True


def computation_timeout(step: Step) -> None:
    """ComputationTimeout (A5): another member is chosen. The late member stays in the group: only its session
    fences it."""
    computation = step.computation
    tried = computation.tried | {computation.chosen}
    members = step.metadata_of_members()
    present = _present(step, frozenset())
    eligible = [member_id for member_id in covering(members, selected(members)) if member_id in present]
    step.compute_by(choose(Computation(tried=tried), eligible))
