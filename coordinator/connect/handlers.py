"""Requests to and events of a Connect group, with the names of spec/Connect.tla.

Step 1 and step 3 of the heartbeat are those of a consumer group (heartbeat.py, reconcile.py). Only step 2
differs: the coordinator computes no target; the chosen worker installs one (W1, W4). The draft's case studies
are in traces/golden/connect, step by step (W3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coordinator.computing.offers import check_versions
from coordinator.connect.model import (
    Prepared,
    Work,
    Workers,
    common_assignors,
    is_there,
    lost_by,
    next_worker,
    target_is_due,
    who_may_compute,
    workers_of,
)
from coordinator.connect.records import LOST, ConnectRecord, Lost, shared_record
from coordinator.connect.request import InstallRequest, PrepareRequest
from coordinator.connect.response import heartbeat_response, install_response, prepare_response
from coordinator.consumer import heartbeat
from coordinator.consumer.model import NO_TARGET, NOTHING, Group, Partition, Partitions, Target
from coordinator.consumer.records import (
    MEMBER_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    AssignmentEpoch,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
)
from coordinator.consumer.request import JOIN_EPOCH, HeartbeatRequest
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Result


@dataclass(slots=True)
class Worked:
    """One step of a Connect group: its effect on the state that every group has, and on the state that only
    Connect groups have."""

    result: Result
    work: Work
    records: list[ConnectRecord]
    response: Json | None = None


def connect_group_heartbeat(
    env: Env, group: Group | None, work: Work, request: HeartbeatRequest, now_ms: int
) -> Worked:
    """HandleWorker (W1): one valid request. Raises RequestRejected.

    A worker that has joined, and waits for the first target that has it, sends epoch 0 again.
    """
    member = None if group is None else group.members.get(request.member_id)
    instance_id, request = request.instance_id, request._replace(instance_id=None)
    if group is not None and member is not None and request.member_epoch == member.epoch == JOIN_EPOCH:
        check_versions(group, request, None)
        result = heartbeat.heartbeat(env, group, member, request._replace(regex=None), now_ms)
    else:
        result = heartbeat.consumer_group_heartbeat(env, group, request, now_ms)
    before = group or Group(request.group_id)
    name_instance(before, result, request, instance_id)
    check_common(before, result, request.member_id)
    worked = follow_work(before, result, work)
    epoch, assignment_epoch = _epochs(before, result)
    compute = worked.work.chosen == request.member_id and epoch > assignment_epoch
    worked.response = heartbeat_response(result.response or {}, compute)
    return worked


def name_instance(group: Group, result: Result, request: HeartbeatRequest, instance_id: str | None) -> None:
    """W4: the instance id that a worker gives is in its record, and the assignor gets it. The id has no other
    meaning: a worker keeps its own member id (spec/Connect.tla, 3), so that a new instance id bumps no
    epoch."""
    known = group.members.get(request.member_id)
    of_worker = MEMBER_METADATA, group.id, request.member_id
    for index, record in enumerate(result.records):
        if isinstance(record.value, MemberUpdate) and record[:3] == of_worker:
            named = instance_id
            if named is None and known is not None and request.member_epoch != JOIN_EPOCH:
                named = known.metadata.instance_id
            metadata = record.value.metadata._replace(instance_id=named)
            result.records[index] = record._replace(value=record.value._replace(metadata=metadata))
            return
    if (
        known is None
        or instance_id in (None, known.metadata.instance_id)
        or request.member_epoch < JOIN_EPOCH
    ):
        return
    update = MemberUpdate(_epochs(group, result)[0], known.metadata._replace(instance_id=instance_id))
    result.records.insert(0, Record(*of_worker, update))


def check_common(group: Group, result: Result, member_id: str) -> None:
    """W1: after a join, or another list of assignors, all workers must still offer one assignor in common.
    Raises RequestRejected with UNSUPPORTED_ASSIGNOR where they do not."""
    updates = [
        record.value.metadata
        for record in result.records
        if isinstance(record.value, MemberUpdate) and record.member_id == member_id
    ]
    if not updates:
        return
    known = group.members.get(member_id)
    if known is not None and known.metadata.client_assignors == updates[-1].client_assignors:
        return
    if not common_assignors({**workers_of(group), member_id: updates[-1]}):
        names = ", ".join(one.name for one in updates[-1].client_assignors) or "none"
        raise RequestRejected(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"Worker {member_id} offers the assignors: {names}; all workers of group {group.id} must have "
            "one in common. Offer one that all others offer, too.",
        )


def follow_work(group: Group, result: Result, work: Work) -> Worked:
    """FollowWork (W2): the target of workers that are gone is lost work; then choose the computing worker
    (W1)."""
    records = [record for record in result.records if isinstance(record, Record)]
    metadata = group.metadata
    workers = workers_of(group)
    gone: set[str] = set()
    for record in records:
        if isinstance(record.value, PartitionMetadata):
            metadata = record.value.topics
        elif record.type == MEMBER_METADATA and record.member_id is not None:
            if isinstance(record.value, MemberUpdate):
                workers[record.member_id] = record.value.metadata
            else:
                gone.add(record.member_id)
    for worker in gone:
        workers.pop(worker, None)
    lost: dict[Partition, str] = {}
    if workers:
        lost = dict(work.lost)
        for worker in gone:
            lost.update(dict.fromkeys(group.targets.get(worker, NO_TARGET).partitions, worker))
        lost = {resource: worker for resource, worker in lost.items() if is_there(metadata, resource)}
    shared = [ConnectRecord(*record) for record in records]
    new = choose(work._replace(lost=lost), workers)
    return Worked(result, new, [*shared, *lost_records(group.id, work.lost, lost)])


def choose(work: Work, workers: Workers) -> Work:
    """Choose (W1): the chosen worker stays chosen while it can read the metadata of all workers, or has
    prepared; else the first by id of those that can read it."""
    computing = who_may_compute(workers)
    if work.chosen in (computing if work.prepared is None else workers):
        return work
    return work._replace(chosen=min(computing, default=""), prepared=None)


def lost_records(
    group_id: str, before: Mapping[Partition, str], after: Mapping[Partition, str]
) -> Iterator[ConnectRecord]:
    """The records of changed lost work, by worker; a worker without lost work has no record."""
    for worker in sorted({*before.values(), *after.values()}):
        resources = lost_by(after, worker)
        if resources != lost_by(before, worker):
            yield ConnectRecord(LOST, group_id, worker, Lost(resources) if resources else None)


def _epochs(group: Group, result: Result) -> tuple[int, int]:
    """The group epoch and the assignment epoch after a step that installs nothing."""
    epochs = [record.value.epoch for record in result.records if isinstance(record.value, GroupEpoch)]
    return (epochs[-1] if epochs else group.epoch), group.assignment_epoch


def check_computes(group: Group | None, work: Work, member_id: str, member_epoch: int) -> Group:
    """ComputeError (W4). Raises RequestRejected where this worker may not compute now."""
    if group is None:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, "There is no such group; join it first.")
    member = group.members.get(member_id)
    if member is None:
        sentence = f"Worker {member_id} is not in group {group.id}; join it with member epoch 0."
        raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, sentence)
    if member.epoch != member_epoch:
        sentence = f"Worker {member_id} is at another epoch than {member_epoch}; heartbeat, and try again."
        raise RequestRejected(ErrorCode.STALE_MEMBER_EPOCH, sentence)
    if work.chosen != member_id or not target_is_due(group):
        sentence = f"Worker {member_id} is not the one that computes now; abandon it."
        raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, sentence)
    return group


def prepare_assignment(group: Group | None, work: Work, request: PrepareRequest) -> Worked:
    """PrepareAssignment (W1): what the assignor computes from. Raises RequestRejected."""
    current = check_computes(group, work, request.member_id, request.member_epoch)
    metadata = {name: image.partitions for name, image in current.metadata.items()}
    prepared = Prepared(current.epoch, frozenset(current.members), metadata)
    return Worked(
        Result(current.id), work._replace(prepared=prepared), [], prepare_response(current, work.lost)
    )


def install_assignment(group: Group | None, work: Work, request: InstallRequest) -> Worked:
    """InstallAssignment (W4): the target has the epoch from which it was computed, whatever has happened
    since. Raises RequestRejected.

    Workers that have left meanwhile get nothing. An assignor that failed changes no worker's part, and no
    metadata.
    """
    current = check_computes(group, work, request.member_id, request.member_epoch)
    prepared = work.prepared
    if prepared is None or prepared.epoch != request.group_epoch:
        sentence = f"No assignment was prepared for group epoch {request.group_epoch}; prepare it first."
        raise RequestRejected(ErrorCode.INVALID_ASSIGNMENT, sentence)
    if (problem := invalid_target(prepared, request)) is not None:
        raise RequestRejected(ErrorCode.INVALID_ASSIGNMENT, problem)
    given: dict[str, set[Partition]] = {}
    for worker, resource in request.target:
        given.setdefault(worker, set()).add(resource)
    targets = []
    taken: Partitions = NOTHING
    for worker in sorted(prepared.workers & current.members.keys()):
        old = current.targets.get(worker, NO_TARGET)
        if request.error:
            target = old._replace(error=request.error)
        else:
            target = Target(frozenset(given.get(worker, ())), 0, *request.assignor_data.get(worker, ()))
        taken |= target.partitions
        if worker not in current.targets or target != old:
            targets.append(ConnectRecord(TARGET_MEMBER, current.id, worker, target))
    lost = {resource: worker for resource, worker in work.lost.items() if resource not in taken}
    epoch = ConnectRecord(TARGET_METADATA, current.id, None, AssignmentEpoch(prepared.epoch))
    records = [*lost_records(current.id, work.lost, lost), *targets, epoch]
    result = Result(current.id, [one for one in map(shared_record, records) if one is not None])
    new = choose(work._replace(prepared=None, lost=lost), workers_of(current))
    return Worked(result, new, records, install_response())


def invalid_target(prepared: Prepared, request: InstallRequest) -> str | None:
    """ValidTarget (W4): known resources, each at most once, for workers that were in the group at
    PrepareAssignment, each of which is named at most once."""
    named: set[str] = set()
    seen: set[Partition] = set()
    for worker in request.workers:
        if worker not in prepared.workers:
            return f"The assignment names {worker}, which was no worker of the group."
        if worker in named:
            return f"The assignment has {worker} twice; give each worker once."
        named.add(worker)
    for _, resource in request.target:
        connector, task = resource
        if task >= prepared.metadata.get(connector, 0):
            return f"The assignment has task {task} of connector {connector}, which there is not."
        if resource in seen:
            return f"The assignment gives task {task} of connector {connector} to two workers."
        seen.add(resource)
    return None


def choose_another(group: Group, work: Work) -> Work:
    """ChooseAnother (W1): the chosen worker did not install in time; the coordinator chooses another and does
    not fence it."""
    return work._replace(chosen=next_worker(who_may_compute(workers_of(group)), work.chosen), prepared=None)
