"""Damaged schedules: the commands that take them play them or refuse them, and never end in a traceback."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from damage import NUMBERS, damaged, some
from hypothesis import given
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, USAGE
from harness.targets.base import Json

_TOPIC: Final = {"name": "foo", "id": "00000000-0000-4000-8000-0000000000f0", "partitions": 1}
_START: Final = {"do": "start", "who": "A", "group": "g", "topics": ["foo"]}
_BODY: Final = {
    **{"groupId": "g", "memberId": "m", "memberEpoch": 0, "instanceId": None, "rackId": None},
    **{"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []},
}
_CLIENT: Final = {"id": "client-m", "host": "/127.0.0.1", "principal": "User:m"}
SENDS: Final = ("send", "deliver", "answer", "poll", "send", "deliver", "lose", "leap")


def timed(*events: Json) -> list[Json]:
    """Events, one every 100 ms."""
    return [{"at": 100 * number, **event} for number, event in enumerate(events)]


def by(who: str) -> list[Json]:
    return [{"do": name, "who": who, **({"ms": 500} if name == "leap" else {})} for name in SENDS]


SCHEDULES: Final[Mapping[str, tuple[str, Any]]] = {
    "consumer groups": (
        "simulate --no-kept --replay",
        {
            "settings": {"kind": "consumer", "groups": ["g"]},
            "events": timed(
                {"do": "topic", **_TOPIC},
                {
                    "do": "start",
                    "who": "A",
                    "group": "g",
                    "topics": ["foo"],
                    "ownId": True,
                    "maxPollMs": 60_000,
                },
                *by("A"),
                {"do": "down", "how": "moved"},
                {"do": "fail-over"},
            ),
        },
    ),
    "classic groups": (
        "simulate --no-kept --replay",
        {
            "settings": {"kind": "classic", "groups": ["g"]},
            "events": timed(
                {"do": "topic", "name": "foo", "partitions": 1},
                {**_START, "configuration": "old"},
                *by("A"),
                {"do": "log", "fails": True},
                {"do": "log", "fails": False},
            ),
        },
    ),
    "two implementations": (
        "compare --no-kept --target python --against python --replay",
        {
            "settings": {"group.consumer.session.timeout.ms": 45_000},
            "operations": [
                {"op": "topics", "upsert": [_TOPIC], "delete": []},
                {"op": "request", "api": "ConsumerGroupHeartbeat", "client": _CLIENT, "body": _BODY},
                {"op": "advance", "ms": 50_000},
                {"op": "restart"},
            ],
        },
    ),
    "a client": (
        "client reference --findings",
        {
            **{"instance": None, "autoCommit": True},
            "schedule": [
                {"do": "start", "topics": ["foo"]},
                {"do": "wait", "ms": 1_000},
                {"do": "refuse", "error": 16, "times": 2},
                {"do": "lose", "what": "answer"},
                {"do": "close"},
            ],
        },
    ),
}
"""By the sender: the command, and its schedule."""


def code_of(command: str, file: Path) -> int:
    """The exit code of a command with a schedule. Any exception is raised again."""
    ended = CliRunner().invoke(app, [*command.split(), str(file)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code


@pytest.mark.parametrize("examples", NUMBERS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_damaged_schedules_are_played_or_refused(name: str, examples: int, tmp_path: Path) -> None:
    command, schedule = SCHEDULES[name]
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(schedule))
    assert code_of(command, file) == 0

    @some(examples)
    @given(damaged(json.dumps(schedule)))
    def plays(wrong: Any) -> None:
        file.write_text(json.dumps(wrong))
        assert code_of(command, file) in (0, USAGE, NOT_CONFORMANT, ENGINE_FAILED)

    plays()
