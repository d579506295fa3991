"""The small conversations with targets that have groups of one other kind and no consumer groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.doctor.talk import Talk
from harness.kinds.classic.conversation import request
from harness.kinds.classic.description import CLASSIC
from harness.kinds.description import Kind
from harness.kinds.registry import KINDS, UNIVERSAL
from harness.replay import wire
from harness.targets.base import Capabilities

CONVERSATIONS: Final[Mapping[str, Callable[[Talk], str]]] = {CLASSIC.name: request}
"""By the name of the kind: a check of the doctor, which raises `Wrong` and reports its observation in a
sentence."""
TALKING: Final = tuple(kind for kind in KINDS if kind.name in CONVERSATIONS)
"""The kinds with a conversation."""


def only_kind(known: Capabilities) -> Kind | None:
    """The only kind of group of a target without consumer groups, if it has a conversation."""
    served = wire.served(known)
    if UNIVERSAL.apis.keys() <= served:
        return None
    return next((kind for kind in TALKING if kind.apis.keys() <= served), None)
