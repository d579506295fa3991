"""A schedule once more on two targets, and the shortest one after which they differ in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.replay import wire
from harness.simulate import offsets
from harness.simulate.pair import Done, Pair
from harness.simulate.schedule import Schedule
from harness.simulate.shrink import shrink
from harness.targets.base import Answer, Json


class Repeated(NamedTuple):
    """The end of a schedule: operation `number` (from 1; 0 of none), the results of that operation in `done`,
    and the first target's group before it."""

    number: int
    done: Done
    before: Json


def repeat(pair: Pair, schedule: Schedule) -> Repeated:
    """Do a schedule again, until the targets differ, or a target is computed that is not scripted."""
    pair.start(schedule.settings)
    end = Repeated(0, Done(Answer(), [], "", False), {})
    for number, operation in enumerate(schedule.operations, start=1):
        end = Repeated(number, pair.do(operation), end.done.answer.group or end.before)
        if end.done.unscripted or end.done.differences:
            break
    return end


def shrunk(pair: Pair, schedule: Schedule, signature: str) -> Schedule:
    """The shortest schedule after which the targets differ in that way, and in the default configuration if
    they do so there, too."""

    def fails(operations: Sequence[Json], settings: Json = schedule.settings) -> bool:
        return signature in repeat(pair, Schedule(settings, tuple(legal(operations)))).done.signatures()

    plain = {**schedule.settings, **wire.DEFAULTS}
    settings = plain if fails(schedule.operations, plain) else schedule.settings
    kept_operations = shrink(schedule.operations, lambda kept: fails(kept, settings), without, simpler)
    return Schedule(settings, tuple(legal(kept_operations)))


def legal(operations: Sequence[Json]) -> list[Json]:
    """The operations, with only those partitions in scripts that exist at that time, of topics to which their
    members subscribe at that time (A4), and with commits and fetches of existing partitions: where earlier
    operations are left out, the original had more in them."""
    topics: dict[str, Json] = {}
    names: dict[str, Sequence[str]] = {}
    kept = []
    for operation in operations:
        if operation["op"] == "topics":
            topics = {name: one for name, one in topics.items() if name not in operation["delete"]}
            topics |= {one["name"]: one for one in operation["upsert"]}
        elif operation["op"] == "request" and operation["body"].get("subscribedTopicNames") is not None:
            names[operation.get("newId") or operation["body"]["memberId"]] = operation["body"][
                "subscribedTopicNames"
            ]
        ids = {one["id"]: (name, one["partitions"]) for name, one in topics.items()}
        if operation["op"] == "request" and offsets.is_drawn(operation):
            there = {(topic, index) for topic, (_, count) in ids.items() for index in range(count)}
            operation = offsets.of_those(operation, there)
        script = operation.get("script")
        if isinstance(script, dict):
            pruned = {member: _pruned(parts, ids, names.get(member, ())) for member, parts in script.items()}
            operation = operation if pruned == script else {**operation, "script": pruned}
        kept.append(operation)
    return kept


def _pruned(parts: Sequence[Json], topics: Mapping[str, tuple[str, int]], names: Sequence[str]) -> list[Json]:
    kept = []
    for part in parts:
        name, partitions = topics.get(part["topicId"], ("", 0))
        indexes = [index for index in part["partitions"] if index < partitions]
        if name in names and indexes:
            kept.append({"topicId": part["topicId"], "partitions": indexes})
    return kept


def without(operations: Sequence[Json], start: int, end: int) -> Iterator[list[Json]]:
    """Ways to leave out operations: unchanged otherwise; or with lower epochs in the later ones, as the
    group's epoch may have been bumped less often."""
    head, tail = list(operations[:start]), list(operations[end:])
    yield [*head, *tail]
    for less in range(1, min(end - start, 3) + 1):
        lowered = [_lowered(operation, less) for operation in tail]
        if lowered != tail:
            yield [*head, *lowered]


def _lowered(operation: Json, less: int) -> Json:
    if operation["op"] != "request":
        return operation
    name = offsets.EPOCH if offsets.is_drawn(operation) else "memberEpoch"
    epoch = operation["body"].get(name, 0)
    if epoch <= less:
        return operation
    return {**operation, "body": {**operation["body"], name: epoch - less}}


def simpler(operation: Json) -> Iterator[Json]:
    """Simpler operations that may replace an operation: with fewer fields, with fewer partitions."""
    match operation.get("script"):
        case str():
            yield {name: value for name, value in operation.items() if name != "script"}
        case dict(script):
            yield {name: value for name, value in operation.items() if name != "script"}
            for member, parts in script.items():
                yield {**operation, "script": {name: one for name, one in script.items() if name != member}}
                for left in range(len(parts)):
                    fewer = [*parts[:left], *parts[left + 1 :]]
                    yield {**operation, "script": {**script, member: fewer}}
    match operation:
        case {"op": "request"} if offsets.is_drawn(operation):
            every = offsets.partitions_of(operation)
            if len(every) > 1:
                yield from (offsets.of_those(operation, every - {one}) for one in sorted(every))
        case {"op": "request", "body": body}:
            for name in ("instanceId", "serverAssignor", "rackId", "subscribedTopicNames", "topicPartitions"):
                if body.get(name) is not None:
                    yield {**operation, "body": {**body, name: None}}
            for name in ("subscribedTopicNames", "topicPartitions"):
                if body.get(name):
                    yield {**operation, "body": {**body, name: []}}
                    for left in range(len(body[name])):
                        fewer = [*body[name][:left], *body[name][left + 1 :]]
                        yield {**operation, "body": {**body, name: fewer}}
        case {"op": "topics", "upsert": [topic]} if topic["partitions"] > 1:
            yield {**operation, "upsert": [{**topic, "partitions": topic["partitions"] - 1}]}
