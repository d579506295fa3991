"""Targets without static members, expressions or assignors: their steps are left out, and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from partial_target import target

from harness.cli.replay import command
from harness.errors import ConformError
from harness.itf import Trace, read_trace, write_trace
from harness.replay.features import CLIENT_SIDE, FEATURES, REGEXES, SERVER_SIDE, STATIC, used
from harness.replay.files import replay_files
from harness.replay.report import skipped, summary
from harness.targets import open_target
from harness.targets.recording import recorded

TRACES = Path(__file__).parent.parent.parent / "traces"
JOINS = TRACES / "golden" / "bugs" / "KAFKA-20641.itf.json"
"""Static members alone."""
CHANGES = TRACES / "corpus" / "MCTopicIds-goal-0002-no-regular-expression-any-more.itf.json"
"""A join, and then "" for the regular expression."""
PLAIN = TRACES / "golden" / "basic.itf.json"
NAMES = TRACES / "corpus" / "CorpusAssignors-goal-0004-heartbeat-names-another-assignor.itf.json"
"""A join that names range, and then a heartbeat that names uniform."""
OFFERS = TRACES / "golden" / "client" / "client-side-mode.itf.json"
OFFERS_NONE = (
    TRACES / "client" / "MCClientSwitch-goal-0002-offers-of-none-leave-the-server-side-assignor.itf.json"
)
FILES = [PLAIN, JOINS, CHANGES]


def lacking(admits: bool = True) -> str:
    return target(without=list(FEATURES), admits=admits)


@pytest.mark.parametrize("jobs", [1, 2])
def test_steps_that_use_what_a_target_lacks_are_left_out(jobs: int) -> None:
    result = replay_files(FILES, lacking(), jobs=jobs)
    assert (result.differences, result.not_loaded) == (0, [])
    assert {(one.trace, one.reason) for one in result.ended_early} == {
        (str(JOINS), STATIC),
        (str(CHANGES), REGEXES),
    }
    counts = skipped(result)
    plain = replay_files([PLAIN], "python").judged
    assert result.judged + sum(one["steps"] for one in counts.values()) == result.steps
    assert result.judged >= plain > 0
    steps = counts[STATIC]["steps"]
    assert f"skipped, needs {STATIC}: {steps} steps at the end of 1 trace" in list(summary(result, "t"))


@pytest.mark.parametrize(
    ("file", "feature", "judged"),
    [
        (NAMES, SERVER_SIDE + "range", 0),
        (NAMES, SERVER_SIDE + "uniform", 1),
        (OFFERS, CLIENT_SIDE, 0),
        (OFFERS_NONE, CLIENT_SIDE, 1),
    ],
)
def test_an_assignor_that_a_target_lacks_leaves_the_steps_out_that_name_it(
    file: Path, feature: str, judged: int
) -> None:
    result = replay_files([PLAIN, file], target(without=[feature], admits=True))
    [ended] = result.ended_early
    assert (ended.reason, ended.judged, result.differences) == (feature, judged, 0)
    other = next(one for one in FEATURES if one != feature and one.startswith(SERVER_SIDE))
    assert replay_files([PLAIN], target(without=[other], admits=True)).ended_early == []


def test_a_log_with_an_assignor_that_a_target_lacks_is_not_loaded(tmp_path: Path) -> None:
    for file, feature in ((NAMES, SERVER_SIDE + "range"), (OFFERS, CLIENT_SIDE)):
        whole = read_trace(file)
        late = tmp_path / file.name
        write_trace(late, Trace(whole.meta, whole.variables, whole.states[1:]))
        assert replay_files([late], target()).ended_early == []
        [ended] = replay_files([PLAIN, late], target(without=[feature], admits=True)).ended_early
        assert (ended.judged, ended.reason) == (0, feature)


def test_the_command_ends_with_0_and_without_the_word_of_hello_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A target that does not say what it lacks is judged as any other: it differs, and does not load."""
    command(FILES, target=lacking(), json_file=tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["skipped"].keys() == {STATIC, REGEXES}
    assert f"needs {REGEXES}" in capsys.readouterr().out
    with pytest.raises(ConformError, match=r"did not load .* does not conform") as caught:
        command(FILES, target=lacking(admits=False))
    assert caught.value.exit_code == 3


def test_a_trace_that_begins_with_a_static_member_is_left_out(tmp_path: Path) -> None:
    whole = read_trace(JOINS)
    late = tmp_path / "late.itf.json"
    write_trace(late, Trace(whole.meta, whole.variables, whole.states[1:]))
    result = replay_files([PLAIN, late], lacking())
    [ended] = result.ended_early
    assert (ended.judged, ended.reason, result.not_loaded, result.differences) == (0, STATIC, [], 0)
    assert replay_files([late], target(without=list(FEATURES))).not_loaded


def test_a_feature_that_nobody_knows_ends_the_replay() -> None:
    with pytest.raises(ConformError, match="lacks shoes, but there is no such feature; there are") as caught:
        replay_files([PLAIN], target(without=["shoes"], admits=True))
    assert caught.value.exit_code == 3


def test_the_features_of_requests_and_records() -> None:
    assert used({"instanceId": None, "subscribedTopicRegex": None}) == frozenset()
    assert used({"instanceId": "i1", "subscribedTopicRegex": ""}) == {STATIC, REGEXES}
    assert used({"groupInstanceId": "i1"}) == {STATIC}
    assert used({"members": [{"memberId": "m1", "groupInstanceId": "i1"}]}) == {STATIC}
    assert used(None) == frozenset()


def test_the_assignors_of_requests_and_records() -> None:
    assert used({"serverAssignor": "range", "clientAssignors": None}) == {SERVER_SIDE + "range"}
    assert used({"serverAssignor": "nobodys"}) == used({"serverAssignor": None}) == frozenset()
    assert used({"clientAssignors": []}) == {CLIENT_SIDE}, "a request that takes its offers back"
    assert used({"assignors": []}) == frozenset(), "a record has the field always"
    assert used({"assignors": [{"name": "x"}]}) == {CLIENT_SIDE}


def test_a_recording_has_what_a_target_lacks(tmp_path: Path) -> None:
    opened = open_target(lacking())
    with recorded(opened, tmp_path / "log") as written:
        written.hello()
    opened.close()
    assert sorted(FEATURES) == json.loads((tmp_path / "log").read_text().splitlines()[0])["answer"]["lacks"]
