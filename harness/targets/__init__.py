"""Coordinators under test, by the names that the command line uses."""

from __future__ import annotations

from harness.errors import USAGE, ConformError
from harness.targets.base import Target
from harness.targets.python import PythonTarget
from harness.targets.stdio import StdioTarget
from harness.targets.symbolic import SymbolicIds

KINDS = "python (this repository's coordinator), stdio:COMMAND (a program that speaks the line protocol)"


def open_target(name: str, dialect: str = "kip-848") -> Target:
    """Start the target of that name; the caller closes it.

    `dialect` is what it must speak. ConformError: exit 2 for a name or dialect that there is not, 3 for a
    target that does not start.
    """
    target = _started(name, dialect)
    try:
        capabilities = target.hello()
        if capabilities.dialect != dialect:
            raise ConformError(
                f"The target {name} speaks the dialect {capabilities.dialect!r}, not {dialect!r}: "
                "start it with that one, or give the other to --dialect.",
                USAGE,
            )
    except ConformError:
        target.close()
        raise
    return target if "ids" in capabilities.controls else SymbolicIds(target)


def _started(name: str, dialect: str) -> Target:
    kind, _, argument = name.partition(":")
    if name == "python":
        return PythonTarget(dialect)
    if kind == "stdio" and argument.strip():
        return StdioTarget(argument)
    raise ConformError(f"There is no target {name!r}; there are {KINDS}.", USAGE)
