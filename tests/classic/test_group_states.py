"""The table of a classic group's states, compared with committed traces on the coordinator (C1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.classic.model import TRANSITIONS, ClassicGroup
from coordinator.classic.rebalance import ClassicStep
from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

TRACES = Path(__file__).parents[2] / "traces" / "classic"


def test_groups_change_as_the_table_says_and_make_each_of_its_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes: set[tuple[str, str]] = set()
    group = ClassicStep.__dict__["group"]

    def note(step: ClassicStep, after: ClassicGroup) -> None:
        before: ClassicGroup | None = getattr(step, "group", None)
        if before is not None and before.state != after.state:
            changes.add((before.state, after.state))
        group.__set__(step, after)

    monkeypatch.setattr(ClassicStep, "group", property(group.__get__, note))
    replayer, decoder = Replayer(PythonTarget("kip-848"), 1), Decoder()
    for file in trace_files([TRACES]):
        replayer.replay(decoder.decode(read_trace(file), file.name))
    assert replayer.result.differences == 0
    assert changes == {(before, row.after) for row in TRANSITIONS for before in row.before}
