"""One folder for the tables of several runs: at a time, and one after the other."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_runs import TRACE, rows, run
from pyspark.sql import SparkSession

from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.pipeline.results import findings
from harness.pipeline.run import struct
from harness.pipeline.store import Store
from harness.pipeline.tables import VERDICTS


def test_a_second_run_does_not_write_to_the_folder_of_the_first(tmp_path: Path) -> None:
    with (
        Store(str(tmp_path)).locked(),
        pytest.raises(ConformError, match=r"Another run writes to .*: wait for it, or give") as refused,
    ):
        run(tmp_path, files=[TRACE])
    assert refused.value.exit_code == USAGE
    with Store(str(tmp_path)).locked(), Store(str(tmp_path / "other")).locked():
        pass


def test_traces_are_judged_in_the_folder_of_a_model_and_other_verdicts_are_refused(tmp_path: Path) -> None:
    """A run of a model may have left verdicts by shortest paths. Verdicts of another target would get there
    only by a run that does not know the lock."""
    paths = tmp_path / "verdicts" / "paths"
    paths.mkdir(parents=True)
    row = {"step": "s", "trace": "", "verdict": "pass", "target": "stdio:other", "dialect": "kip-848"}
    pq.write_table(pa.Table.from_pylist([row], VERDICTS), paths / "rows.parquet")
    assert run(tmp_path, files=[TRACE]).result.holds
    [file] = (tmp_path / "verdicts" / "traces").glob("part=*/rows.parquet")
    own = [{**one, "target": "stdio:other"} for one in rows(tmp_path, "verdicts", "traces")]
    pq.write_table(pa.Table.from_pylist(own, VERDICTS).drop_columns(["part"]), file)
    with pytest.raises(ConformError, match="has steps of another target or dialect: remove") as refused:
        run(tmp_path, files=[TRACE])
    assert refused.value.exit_code == ENGINE_FAILED


def test_a_step_that_several_states_have_counts_for_each_in_its_finding() -> None:
    """`failed` counts them so; of 552 steps waivers of all signatures left 136 that no finding had."""
    different = [{"path": f"members[{name}].epoch", "expected": "1", "got": "2"} for name in ("m1", "m2")]
    step = {"step": "s", "trace": "", "index": 0, "depth": 1, "source": "a", "differences": different}
    step |= {"action": "Leave", "branch": "leave", "error": "NONE", "verdict": "fail"}
    given = [tuple(step.get(name) for name in VERDICTS.names)] * 3
    [one] = findings(SparkSession.active().createDataFrame(given, struct(VERDICTS)))
    assert (one["count"], len(one["paths"]), one["step"]) == (3, 1, "s")
