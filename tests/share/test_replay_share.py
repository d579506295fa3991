"""Traces of share groups on the coordinator: none of these seeded bugs goes unnoticed (Q1-Q8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coordinator.consumer.model import NOTHING
from coordinator.share import model, records, service
from coordinator.share.model import ShareGroup, ShareMember
from coordinator.share.service import ShareGroups
from harness.errors import ConformError
from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parents[2]
FILES = trace_files([ROOT / "traces" / "share", ROOT / "traces" / "golden" / "share"])
FOLDERS = ("harness/kinds/share", "coordinator/share")


@pytest.fixture(scope="module")
def traces() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in FILES]


def differences(traces: list[DecodedTrace]) -> int:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    return replayer.result.differences


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_kind_is_thin(folder: str) -> None:
    """At most 400 lines each, templates included."""
    files = [path for path in (ROOT / folder).iterdir() if path.suffix in (".py", ".j2")]
    assert 0 < sum(path.read_text().count("\n") for path in files) <= 400


def test_without_a_bug_nothing_differs(traces: list[DecodedTrace]) -> None:
    assert len(traces) > 25
    assert differences(traces) == 0


def _without_a_bump(group: ShareGroup, topics: Any, request: Any) -> ShareGroup:
    """Q3: a change of topics goes unnoticed."""
    after = UPDATED(group, topics, request)
    given = after.members[request.member_id].subscription != group.member(request.member_id).subscription
    return after if given else replace(after, epoch=group.epoch, metadata=group.metadata)


def _bumped_always(group: ShareGroup, topics: Any, request: Any) -> ShareGroup:
    """Q3: each heartbeat bumps the group epoch."""
    after = UPDATED(group, topics, request)
    return replace(after, epoch=group.epoch + 1)


def _to_one_member(group: ShareGroup) -> ShareGroup:
    """Q4: no partition is given to a second member."""
    after, taken = TARGETED(group), NOTHING
    for name, member in sorted(after.members.items()):
        after = after.having(name, member._replace(target=member.target - taken))
        taken |= member.target
    return after


def _of_all_topics(subscription: Any, metadata: Any) -> Any:
    """Q4: a member that subscribes to nothing gets the partitions that the others get."""
    return EVERYTHING(frozenset(metadata), metadata)


def _at_the_group_epoch(group: ShareGroup, member_id: str) -> ShareGroup:
    """Q2: the previous epoch is forgotten."""
    after = RECONCILED(group, member_id)
    return after.having(member_id, after.members[member_id]._replace(previous_epoch=0))


def _computed_at_once(group: ShareGroup, topics: Any, member_id: str) -> ShareGroup:
    """Q6: a removal computes a target."""
    return TARGETED(WITHOUT(group, topics, member_id))


def _metadata_kept(group: ShareGroup, topics: Any, member_id: str) -> ShareGroup:
    """Q3, Q6: the group keeps the topics of a member that has gone."""
    return replace(WITHOUT(group, topics, member_id), metadata=group.metadata)


def _replayed(given: Iterable[object], before: Any) -> Any:
    """Q8: the previous epochs are lost in a fail-over."""
    result = GROUPS_FROM(given, before)
    if before is not None:
        return result
    return {
        name: replace(
            group, members={id: one._replace(previous_epoch=0) for id, one in group.members.items()}
        )
        for name, group in result.items()
    }


def _any_epoch(group: ShareGroup | None, request: Any) -> None:
    """Q2: no member is fenced."""
    if group is None or request.member_id not in group.members:
        CHECK_MEMBER(group, request)


def _without_removals(group_id: str, before: Any, after: Any) -> Any:
    """Q8: the records of a member that has gone stay."""
    return [one for one in RECORDS_OF(group_id, before, after) if one.value is not None or not one.member_id]


def _without_repetition(before: ShareMember, after: ShareMember, request: Any) -> bool:
    """Q5: an assignment whose answer was lost is not sent again."""
    return request.member_epoch == 0 or before.assigned != after.assigned


UPDATED, TARGETED, RECONCILED = model._updated, model._targeted, model._reconciled
WITHOUT, EVERYTHING, GROUPS_FROM = model.without, model._everything, records.groups_from
CHECK_MEMBER, RECORDS_OF = service._check_member, records.records_of
BUGS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a change of topics goes unnoticed": (model, "_updated", _without_a_bump),
    "each heartbeat bumps the group epoch": (model, "_updated", _bumped_always),
    "a partition is of one member": (model, "_targeted", _to_one_member),
    "everybody gets all topics of the group": (model, "_everything", _of_all_topics),
    "the epoch of before is forgotten": (model, "_reconciled", _at_the_group_epoch),
    "a leave computes a target": (service, "without", _computed_at_once),
    "the end of a session computes a target": (ShareGroups, "without", staticmethod(_computed_at_once)),
    "topics of who has left are kept": (service, "without", _metadata_kept),
    "a fail-over loses the epochs of before": (ShareGroups, "groups_of", staticmethod(_replayed)),
    "nobody is fenced": (service, "_check_member", _any_epoch),
    "records of who has gone stay": (ShareGroups, "records", staticmethod(_without_removals)),
    "a lost answer is not told again": (service, "includes_assignment", _without_repetition),
    "the assignment is always told": (service, "includes_assignment", lambda *_: True),
    "a join may name no topics": (service, "_odd", lambda request: None),
    "a group with members is deleted": (
        ShareGroups,
        "delete",
        lambda self, group_id, offsets, log, env, now_ms: self.commit(group_id, None, log, env),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_noticed(
    bug: str, traces: list[DecodedTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name, wrong = BUGS[bug]
    monkeypatch.setattr(place, name, wrong)
    try:
        assert differences(traces) > 0
    except ConformError as failed:  # the coordinator fell over the bug, which is reported, too
        assert "failed in" in failed.message
