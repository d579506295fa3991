"""Depths of the states of a dump: the steps of the shortest way from an initial state.

TLC notes the length of the way by which it reached a state first. With several workers this way is not always
a shortest one: of these notes 0 marks the initial states, and the others are for states of a damaged dump to
which no way leads any more. The driver holds the edges between states, by numbers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector
from pyspark.sql import DataFrame

from harness.pipeline import lookup
from harness.pipeline.dump import ROW_GROUP
from harness.pipeline.parts import Batches
from harness.pipeline.run import Run, struct
from harness.pipeline.store import Store, file_system

FOLDER: Final = "depths"
"""The table of each state's node and depth: a file for each file of states of the table `graph`, with the
same name, and with its rows in the same order."""
_DEPTHS: Final = pa.schema([("node", pa.int64()), ("depth", pa.int32())])
_STATES: Final = "graph/kind=state"
_EDGES: Final = "graph/kind=edge"
_NOTE: Final = r"conformDepth = (?P<note>\d{1,9})\b"


def write_depths(run: Run) -> Mapping[str, int]:
    """Write the depths of the states of the table `graph`; their number. A dump that has no notes has no
    depths."""
    store = run.store
    notes = {name: _notes(store, name) for name in _names(store, _STATES)}
    states = dict(row for rows in notes.values() for row in rows)
    depths = _depths(_following(store, states), [node for node, note in states.items() if note == 0])
    store.files.create_dir(f"{store.root}/{FOLDER}")
    for name, rows in notes.items():
        known = [{"node": node, "depth": depths.get(node, note)} for node, note in rows]
        with store.files.open_output_stream(f"{store.root}/{FOLDER}/{name}") as stream:
            pq.write_table(pa.Table.from_pylist(known, _DEPTHS), stream)
    return {"states": sum(map(len, notes.values()))}


def depths_of(run: Run) -> DataFrame:
    """Each state's node, place in the table `graph`, and depth."""
    known = run.spark.read.schema(struct(_DEPTHS)).parquet(run.store.table(FOLDER))
    return known.select("node", lookup.place().alias("source"), "depth")


def states_of(run: Run) -> tuple[Sequence[str], Callable[[Batches], Batches]]:
    """The files of states, and a function from their indices to batches of their texts and depths."""
    names = _names(run.store, _STATES)
    graph, depths = run.store.table(_STATES), run.store.table(FOLDER)

    def looked(batches: Batches) -> Batches:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                yield from _texts(f"{graph}/{names[index]}", f"{depths}/{names[index]}")

    return names, looked


def _texts(graph: str, depths: str) -> Batches:
    files, path = file_system(depths)
    with files.open_input_file(path) as stream:
        known = pq.read_table(stream)["depth"].to_pylist()
    files, path = file_system(graph)
    with files.open_input_file(path) as stream:
        begin = 0
        for batch in pq.ParquetFile(stream).iter_batches(ROW_GROUP, columns=["text"]):
            own = pa.array(known[begin : begin + batch.num_rows], pa.int32())
            yield pa.RecordBatch.from_arrays([batch.column("text"), own], ["text", "depth"])
            begin += batch.num_rows


def _names(store: Store, folder: str) -> list[str]:
    """The names of the whole files of a folder, in order; none if there is no such folder."""
    inside = store.files.get_file_info(FileSelector(f"{store.root}/{folder}", allow_not_found=True))
    return sorted(one.base_name for one in inside if one.base_name.endswith(".parquet"))


def _notes(store: Store, name: str) -> list[tuple[int, int | None]]:
    """The nodes of a file of states, and the notes of TLC."""
    rows = list[tuple[int, int | None]]()
    with store.files.open_input_file(f"{store.root}/{_STATES}/{name}") as stream:
        for batch in pq.ParquetFile(stream).iter_batches(ROW_GROUP, columns=["node", "text"]):
            notes = pc.struct_field(pc.extract_regex(batch.column("text"), _NOTE), "note")
            rows += zip(batch.column("node").to_pylist(), notes.cast(pa.int32()).to_pylist(), strict=True)
    return rows


def _following(store: Store, states: Iterable[int]) -> Mapping[int, list[int]]:
    """The states to which edges lead from each state."""
    known = pa.array(states, pa.int64())
    following = defaultdict[int, list[int]](list)
    for name in _names(store, _EDGES):
        with store.files.open_input_file(f"{store.root}/{_EDGES}/{name}") as stream:
            edges = pq.read_table(stream, columns=["node", "target"])
        between = edges.filter(pc.is_in(edges["target"], value_set=known))
        for node, target in zip(between["node"].to_pylist(), between["target"].to_pylist(), strict=True):
            following[node].append(target)
    return following


def _depths(following: Mapping[int, Iterable[int]], initial: Iterable[int]) -> dict[int, int]:
    depths = dict.fromkeys(initial, 0)
    nodes = deque(depths)
    while nodes:
        node = nodes.popleft()
        for after in following.get(node, ()):
            if after not in depths:
                depths[after] = depths[node] + 1
                nodes.append(after)
    return depths
