"""Coverage of the protocol by all replays together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.kinds.decoders import COUNTED
from harness.report.readers.replay import Replay

BRANCHES: Final = (
    *("advance", "assign", "revoke", "revoking", "narrow", "acknowledge", "acknowledge-revoke", "stable"),
    *("retry", "fenced", "unknown", "leave", "away", "return"),
    *("invalid", "unsupported", "unreleased", "full", "not-admitted"),
)
"""The ways of a request (BranchOf in spec/Coordinator.tla, RefusedHeartbeat in Admission.tla)."""
ERRORS: Final = (
    *("NONE", "UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "INVALID_REQUEST", "UNSUPPORTED_ASSIGNOR"),
    *("UNRELEASED_INSTANCE_ID", "GROUP_MAX_SIZE_REACHED", "STALE_MEMBER_EPOCH", "UNKNOWN_TOPIC_ID"),
    *("UNKNOWN_TOPIC_OR_PARTITION", "INVALID_ASSIGNMENT", "GROUP_AUTHORIZATION_FAILED"),
    *("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"),
)
"""The error codes of the specification's responses in the dialect kip-848 (H3, H4, H5, O1, O2, A7)."""


@dataclass(frozen=True)
class Counted:
    """Counts of each name that was reached, and the names that should have been reached and were not."""

    title: str
    counts: Counter[str]
    unreached: Sequence[str]
    reached: int
    total: int

    def ordered(self) -> list[tuple[str, int]]:
        """The counts, the most frequent first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))


def coverage(replays: Iterable[Replay]) -> list[Counted]:
    """Actions, branches and error codes of the judged steps of all replays."""
    sums: dict[str, Counter[str]] = {"actions": Counter(), "branches": Counter(), "errors": Counter()}
    for replay in replays:
        for name, counts in sums.items():
            counts.update(getattr(replay.coverage, name))
    branches = {branch.partition("/")[2] for branch in sums["branches"]}
    return [
        _counted("actions", sums["actions"], sorted(COUNTED), set(sums["actions"])),
        _counted("branches", sums["branches"], BRANCHES, branches),
        _counted("error codes", sums["errors"], ERRORS, set(sums["errors"])),
    ]


def _counted(title: str, counts: Counter[str], expected: Sequence[str], reached: set[str]) -> Counted:
    unreached = [name for name in expected if name not in reached]
    return Counted(title, counts, unreached, len(expected) - len(unreached), len(expected))
