"""OffsetDelete in Kafka's form: the line protocol does not have this API."""

from __future__ import annotations

from typing import Final

from coordinator.core.fields import Json
from coordinator.offsets.delete import Deletion
from coordinator.service import Coordinator

OFFSET_DELETE: Final = 47


def delete_offsets(coordinator: Coordinator, client: Json, body: Json) -> Json:
    """The response to a client's request in Kafka's form, both of version 0."""
    topics = [
        (topic["name"], [one["partitionIndex"] for one in topic["partitions"]]) for topic in body["topics"]
    ]
    return coordinator.delete_offsets(Deletion(body["groupId"], topics, client.get("principal", "")))
