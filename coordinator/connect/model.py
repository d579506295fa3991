"""State of a Connect group beside the state of a consumer group: `work` of spec/Connect.tla (W1, W2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from coordinator.computing.select import common_offers, covering, rank, selected
from coordinator.consumer.model import Group, MemberMetadata, Partition, Partitions, Topics

Workers = Mapping[str, MemberMetadata]
"""Worker -> its reported metadata."""


class Prepared(NamedTuple):
    """The state from which PrepareAssignment was answered: an install is checked against it (W4).
    Volatile."""

    epoch: int
    workers: frozenset[str]
    metadata: Mapping[str, int]
    """Connector -> 1 and the number of its tasks."""


class Work(NamedTuple):
    """State of the work. The group's `targets` have the workers for which the target was computed; the
    reasons are in the members' metadata."""

    chosen: str = ""
    """The worker that computes the target, "" for none (W1). Volatile."""
    prepared: Prepared | None = None
    lost: Mapping[Partition, str] = {}
    """Work of workers that have gone, until other workers have it (W2)."""


NO_WORK: Final = Work()


def lost_by(lost: Mapping[Partition, str], worker: str) -> Partitions:
    """The connectors and tasks that one worker has lost."""
    return frozenset(resource for resource, owner in lost.items() if owner == worker)


def target_is_due(group: Group) -> bool:
    """TargetIsDue (E2): the group epoch is ahead of the epoch of the target."""
    return group.epoch > group.assignment_epoch


def is_there(metadata: Topics, resource: Partition) -> bool:
    """IsThere: tell if a group's connectors include this resource."""
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
    """The assignor that computes the target (W1): of those that all workers offer, the one with the least sum
    of ranks in their lists, then the first by name. An assignor that some worker can run for all comes first
    (A1). None where the workers of a log have no assignor in common."""
    if name := selected(workers):
        return name
    common = common_offers(workers)
    return min(common, key=lambda name: (rank(common[name]), name), default=None)


def who_may_compute(workers: Workers) -> list[str]:
    """Covering (W1): the workers whose assignor can read the metadata of all others, by id; all workers if
    none can."""
    name = assignor_name(workers)
    return (covering(workers, name) if name is not None else []) or sorted(workers)


def next_worker(workers: list[str], worker: str) -> str:
    """NextWorker (W1): the next worker by id; after the last the first."""
    later = [other for other in workers if other > worker]
    return min(later or workers)
