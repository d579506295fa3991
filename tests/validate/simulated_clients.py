"""Schedules of clients on a simulated clock as the record that a proxy would have written of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "clients"))

from faulty import FAULTY

from coordinator.members.consumer import Member, Settings
from harness.clients.draw import TOPICS, draw
from harness.clients.front import GROUP
from harness.clients.simulated import simulate, topic_ids
from harness.clients.timeline import FIND, HEARTBEAT, Event
from harness.simulate.groups.parts import Consumer
from harness.targets.base import Json
from harness.targets.groups.python import PythonParts

PARTS = PythonParts()
HELLO: Json = {"op": "hello", "answer": {"name": "conform proxy", "dialect": "kip-848", "apis": {}}}
_TOPICS = [{"name": name, "id": one, "partitions": TOPICS[name] + 20} for one, name in topic_ids().items()]
LOAD: Json = {"op": "load", "records": [], "topics": _TOPICS, "volatile": {}, "answer": {}}


def made(name: str, consumer: Consumer) -> Member:
    """The member of a process; "reference" is the kit's own."""
    settings = Settings(
        consumer.group,
        instance_id=consumer.instance,
        auto_commit=consumer.auto_commit,
        max_poll_interval_ms=consumer.max_poll_ms,
    )
    kind = Member if name == "reference" else FAULTY[name][0]
    return kind(settings, consumer.member_id)


def recorded(name: str, seeds: Iterable[int], listener: int = 1) -> list[Json]:
    """A record of schedules, one after the other, each in a group that begins anew."""
    lines = [HELLO]
    for seed in seeds:
        setup, steps = draw(seed)
        _, timeline = simulate(PARTS, lambda consumer: made(name, consumer), setup, steps)
        lines += [LOAD, *_lines(timeline, seed * 1000, listener)]
    return lines


def _lines(timeline: list[Event], first: int, listener: int) -> Iterator[Json]:
    """The requests in their order. A connection ends with an answer that is lost, and with a process."""
    answers = {event.number: event.body for event in timeline if event.kind == "answer"}
    connection = first + 1
    for event in timeline:
        if (event.kind == "answer" and event.body is None) or (
            event.kind == "did" and (event.body or {})["do"] == "crash"
        ):
            connection += 1
        elif event.kind == "request" and event.api != FIND:
            assert event.body is not None
            answer = answers.get(event.number)
            yield {
                "op": "request",
                "api": event.api,
                "listener": listener,
                "connection": connection,
                "body": event.body,
                "answer": {} if answer is None else {"body": answer},
            }


def blind(lines: Iterable[Json]) -> list[Json]:
    """The lines of a log without connections."""
    return [{name: value for name, value in line.items() if name != "connection"} for line in lines]


def heartbeats(lines: Iterable[Json]) -> list[Json]:
    """The heartbeats of a record."""
    return [line for line in lines if line.get("api") == HEARTBEAT and line["body"]["groupId"] == GROUP]
