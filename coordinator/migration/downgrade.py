"""A consumer group becomes a classic group when its last member of the consumer protocol leaves (M1).

The generation is the group epoch, which is not bumped: a member that has converged rejoins when
REBALANCE_IN_PROGRESS tells it to. The record assigns nothing, because the partitions of the member that has
left belong to no member. The partitions of the others are in their subscriptions, as if the members reported
them now, in this generation: the group may be converted again before they report. For the same reason a new
coordinator has all members rejoin, too (`converted_back`, P2), instead of taking the group for Stable.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from coordinator.classic.model import ClassicGroup, ClassicMember, RequestId, select_protocol
from coordinator.classic.rebalance import ClassicStep, prepare
from coordinator.consumer.model import Group, MemberMetadata
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    Record,
)
from coordinator.core.step import Env, Result
from coordinator.migration.protocol import CONSUMER, owning
from coordinator.record_kinds import AnyRecord


def leaves_only_classic(group: Group, gone: Set[str]) -> bool:
    """LeavesOnlyClassic (M1): without `gone`, is there a member left, and none of the consumer protocol?"""
    return bool(group.classic - gone) and group.members.keys() - gone == group.classic - gone


def converted_back(env: Env, group: Group, result: Result, now_ms: int) -> Result:
    """ConvertBack (M1): the step, or the conversion in its place where the step removes the last consumer of
    a group."""
    if not leaves_only_classic(group, result.gone):
        return result
    members = {name: member.metadata for name, member in group.members.items() if name not in result.gone}
    return downgraded(env, group, members, now_ms)


def downgraded(
    env: Env,
    group: Group,
    members: Mapping[str, MemberMetadata],
    now_ms: int,
    joining: tuple[str, RequestId] | None = None,
) -> Result:
    """The step that makes a classic group of a consumer group, with these members: all must rejoin.

    `joining` is a member whose JoinGroup causes this, and waits for the others. Any other request that causes
    it has its answer already, from its own step.
    """
    there = {name: _member(env, group, name, metadata) for name, metadata in members.items()}
    if joining is not None:
        there[joining[0]] = replace(there[joining[0]], joining=joining[1])
    leader = min(there, default=None)
    classic = ClassicGroup(
        group.id, "Stable" if there else "Empty", group.epoch, CONSUMER, None, leader, members=there
    )
    step = ClassicStep(classic, now_ms, env.config, env.dialect)
    if leader is not None:
        step.become(protocol=select_protocol(classic, leader))
    step.save()
    if there:
        for name in there:
            step.arm_session(name)
        prepare(step)
    else:
        step.arm("group", "", env.config.empty_retention_ms)
    records: list[AnyRecord] = [*_tombstones(group), *step.records]
    return Result(group.id, records, classic_step=step)


def _member(env: Env, group: Group, name: str, metadata: MemberMetadata) -> ClassicMember:
    classic, member = metadata.classic, group.members.get(name)
    if classic is None:
        raise AssertionError("a member of the consumer protocol cannot be in a classic group")
    return ClassicMember(
        metadata.instance_id,
        metadata.client_id,
        metadata.client_host,
        classic.session_timeout_ms,
        metadata.rebalance_timeout_ms,
        classic.protocols if member is None else owning(env, classic.protocols, member.held, group.epoch),
    )


def _tombstones(group: Group) -> list[Record]:
    """P1: tombstones for all records of the consumer group."""
    kinds = [
        (CURRENT_ASSIGNMENT, sorted(group.members)),
        (TARGET_MEMBER, sorted(group.targets)),
        (MEMBER_METADATA, sorted(group.members)),
    ]
    of_members = [Record(kind, group.id, name, None) for kind, names in kinds for name in names]
    whole = (TARGET_METADATA, PARTITION_METADATA, GROUP_METADATA)
    return of_members + [Record(kind, group.id, None, None) for kind in whole]
