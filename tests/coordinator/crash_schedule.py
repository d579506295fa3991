"""Random schedules of operations in the line protocol, and the state of a coordinator that must survive its
death.

The model is a coordinator that never dies: its state after each operation is the one that a new coordinator
must find after the death of one that had answered as many operations, or one more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from coordinator import Coordinator
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
Ask = Callable[[Json], Json]

GROUPS: Final = ("g1", "g2")
MEMBERS: Final = ("m1", "m2")
NAMES: Final = ("foo", "bar")
IDS: Final = {name: [f"{n:08x}-0000-4000-8000-{ord(name[0]):012x}" for n in range(3)] for name in NAMES}
"""The ids that a topic has had once it was recreated, in turn."""
CLIENT: Final = {"id": "client", "host": "/127.0.0.1"}


def request(api: str, version: int, body: Json) -> Json:
    return {"op": "request", "api": api, "version": version, "client": CLIENT, "body": body}


LOOK: Final[Sequence[Json]] = (
    {"op": "records"},
    *({"op": "describe", "group": group} for group in GROUPS),
    request("OffsetFetch", 9, {"groups": [{"groupId": group, "topics": None} for group in GROUPS]}),
    request(
        "OffsetFetch",
        9,
        {
            "groups": [
                {
                    "groupId": "nobody",
                    "topics": [
                        {"topicId": topic_id, "partitionIndexes": list(range(6))}
                        for ids in IDS.values()
                        for topic_id in ids
                    ],
                }
            ]
        },
    ),
)
"""Operations that show the durable state: records, groups, offsets, and, by errors, the topics."""


def durable(answers: Sequence[Json]) -> Json:
    """The state that a new coordinator must find, from the answers to LOOK."""
    records, *groups, offsets, topics = answers
    return {
        "records": records["records"],
        "groups": [_durable_group(answer["group"]) for answer in groups],
        "offsets": offsets["body"]["groups"],
        "topics": topics["body"]["groups"],
    }


def _durable_group(group: Json) -> Json:
    volatile = {"state", "timers", "members"}
    return {name: value for name, value in group.items() if name not in volatile} | {
        "members": [_durable_member(member) for member in group["members"]]
    }


def _durable_member(member: Json) -> Json:
    volatile = {"previousMemberEpoch", "state", "acknowledged", "assigned", "pendingRevocation"}
    held = [
        (topic["topicId"], index)
        for topic in member["assigned"] + member["pendingRevocation"]
        for index in topic["partitions"]
    ]
    kept = {name: value for name, value in member.items() if name not in volatile}
    return {**kept, "held": sorted(held)}


@dataclass
class Model:
    """A coordinator in this process, the topics that it was told of, and the number of times that each was
    recreated."""

    protocol: LineProtocol = field(default_factory=lambda: LineProtocol(Coordinator()))
    topics: dict[str, Json] = field(default_factory=dict)
    incarnations: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NAMES, 0))

    def ask(self, operation: Json) -> Json:
        """The answer to one operation."""
        answer = self.protocol.answer(operation)
        if operation["op"] == "topics" and answer["ok"]:
            for name in operation.get("delete", ()):
                del self.topics[name]
                self.incarnations[name] += 1
            for topic in operation.get("upsert", ()):
                self.topics[topic["name"]] = topic
        return answer

    def durable(self) -> Json:
        """The durable state of this coordinator."""
        return durable([self.protocol.answer(operation) for operation in LOOK])

    def successor(self) -> Model:
        """A new coordinator after the death of this one: all that is volatile starts anew."""
        records = self.protocol.answer({"op": "records"})["records"]
        model = Model(topics=dict(self.topics), incarnations=dict(self.incarnations))
        load = {"op": "load", "records": records, "topics": list(self.topics.values())}
        assert model.protocol.answer(load)["ok"]
        return model


def next_operation(rng: random.Random, model: Model) -> Json:
    """An operation that is possible now: most succeed and write records."""
    if not model.topics:
        return _change_topic(rng, model)
    group = rng.choice(GROUPS)
    described = model.protocol.answer({"op": "describe", "group": group})["group"]
    members = {member["memberId"]: member for member in described["members"]}
    choice = rng.random()
    if choice < 0.12:
        return _change_topic(rng, model)
    if choice < (0.17 if members else 0.5) and described["timers"]:
        timer = rng.choice(described["timers"])
        return {"op": "fire", "timer": timer["timer"], "group": group, "member": timer["member"]}
    if choice < 0.2:
        # no further: the timers that run out are events of their own, each as atomic as a request
        return {"op": "advance", "ms": 1}
    if choice < 0.45:
        return _commit(rng, model, group, members)
    return _heartbeat(rng, group, members)


def _change_topic(rng: random.Random, model: Model) -> Json:
    name = rng.choice(NAMES)
    known = model.topics.get(name)
    if known and rng.random() < 0.4 and model.incarnations[name] < len(IDS[name]) - 1:
        return {"op": "topics", "delete": [name]}
    partitions = min(6, known["partitions"] + 1) if known else rng.randint(1, 4)
    topic = {"name": name, "id": IDS[name][model.incarnations[name]], "partitions": partitions}
    return {"op": "topics", "upsert": [topic]}


def _commit(rng: random.Random, model: Model, group: str, members: dict[str, Json]) -> Json:
    member = rng.choice([*members, *members, "", "m1"] if members else ["", "m1"])
    epoch = members[member]["memberEpoch"] if member in members else -1
    topics = [
        {
            "topicId": topic["id"],
            "partitions": [
                {"partitionIndex": index, "committedOffset": rng.randrange(10**6), "committedMetadata": "x"}
                for index in range(topic["partitions"])
            ],
        }
        for topic in model.topics.values()
    ]
    body = {"groupId": group, "memberId": member, "generationIdOrMemberEpoch": epoch, "topics": topics}
    return request("OffsetCommit", 9, body)


def _heartbeat(rng: random.Random, group: str, members: dict[str, Json]) -> Json:
    member = rng.choice(MEMBERS)
    known = members.get(member)
    body: Json = {"groupId": group, "memberId": member}
    if known is None or rng.random() < 0.1:
        names = rng.sample(NAMES, rng.randint(1, 2))
        return request(
            "ConsumerGroupHeartbeat",
            0,
            {
                **body,
                "memberEpoch": 0,
                "rebalanceTimeoutMs": 5000,
                "subscribedTopicNames": names,
                "topicPartitions": [],
            },
        )
    if rng.random() < 0.3:
        return request("ConsumerGroupHeartbeat", 0, {**body, "memberEpoch": -1})
    epoch, owned = known["memberEpoch"] + (rng.random() < 0.05), known["assigned"]
    return request("ConsumerGroupHeartbeat", 0, {**body, "memberEpoch": epoch, "topicPartitions": owned})
