"""Departures without a constant, recognised by the differences of a step: the Python coordinator does not
have them.

`spec/KafkaDialects.tla` lists such departures. Those that show in differences have a rule here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.replay import wire
from harness.replay.compare import ABSENT, Difference
from harness.replay.prepared import Step
from harness.replay.run import Failure

_COMMIT: Final = "OffsetCommit"
_UNKNOWN: Final = wire.ERROR_CODES["UNKNOWN_MEMBER_ID"]


def without_constant(failure: Failure, step: Step) -> str:
    """The name of the departure that explains all differences of a step; "" if there is none."""
    return next((name for name, explains in RULES.items() if explains(failure, step)), "")


def _empty_group_commits(failure: Failure, step: Step) -> bool:
    """O2: a group without members accepts a commit with any epoch below 0; where there is no group, the
    commit makes a classic one."""
    body = failure.operation.get("body", {})
    epoch = body.get("generationIdOrMemberEpoch", 0) if isinstance(body, dict) else 0
    if failure.action != _COMMIT or epoch >= 0 or (step.expected.group or {}).get("members"):
        return False
    classic = any(one.path == "group.type" and one.got == "classic" for one in failure.differences)
    return all(_is_taken(one, classic) for one in failure.differences)


def _is_taken(one: Difference, classic: bool) -> bool:
    """Tell if a difference means that a commit was accepted, or that there is a classic group now."""
    if one.path.startswith(f"records[{_COMMIT} "):
        return bool(one.expected == ABSENT)
    if one.path == "group.state":
        return bool((one.expected, one.got) == ("Dead", "Empty"))
    if one.path.startswith("group."):
        return classic
    return one.path == "response.topics" and bool(_without_errors(one.expected) == _without_errors(one.got))


def _without_errors(topics: Any) -> Any:
    """The topics of an answer to a commit, without the errors of an unknown member."""
    if isinstance(topics, Mapping):
        named = {name: _without_errors(item) for name, item in topics.items()}
        return {**named, "errorCode": 0} if named.get("errorCode") == _UNKNOWN else named
    return [_without_errors(item) for item in topics] if isinstance(topics, list) else topics


RULES: Final[Mapping[str, Callable[[Failure, Step], bool]]] = {"EmptyGroupCommits": _empty_group_commits}
"""Rules by the names of that list. All departures are of every version of Kafka."""
