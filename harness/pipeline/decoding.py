"""Work of Spark's executors that makes `steps` and `states`: batches in, batches out (for `mapInArrow`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from harness.errors import ConformError
from harness.itf import ItfReader, Trace
from harness.pipeline.parts import ROWS, Batches, Row, batch_of, values_of
from harness.pipeline.rows import StepRows
from harness.pipeline.tables import STATES, STEPS
from harness.tlaparse import TlaSyntaxError


def transitions(constants: Mapping[str, Any]) -> Callable[[Batches], Batches]:
    """From rows of source and leaf (nodes of a dump) and depth to `steps`."""

    def decoded(batches: Batches) -> Batches:
        rows, made = StepRows(constants), list[Row]()
        for batch in batches:
            for source, leaf, depth in zip(*map(values_of, batch.columns), strict=True):
                rows = StepRows(constants) if rows.full else rows
                made.append(_transition(rows, source, leaf, depth))
            if len(made) >= ROWS:
                yield batch_of(made, STEPS)
                made = []
        if made:
            yield batch_of(made, STEPS)

    return decoded


def _transition(rows: StepRows, source: str | None, leaf: str | None, depth: int | None) -> Row:
    if source is None or leaf is None:
        return {"trace": "", "index": 0, "problem": "an edge of the dump names a state that is not in it"}
    try:
        return rows.transition(source, leaf, depth or 0) or {"trace": "", "index": 0}
    except Exception as error:  # whatever the damage does to the reader, the other rows go on
        return {"trace": "", "index": 0, "problem": _sentence(error), "state_after": leaf[:200]}


def states(batches: Batches) -> Batches:
    """From rows of a node of a dump and its depth to `states`; the problem of a node that cannot be decoded
    is in `steps`, with the transitions out of it."""
    rows = StepRows({})
    for batch in batches:
        made = []
        for node, depth in zip(*map(values_of, batch.columns), strict=True):
            rows = StepRows({}) if rows.full else rows
            try:
                made.append(rows.state(node, depth or 0))
            except Exception:  # as in _transition; `exhaust` counts the rows, so none is lost in silence
                continue
        yield pa.RecordBatch.from_pylist(made, STATES)


def traces(batches: Batches) -> Batches:
    """From rows of trace, uri and itf to `steps`; one that cannot be decoded is a row with a problem."""
    rows, reader, made = StepRows({}), ItfReader(), list[Row]()
    for batch in batches:
        for identity, uri, itf in zip(*map(values_of, batch.columns), strict=True):
            rows = StepRows({}) if rows.full else rows
            try:
                made += _steps(rows, identity, uri, reader.decode(itf.encode(), f"The trace {uri}"))
            except Exception as error:  # as in _transition
                made.append({"trace": identity, "index": 0, "problem": _sentence(error)})
            if len(made) >= ROWS:
                yield batch_of(made, STEPS)
                made = []
    if made:
        yield batch_of(made, STEPS)


def _steps(rows: StepRows, identity: str, uri: str, trace: Trace) -> list[Row]:
    """A row for every step of a trace, also for those that do not call the target."""
    made: list[Row] = [{"trace": identity, "index": index} for index in range(1, len(trace.states))]
    for row in rows.trace(uri, trace, identity):
        made[row["index"] - 1] = row
    return made


def _sentence(error: Exception) -> str:
    known = isinstance(error, ConformError | TlaSyntaxError)
    return str(error) if known else f"it cannot be decoded: {type(error).__name__}: {error}"
