"""Connectors and tasks in their normal form on the wire, both sorted:

    [{"connectors": ["A"], "tasks": [{"connectorId": "A", "taskId": 1}]}]

Where a consumer group has partition n of a topic, a Connect group has task n of a connector, and for n = 0
the connector itself: ("A", 0), ("A", 1). The empty list means no connectors and no tasks.
"""

from __future__ import annotations

from coordinator.consumer.model import Partition, Partitions
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json


def to_wire(resources: Partitions) -> list[Json]:
    """The normal form of a set of connectors and tasks."""
    if not resources:
        return []
    tasks = [{"connectorId": name, "taskId": task} for name, task in sorted(resources) if task]
    return [{"connectors": sorted(name for name, task in resources if not task), "tasks": tasks}]


def resources_given(value: object, where: str) -> list[Partition]:
    """The connectors and tasks of the list, repeated ones included. BadInput where the list is malformed."""
    resources: list[Partition] = []
    for entry in fields.items({where: value}, where, where):
        source = fields.as_object(entry, where)
        fields.known(source, ("connectors", "tasks"), where)
        resources += [(name, 0) for name in fields.names(source, "connectors", where)]
        for given in fields.items(source, "tasks", where):
            task = fields.as_object(given, f"a task of {where}")
            fields.known(task, ("connectorId", "taskId"), f"a task of {where}")
            number = fields.integer(task, "taskId", where, 0, 32)
            if number < 1:
                raise BadInput(f"taskId in {where} counts from 1, not {number}")
            resources.append((fields.text(task, "connectorId", where), number))
    return resources


def from_wire(value: object, where: str) -> Partitions:
    """The connectors and tasks of the list as a set; BadInput where the list repeats one of them."""
    resources = resources_given(value, where)
    if len(set(resources)) != len(resources):
        raise BadInput(f"{where} names a connector or task twice")
    return frozenset(resources)
