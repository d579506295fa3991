"""Events, requests and answers in a few words, for reports and sequence diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.replay import wire
from harness.simulate.groups.computed import INSTALL, PREPARE
from harness.simulate.groups.parts import RequestView
from harness.targets.base import Json

_EPOCHS: Final = {0: "join", -1: "leave", -2: "leave for a while"}
_Topics = Mapping[str, tuple[str, int]]


def _listed(value: object) -> object:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else value


def in_words(event: Json) -> str:
    """An event without its time and its process: "start group=g topics=[foo]"."""
    parts = [
        f"{name}={_listed(value)}"
        for name, value in event.items()
        if value
        and name not in ("at", "do", "who", "id", "maxPollMs")
        and (name, value) != ("permille", 1000)
    ]
    return " ".join([event["do"].replace("-", " "), *parts])


def of_request(request: RequestView, topics: _Topics) -> str:
    """ "heartbeat, epoch 3, owns foo-0"."""
    body = request.body
    if request.api == "ConsumerGroupHeartbeat":
        epoch = body["memberEpoch"]
        words = [_EPOCHS.get(epoch, f"heartbeat, epoch {epoch}")]
        if body["subscribedTopicNames"] is not None:
            names = [*body["subscribedTopicNames"], *filter(None, [body["subscribedTopicRegex"]])]
            words.append(f"subscribes to {' '.join(names) or 'nothing'}")
        if epoch > 0 and body["topicPartitions"] is not None:
            words.append(f"owns {_partitions(body['topicPartitions'], 'partitions', topics)}")
        return ", ".join(words)
    if request.api == "OffsetCommit":
        offsets = [
            f"{_name(topic['topicId'], topics)}-{one['partitionIndex']}: {one['committedOffset']}"
            for topic in body["topics"]
            for one in topic["partitions"]
        ]
        return f"commit, epoch {body['generationIdOrMemberEpoch']}, {', '.join(offsets)}"
    if request.api == "OffsetFetch":
        partitions = _partitions(body["groups"][0]["topics"], "partitionIndexes", topics)
        return f"fetch offsets, epoch {body['generationIdOrMemberEpoch']}, {partitions}"
    if request.api == PREPARE:
        return "prepare"
    if request.api == INSTALL:
        return f"install, epoch {body['groupEpoch']}" + (", the assignor failed" if body["error"] else "")
    return "find the coordinator"


def of_answer(body: Json, topics: _Topics) -> str:
    """ "epoch 3, assigned foo-0"."""
    if "memberEpoch" in body:
        if body["errorCode"]:
            return error_name(body["errorCode"])
        words = [f"epoch {body['memberEpoch']}"]
        if body["assignment"] is not None:
            partitions = _partitions(body["assignment"]["assignedTopicPartitions"], "partitions", topics)
            words.append(f"assigned {partitions}")
        return ", ".join(words)
    if "coordinators" in body:
        code = body["coordinators"][0]["errorCode"]
        return error_name(code) if code else "the coordinator"
    if "groups" in body:
        code = body["groups"][0]["errorCode"]
        return error_name(code) if code else "offsets"
    if "topics" not in body or "assignorName" in body:
        return error_name(body["errorCode"]) if body["errorCode"] else "done"
    codes = {one["errorCode"] for topic in body.get("topics", ()) for one in topic["partitions"]}
    return ", ".join(sorted(error_name(code) for code in codes - {0})) or "done"


def error_name(code: int) -> str:
    """Kafka's name of an error code."""
    return wire.ERROR_NAMES.get(code, f"error {code}")


def _partitions(parts: Sequence[Json], indexes: str, topics: _Topics) -> str:
    named = [f"{_name(part['topicId'], topics)}-{index}" for part in parts for index in part[indexes]]
    return " ".join(named) or "nothing"


def _name(topic_id: str, topics: _Topics) -> str:
    return next((name for name, (known, _) in topics.items() if known == topic_id), topic_id[-4:])
