"""Actions of a coordinator that is not active, and of clients without rights, as calls (H5, D5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.kinds.consumer.state import SpecState
from harness.kinds.features.admin import Handler
from harness.kinds.features.admission_state import ACTIVATE, ACTIVE
from harness.replay.calls import Call, DenyRights, SetCoordinator


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
