"""The requirement of the field that differs, where `harness.requirements` has those of the step."""

from __future__ import annotations

import re
from typing import Any, Final

from harness.replay.compare import Difference
from harness.replay.rules import Rule
from harness.replay.signature import place
from harness.replay.wire import ERROR_CODES
from harness.requirements import BY_ERROR, requirements
from harness.targets.base import Json

_OF_FIELD: Final = tuple(
    (re.compile(pattern), requirement)
    for pattern, requirement in (
        (r"group\.groupEpoch|group\.metadata", "E1"),
        (r"group\.assignmentEpoch|scripted target used", "E2"),
        (r"group\.state", "E5"),
        (r"group\.configs", "D1"),
        (r".*\[session[] ]", "H8"),
        (r".*\[rebalance[] ]", "R4"),
        (r"record", "P1"),
        (r"response\.memberId", "H1"),
        (r"response\.memberEpoch", "E3"),
        (r"response\.(heartbeatIntervalMs|throttleTimeMs|errorMessage)", "H9"),
        (r"response\.shouldComputeAssignment", "A5"),
        (r"response\.assignment\.(assigned|pending)TopicPartitions", "R3"),
        (r"response\.assignment\Z", "R5"),
        (r"response\.assignment\.(error|metadata)", "A7"),
        (r"group\.members(\[\]|\Z| in this order)\Z", "H1"),
        (r"group\.members\[\]\.memberEpoch", "E3"),
        (r"group\.members\[\]\.previousMemberEpoch", "H6"),
        (r"group\.members\[\]\.(assigned|state)", "R3"),
        (r"group\.members\[\]\.pendingRevocation", "R1"),
        (r"group\.members\[\]\.acknowledged", "R5"),
        (r"group\.members\[\]\.targetError", "A7"),
        (r"group\.members\[\]\.target", "A3"),
        (r"group\.members\[\]\.instanceId", "S1"),
        (r"group\.members\[\]\.subscribedTopicRegex", "T1"),
        (r"group\.members\[\]\.(serverAssignor|clientAssignors)", "A1"),
        (r"group\.members\[\]\.(subscribedTopicNames|rebalanceTimeoutMs|rackId|client)", "H10"),
    )
)
"""The requirement of each field of a consumer group, of a heartbeat's response and of the log."""
_OTHER_SIDE: Final = {
    "group.members[].serverAssignor": "clientAssignors",
    "group.members[].clientAssignors": "serverAssignor",
}
"""The field of a request that replaces a member's assignors of the other side (H3)."""
_REVOKES: Final = ("revoke", "revoking", "narrow")
"""Branches in which a member is given no partitions, and keeps those that it may keep (R1)."""
_OF_REQUEST: Final = {"memberEpoch": "E3", "topicPartitions": "K2"}
"""The requirement of a field of a member's request; for all others it is H7."""


def of_difference(one: Difference, action: str, branch: str, error: str, operation: Json) -> str:
    """The requirement of a field that differs in a step; "" if neither field nor step has one.

    A field without a requirement of its own, and one of a kind in OTHER_KINDS, has the first requirement of
    the step; an error code has that of the expected error, or else of the observed one.
    """
    if one.path.startswith(_OF_A_PROCESS):
        return _of_process(one.path, operation)
    of_step = next(iter(requirements(action, branch, error)), "")
    where = place(one.path, one.expected, one.got)
    if where.startswith("response.errorCode"):
        came = next((name for name in BY_ERROR if one.got == ERROR_CODES[name]), "")
        return next(iter(BY_ERROR.get(error) or BY_ERROR.get(came) or (of_step,)))
    if of_step[:1] in OTHER_KINDS and not where.startswith("record"):
        return of_step
    if (other := _OTHER_SIDE.get(where)) and operation.get("body", {}).get(other):
        return "H3"
    named = next((named for pattern, named in _OF_FIELD if pattern.match(where)), of_step)
    return "R1" if named == "R3" and branch in _REVOKES else named


OTHER_KINDS: Final = ("C", "D", "M", "O", "Q", "W")
"""The beginnings of requirements of classic groups, administration, migration, commits, share groups and
Connect groups: the fields of their steps have one requirement, that of the step."""
_OF_A_PROCESS: Final = ("request.", "member.")


def _of_process(path: str, operation: Json) -> str:
    """The rule of a client process: K1 after an error and at its end, K3 where it is given partitions, E3 for
    its epoch, K2 for the rest."""
    what, _, name = path.partition(".")
    if what == "request":
        return _OF_REQUEST.get(name, "H7")
    if name == "up" or _failed(operation):
        return "K1"
    if name == "epoch":
        return "E3"
    return "K3" if name == "owned" and operation["op"] == "receive" else "K2"


def _failed(operation: Json) -> bool:
    answer: Any = operation.get("answer")
    return bool(answer and answer["errorCode"])


def rules_of_process(operation: Json, different: list[Difference]) -> list[Rule]:
    """The properties of `conform simulate` that a client process breaks: K1, K2."""
    by_path = {one.path: one for one in different}
    member = operation.get("member", "")
    rules = []
    if (owned := by_path.get("member.owned")) and _failed(operation) and owned.got:
        rules.append(Rule("K1", "AbandonsAtOnce", f"{member} was told an error, and owns partitions still"))
    reported = by_path.get("request.topicPartitions")
    if reported and reported.got and "request.memberEpoch" not in by_path and not reported.expected:
        rules.append(Rule("K2", "ReportsWhatItUses", f"{member} reports partitions that it does not own"))
    elif reported and reported.expected and reported.got is not None:
        rules.append(Rule("K2", "ReportsWhatItUses", f"{member} does not report what it owns"))
    return rules
