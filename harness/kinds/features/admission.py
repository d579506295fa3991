"""A coordinator that is not active, and clients without rights (H5, D5): the variable `admission`
(spec/Admission.tla), and the handlers of its actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness.kinds.fields import Fields
from harness.kinds.rows import record_of
from harness.replay.calls import Call, DenyRights, SetCoordinator
from harness.targets.base import Json

if TYPE_CHECKING:
    from harness.kinds.consumer.state import SpecState
    from harness.kinds.features.admin import Handler

ACTIVE: Final = "active"
ACTIVATE: Final = "Activate"
"""The action of a coordinator that is active again: a fail-over (P2)."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The state of the coordinator, and the operations that no client may do."""

    state: str = ACTIVE
    denied: frozenset[str] = frozenset()

    @property
    def volatile(self) -> Json:
        """What `load` is told; {} of a coordinator that takes requests from everybody."""
        if self == ADMITS_ALL:
            return {}
        return {"coordinator": {"state": self.state, "denied": sorted(self.denied)}}


ADMITS_ALL: Final = Admission()


def admission_of(fields: Fields) -> Admission:
    """The variable as it is in a trace. BadField if it is none."""
    return record_of(Admission).read(fields)


def _deactivate(before: SpecState, after: SpecState) -> Call:
    """H5: the group, its topics and offsets stay as they are."""
    if after.admission.state == ACTIVE or before.key[:2] != after.key[:2]:
        raise ValueError("the coordinator is no longer active, but says that it is, or something changes")
    return SetCoordinator(after.admission.state)


def _activate(before: SpecState, after: SpecState) -> Call:
    """P2: a new coordinator, which was none before."""
    if before.admission.state == ACTIVE or after.admission.state != ACTIVE:
        raise ValueError(f"the coordinator becomes active, but was {before.admission.state} before")
    return SetCoordinator(ACTIVE)


def _change_rights(before: SpecState, after: SpecState) -> Call:
    """D5: nothing else changes."""
    if before.admission.state != after.admission.state or before.key[:2] != after.key[:2]:
        raise ValueError("rights change, but so does something else")
    return DenyRights(tuple(sorted(after.admission.denied)))


HANDLERS: Final[Mapping[str, Handler]] = {
    "Deactivate": _deactivate,
    ACTIVATE: _activate,
    "ChangeRights": _change_rights,
}
