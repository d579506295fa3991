"""Changes of the cluster's topics, as the line protocol and the log have them (T2), and topics in records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from coordinator.consumer.model import TopicImage, Topics
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

MAX_PARTITIONS: Final = 1_000_000
"""The most partitions of one topic: an assignment of more would fit into no batch (P4)."""


def changed_topics(topics: Topics, upsert: Sequence[object], delete: Sequence[str]) -> Topics:
    """The topics after upsert [{"name", "id", "partitions"}] and delete [names]. BadInput where the change is
    malformed.

    A topic of the same name and another id is replaced (T2). Kafka never removes partitions of a topic.
    """
    changed = dict(topics)
    for name in delete:
        if changed.pop(name, None) is None:
            raise BadInput(f"there is no topic {name!r} to delete")
    deleted, names = frozenset(delete), {image.id: name for name, image in changed.items()}
    for entry in upsert:
        name, image = _topic(entry, deleted)
        if names.get(image.id, name) != name:
            raise BadInput(f"topic {name!r} cannot have the id {image.id}: topic {names[image.id]!r} has it")
        known = changed.get(name)
        if known is not None and known.id == image.id and image.partitions < known.partitions:
            raise BadInput(f"topic {name!r} has {known.partitions} partitions and never fewer")
        if known is not None:
            del names[known.id]
        changed[name], names[image.id] = image, name
    return changed


def topics_change(topics: Topics) -> Json:
    """All topics, as the change that creates them."""
    upsert = [
        {"name": name, "id": image.id, "partitions": image.partitions} for name, image in topics.items()
    ]
    return {"upsert": upsert, "delete": []}


def _topic(entry: object, deleted: Collection[str]) -> tuple[str, TopicImage]:
    where = "a topic"
    topic = fields.as_object(entry, where)
    fields.known(topic, ("name", "id", "partitions"), where)
    name = fields.text(topic, "name", where)
    if not name or name in deleted:
        raise BadInput("a topic needs a name" if not name else f"topic {name!r} is both changed and deleted")
    topic_id = fields.topic_id(topic.get("id"), f"topic {name!r}")
    image = TopicImage(topic_id, fields.integer(topic, "partitions", where, least=1))
    return name, _bounded(name, image)


def topics_in(value: Mapping[str, object], name: str, where: str) -> dict[str, TopicImage]:
    """The topics in the value of a record: [{"topicId", "topicName", "numPartitions"}]."""
    images: dict[str, TopicImage] = {}
    for entry in fields.items(value, name, where):
        topic = fields.as_object(entry, f"a topic of {where}")
        fields.known(topic, ("topicId", "topicName", "numPartitions"), f"a topic of {where}")
        topic_name = fields.text(topic, "topicName", where)
        if topic_name in images:
            raise BadInput(f"{where} names the topic {topic_name!r} twice; name it once")
        image = TopicImage(
            fields.topic_id(topic.get("topicId"), where), fields.integer(topic, "numPartitions", where, 1)
        )
        images[topic_name] = _bounded(topic_name, image)
    return images


def _bounded(name: str, image: TopicImage) -> TopicImage:
    """`image` itself; BadInput for a topic with more partitions than any has."""
    if image.partitions > MAX_PARTITIONS:
        raise BadInput(f"topic {name!r} can have at most {MAX_PARTITIONS} partitions")
    return image
