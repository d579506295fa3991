"""States in which members have partitions since different epochs are loaded with these (O2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_driver import skip_without_jars

from harness.itf import Trace, read_trace, write_trace
from harness.replay.files import replay_files
from harness.replay.run import Replayed

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "traces/dialects").glob("kafka-4.*/*StaticEpochs-goal-*.itf.json"))


def from_each_state(file: Path, folder: Path, target: str = "python", without: str = "") -> Replayed:
    """A replay of a trace from each of its states on, the first of which is loaded."""
    trace, files = read_trace(file), list[Path]()
    variables = tuple(name for name in trace.variables if name != without)
    for start in range(1, len(trace.states) - 1):
        states = [type(state)({name: state[name] for name in variables}) for state in trace.states[start:]]
        files.append(folder / f"from-{start}.itf.json")
        write_trace(files[-1], Trace(trace.meta, variables, states))
    return replay_files(files, target, file.parent.name)


@pytest.mark.parametrize("file", FILES, ids=[file.name.partition(".")[0][:40] for file in FILES])
def test_a_loaded_member_has_its_partitions_since_then(file: Path, tmp_path: Path) -> None:
    result = from_each_state(file, tmp_path)
    assert (result.differences, result.judged > 0) == (0, True)


def test_without_them_a_late_commit_is_refused(tmp_path: Path) -> None:
    """The traces notice a load that leaves the epochs out."""
    (tmp_path / "all").mkdir()
    results = [from_each_state(file, tmp_path / "all", without="partitionEpochs") for file in FILES]
    assert sum(one.differences > 0 for one in results) >= 4


@pytest.mark.maven
@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
def test_kafka_loads_them(version: str, tmp_path: Path) -> None:
    skip_without_jars(version)
    for number, file in enumerate(one for one in FILES if one.parent.name == f"kafka-{version[:3]}"):
        (tmp_path / str(number)).mkdir()
        result = from_each_state(file, tmp_path / str(number), f"kafka:{version}")
        assert (result.differences, result.judged > 0) == (0, True)
