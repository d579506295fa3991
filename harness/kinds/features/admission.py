"""Actions of a coordinator that is not active, and of clients without rights, as calls (H5, D5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.kinds.consumer.state import SpecState
from harness.kinds.features.admin import Handler
from harness.kinds.features.admission_state import ACTIVATE, ACTIVE
from harness.replay.calls import Call, DenyRights, SetCoordinator


def _check_still(before: SpecState, after: SpecState, what: str) -> None:
    """ValueError where the group, the topics or the offsets change."""
    if before.key[:2] != after.key[:2] or before.offsets != after.offsets:
        raise ValueError(f"{what}, but so does the group, a topic or an offset")


def _deactivate(before: SpecState, after: SpecState) -> Call:
    """H5: the group, its topics and offsets stay as they are."""
    if after.admission.state == ACTIVE:
        raise ValueError("the coordinator stops being active, but is active after the step")
    _check_still(before, after, "the coordinator stops being active")
    return SetCoordinator(after.admission.state)


def _activate(before: SpecState, after: SpecState) -> Call:
    """P2: a new coordinator, after a time without one."""
    was, state = before.admission.state, after.admission.state
    if was == ACTIVE or state != ACTIVE:
        raise ValueError(f"the coordinator becomes active, but is {was} before and {state} after the step")
    return SetCoordinator(ACTIVE)


def _change_rights(before: SpecState, after: SpecState) -> Call:
    """D5: nothing else changes."""
    if before.admission.state != after.admission.state:
        raise ValueError("rights change, but so does the state of the coordinator")
    _check_still(before, after, "rights change")
    return DenyRights(tuple(sorted(after.admission.denied)))


HANDLERS: Final[Mapping[str, Handler]] = {
    "Deactivate": _deactivate,
    ACTIVATE: _activate,
    "ChangeRights": _change_rights,
}
