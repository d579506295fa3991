"""Differences of a replay by their causes: one departure of a dialect, or one root, explains many of them.

A departure explains a step if an implementation with only this departure would have given the target's
answer, and would not differ in the same places after steps on which the target conforms. Other steps are
grouped by their root: the place, among those that differ after a step, from which the others follow. An error
follows from nothing, a target assignment from the group's epoch, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias

from harness.replay.compare import HARMLESS, Difference
from harness.replay.run import Failure
from harness.replay.signature import place
from harness.requirements import requirements
from harness.targets.base import Json
from harness.words import counted

Place: TypeAlias = tuple[str, int]
"""A step: its trace, and the index of the state after it."""

_ROOTS: Final = (
    r"operation ",
    r"response\.errorCode",
    r"fired",
    r"group\.members\[\]$",
    r"group\.members\[\]\.(subscribed|instanceId|rackId|serverAssignor|clientAssignors|rebalanceTimeoutMs)",
    r"group\.groupEpoch",
    r"group\.assignmentEpoch",
    r"group\.members\[\]\.target",
    r"group\.members\[\]\.(assigned|pendingRevocation)",
    r"response\.assignment",
    r"response\.memberEpoch",
    r"group\.members\[\]\.(memberEpoch|previousMemberEpoch)",
    r"response\.(?!heartbeatIntervalMs|throttleTimeMs|errorMessage)",
    r"group\.(?!timers)",
    r"group\.timers",
    r"",
)
"""Places; those from which others follow come first."""
_SERIOUS: Final = (
    r"group\.members\[\]\.(assigned|pendingRevocation)|response\.assignment\.assigned",
    r"operation |fired|group\.members\[\]$",
    r"response\.errorCode|.*[eE]poch",
    r"response\.assignment|group\.members\[\]\.target",
    r"response\.|group\.|completed",
    r"",
)
"""Places, the most serious first: owners, members, errors and epochs, the rest."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Differences with one cause. `departure` is "MetadataChange=at-once", or "" where no departure explains
    them; `what` is their root, or for a departure the root of each of its steps, and `requirements` are those
    of the roots. `labels` names the roots, each by its own step alone, so that a root has this name whatever
    else is replayed, and no other root has it. The shortest schedule is `step` of `trace`. `of_dialect` tells
    if the dialect that the target speaks has the departure."""

    departure: str
    what: str
    requirements: tuple[str, ...]
    differences: int
    steps: int
    signatures: tuple[str, ...]
    trace: str
    step: int
    of_dialect: bool = False
    labels: tuple[str, ...] = ()


def causes(
    failures: Sequence[Failure],
    explained: Mapping[Place, str] | None = None,
    declared: Container[str] = (),
) -> list[Cause]:
    """The causes of failures, the most serious first, those without a departure before the others.
    `explained` has the departures of steps, `declared` those of the target's dialect."""
    known = explained or {}
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        departure = known.get((failure.trace, failure.index), "")
        key = () if departure else (root(failure), _requirement(failure), *_states(failure))
        alike.setdefault((departure, *key), []).append(failure)
    made = [
        (_rank(same), _cause(departure, same, departure in declared if departure else False))
        for (departure, *_), same in alike.items()
    ]
    made.sort(
        key=lambda one: (
            bool(one[1].departure),
            one[1].of_dialect,
            one[0],
            -one[1].differences,
            one[1].what,
        )
    )
    return [cause for _, cause in made]


def root(failure: Failure) -> str:
    """The place from which the other differences of a step follow."""
    return _place(_first(failure))


def what(failure: Failure) -> str:
    """The root of a step's differences, in the name of its cause: with the group's states where these
    differ."""
    return " ".join(part for part in (root(failure), " -> ".join(_states(failure))) if part)


def label(failure: Failure) -> str:
    """The name of the root of a step's differences, with its requirement; it depends only on the step."""
    own = _requirement(failure)
    return f"{what(failure)} ({own})" if own else what(failure)


def root_signature(failure: Failure) -> str:
    """The signature of the difference from which the others follow, in the form of waivers."""
    return failure.signature(_first(failure))


def _first(failure: Failure) -> Difference:
    return min(failure.differences, key=lambda one: (_order(_ROOTS, _place(one)), _place(one)))


def _requirement(failure: Failure) -> str:
    """The requirement of the root; for a difference in the members that of the action: a time-out, a leave, a
    join."""
    of_action = requirements(failure.action, "", "")
    if root(failure) == "group.members[]" and of_action:
        return of_action[0]
    return failure.requirement(_first(failure))


def _states(failure: Failure) -> Sequence[str]:
    """The expected and the observed state of the group, where that is the root."""
    one = _first(failure)
    return (str(one.expected), str(one.got)) if one.path == "group.state" else ()


def places(failure: Failure) -> list[str]:
    """The places that differ after a step, without members and indices."""
    return list(dict.fromkeys(map(_place, failure.differences)))


def _place(one: Difference) -> str:
    return place(one.path, one.expected, one.got)


def _order(patterns: Sequence[str], where: str) -> int:
    if where in HARMLESS:
        return len(patterns)
    return next(number for number, pattern in enumerate(patterns) if re.match(pattern, where))


def _rank(failures: Sequence[Failure]) -> int:
    return min(_order(_SERIOUS, where) for failure in failures for where in places(failure))


def _cause(departure: str, failures: Sequence[Failure], of_dialect: bool) -> Cause:
    first = min(failures, key=lambda one: (one.index, one.trace))
    signatures = (failure.signature(one) for failure in failures for one in failure.differences)
    roots = {
        label(one): one for one in sorted(failures, key=lambda one: (_order(_ROOTS, root(one)), label(one)))
    }
    own = (_requirement(one) for one in roots.values())
    return Cause(
        departure,
        ", ".join(dict.fromkeys(map(what, roots.values()))),
        tuple(dict.fromkeys(filter(None, own))),
        sum(len(failure.differences) for failure in failures),
        len(failures),
        tuple(dict.fromkeys(signatures)),
        first.trace,
        first.index,
        of_dialect,
        tuple(roots),
    )


def shortest(one: Cause, failures: Sequence[Failure]) -> Failure:
    """The failure with the shortest schedule of a cause, which has its trace and step."""
    place = one.trace, one.step
    return next(each for each in failures if (each.trace, each.index) == place and label(each) in one.labels)


def to_json(by_cause: Sequence[Cause]) -> list[Json]:
    """The causes for `--json`, in this order."""
    return [asdict(one) for one in by_cause]


def from_json(raw: Sequence[Json]) -> list[Cause]:
    """Read causes from JSON. TypeError or KeyError for another form."""
    raw = [{"labels": (), **one} for one in raw]
    listed = ("requirements", "signatures", "labels")
    return [Cause(**{**one, **{name: tuple(one[name]) for name in listed}}) for one in raw]


def lines(by_cause: Sequence[Cause]) -> Iterator[str]:
    """One line for each cause."""
    for number, one in enumerate(by_cause, start=1):
        yield f"{number}. {sentence(one)}"


def departs(one: Cause) -> str:
    """The departure of a cause in words: one of the target's own, or one of its dialect."""
    return f"departs in {one.departure}" + (", which belongs to its dialect" if one.of_dialect else "")


def title(one: Cause) -> str:
    """The departure of a cause and its roots, or the root alone, each by its label."""
    roots = ", ".join(one.labels) or one.what
    return f"{departs(one)}, seen in {roots}" if one.departure else roots


def sentence(one: Cause) -> str:
    """A cause in words."""
    count = f"{counted(one.differences, 'difference')} in {counted(one.steps, 'step')}"
    return f"{title(one)}: {count}; shortest: step {one.step} of {one.trace}"
