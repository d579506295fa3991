"""A seeded bug makes the state machine fail, and the failure prints a scenario that can be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from group_machine import SCENARIO, TOPIC_ID, WRONG, GroupMachine, join_body
from group_run import Run
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from line_protocol import Json, commit_body, in_process
from test_group_machine import profile

from coordinator.consumer.model import NOTHING, Group, Partitions
from coordinator.core.log import Log
from harness.kinds.consumer.scenario.from_ops import scenario_from_ops
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.model import REQUEST


def failure() -> tuple[str, str]:
    """The failure of the machine, and the scenario that it prints."""
    once = settings(profile(50, 50), phases=[Phase.generate])
    with pytest.raises(AssertionError) as failed:
        run_state_machine_as_test(GroupMachine, settings=once)
    printed = "\n".join(failed.value.__notes__)
    assert SCENARIO in printed
    return str(failed.value), printed.partition(SCENARIO)[2]


def test_partition_that_is_held_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(group: Group, among: Partitions, own: tuple[str, ...]) -> Partitions:
        return NOTHING

    monkeypatch.setattr("coordinator.consumer.reconcile.held_by_others", nothing)
    message, printed = failure()
    assert message.startswith("R7: ")
    scenario = load_scenario(Path("failure.yaml"), printed)
    assert {step.does for step in scenario.steps} >= {REQUEST}
    assert any(step.target for step in scenario.steps)


def test_offset_that_a_fenced_member_overwrites(monkeypatch: pytest.MonkeyPatch) -> None:
    def anybody(*_: Any) -> None:
        return None

    monkeypatch.setattr("coordinator.offsets.handlers.verify_member", anybody)
    message, printed = failure()
    assert message.startswith("O2: ")
    assert load_scenario(Path("failure.yaml"), printed).steps


def test_fail_over_that_loses_what_was_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Log.kept

    def fewer(log: Log, count: int, topics: Json) -> Log:
        return kept(log, max(count - 1, 0), topics)

    monkeypatch.setattr(Log, "kept", fewer)
    message, printed = failure()
    assert message.startswith("P3: ")
    assert load_scenario(Path("failure.yaml"), printed).steps[-1].does == "FailOver"


def test_steps_that_a_scenario_lacks_become_comments() -> None:
    """Partitions that no member can have, and topics that do not exist."""
    connection = in_process()
    run = Run(connection, max_size=1)
    run.change_topics([{"name": "foo", "id": TOPIC_ID.format(1), "partitions": 1}])
    for fields, code in WRONG:
        run.request({**join_body("nobody"), **fields}, invalid=code)
    for topic_id, index, offset in ((1, -1, 7), (1, 0, -7), (2, 0, 7), (1, 0, 7)):
        run.commit(commit_body("", -1, {(TOPIC_ID.format(topic_id), index): offset}))
    printed = scenario_from_ops(connection.ops)
    assert [step.does for step in load_scenario(Path("failure.yaml"), printed).steps][-1:] == ["OffsetCommit"]
    assert printed.count("# left out: OffsetCommit") == 3
