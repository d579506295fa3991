"""The interface of every member under test: a consumer process on the other side of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from harness.targets.base import Json
from harness.targets.python_member import PythonProcess


class Process(Protocol):
    """A consumer process in the form of the closed model: one request in flight, callbacks that take no time,
    except that of a revocation, which goes on until its end is called.

    Bodies are those of ConsumerGroupHeartbeat.
    """

    def subscribe(self, topics: Sequence[str]) -> None:
        """Subscribe to these topic names: for the first time, or to other names than before."""

    def send(self) -> Json:
        """The heartbeat that is sent now, due or not; it is in flight from then on."""

    def receive(self, body: Json) -> None:
        """The answer to it arrives."""

    def lose(self) -> None:
        """Lose the message in flight: no answer will come; a request that is not in flight yet is sent in
        vain."""

    def finish_revocation(self) -> None:
        """The callback of the revocation ends (K2)."""

    def leave(self, temporarily: bool) -> Json:
        """Give up everything; the last heartbeat (H2)."""

    def observe(self) -> Json:
        """{"up": false after a fatal error, "epoch": member epoch, "owned": topic partitions that it uses or
        that its application has not given up, "mustRevoke": true if it was told to give up some of them}."""


StartProcess: TypeAlias = Callable[[str, str | None, bool], Process]
"""Start a process with a member id and the instance id of a static member (S1). The last argument tells if,
after a lost answer, it reports its owned partitions even while it must give up some of them (H7
literally)."""


def open_members(target: str) -> StartProcess | None:
    """The members that are tested with a target of that name: with `python`, this repository's."""
    return PythonProcess if target == "python" else None
