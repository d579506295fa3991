"""Scenario files are read strictly, and a written file is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenarios import GOLDEN, SMALL, small, unplaced

from harness.errors import USAGE, ConformError
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.model import Scenario
from harness.kinds.consumer.scenario.write import scenario_text
from harness.scenario.files import load_file, scenario_files
from harness.scenario.partitions import format_partitions, parse_partitions
from harness.scenario.scalar import scalar

FILES = [path for path in scenario_files([GOLDEN]) if isinstance(load_file(path), Scenario)]
PARTITIONS = st.frozensets(st.tuples(st.sampled_from(["foo", "a-b", "foo#2", "x..y"]), st.integers(0, 9)))


@given(PARTITIONS)
def test_partitions_are_read_as_they_are_written(partitions: frozenset[tuple[str, int]]) -> None:
    assert parse_partitions(format_partitions(partitions)) == partitions


def test_three_neighbours_are_a_range_and_two_are_not() -> None:
    assert format_partitions({("foo", n) for n in (0, 1, 3, 4, 5, 10)}) == [
        "foo-0",
        "foo-1",
        "foo-3..5",
        "foo-10",
    ]


@given(st.text())
def test_a_text_is_read_as_it_is_written(text: str) -> None:
    whole = SMALL.replace("member: B", f"member: B, regex: {scalar(text)}")
    request = load_scenario(Path("x.yaml"), whole).steps[1].request
    assert request is not None and request.regex == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_is_read_as_it_is_written(path: Path) -> None:
    scenario = load_scenario(path)
    assert unplaced(load_scenario(path, scenario_text(scenario))) == unplaced(scenario)


def test_all_steps_are_read_as_they_are_written() -> None:
    steps = """
  - request: {member: A, epoch: -3, owned: [foo-0], subscription: [], regex: "", assignor: "", instance: ""}
  - request: {member: A, epoch: 0}
  - join: {member: "no", withoutId: true, regex: "[a-z]+", assignor: range, instance: i, owned: [foo-1]}
  - heartbeat: {member: A, epoch: 1, owned: []}
  - leave: {member: A, instance: i}
  - leave temporarily: {member: A, instance: i}
  - session timeout: {member: A}
  - rebalance timeout: {member: A}
  - create topic: {topic: foo#2, partitions: 3}
  - add partitions: {topic: foo, partitions: 3}
  - delete topic: {topic: foo}
  - delete group:
  - fail-over:
  - fail-over: {topic: foo, partitions: -1}
  - offset commit: {member: A, epoch: 1, partition: foo-0, offset: 7}
  - offset fetch: {member: "", epoch: -1, partition: foo#2-0}
"""
    scenario = load_scenario(Path("x.yaml"), SMALL[: SMALL.index("  - join")] + steps)
    again = load_scenario(Path("x.yaml"), scenario_text(scenario))
    assert unplaced(again) == unplaced(scenario)
    requests = [step.request for step in scenario.steps]
    assert requests[2] is not None and requests[2].member == "" and scenario.steps[2].member == "no"
    assert requests[3] is not None and requests[3].owned == frozenset()
    assert requests[4] is not None and requests[4].owned is None


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("name: Small\n", "", "line 1: the scenario must have the field 'name'"),
        ("shows:", "show:", "line 3: the scenario has no field 'show'; known are name, source"),
        ("name: Small", "name: [", "line 3: this is not YAML"),
        ("name: Small", "name: Small\nname: Big", "line 2: 'name' is there twice"),
        ("  - join", "  - jion", "line 7: a step does exactly one of heartbeat, join, leave"),
        ("- join: {member: A, ", "- leave: {}\n    join: {member: A, ", "line 7: a step does exactly one of"),
        ("member: A, sub", "sub", "line 7: join must have the field 'member'"),
        ("member: A, ", "member: A, epoch: 1, ", "line 7: join has no field 'epoch'; known are member"),
        ("{A: [foo-0, foo-1]}", "{A: [foo-0, foo-0]}", "line 8: A: foo-0 is there twice"),
        ("{A: [foo-0, foo-1]}", "{A: [foo-1..0]}", "line 8: A: 'foo-1..0' must count upwards"),
        ("{A: [foo-0, foo-1]}", "{A: [foo]}", "line 8: A: 'foo' is no partition: write foo-0"),
        ("{A: [foo-0], B: [foo-1]}", "{A: [foo-1], B: [foo-1]}", "line 16: foo-1 is given to A and to B"),
        ("state: Stable", "state: stable", "line 11: state must be one of Dead, Empty"),
        ("epoch: 1, assigned", "epoch: one, assigned", "line 10: epoch must be a whole number, not 'one'"),
        ("epoch: 1, assigned: [foo-0, foo-1],", "epoch: 1,", "line 10: assigned and pending come together"),
        ("{epoch: 1, assigned", "{error: NO, assigned", "line 10: an error comes with nothing else"),
        (
            "epoch: 1, partitions: [foo-0, foo-1], ",
            "epoch: 1, ",
            "line 14: A must have the field 'partitions'",
        ),
        ("    expect:", "    bumped:", "line 9: response and offsets belong to expect, not"),
        ("topics: {foo: 2}", "topics: {foo: 0}", "line 4: foo must be a whole number of at least 1"),
        ("topics: {foo: 2}", "topics: foo", "line 4: topics must be a mapping"),
        (
            "\nsteps:",
            "errata:\n- {step: 3, where: x, says: x, holds: x, uncorrected: {}}\nsteps:",
            "line 6: there is no step 3: the scenario has 2",
        ),
    ],
)
def test_a_mistake_names_its_line(old: str, new: str, sentence: str) -> None:
    with pytest.raises(ConformError) as caught:
        small(old, new)
    assert caught.value.message.startswith(f"small.yaml, {sentence}")
    assert caught.value.exit_code == USAGE


def test_an_empty_file_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"x\.yaml is empty: a scenario has name, source"):
        load_scenario(Path("x.yaml"), "")
    with pytest.raises(ConformError, match=r"The scenario .* does not exist"):
        load_scenario(tmp_path / "none.yaml")


def test_a_value_that_contains_itself_is_refused_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "loop.yaml"
    head = "protocol: classic\nname: x\nsource: y\nshows: z\ntopics: {foo: 1}\nsteps:\n"
    file.write_text(f"{head}  - join: {{member: A, subscription: [foo]}}\n    expect: &a\n      group: *a\n")
    with pytest.raises(ConformError, match=r"loop\.yaml has a value that contains itself"):
        load_file(file)
