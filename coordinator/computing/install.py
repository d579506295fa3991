"""ConsumerGroupInstallAssignment (A6, A7, A9, A10): the chosen member's result becomes the target."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.computing.model import IDLE, Base
from coordinator.computing.prepare import chosen_group, install_error
from coordinator.computing.request import InstallRequest, MemberAssignment
from coordinator.computing.select import settle
from coordinator.consumer.model import NO_TARGET, Group, Partition, Target
from coordinator.consumer.records import TARGET_MEMBER, TARGET_METADATA, AssignmentEpoch
from coordinator.core import fields
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.step import Env, Result, Step


def install_assignment(env: Env, group: Group | None, request: InstallRequest, now_ms: int) -> Result:
    """InstallAssignment: the assignment is checked against the base that its member prepared, however the
    group has changed since (A6).

    The assignment epoch becomes that of the base (E2). Nothing is written for members that have left. An
    assignor's error keeps the target, and all members are told of it. Where the group has moved on the next
    computation begins (A10).
    """
    step = Step(env, chosen_group(group, request), now_ms)
    base = step.computation.base
    if base is None or request.group_epoch != base.epoch:
        prepared = "nothing" if base is None else f"group epoch {base.epoch}"
        raise _invalid(
            f"The assignment is of group epoch {request.group_epoch}, but {prepared} was prepared; "
            "send ConsumerGroupPrepareAssignment first."
        )
    if not request.error:
        check_assignment(base, request.members)
        check_classic_metadata(step.group, request.members)
    for member_id, target in _targets(step.group, request):
        if target != step.group.targets.get(member_id):
            step.write(TARGET_MEMBER, member_id, target)
    step.write(TARGET_METADATA, None, AssignmentEpoch(base.epoch))
    step.assignment_epoch = base.epoch
    step.result.target_computed_ms = now_ms
    step.compute_by(IDLE)
    settle(step)
    step.result.response = install_error(ErrorCode.NONE, "")
    return step.result


def _targets(group: Group, request: InstallRequest) -> Iterator[tuple[str, Target]]:
    """The target of each member, by member id; a member that joined since, or that the assignment leaves out,
    gets nothing."""
    given = {entry.member_id: entry for entry in request.members}
    for member_id in sorted(group.members):
        known = group.targets.get(member_id, NO_TARGET)
        if request.error:
            yield member_id, known._replace(error=request.error)
            continue
        entry = given.get(member_id)
        if entry is None:
            yield member_id, NO_TARGET
        else:
            partitions = frozenset(entry.partitions)
            yield member_id, Target(partitions, 0, entry.metadata_version, entry.metadata_bytes)


def check_assignment(base: Base, members: list[MemberAssignment]) -> None:
    """LegalAgainst (A4, A7): the assignment has every partition of the base once, each for a member that
    subscribes to its topic. Raises RequestRejected with INVALID_ASSIGNMENT."""
    owners: dict[Partition, str] = {}
    seen: set[str] = set()
    for member_id, partitions, _, _ in members:
        if member_id not in base.subscribed:
            raise _invalid(f"{member_id} was no member of the group; assign to those that were prepared.")
        if member_id in seen:
            raise _invalid(f"Member {member_id} is there twice; give each member once.")
        seen.add(member_id)
        for partition in partitions:
            _check_partition(base, member_id, partition, owners)
            owners[partition] = member_id
    for topic_id, count in base.partitions.items():
        for index in range(count):
            if (topic_id, index) not in owners:
                raise _invalid(f"Partition {index} of topic {topic_id} is not assigned; assign all of them.")


def check_classic_metadata(group: Group, members: list[MemberAssignment]) -> None:
    """M4: a member of the classic protocol gets its metadata as user data, which are bytes, so the metadata
    must be base64. Raises RequestRejected with INVALID_ASSIGNMENT."""
    for member_id, _, _, metadata in members:
        if member_id not in group.classic:
            continue
        try:
            fields.from_base64(metadata)
        except ValueError as error:
            raise _invalid(
                f"Metadata of {member_id}, a classic member, is not base64 ({error}); encode it."
            ) from None


def _check_partition(base: Base, member_id: str, partition: Partition, owners: dict[Partition, str]) -> None:
    topic_id, index = partition
    if not 0 <= index < base.partitions.get(topic_id, 0):
        raise _invalid(
            f"There was no partition {index} of topic {topic_id}; assign those that were prepared."
        )
    if partition in owners:
        raise _invalid(f"Partition {index} of topic {topic_id} is assigned twice; assign each once.")
    if topic_id not in base.subscribed[member_id]:
        raise _invalid(
            f"Member {member_id} does not subscribe to topic {topic_id}; assign it to one that does."
        )


def _invalid(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.INVALID_ASSIGNMENT, message)
