"""What a sequence diagram shows of a target that a member computes: what it asks for, what it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.replay.state import SpecStep
from harness.report.sequence import Message
from harness.report.sequence_words import COORDINATOR, NOBODY, partitions

COMPUTING: Final = frozenset({"PrepareAssignment", "InstallAssignment"})
_GONE: Final = -1


def computing(index: int, step: SpecStep, call: Mapping[str, Any]) -> Iterator[Message]:
    """The request and its answer; `call` is what a Connect group's step has beside the step, if anything."""
    member, asks = step.member or NOBODY, step.action == "PrepareAssignment"
    label = f"prepare e{step.request.epoch}" if asks else "install"
    if call and not asks:
        label += f" e{call['groupEpoch']} {_given(call['target'])}"
    yield Message(index, member, COORDINATOR, label, "request")
    if step.response.error != "NONE":
        yield Message(index, COORDINATOR, member, step.response.error, "error")
        return
    answer = "prepared" if asks else "installed"
    if call and asks:
        lost = {
            one["worker"]: partitions(one["resources"]) for one in call["workers"] if one["epoch"] == _GONE
        }
        answer += "".join([f" e{call['groupEpoch']}", *(f", {who} lost {lost[who]}" for who in sorted(lost))])
    yield Message(index, COORDINATOR, member, answer, "answer")


def _given(target: Mapping[Any, str]) -> str:
    """Who is given what; () is a function without arguments."""
    owners = sorted({owner for owner in target.values() if owner}) if target else []
    given = [f"{owner} {partitions({one for one in target if target[one] == owner})}" for owner in owners]
    return ", ".join(given) or "nothing"
