"""Targets that cannot be configured or told of topics: their intervals, and the traces to begin with."""

from __future__ import annotations

from pathlib import Path

from partial_target import target, without
from partly import BLACK_BOX, GOLDEN, on_golden

from harness.doctor.examine import BUYS, Level
from harness.errors import ConformError
from harness.replay.files import replay_files, trace_files
from harness.replay.report import left_out


def test_a_heartbeat_interval_of_its_own_is_no_difference_and_one_that_changes_is() -> None:
    """H9: only a target that can be configured is given its interval."""
    unconfigured = without("configure")
    own = on_golden(controls=unconfigured, lie="interval")
    assert own.differences == 0
    named = "response.heartbeatIntervalMs of errors, and of members that leave"
    assert f"not compared, because the target's configuration is its own: {named}" in list(left_out(own))
    assert not any(named in line for line in left_out(on_golden()))
    changing = on_golden(controls=unconfigured, lie="intervals")
    assert changing.differences > 5
    paths = {one.path for failure in changing.failures for one in failure.differences}
    assert paths == {"response.heartbeatIntervalMs"}
    assert on_golden(lie="interval").differences > 100


def test_an_interval_that_a_client_has_set_is_compared_as_it_is() -> None:
    """The interval of other groups was asked of that group; after the trace, its interval of all others."""
    corpus = GOLDEN.parent / "corpus"
    altered = next(corpus.glob("MCAdministration-goal-*-a-group-is-there-again-with-the-config*.itf.json"))
    files = [GOLDEN / "basic.itf.json", altered, GOLDEN / "basic.itf.json"]
    unconfigured = without("configure")
    right = replay_files(files, target(controls=unconfigured), max_differences=1000)
    assert (right.differences, right.judged > 20) == (0, True)
    wrong = replay_files([altered], target(controls=unconfigured, lie="interval"), max_differences=1000)
    [result] = [one for failure in wrong.failures for one in failure.differences]
    assert (result.path, result.expected, result.got) == ("response.heartbeatIntervalMs", 15000, 3000)


def steps_in(folder: Path, *controls: str) -> int:
    try:
        return replay_files(trace_files([folder]), target(controls=list(controls))).judged
    except ConformError as error:
        assert "None of the" in error.message
        return 0


def test_a_black_box_is_led_to_the_folder_with_the_most_steps() -> None:
    """The black box needs `fresh` in this process; a program is started anew."""
    assert "Begin with traces/corpus: no other folder has as many steps" in BUYS[Level.BLACK_BOX]
    folders = [
        one for one in GOLDEN.parent.iterdir() if one.is_dir() and one.name not in ("dialects", "kafka")
    ]
    steps = {folder.name: steps_in(folder, "fresh") for folder in folders}
    assert max(steps, key=lambda name: steps[name]) == "corpus" and steps["golden"] == 0
    assert steps_in(GOLDEN.parent / "corpus", *BLACK_BOX) >= 4 * steps["corpus"]
    assert steps_in(GOLDEN, *BLACK_BOX) > 100
