"""Groups that migrate: classic or consumer groups by turns (spec/OpenMigration.tla), described."""

from typing import Final

from harness.kinds.classic.description import REQUIREMENTS
from harness.kinds.description import Kind

UPGRADE: Final = "upgrade"
DOWNGRADE: Final = "downgrade"
"""The branches of steps that convert a group."""
_CONVERSIONS: Final = {UPGRADE: ("M1", "M3"), DOWNGRADE: ("M1",)}
_MIXED: Final = "mixed"
"""The beginning of the branches of requests of the classic protocol to a consumer group."""


def _exercised(action: str, branch: str, error: str) -> tuple[str, ...]:
    if branch in _CONVERSIONS:
        return _CONVERSIONS[branch]
    return ("M2", "M3") if branch.startswith(_MIXED) and action in REQUIREMENTS else ()


MIGRATION: Final = Kind(
    name="migration",
    adjective="migrating",
    variables=("consumer", "classic", "classicStep", "phase", "words", "converted"),
    kept=("consumer", "classic", "phase", "words"),
    api="JoinGroup",
    traces=("migration",),
    exercised=_exercised,
    unreplayable={
        "mixed": (
            "is of spec/ClosedMigration.tla, which has the classic protocol in a short form without "
            "requests, so that nothing of it can be sent to an implementation. The traces in "
            "traces/migration have the requests of groups that migrate."
        )
    },
)
