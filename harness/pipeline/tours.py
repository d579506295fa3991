"""Tours of a closed model's state graph as rows of the table `traces`: long paths through every step that
reaches the coordinator. They show what single steps cannot: that the coordinator has no hidden state outside
the model's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import copy_files

from harness.engines.base import Limits, Model, Progress
from harness.generate import dump_graph, tour_traces
from harness.itf import ItfWriter
from harness.kinds.decoders import CALLING
from harness.pipeline.run import Run
from harness.pipeline.tables import TRACES, key
from harness.stategraph import HIDDEN, Edge, merge_by_hidden

FOLDER: Final = "tours"
LENGTH: Final = 300
"""About the most steps of a tour."""
_GROUP: Final = 200


def write_tours(run: Run, model: Model, limits: Limits, log: Path) -> dict[str, int]:
    """Write the tours of a model into the store; their number. The file gets its name when it is whole: on an
    error the writer ends its file, which can be read then and has no or some of the tours."""
    count = 0
    run.store.files.create_dir(f"{run.store.root}/{FOLDER}")
    place = f"{run.store.root}/{FOLDER}/tours.parquet"
    new = f"{place}.new"
    with run.store.files.open_output_stream(new) as stream, pq.ParquetWriter(stream, TRACES) as writer:
        tours = _tours(model, limits, log, run.progress)
        while rows := list(islice(tours, _GROUP)):
            writer.write_table(pa.Table.from_pylist(rows, TRACES))
            count += len(rows)
    run.store.files.move(new, place)
    return {"tours": count}


def add_tours(run: Run) -> None:
    """Add the tours to the table `traces` that is in the store."""
    files, place = run.store.files, f"{run.store.root}/{FOLDER}/tours.parquet"
    copy_files(
        place, f"{run.store.root}/traces/tours.parquet", source_filesystem=files, destination_filesystem=files
    )


def _tours(model: Model, limits: Limits, log: Path, progress: Progress) -> Iterator[dict[str, Any]]:
    graph = merge_by_hidden(dump_graph(model, limits=limits, log=log, progress=progress), *HIDDEN)

    def calls(edge: Edge) -> bool:
        return graph.edges[edge]["state"]["step"]["action"] in CALLING

    writer = ItfWriter()
    for number, trace in enumerate(tour_traces(model, graph, max_length=LENGTH, edge_filter=calls), start=1):
        itf = writer.text(trace)
        yield {
            "trace": key(itf),
            "uri": f"tour {number} of {model.name}",
            "kind": "tour",
            "bytes": len(itf.encode()),
            "model": model.name,
            "states": len(trace.states),
            "itf": itf,
        }
