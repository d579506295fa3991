"""Requirements that a step exercises: by its error, its branch and its action."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from harness.kinds.registry import KINDS

BY_ERROR: Final = {
    "INVALID_REQUEST": ("H3",),
    "UNSUPPORTED_ASSIGNOR": ("H4",),
    "UNKNOWN_MEMBER_ID": ("H5",),
    "FENCED_MEMBER_EPOCH": ("H5",),
    "UNRELEASED_INSTANCE_ID": ("S2", "H5"),
    "GROUP_MAX_SIZE_REACHED": ("H5",),
    "INVALID_ASSIGNMENT": ("A7",),
    "GROUP_AUTHORIZATION_FAILED": ("H5", "D5"),
    "COORDINATOR_LOAD_IN_PROGRESS": ("H5",),
    "COORDINATOR_NOT_AVAILABLE": ("H5",),
    "NOT_COORDINATOR": ("H5",),
}
"""Errors of a heartbeat."""

NOT_ADMITTED: Final = "not-admitted"
"""The branch of a request that is refused before its group is read (spec/Admission.tla)."""

BY_BRANCH: Final = {
    "advance": ("R6", "E3"),
    "assign": ("R3", "R5"),
    "revoke": ("R1", "R5"),
    "revoking": ("R1",),
    "narrow": ("R1",),
    "acknowledge": ("R2", "R3"),
    "acknowledge-revoke": ("R2", "R1"),
    "stable": ("R6", "R5"),
    "retry": ("H6",),
    "leave": ("H2",),
    "away": ("S1", "H2"),
    "return": ("S1",),
    "fenced": ("H5",),
    "unknown": ("H5",),
    "invalid": ("H3",),
    "unsupported": ("H4",),
    "unreleased": ("S2",),
    "full": ("H5",),
    NOT_ADMITTED: ("H5",),
}
"""The ways of a heartbeat (BranchOf in spec/Coordinator.tla)."""

BY_ACTION: Final = {
    "Join": ("H1", "E1"),
    "Rejoin": ("H1",),
    "Return": ("S1",),
    "Heartbeat": ("E4",),
    "Leave": ("H2", "E1"),
    "LeaveTemporarily": ("S1",),
    "SessionTimeout": ("H8",),
    "RebalanceTimeout": ("R4",),
    "CreateTopic": ("E1",),
    "AddPartitions": ("E1",),
    "DeleteTopic": ("E1", "T2"),
    "DeleteGroup": ("E5",),
    "FailOver": ("P2",),
    "OffsetCommit": ("O1", "O2"),
    "OffsetFetch": ("O1", "O4"),
    "ListGroups": ("D1",),
    "DeleteGroups": ("D1",),
    "AlterConfigs": ("D1", "D3"),
    "DescribeConfigs": ("D1",),
    "PrepareAssignment": ("A5", "A9"),
    "InstallAssignment": ("A7", "A6"),
    "ComputationTimeout": ("A5",),
    "Deactivate": ("H5",),
    "Activate": ("P2", "H5"),
    "ChangeRights": ("D5", "H5"),
}
"""The requirements that every step of an action exercises."""

_OFFSETS: Final = ("OffsetCommit", "OffsetFetch")


def requirements(action: str, branch: str, error: str) -> tuple[str, ...]:
    """The requirements of a step, the most specific first."""
    if action in _OFFSETS and branch != NOT_ADMITTED:
        fenced = error in ("UNKNOWN_MEMBER_ID", "STALE_MEMBER_EPOCH")
        return BY_ACTION[action][::-1] if fenced else BY_ACTION[action]
    for kind in reversed(KINDS):
        if own := kind.exercised(action, branch, error):
            return own
    names = (*BY_ERROR.get(error, ()), *BY_BRANCH.get(branch, ()), *BY_ACTION.get(action, ()))
    return tuple(dict.fromkeys(names))


@cache
def sentences() -> Mapping[str, str]:
    """The sentence of each requirement, by its ID (`harness.requirement_page` makes the file)."""
    table: dict[str, str] = json.loads(
        Path(__file__).with_name("requirements.json").read_text(encoding="utf-8")
    )
    return table


_OF_MEMBER: Final = {"send": ("H7",), "lose": ("H7",), "finish_revocation": ("K2",)}


def of_member(does: str, answer: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The requirements of a step of a client process (`harness.replay.members.MemberStep`)."""
    if answer is None:
        return _OF_MEMBER.get(does, ())
    if answer["errorCode"]:
        return ("K1",)
    return ("K2", "K3") if answer["assignment"] else ()


def broken(action: str, branch: str, error: str, paths: list[str]) -> str:
    """The requirement that differences at these places break."""
    if paths and all(path.startswith("record") for path in paths):
        return "P1"
    if paths and all(".timers" in path for path in paths):
        return "H8" if any("session" in path for path in paths) else "R4"
    if error == "NONE" and any(path.endswith("pendingTopicPartitions") for path in paths):
        return "R3"  # partitions that others have not released, in any branch
    return next(iter(requirements(action, branch, error)), "")
