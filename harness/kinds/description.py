"""The description of a kind of group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from frozendict import frozendict

from harness.errors import ConformError
from harness.itf import Trace

COMMON: Final = ("group", "topics", "offsets", "configs")
"""The variables in which the coordinator keeps the state that most kinds of groups have."""

Exercised: TypeAlias = Callable[[str, str, str], tuple[str, ...]]
"""A function from the action, the branch and the error of a step to the requirements that the step exercises,
the most important first; none where the kind has no requirement of its own for the step."""


def _nothing(action: str, branch: str, error: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Kind:
    """A kind of group, as the specification, the wire and people know it.

    `adjective` is the word before "group". A trace is of this kind if it has all `variables`, and the field
    `group_field`, if there is one, in its variable `group`. The coordinator keeps its state in COMMON and in
    `kept`, as far as a model has these variables. Without `api` a target has no groups of the kind; "" is for
    a kind that every target has. `apis` are the requests of this kind alone, in the versions that traces use;
    `traces` the folders of its committed traces, of KIP-848's text; `beside` further variables by which a
    model of the kind is known where no state is at hand. `unreplayable` has variables of models whose traces
    cannot be replayed, with the reason. Traces of a kind that is `retold` can be printed as scenarios.
    `exercised` gives the requirements of steps that are about this kind alone. A kind that consists of others
    stands after them in the registry, and is tried before them. A target may declare that it shows only the
    state of groups of a kind with `unshown` configurations: then these do not show where it has no clock
    either. `stage` is the module with which whole groups of the kind are simulated
    (harness/simulate/stage.py).
    """

    name: str
    adjective: str
    variables: tuple[str, ...]
    api: str
    kept: tuple[str, ...]
    apis: Mapping[str, int] = field(default_factory=dict)
    traces: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    group_field: str = ""
    unreplayable: Mapping[str, str] = field(default_factory=dict)
    retold: bool = False
    exercised: Exercised = _nothing
    unshown: tuple[str, ...] = ()
    stage: str = ""

    def has(self, trace: Trace) -> bool:
        """Tell if the trace is of a group of this kind."""
        if not set(self.variables) <= set(trace.variables):
            return False
        if not self.group_field:
            return True
        group = trace.states[0].get("group") if trace.states else None
        return isinstance(group, frozendict) and self.group_field in group

    def check(self, trace: Trace, name: str) -> None:
        """ConformError (exit 2) if the trace in the file `name` lacks a variable."""
        if missing := [variable for variable in self.variables if variable not in trace.variables]:
            raise ConformError(
                f'{name} has no variable "{missing[0]}", so it is not a trace of the group protocol: '
                f"its variables are {', '.join(trace.variables)}."
            )
