"""Clients in this process that `conform client` can judge: the reference member and subclasses of it."""

from __future__ import annotations

import importlib
import os
import sys

from coordinator.members.consumer import Member, Settings
from harness.errors import ConformError, meant
from harness.simulate.groups.parts import Consumer, Machine
from harness.targets.groups.python import PythonParts


class ClientParts(PythonParts):
    """The parts of a simulation, with members of a class."""

    def __init__(self, made: type[Member]) -> None:
        self._made = made

    def member(self, consumer: Consumer) -> Machine:
        """A consumer before its first subscription."""
        settings = Settings(
            consumer.group,
            instance_id=consumer.instance,
            max_poll_interval_ms=consumer.max_poll_ms,
            auto_commit=consumer.auto_commit,
        )
        return self._made(settings, consumer.member_id)


def client_parts(name: str) -> ClientParts:
    """The client `reference`, or MODULE:CLASS; modules of the current folder are found.

    ConformError for an unknown client.
    """
    if name == "reference":
        return ClientParts(Member)
    module, colon, made = name.partition(":")
    if not colon:
        hint = meant(name, ["reference"])
        raise ConformError(f"There is no client {name!r}. Name `reference`, or MODULE:CLASS.{hint}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        there = importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise ConformError(f"The client {name} cannot be imported: {error}.") from None
    make = getattr(there, made, None)
    if make is None:
        raise ConformError(f"The module {module} has no class {made!r}.{meant(made, dir(there))}")
    if not (isinstance(make, type) and issubclass(make, Member)):
        raise ConformError(f"{name} is no subclass of coordinator.members.consumer.Member.")
    return ClientParts(make)
