"""The variable `admission` (spec/Admission.tla): a coordinator that is not active, clients without rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.kinds.fields import Fields
from harness.kinds.rows import record_of
from harness.targets.base import Json

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
        """Part of the volatile state for `load`; {} for a coordinator that takes requests from all
        clients."""
        if self == ADMITS_ALL:
            return {}
        return {"coordinator": {"state": self.state, "denied": sorted(self.denied)}}


ADMITS_ALL: Final = Admission()


def admission_of(fields: Fields) -> Admission:
    """The variable in a trace. BadField if it is malformed."""
    return record_of(Admission).read(fields)
