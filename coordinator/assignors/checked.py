"""Assignors that users plug in, whose code may do anything: only a legal assignment is installed (A4)."""

from __future__ import annotations

import logging
from typing import Final

from coordinator.assignors.spec import (
    AssignmentSpec,
    GroupAssignment,
    PartitionAssignor,
    PartitionAssignorError,
    TopicPartition,
)

_LOG: Final = logging.getLogger(__name__)


def checked(assignor: PartitionAssignor, spec: AssignmentSpec) -> GroupAssignment:
    """The assignment of an assignor. PartitionAssignorError where the assignor raises any exception, or
    returns an assignment that is not legal: the group must go on, and keeps its target (A7). The log has the
    reason."""
    try:
        assignment = {member_id: frozenset(given) for member_id, given in assignor.assign(spec).items()}
        problem = _problem(spec, assignment)
    except PartitionAssignorError:
        raise
    except Exception as error:
        _LOG.warning("Assignor %s raised an error; the group keeps its target.", assignor.name, exc_info=True)
        raise PartitionAssignorError(f"Assignor {assignor.name} raised {error!r}.") from error
    if problem is not None:
        _LOG.warning("Assignor %s %s; the group keeps its target.", assignor.name, problem)
        raise PartitionAssignorError(f"Assignor {assignor.name} {problem}.")
    return assignment


def _problem(spec: AssignmentSpec, assignment: GroupAssignment) -> str | None:
    """The fault: a member, a partition or a topic that does not exist, a partition that is assigned twice or
    not at all."""
    owners: dict[TopicPartition, str] = {}
    for member_id, given in assignment.items():
        if member_id not in spec.members:
            return f"assigns to {member_id}, which is no member"
        for topic, index in given:
            if not 0 <= index < spec.partitions.get(topic, 0):
                return f"assigns partition {index} of topic {topic}, which does not exist"
            if topic not in spec.members[member_id].topics:
                return f"assigns topic {topic} to {member_id}, which does not subscribe to it"
            if (topic, index) in owners:
                return f"assigns partition {index} of topic {topic} to {owners[topic, index]} and {member_id}"
            owners[topic, index] = member_id
    subscribed = frozenset[str]().union(*(member.topics for member in spec.members.values()))
    for topic in sorted(subscribed & spec.partitions.keys()):
        for index in range(spec.partitions[topic]):
            if (topic, index) not in owners:
                return f"leaves out partition {index} of topic {topic}"
    return None
