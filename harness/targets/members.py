"""The interface of every member under test: a consumer process on the other side of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from harness.targets.base import Json
from harness.targets.python_member import PythonProcess


class Process(Protocol):
    """A consumer process, as the closed model has it: one request in flight, callbacks that take no time,
    but for the one of a revocation, which goes on until it is said to end.

    Bodies are those of ConsumerGroupHeartbeat.
    """

    def subscribe(self, topics: Sequence[str]) -> None:
        """Subscribe to these topic names: for the first time, or to others than before."""

    def send(self) -> Json:
        """The heartbeat that is sent now, whenever it is due; it is in flight from then on."""

    def receive(self, body: Json) -> None:
        """The answer to it arrives."""

    def lose(self) -> None:
        """No answer to what is in flight will come; what is not in flight yet is sent in vain."""

    def finish_revocation(self) -> None:
        """The callback of the revocation ends (K2)."""

    def leave(self, temporarily: bool) -> Json:
        """Give up everything; the last heartbeat (H2)."""

    def observe(self) -> Json:
        """{"up": has it not failed, "epoch": member epoch, "owned": topic partitions that it uses or that
        its application has not given up, "mustRevoke": was it told to give up some of them}."""


StartProcess: TypeAlias = Callable[[str, str | None, bool], Process]
"""Start a process with a member id and the instance id of a static member (S1). The last says whether, after
a lost answer, it reports what it owns even while it must give up some of it (H7 literally)."""


def open_members(target: str) -> StartProcess | None:
    """The members that are tested with a target of that name: with `python`, this repository's."""
    return PythonProcess if target == "python" else None
