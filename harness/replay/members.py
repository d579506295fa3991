"""Replaying client processes: the events of each in a trace, done to a member under test and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from harness.replay.compare import Difference
from harness.requirements import of_member
from harness.targets.base import Json
from harness.targets.members import Process, StartProcess

Does: TypeAlias = Literal[
    "start", "subscribe", "send", "receive", "lose", "finish_revocation", "leave", "end", "nothing"
]


class MemberStep(msgspec.Struct, frozen=True):
    """A step of one client.

    `index` is that of the state after it. `topics` are the subscription, `instance` is that of a static
    member (S1), `literal` the model's ReportsWhileRevoking, `answer` the response that arrives. `sends` is
    the request that must be sent, `after` the value that `Process.observe` must have then; None: not
    compared.
    """

    index: int
    action: str
    member: str
    does: Does
    topics: Sequence[str] = ()
    instance: str | None = None
    literal: bool = False
    answer: Json | None = None
    sends: Json | None = None
    after: Json | None = None

    def operation(self) -> Json:
        """The step in JSON, for reports."""
        given = {"topics": list(self.topics), "instance": self.instance, "answer": self.answer}
        return {"op": self.does, "member": self.member, **{name: it for name, it in given.items() if it}}


class MemberReplayer:
    """A replay of the members of traces. A member that differs once is not judged until its process starts
    again, since it cannot be put into the specification's state."""

    def __init__(self, start: StartProcess) -> None:
        self._start = start
        self.judged = 0
        self.requirements: Counter[str] = Counter()

    def replay(self, steps: Sequence[MemberStep]) -> Iterator[tuple[MemberStep, list[Difference]]]:
        """The steps of one trace that differ, with all differences of each."""
        processes: dict[str, Process] = {}
        for step in steps:
            if step.does == "start":
                processes[step.member] = self._start(step.member, step.instance, step.literal)
            process = processes.get(step.member)
            if process is None:
                continue
            self.judged += 1
            for name in of_member(step.does, step.answer):
                self.requirements[name] += 1
            differences = _judge(step, process)
            if differences or step.does in ("end", "leave"):
                del processes[step.member]
            if differences:
                yield step, differences


def _judge(step: MemberStep, process: Process) -> list[Difference]:
    sent = _take(step, process)
    different = []
    if step.sends is not None and sent is not None and sent != step.sends:
        # A field that is left out is null (or -1): the member may have fields that the specification has not.
        for name in [*step.sends, *(name for name in sent if name not in step.sends)]:
            expected, got = step.sends.get(name), sent.get(name)
            if expected != got:
                different.append(Difference(f"request.{name}", expected, got))
    if step.after is not None and (observed := process.observe()) != step.after:
        different += [
            Difference(f"member.{name}", value, observed.get(name))
            for name, value in step.after.items()
            if observed.get(name) != value
        ]
    return different


def _take(step: MemberStep, process: Process) -> Json | None:
    """Do the event; the request that the member sends."""
    match step.does:
        case "start" | "subscribe":
            process.subscribe(step.topics)
        case "send":
            return process.send()
        case "receive":
            process.receive(step.answer or {})
        case "lose":
            process.lose()
        case "finish_revocation":
            process.finish_revocation()
        case "leave":
            return process.leave(step.action == "LeaveTemporarily")
        case "end" | "nothing":
            pass
    return None
