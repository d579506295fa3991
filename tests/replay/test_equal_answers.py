"""The comparison that finds every difference finds none in an answer that is as expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.itf import read_trace
from harness.replay.compare import differences
from harness.replay.decode import Decoder
from harness.replay.files import trace_files

TRACES = Path(__file__).parents[2] / "traces"


@pytest.mark.parametrize("folder", ["share", "connect", "client", "classic", "migration", "golden"])
def test_an_answer_as_expected_has_no_difference(folder: str) -> None:
    """Replay calls the comparison only where answers are not plainly equal, as after a state was loaded
    again."""
    decoder, judged = Decoder(), 0
    for file in trace_files([TRACES / folder]):
        if file.suffix != ".json":
            continue
        for step in decoder.decode(read_trace(file), file.name).steps:
            judged += 1
            assert differences(step.expected, step.expected) == [], f"{file.name}, state {step.index}"
    assert judged
