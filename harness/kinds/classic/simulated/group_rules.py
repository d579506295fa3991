"""Rules of a classic group: generations, answers, and one owner for each partition (C1, C2, C4, O2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from harness.kinds.classic.simulated.member_rules import COMMIT, HEARTBEAT, JOIN, LEAVE, SYNC
from harness.kinds.classic.simulated.parts import Cluster, GroupView, MemberView, Parts
from harness.kinds.classic.simulated.process import Process
from harness.simulate.groups.parts import Partition, Partitions, Violation, shown
from harness.targets.base import Json

UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, FENCED_INSTANCE_ID = 25, 22, 27, 82
MEMBER_ID_REQUIRED, INCONSISTENT_GROUP_PROTOCOL = 79, 23


def _claimants(
    members: Mapping[str, tuple[frozenset[str], Partitions, int]],
) -> dict[Partition, set[str]]:
    """The members that claim a partition in the newest generation of all its claims (C3)."""
    newest: dict[Partition, int] = {}
    for _, owned, generation in members.values():
        newest |= {one: max(generation, newest.get(one, generation)) for one in owned}
    return {
        one: {name for name, (_, owned, since) in members.items() if one in owned and since == generation}
        for one, generation in newest.items()
    }


class GroupRules:
    """The rules of one group."""

    def __init__(self, parts: Parts, cluster: Cluster, group: str) -> None:
        self._parts, self._cluster, self._group = parts, cluster, group
        self._generation = 0
        self._handed: dict[str, Partitions] = {}
        """Partitions that the leader of the generation handed out, by member id."""
        self._members: Mapping[str, MemberView] = {}

    def expected_error(self, api: str, body: Json) -> int | None:
        """The error of a heartbeat or a commit (ClassicErrorsExactly, CommitsAreFenced); None for other
        requests."""
        if api not in (HEARTBEAT, COMMIT):
            return None
        group = self._cluster.group(self._group)
        generation = body["generationIdOrMemberEpoch"] if api == COMMIT else body["generationId"]
        if group is None or group.state in ("Dead", "Empty"):
            return UNKNOWN_MEMBER_ID
        instance = body["groupInstanceId"]
        holders = [name for name, one in group.members.items() if one.instance_id == instance]
        if instance is not None and holders and holders != [body["memberId"]]:
            return FENCED_INSTANCE_ID
        if body["memberId"] not in (group.members if instance is None else holders):
            return UNKNOWN_MEMBER_ID
        if generation != group.generation:
            return ILLEGAL_GENERATION
        preparing = "PreparingRebalance" if api == HEARTBEAT else "CompletingRebalance"
        return REBALANCE_IN_PROGRESS if group.state == preparing else 0

    def reasons(self, api: str, body: Json) -> frozenset[int] | None:
        """The errors for which a JoinGroup or SyncGroup has a reason (ClassicErrorsExactly); None for other
        requests."""
        if api not in (JOIN, SYNC):
            return None
        group = self._cluster.group(self._group)
        members = {} if group is None else group.members
        member, instance = body["memberId"], body["groupInstanceId"]
        holders = [name for name, one in members.items() if instance and one.instance_id == instance]
        reasons = {FENCED_INSTANCE_ID} if holders and holders != [member] else set()
        if api == SYNC:
            reasons |= {UNKNOWN_MEMBER_ID} if member not in members else set()
            if group is not None and group.generation != body["generationId"]:
                reasons.add(ILLEGAL_GENERATION)
            if group is not None and group.state == "PreparingRebalance":
                reasons.add(REBALANCE_IN_PROGRESS)
            return frozenset(reasons)
        known = {*members, *(() if group is None else group.pending)}
        if not member and instance is None:
            reasons.add(MEMBER_ID_REQUIRED)
        elif member and member not in known:
            reasons.add(UNKNOWN_MEMBER_ID)
        offered = {one["name"] for one in body["protocols"]}
        if not offered.intersection(*(one.names() for one in members.values())):
            reasons.add(INCONSISTENT_GROUP_PROTOCOL)
        return frozenset(reasons)

    def _left(self, answer: Json) -> None:
        """C1: check that a member whose LeaveGroup is accepted is gone."""
        group = self._cluster.group(self._group)
        for one in answer.get("members") or ():
            if not one["errorCode"] and group is not None and one["memberId"] in group.members:
                raise Violation("C1", "RemovedExactly", f"{one['memberId']} has left, and is still a member")

    def answered(
        self,
        api: str,
        body: Json,
        answer: Json,
        error: int,
        expected: int | None,
        reasons: Collection[int] | None = None,
    ) -> None:
        """Judge an answer of the coordinator (C1)."""
        if expected is not None and error != expected:
            rule = ("O2", "CommitsAreFenced") if api == COMMIT else ("C1", "ClassicErrorsExactly")
            raise Violation(*rule, f"{api} is answered with error {error}, not {expected}")
        if error and reasons is not None and error not in reasons:
            raise Violation(
                "C1", "ClassicErrorsExactly", f"{api} is answered with error {error} without a reason"
            )
        group = self._cluster.group(self._group)
        if api == LEAVE:
            self._left(answer)
        if error or api in (HEARTBEAT, LEAVE, COMMIT):
            return
        if group is None:
            raise Violation("C1", "JoinAnswersAgree", f"{api} is accepted in a group that is not there")
        if api == JOIN:
            self._joined(group, answer)
        elif api == SYNC:
            given = self._parts.handed(answer["assignment"])
            if given != self._handed.get(body["memberId"], frozenset()):
                raise Violation(
                    "C1",
                    "SyncAnswersAgree",
                    f"{body['memberId']} is given {shown(given)}, not what was handed out",
                )

    def _joined(self, group: GroupView, answer: Json) -> None:
        name = answer["memberId"]
        told = {one["memberId"] for one in answer["members"]}
        leads = answer["leader"] == name
        agrees = (answer["generationId"], answer["leader"], answer["protocolName"]) == (
            group.generation,
            group.leader,
            group.protocol,
        )
        if not agrees or name not in group.members or told != (group.members.keys() if leads else set()):
            raise Violation("C1", "JoinAnswersAgree", f"{name} is told of another generation than it is in")
        if any(group.protocol not in one.names() for one in group.members.values()):
            raise Violation("C1", "ProtocolOfAll", f"{group.protocol} is not a protocol of all members")

    def hands_out(
        self, body: Json, leads: Mapping[str, str], topics: Mapping[str, int], cooperative: bool
    ) -> None:
        """Judge the SyncGroup of a leader with these `topics`: it hands out all partitions, each once (C5),
        and none that another member still owns (C4)."""
        handed = {one["memberId"]: self._parts.handed(one["assignment"]) for one in body["assignments"]}
        members = {name: self._parts.claim(metadata) for name, metadata in leads.items()}
        owners: dict[Partition, str] = {}
        for name, partitions in sorted(handed.items()):
            for one in sorted(partitions):
                if one in owners or name not in members:
                    raise Violation(
                        "C5",
                        "LegalAssignment",
                        f"{shown({one})} is handed out twice, or to no member: {name}",
                    )
                owners[one] = name
        claimed = _claimants(members) if cooperative else {}
        for one, name in owners.items():
            if others := claimed.get(one, set()) - {name}:
                raise Violation(
                    "C4", "HandedOutWhenFree", f"{shown({one})} goes to {name}, and {min(others)} owns it"
                )
        wanted = frozenset[str]().union(*(topics for topics, _, _ in members.values()))
        there = {(topic, n) for topic in wanted for n in range(topics.get(topic, 0))}
        if missing := there - owners.keys() - claimed.keys():
            raise Violation("C5", "LegalAssignment", f"{shown(missing)} is handed out to no member")

    def taken(self, body: Json) -> None:
        """Note that the coordinator has accepted the leader's SyncGroup."""
        self._handed = {one["memberId"]: self._parts.handed(one["assignment"]) for one in body["assignments"]}

    def step(self) -> bool:
        """Judge the group after a step of the coordinator; True if its members have changed."""
        group = self._cluster.group(self._group)
        generation = 0 if group is None else group.generation
        if group is not None and not self._generation <= generation <= self._generation + 1:
            raise Violation(
                "C1", "GenerationMonotone", f"generation {generation} comes after {self._generation}"
            )
        if group is not None and group.members and group.leader not in (None, *group.members):
            raise Violation("C1", "LeaderIsMember", f"{group.leader} leads and is no member")
        if generation != self._generation:
            self._generation, self._handed = generation, {}
        members = {} if group is None else group.members
        for name, one in members.items():
            # S1: a process that returns with its instance id has another member id, and the partitions of
            # that place.
            for old, before in self._members.items():
                if (
                    one.instance_id is not None
                    and one.instance_id == before.instance_id
                    and old in self._handed
                ):
                    self._handed[name] = self._handed.pop(old)
        changed = members.keys() != self._members.keys()
        self._members = members
        return changed

    def owners(self, processes: Iterable[Process], exemption: bool) -> int:
        """Judge the ownership: no member owns a partition that another member of the group owns (C4). A
        zombie is not in the group and does not know that yet, or is static and missed the generation (S1).

        Returns the number of partitions with both an owner and a zombie.
        """
        group = self._cluster.group(self._group)
        members = {} if group is None else group.members
        owners: dict[Partition, str] = {}
        zombies: list[Partitions] = []
        for process in processes:
            owned = process.machine.owned
            machine, static = process.machine, process.consumer.instance is not None
            missed = static and group is not None and machine.generation != group.generation
            if machine.member_id not in members or missed:
                zombies.append(owned)
                if exemption:
                    continue
            for one in owned:
                if one in owners:
                    raise Violation(
                        "C4",
                        "OwnedByOneMember",
                        f"{shown({one})} is owned by {owners[one]} and by {process.name}",
                    )
                owners[one] = process.name
        return sum(1 for owned in zombies if not owners.keys().isdisjoint(owned))
