"""State of a Connect group beside that of a consumer group: `work` of spec/Connect.tla (W1, W2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from coordinator.computing.select import covering, rank, selected
from coordinator.consumer.model import Group, MemberMetadata, Partition, Partitions, Topics

Workers = Mapping[str, MemberMetadata]
"""Worker -> what it said of itself."""


class Prepared(NamedTuple):
    """The state from which PrepareAssignment was answered: an install is judged by it (W4). Volatile."""

    epoch: int
    workers: frozenset[str]
    metadata: Mapping[str, int]
    """Connector -> 1 and the number of its tasks."""


class Work(NamedTuple):
    """The group's `targets` have the workers that the target was computed for; the reasons are in the
    members' metadata."""

    chosen: str = ""
    """The worker that computes the target, "" where there is none (W1). Volatile."""
    prepared: Prepared | None = None
    lost: Mapping[Partition, str] = {}
    """Work of workers that have gone, until somebody else has it (W2)."""


NO_WORK: Final = Work()


def lost_by(lost: Mapping[Partition, str], worker: str) -> Partitions:
    """The connectors and tasks that one worker has lost."""
    return frozenset(resource for resource, owner in lost.items() if owner == worker)


def target_is_due(group: Group) -> bool:
    """TargetIsDue (E2): the group has moved on since its target was computed."""
    return group.epoch > group.assignment_epoch


def is_there(metadata: Topics, resource: Partition) -> bool:
    """IsThere: whether a group's connectors have it."""
    connector, task = resource
    return connector in metadata and task < metadata[connector].partitions


def workers_of(group: Group) -> dict[str, MemberMetadata]:
    """The workers of a group."""
    return {name: member.metadata for name, member in group.members.items()}


def common_assignors(workers: Workers) -> set[str]:
    """The names that all workers offer."""
    lists = [{one.name for one in worker.client_assignors} for worker in workers.values()]
    return set.intersection(*lists) if lists else set()


def assignor_name(workers: Workers) -> str | None:
    """The assignor that the target is computed with (W1): of those that all workers offer the one with the
    least sum of places in their lists, then the first by name. One that some worker can run for all comes
    first (A1). None where a log has workers that have none in common."""
    if name := selected(workers):
        return name
    return min(common_assignors(workers), key=lambda name: (rank(workers, name), name), default=None)


def who_may_compute(workers: Workers) -> list[str]:
    """Covering (W1): those whose assignor reads what every other one may write, by id; if none does, all."""
    name = assignor_name(workers)
    return (covering(workers, name) if name is not None else []) or sorted(workers)


def next_worker(workers: list[str], worker: str) -> str:
    """NextWorker (W1): the next by id, the first after the last."""
    later = [other for other in workers if other > worker]
    return min(later or workers)
