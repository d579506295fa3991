"""The known kinds of groups. A new kind takes a folder beside this file, and a line here.

A kind of another package takes entry points in that package (`harness/plugins.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.classic.description import CLASSIC
from harness.kinds.connect.description import CONNECT
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.description import Kind
from harness.kinds.migration.description import MIGRATION
from harness.kinds.share.description import SHARE
from harness.plugins import kinds

_OWN: Final = (SHARE, CLASSIC, CONNECT, MIGRATION, CONSUMER)
KINDS: Final[tuple[Kind, ...]] = (*kinds(Kind, [kind.name for kind in _OWN]), *_OWN)
"""The kinds in order: a trace is of the first kind whose variables it has, as other kinds have those of a
consumer group, too."""

KIND_FOLDERS: Final = tuple(folder for kind in KINDS for folder in kind.traces)
"""Traces of other kinds of groups, or with assignors of clients, which a target need not have."""
TRACE_FOLDERS: Final = ("golden", "corpus", "members", "counterexamples", *KIND_FOLDERS)
"""The committed traces of the protocols' texts, in the folder of traces; those of a dialect are in dialects/,
and those of behaviour that only Kafka has in kafka/."""
UNIVERSAL: Final = CONSUMER
"""The kind that every target has, except those with only one other kind."""
APIS: Final = {kind.name: kind.apis for kind in KINDS}
"""By the name of each kind: its own requests, in the versions that traces use."""


def apis_of_others(own: Kind) -> frozenset[str]:
    """The requests that are of another kind of group alone."""
    return frozenset(api for kind in KINDS if kind is not own for api in kind.apis)


def kind_of(trace: Trace, name: str) -> Kind:
    """The kind of group of the trace in the file `name`. ConformError (exit 2) if there is none."""
    first = next((kind for kind in KINDS if kind.has(trace)), None)
    if first is None:
        CONSUMER.check(trace, name)
    return first or CONSUMER


def refuse_unreplayable(trace: Trace, name: str) -> None:
    """ConformError (exit 2) for a trace of a model that has no requests to replay."""
    for kind in KINDS:
        for variable, reason in kind.unreplayable.items():
            if variable in trace.variables:
                raise ConformError(f"The trace {name} {reason}")


def is_known(trace: Trace) -> bool:
    """Tell if the trace is of a group of any kind."""
    return any(kind.has(trace) for kind in KINDS)


def is_of_protocol(variables: Iterable[str]) -> bool:
    """Tell if a model with these variables is one of a group."""
    known = set(variables)
    return any({*kind.variables, *kind.beside} <= known for kind in KINDS)
