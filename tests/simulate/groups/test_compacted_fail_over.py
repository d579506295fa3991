"""A fail-over of the simulation loads a compacted log (P3): loaders that expect the whole log are noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.consumer import records, replay
from coordinator.consumer.model import Group, Partitions
from coordinator.core.errors import BadInput
from coordinator.offsets.records import OffsetRecord, Offsets, replay_offset
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.targets.groups.python import PythonParts


def _tombstone_needs_its_member(patch: pytest.MonkeyPatch) -> None:
    right = replay._replay_tombstone

    def tombstone(group: Group, record: records.Record) -> None:
        if record.type == records.MEMBER_METADATA and record.member_id not in group.members:
            raise BadInput("there is no such member to remove")
        right(group, record)

    patch.setattr(replay, "_replay_tombstone", tombstone)


def _gain_needs_the_release(patch: pytest.MonkeyPatch) -> None:
    right = replay._hold

    def hold(group: Group, record: records.Record, epoch: int, held: Partitions) -> None:
        for partition in held:
            if group.owners.get(partition, record.member_id) != record.member_id:
                raise BadInput("a partition is still owned by another member")
        right(group, record, epoch, held)

    patch.setattr(replay, "_hold", hold)


def _last_offset_stays(patch: pytest.MonkeyPatch) -> None:

    def without_last(offsets: Offsets, record: OffsetRecord) -> None:
        if record.value is not None or len(offsets.get(record.group_id, ())) == 1:
            replay_offset(offsets, record)

    patch.setattr("coordinator.core.log.replay_offset", without_last)


@pytest.mark.parametrize(
    ("broken", "requirement", "words"),
    [
        (_tombstone_needs_its_member, "G8", "no such member to remove"),
        (_gain_needs_the_release, "G8", "still owned by another"),
        (_last_offset_stays, "P2", "before the fail-over"),
    ],
)
def test_a_loader_that_needs_the_whole_log_is_noticed(
    broken: Callable[[pytest.MonkeyPatch], None],
    requirement: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few seeds find it."""
    broken(monkeypatch)
    for seed in range(8):
        result = run_seed(PythonParts(), SimulationOptions(events=5_000), seed).violation
        if result is not None:
            assert result.requirement == requirement and words in result.message
            return
    raise AssertionError("8 seeds found nothing")
