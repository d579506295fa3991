"""In a sequence diagram: a member that computes the target of its group (A5), or a worker (W1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.kinds.consumer.state import SpecStep
from harness.report.sequence import Message
from harness.report.sequence_words import COORDINATOR, partitions
from harness.values import State, as_function

REQUESTS: Final = frozenset({"PrepareAssignment", "InstallAssignment"})
_BESIDE: Final = ("clientStep", "call")
"""The variables in which the models of client-side assignors and of Connect have the content of these
requests."""
_COMPUTATION: Final = ("computation", "work")
"""The variables with the computing member."""
_GONE: Final = -1
"""The epoch of a worker that is listed only for its lost work."""


def messages(index: int, member: str, step: SpecStep, before: State, after: State) -> Iterator[Message]:
    """Such a request and its answer."""
    yield Message(index, member, COORDINATOR, _request(step, after), "request")
    error = step.response.error
    if error != "NONE":
        yield Message(index, COORDINATOR, member, error, "error")
    elif step.action == "PrepareAssignment":
        yield Message(index, COORDINATOR, member, f"group e{_prepared(after)}{_lost(after)}", "answer")
    else:
        yield Message(index, COORDINATOR, member, "installed", "answer")


def answer_words(state: State) -> str:
    """Further words for the answer to a heartbeat."""
    return ", compute" if _one(state, _BESIDE).get("compute") else ""


def changes(before: State | None, after: State) -> Iterator[str]:
    """The member that computes, where it changes."""
    now = computes(after)
    if now != (computes(before) if before is not None else ""):
        yield now or "nobody computes"


def computes(state: State) -> str:
    """The member that computes the due target, and its input; "" for none."""
    chosen = _one(state, _COMPUTATION).get("chosen")
    group: Mapping[str, Any] = as_function(state["group"])
    if not chosen or group["epoch"] == group["assignmentEpoch"]:
        return ""
    epoch = _prepared(state)
    return f"{chosen} computes" + (f", prepared group e{epoch}" if epoch else "")


def _prepared(state: State) -> int:
    """The group epoch that was prepared; 0 for none."""
    computation = _one(state, _COMPUTATION)
    if "base" in computation:
        return int(computation["base"]["epoch"])
    return max((int(one["epoch"]) for one in computation.get("prepared", ())), default=0)


def _lost(after: State) -> str:
    """The partitions of workers that are gone, which wait to be assigned again (W2)."""
    workers = _one(after, _BESIDE).get("workers", ())
    gone = {one["worker"]: partitions(one["resources"]) for one in workers if one["epoch"] == _GONE}
    return "".join(f", {worker} lost {gone[worker]}" for worker in sorted(gone))


def _request(step: SpecStep, after: State) -> str:
    if step.action == "PrepareAssignment":
        return f"prepare e{step.request.epoch}"
    carried = _one(after, _BESIDE)
    words = f"install e{step.request.epoch}, group e{carried['groupEpoch']}"
    if carried.get("error"):
        return f"{words}: error {carried['error']}"
    if "assignment" in carried:
        pairs = list(carried["assignment"])
    else:
        pairs = [(owner, one) for one, owner in as_function(carried["target"]).items() if owner]
    owners: dict[str, list[Any]] = {}
    for owner, partition in pairs:
        owners.setdefault(owner, []).append(partition)
    given = [f"{owner} {partitions(owners[owner])}" for owner in sorted(owners)]
    return f"{words}: {', '.join(given) or 'nothing'}"


def _one(state: State, names: tuple[str, ...]) -> Mapping[str, Any]:
    value: Any = next((state[name] for name in names if name in state), {})
    return as_function(value) if value else {}
