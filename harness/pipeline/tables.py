"""The tables of the pipeline: explicit schemas, and the meaning of each column.

JSON stands in columns where the line protocol has JSON: requests, responses, descriptions, records. It is
written with sorted keys, so that equal content is equal text. A key is the first 32 hexadecimal digits of the
SHA-256 of the named content: the same content has the same key in every run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pyarrow as pa

SCHEMA_VERSION: Final = 1
"""The version of the tables and formats for users; it grows when a column is renamed, removed or gets another
meaning."""

_TEXT: Final = pa.string()
_COUNT: Final = pa.int64()
_INDEX: Final = pa.int32()


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


QUARANTINE: Final = _schema(uri=_TEXT, offset=_COUNT, reason=_TEXT, excerpt=_TEXT)
"""Input that could not be read: a file, or a place in a file (bytes from its start), the reason, and the
first characters. The rows of the other tables that have a problem are here."""

TRACES: Final = _schema(
    trace=_TEXT,
    uri=_TEXT,
    kind=_TEXT,
    bytes=_COUNT,
    model=_TEXT,
    states=_INDEX,
    itf=_TEXT,
    problem=_TEXT,
    offset=_COUNT,
)
"""One row for each given file: the trace that was read from it, with its text in ITF, of which `trace` is the
key. `kind` is itf, scenario or log. A file that cannot be read has a `problem`, and its place; a file with
operations that are left out has both."""

GRAPH: Final = _schema(kind=_TEXT, node=_COUNT, target=_COUNT, text=_TEXT, uri=_TEXT, offset=_COUNT)
"""One row for each line of a state graph's dump. `kind`: `state` and `step` are nodes (`node` is TLC's
fingerprint, `text` the state in TLC's form; a `step` node is a state with the step that led into it), `edge`
leads from `node` to `target`, `other` is dot's own, `bad` could not be read (`text` has the reason, `uri` the
file)."""

STATES: Final = _schema(state=_TEXT, title=_TEXT, depth=_INDEX, members=_INDEX, description=_TEXT, text=_TEXT)
"""One row for each state of the coordinator in which steps begin: the group's state (E5), the shortest way to
it in steps, the description that a target must give, and the state in TLC's form, of which an initial one
alone has the step into it (`HIDDEN`)."""

STEPS: Final = _schema(
    step=_TEXT,  # key of the step: source, input and everything that is expected
    trace=_TEXT,  # the trace it is a step of; "" for a transition of a state graph
    index=_INDEX,  # which step of the trace, that of the state after it; 0 for a transition
    source=_TEXT,  # key of the state before
    input=_TEXT,  # key of source and input: equal for steps that differ in what is expected alone
    after=_TEXT,  # key of the state after
    depth=_INDEX,  # steps from an initial state to the state before, the shortest way
    action=_TEXT,
    branch=_TEXT,
    member=_TEXT,
    error=_TEXT,
    configuration=_TEXT,  # JSON: what the target is configured with
    load=_TEXT,  # JSON: records, topics and volatile state of the state before
    before=_TEXT,  # JSON: the description of the state before
    tick_ms=_INDEX,  # the clock moves so far before the call
    lost=_TEXT,  # JSON or null: the operation whose effect the failing coordinator loses (P2)
    new_id=_TEXT,  # the id of the member that joins without one, or ""
    script=_TEXT,  # JSON or null: the target assignment that is installed
    operation=_TEXT,  # JSON: the call
    response=_TEXT,  # JSON or null: the expected response
    group=_TEXT,  # JSON: the expected description
    records=_TEXT,  # JSON: the expected records
    fired=_TEXT,  # JSON: the expected timers
    completed=_TEXT,  # JSON: the expected responses to requests that waited
    start=_INDEX,  # records in the log before the step
    state_after=_TEXT,  # the spec's state after, its step included, as TLC prints it; "" for traces
    problem=_TEXT,  # why the step could not be decoded; null if it could
    part=_INDEX,  # the part of the work that it is in
)
"""One row for each step, with everything that judging needs; for a step that does not call the target, or has
a problem, `operation` is null and most fields are empty. A trace that cannot be decoded is one row with the
problem."""

DIFFERENCE: Final = pa.struct([("path", _TEXT), ("expected", _TEXT), ("got", _TEXT)])
VERDICTS: Final = _schema(
    step=_TEXT,
    trace=_TEXT,
    index=_INDEX,
    source=_TEXT,
    input=_TEXT,
    depth=_INDEX,
    action=_TEXT,
    branch=_TEXT,
    error=_TEXT,
    target=_TEXT,
    dialect=_TEXT,
    verdict=_TEXT,
    reached=_TEXT,
    differences=pa.list_(DIFFERENCE),
    not_loaded=pa.list_(DIFFERENCE),
    ended=_TEXT,
    lacks=_TEXT,
    part=_INDEX,
)
"""One row for each step and target. `verdict` is pass, fail, not judged, target failed (it died or gave no
answer, and `differences` has its last words) or left out (`reached` is then empty, and `lacks` names the
feature that the step or the way to it needs and the target declares it lacks);
`reached` is the way in which the target came into the state before: `load`, `path` (the shortest, because it
cannot be loaded) or `trace`. `not_loaded` has the differences of the state before after its load, or the
target's refusal (the path `operation load`); it is empty where the state was there. `ended` names the step at
which a shortest path ended before that state, and `differences` are then those of that step."""

COVERAGE: Final = _schema(
    requirement=_TEXT, action=_TEXT, branch=_TEXT, error=_TEXT, dialect=_TEXT, tested=_COUNT, failed=_COUNT
)
"""Judged steps that exercise a requirement; a step may exercise several."""

FINDINGS: Final = _schema(
    finding=_TEXT,
    requirement=_TEXT,
    action=_TEXT,
    branch=_TEXT,
    error=_TEXT,
    paths=pa.list_(_TEXT),
    signatures=pa.list_(_TEXT),
    count=_COUNT,
    step=_TEXT,
    trace=_TEXT,
    index=_INDEX,
    steps=_INDEX,
    differences=pa.list_(DIFFERENCE),
)
"""Differences of the same kind (requirement, action, branch, error, paths): their number, the example with
the fewest `steps` from an initial state, and the signature of each path, for a waiver."""

TIMINGS: Final = _schema(stage=_TEXT, unit=_TEXT, rows=_COUNT, seconds=pa.float64())
"""The times of the units of work; the only table that differs from run to run. The unit `tlc` is within
`graph`; `summary/rest` is the time of a run that no other unit has."""

TABLES: Final = {
    "quarantine": QUARANTINE,
    "traces": TRACES,
    "graph": GRAPH,
    "states": STATES,
    "steps": STEPS,
    "verdicts": VERDICTS,
    "coverage": COVERAGE,
    "findings": FINDINGS,
    "timings": TIMINGS,
}

_STEP: Final = {
    "action": "action of the specification that the step is",
    "branch": "case of the action that applied; empty if it has one alone",
    "error": "error code of the expected response; empty without an error",
}
_PLACE: Final = {
    "trace": "key of the trace that the step is in; empty for a transition of a state graph",
    "index": "number of the step in its trace, that of the state after it; 0 for a transition",
}
MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "findings": {
        "finding": "key of the finding: equal in each run that finds it",
        "requirement": "ID of the requirement that is broken",
        **_STEP,
        "paths": "places in which the target differs: fields of the response, state, records or timers",
        "signatures": "signature of each path, for a file of waivers",
        "count": "steps with these differences",
        "step": "key of the example, the step nearest to an initial state",
        **_PLACE,
        "steps": "steps from an initial state to the example, its own included",
        "differences": "differences of the example: path, expected and got as JSON",
    },
    "coverage": {
        "requirement": "ID of a requirement that the steps exercise",
        **_STEP,
        "dialect": "dialect that the target was compared with",
        "tested": "steps that were judged",
        "failed": "judged steps with a difference that no waiver accepts",
    },
    "verdicts": {
        "step": "key of the step: source, input and all that is expected",
        **_PLACE,
        "source": "key of the state before the step",
        "input": "key of source and input: equal for steps that differ only in what is expected",
        "depth": "steps from an initial state to the state before, the shortest way",
        **_STEP,
        "target": "implementation that was judged",
        "dialect": "dialect that the target was compared with",
        "verdict": "pass, fail, not judged, target failed or left out",
        "reached": "how the target came into the state before: load, path or trace; empty if left out",
        "differences": "differences at the step: path, expected and got as JSON",
        "not_loaded": "differences of the state after its load; empty if the state was as loaded",
        "ended": "key of the step at which the shortest path ended before the state; else empty",
        "lacks": "feature that the step needs and the target says it lacks; else empty",
        "part": "part of the work that the step was judged in",
    },
    "quarantine": {
        "uri": "file that could not be read, or the state graph",
        "offset": "place in the file in bytes from its start; null for a whole file or a step",
        "reason": "reason why it could not be read",
        "excerpt": "first characters of what could not be read; null for a file",
    },
}
"""Meaning of each column of the tables that `--tables` publishes; Spark keeps it beside the column."""


def key(*parts: str) -> str:
    """The key of some texts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


_FAST: Final = msgspec.json.Encoder(order="sorted").encode
_ENCODE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
"""The encoder of values that the fast encoder does not take, such as names of TLA+ that are model values."""


def text(data: Any) -> str:
    """JSON in the form of the tables."""
    try:
        return _FAST(data).decode()
    except (TypeError, ValueError, msgspec.MsgspecError):
        return _ENCODE(data)


def optional(data: Any) -> str | None:
    """JSON of a value, None for None."""
    return None if data is None else text(data)


def value_of(text: str) -> Any:
    """The value of a text of the tables; the text itself where it was cut off."""
    try:
        return json.loads(text)
    except ValueError:
        return text
