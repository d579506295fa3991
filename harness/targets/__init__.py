"""Coordinators under test, by their names on the command line."""

from __future__ import annotations

from contextlib import closing
from importlib.metadata import EntryPoint
from typing import cast

from harness.dialect_name import base_of
from harness.errors import USAGE, ConformError, meant
from harness.plugins import TARGETS, bad, declared, loaded
from harness.replay.dialects import traces_of
from harness.targets.base import Target
from harness.targets.python import PythonTarget, spoken
from harness.targets.stdio import TIMEOUT_S, StdioTarget
from harness.targets.symbolic import SymbolicIds

KINDS = (
    "python (this repository's coordinator), stdio:COMMAND (a program that speaks the line protocol), "
    "tcp:HOST:PORT (a server that speaks it), "
    "kafka:VERSION (Kafka's own coordinator in a JVM), broker:HOST:PORT (a live broker), "
    "mock (librdkafka's mock cluster)"
)

_SAY = ("stdio", "tcp")
"""Kinds of targets that are programs of others, which choose their own dialect."""


def open_target(name: str, dialect: str = "kip-848", wait_s: float = 0) -> Target:
    """Start the target of that name; the caller closes it.

    `dialect` is the one that it must speak; a live broker waits `wait_s` seconds in all for timers.
    ConformError: exit 2 for an unknown name or dialect, 3 for a target that does not start.
    """
    return _with_ids(start_target(name, dialect, wait_s=wait_s))


def open_unchecked(name: str) -> Target:
    """Start a target without naming a dialect, to identify the dialect that it speaks."""
    return _with_ids(_started(name, own_dialect(name)))


def _with_ids(target: Target) -> Target:
    """The target with the operation `ids`; a target whose `hello` fails is closed."""
    try:
        return target if "ids" in target.hello().controls else SymbolicIds(target)
    except BaseException:
        target.close()
        raise


def own_dialect(name: str) -> str:
    """The dialect of a target, if its name decides it: `kafka:4.2.1` speaks kafka-4.2."""
    kind, _, version = name.partition(":")
    return f"kafka-{version.rpartition('.')[0]}" if kind == "kafka" else "kip-848"


def announced_dialect(name: str, timeout_s: float = TIMEOUT_S) -> str:
    """The dialect that a target's `hello` names, where a program decides that; else as `own_dialect`.

    ConformError as of `start_target`.
    """
    own = own_dialect(name)
    if name.partition(":")[0] not in _SAY:
        return own
    with closing(_started(name, own, timeout_s)) as target:
        return target.hello().dialect


def start_target(
    name: str, dialect: str = "kip-848", timeout_s: float | None = None, wait_s: float = 0
) -> Target:
    """Start a target with member ids that it makes itself; an answer of a program, or of a broker, may take
    `timeout_s` seconds, by default those of its kind.

    A dialect with departures is for a target that names them in `hello`, and for one that names only its
    base: a target need not know its departures.
    """
    dialect = spoken(dialect) if "," in dialect else dialect
    target = _started(name, dialect, timeout_s, wait_s)
    try:
        capabilities = target.hello()
        if capabilities.dialect not in (dialect, base_of(dialect)):
            raise ConformError(
                f"The target {name} speaks the dialect {capabilities.dialect!r}, not {dialect!r}: "
                f"give --dialect {capabilities.dialect}, or start one that speaks the other. The traces of "
                f"{base_of(capabilities.dialect)} are {' and '.join(traces_of(capabilities.dialect))}; on "
                "other traces each departure of its dialect is a difference.",
                USAGE,
            )
    except BaseException:
        target.close()
        raise
    return target


def _started(name: str, dialect: str, timeout_s: float | None = None, wait_s: float = 0) -> Target:
    kind, _, argument = name.partition(":")
    if wait_s and kind != "broker":
        raise ConformError(
            f"--wait is for broker: targets; the target {name} needs none: leave it out.", USAGE
        )
    if name == "python":
        return PythonTarget(dialect)
    if kind == "stdio" and argument.strip():
        return StdioTarget(argument, timeout_s or TIMEOUT_S)
    if kind == "tcp":
        from harness.targets.tcp import TcpTarget

        return TcpTarget(argument, timeout_s or TIMEOUT_S)
    if kind == "kafka":
        from harness.targets.kafka.target import kafka_target

        return kafka_target(argument)
    if kind == "broker":
        from harness.targets.broker.connection import TIMEOUT_S as BROKER_S
        from harness.targets.broker.target import BrokerTarget

        return BrokerTarget(argument, dialect, timeout_s=timeout_s or BROKER_S, wait_s=wait_s)
    if name == "mock":
        from harness.targets.broker.mock_target import MockTarget

        return MockTarget(dialect)
    points = declared(TARGETS)
    if kind in points:
        return _brought(points[kind], argument, dialect)
    others = f"; packages that are installed bring {', '.join(sorted(points))}" if points else ""
    known = ("python", "stdio", "tcp", "kafka", "broker", "mock", *points)
    hint = "" if kind in known else meant(kind, known)
    raise ConformError(f"There is no target {name!r}; there are {KINDS}{others}.{hint}", USAGE)


def _brought(point: EntryPoint, argument: str, dialect: str) -> Target:
    """The target of another package. ConformError (exit 3) if it fails, or returns another object."""
    factory = loaded(point)
    try:
        target = factory(argument, dialect)
    except ConformError:
        raise
    except Exception as error:  # code of another package, which may raise any exception
        raise bad(point, f"does not start: {type(error).__name__}: {error}") from error
    methods = [name for name in vars(Target) if not name.startswith("_")]
    if lacking := [name for name in methods if not hasattr(target, name)]:
        raise bad(point, f"gave no target: {type(target).__name__} lacks {', '.join(lacking)}")
    return cast(Target, target)
