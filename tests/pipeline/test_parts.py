"""Parts of tables that workers write and read themselves: whole, small, and with every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from harness.pipeline import lookup, parts
from harness.pipeline.parts import PartWriter, batch_of, rows_of
from harness.pipeline.tables import STEPS, VERDICTS

Row = dict[str, Any]
DIFFERENCE = {"path": "group", "expected": "1", "got": "2"}


def steps(count: int, sources: int) -> list[Row]:
    """Steps with texts of 3,000 characters, from so many states."""
    named = [f"{number:04d}" for number in range(sources)]
    return [
        {
            "step": f"{number}",
            "load": named[number % sources] * 750,
            "operation": "{}" if number % 3 else None,
        }
        for number in range(count)
    ]


def test_rows_are_what_they_were_and_share_their_texts() -> None:
    rows = [{"step": one, "depth": 1, "differences": [DIFFERENCE]} for one in ("a", "b", "".join(["a"]))]
    read = rows_of(batch_of([*rows, {}], VERDICTS))
    for row, given in zip(read, [*rows, {}], strict=True):
        assert row == {name: given.get(name) for name in VERDICTS.names if name != "part"}
    assert read[0]["step"] is read[2]["step"]


def test_a_text_of_many_rows_is_in_the_file_once(tmp_path: Path) -> None:
    """A dictionary of more than a megabyte is in the file once, too: states of a large model have such
    dictionaries."""
    batch = batch_of(steps(4_000, 500), STEPS)
    writer = PartWriter(tmp_path.as_uri(), "rows.parquet", batch.schema)
    writer.write(batch)
    writer.close()
    group = pq.ParquetFile(tmp_path / "rows.parquet").metadata.row_group(0)
    load = next(group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == "load")
    assert load.total_uncompressed_size < 2 * 500 * 3_000


def test_a_file_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    batch = batch_of(steps(10, 1), STEPS)
    for whole in (False, True):
        writer = PartWriter(tmp_path.as_uri(), "rows.parquet", batch.schema)
        writer.write(batch)
        assert ds.dataset(tmp_path).count_rows() == 0
        writer.close(whole)
        assert [one.name for one in tmp_path.iterdir()] == (["rows.parquet"] if whole else [])
    assert ds.dataset(tmp_path).count_rows() == 10


def test_parts_are_made_of_the_rows_that_call_the_target_in_their_order(tmp_path: Path) -> None:
    rows = steps(3 * parts.ROWS, 7)
    batches = (batch_of(rows[at : at + parts.ROWS], STEPS) for at in range(0, len(rows), parts.ROWS))
    place, to = (tmp_path / "steps").as_uri(), (tmp_path / "verdicts").as_uri()
    assert parts._write(place, 5, batches) == (5, len(rows))

    def make(given: parts.Batches) -> parts.Batches:
        for batch in given:
            yield batch_of([{"step": row["step"], "index": row["part"]} for row in rows_of(batch)], VERDICTS)

    made = parts.rewriting(place, [9, 5], ["part", "step", "operation"], to, make)
    written = list(made(iter([pa.RecordBatch.from_pylist([{"id": 1}])])))
    calling = [row["step"] for row in rows if row["operation"]]
    assert [batch.to_pylist() for batch in written] == [[{"part": 5, "rows": len(calling)}]]
    read = ds.dataset(tmp_path / "verdicts", partitioning="hive").to_table().to_pylist()
    assert [(row["step"], row["index"], row["part"]) for row in read] == [(one, 5, 5) for one in calling]


@pytest.mark.parametrize("rows", [[0], [999, 1_000], [3, 1_001, 2_499], [*range(2_500)], []])
def test_texts_are_looked_up_where_they_are(rows: list[int], tmp_path: Path) -> None:
    """In a file whose rows can be read by the thousand."""
    writer = PartWriter(tmp_path.as_uri(), "a.parquet", pa.schema([("text", pa.string())]))
    for at in (0, 1_000, 2_000):
        texts = [str(row) for row in range(at, min(at + 1_000, 2_500))]
        writer.write(pa.RecordBatch.from_pydict({"text": texts}))
    writer.close()
    result = lookup._read((tmp_path / "a.parquet").as_uri(), "text", rows)
    assert result == {row: str(row) for row in rows}
