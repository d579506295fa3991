"""Agents of clients run over sockets: what the tests of several clients share."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from harness.clients.judge import Judged
from harness.clients.timeline import Setup
from harness.clients.wired import WiredRun
from harness.targets.base import Json
from harness.targets.groups.served import ServedCoordinator

ROOT = Path(__file__).parents[2]
MEMBER = [sys.executable, "-m", "harness.targets.groups.member_agent"]
LIBRDKAFKA = [sys.executable, str(ROOT / "examples/clients/librdkafka.py")]
AT_A_TIME = 8

WAIT: Json = {"do": "wait", "ms": 2500}
JOINED: list[Json] = [{"do": "start", "topics": ["bar", "foo"]}, WAIT, {"do": "release"}, WAIT]
REMOVED: list[Json] = [*JOINED, {"do": "remove"}, WAIT, {"do": "release"}]
LOADING: list[Json] = [*JOINED, {"do": "refuse", "error": 14}, WAIT]
STALE: list[Json] = [*JOINED, {"do": "stale"}, {"do": "consume"}, {"do": "commit"}, WAIT]
LOST_AT_ONCE: list[Json] = [*JOINED[:2], {"do": "remove"}, WAIT, {"do": "release"}, WAIT, WAIT, WAIT, WAIT]
"""The member is removed while `assigned` runs; then `lost` runs for longer than the window of a fetch."""
UNRELEASED: list[Json] = [{"do": "unreleased"}, JOINED[0], WAIT]
STATIC = Setup(instance="i")


def played(*runs: tuple[list[str], Setup, list[Json]]) -> list[Judged]:
    """Judge runs of agents, some at a time."""

    async def all_of_them() -> list[Judged]:
        places = asyncio.Semaphore(AT_A_TIME)

        async def one(command: list[str], setup: Setup, steps: list[Json]) -> Judged:
            async with places:
                return await WiredRun(ServedCoordinator, command, setup).run(steps)

        tasks = [asyncio.create_task(one(*run)) for run in runs]
        try:
            return await asyncio.gather(*tasks)
        finally:  # `asyncio.run` would also cancel tasks inside a process that starts, which then never ends
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(all_of_them())
