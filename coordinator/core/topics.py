"""Changes of the cluster's topics, as the line protocol and the log have them (T2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from coordinator.consumer import metadata
from coordinator.consumer.model import TopicImage, Topics
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

MAX_PARTITIONS: Final = 1_000_000
"""The most partitions of one topic: an assignment of more would fit into no batch (P4)."""


def changed_topics(topics: Topics, upsert: Sequence[object], delete: Sequence[str]) -> Topics:
    """The topics after upsert [{"name", "id", "partitions"}] and delete [names]. BadInput where the change is
    malformed."""
    for name in delete:
        topics = metadata.delete_topic(topics, name)
    for entry in upsert:
        topics = _upsert(topics, entry, delete)
    return topics


def topics_change(topics: Topics) -> Json:
    """All topics, as the change that creates them."""
    upsert = [
        {"name": name, "id": image.id, "partitions": image.partitions} for name, image in topics.items()
    ]
    return {"upsert": upsert, "delete": []}


def _upsert(topics: Topics, entry: object, deleted: Sequence[str]) -> Topics:
    where = "a topic"
    topic = fields.as_object(entry, where)
    fields.known(topic, ("name", "id", "partitions"), where)
    name = fields.text(topic, "name", where)
    if not name or name in deleted:
        raise BadInput("a topic needs a name" if not name else f"topic {name!r} is both changed and deleted")
    topic_id = fields.topic_id(topic.get("id"), f"topic {name!r}")
    image = TopicImage(topic_id, fields.integer(topic, "partitions", where, least=1))
    if image.partitions > MAX_PARTITIONS:
        raise BadInput(f"topic {name!r} can have at most {MAX_PARTITIONS} partitions")
    if name in topics and topics[name].id == image.id:
        return metadata.add_partitions(topics, name, image.partitions)
    return metadata.create_topic(topics, name, image)
