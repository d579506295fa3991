"""Findings on a target, as rows of tables and as JSON."""

from __future__ import annotations

from harness.doctor.examine import BUYS, NEEDS, Examined, Level
from harness.targets.base import Json


def to_json(examined: Examined) -> Json:
    """For `--json`."""
    above = _next(examined.level)
    return {
        "target": examined.target,
        "dialect": examined.dialect,
        "level": str(examined.level),
        "next_level": str(above) if above else None,
        "lacking": examined.lacking(above) if above else [],
        "died": examined.died,
        "operations": [
            {"operation": one.operation, "verdict": str(one.verdict), "message": one.message}
            for one in examined.findings
        ],
    }


def rows(examined: Examined) -> list[list[str]]:
    """Operation, verdict and sentence, for a table."""
    return [[one.operation, str(one.verdict), one.message] for one in examined.findings]


def levels(examined: Examined) -> list[list[str]]:
    """Each level, if it is reached, the tests of it and the operations that it lacks, for a table."""
    return [
        [str(level), "no" if lacking else "yes", f"{BUYS[level]}{lacking}"]
        for level in NEEDS
        for lacking in [_lacking(examined, level)]
    ]


def _lacking(examined: Examined, level: Level) -> str:
    lacking = [name for below in _up_to(level) for name in examined.lacking(below)]
    return f" It needs: {', '.join(lacking)}." if lacking else ""


def _up_to(level: Level) -> list[Level]:
    return list(NEEDS)[: list(NEEDS).index(level) + 1]


def _next(level: Level) -> Level | None:
    """The level above."""
    every = list(Level)
    return every[every.index(level) + 1] if level is not every[-1] else None
