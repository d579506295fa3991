"""The golden traces of consumer groups on targets that can do a part of everything."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from partial_target import target

from harness.itf import Trace, read_trace
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.registry import kind_of
from harness.replay.files import replay_files, trace_files
from harness.replay.run import Replayed

GOLDEN = Path(__file__).parent.parent.parent / "traces" / "golden"
BLACK_BOX = ["topics", "fresh"]
OBSERVABLE = [*BLACK_BOX, "describe"]


def of_consumers(trace: Trace) -> bool:
    return kind_of(trace, "The trace") is CONSUMER


@cache
def golden() -> list[Path]:
    servers = [path for path in trace_files([GOLDEN]) if path.parent.name != "client"]
    return [path for path in servers if of_consumers(read_trace(path))]


def on_golden(**options: Any) -> Replayed:
    return replay_files(golden(), target(**options), max_differences=1000)
