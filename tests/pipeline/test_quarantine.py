"""Damaged inputs become rows with their problems and the rest goes on; rows that are lost on the way fail the
run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pipeline_runs import GOLDEN, TRACE, Ran, dataset, run
from test_tables import plain

from harness.errors import ConformError
from harness.pipeline import decoding, inputs, tables, verdicts
from harness.pipeline.judging import judging
from harness.pipeline.sources import find_files

OTHER_SPEC = {"vars": ["x"], "states": [{"x": 1}, {"x": 2}]}
SCENARIO = """\
name: Small
source: a test
shows: A joins.
topics: {foo: 2}

steps:
  - join: {member: A, subscription: [foo]}
    target: {A: [foo-0, foo-1]}
    expect:
      response: {epoch: 1, assigned: [foo-0, foo-1], pending: []}
      group: {epoch: 1, assignmentEpoch: 1, state: Stable}
      target: {A: [foo-0, foo-1]}
      members:
        A: {epoch: 1, partitions: [foo-0, foo-1], pending: []}
"""
FOO = "00000000-0000-4000-8000-000000000001"


def beat(member: str, epoch: int, group: str = "g") -> Any:
    body = {
        "groupId": group,
        "memberId": member,
        "memberEpoch": epoch,
        "instanceId": None,
        "rebalanceTimeoutMs": 60000 if epoch == 0 else -1,
        "subscribedTopicNames": ["foo"] if epoch == 0 else None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": [] if epoch == 0 else None,
    }
    client = {"id": "c", "host": "/127.0.0.1", "principal": "User:c"}
    return {"op": "request", "api": "ConsumerGroupHeartbeat", "version": 0, "client": client, "body": body}


def log() -> list[Any]:
    topic = {"name": "foo", "id": FOO, "partitions": 2}
    return [{"op": "topics", "upsert": [topic], "delete": []}, beat("A", 0), beat("A", 1), beat("A", -1)]


def lines(operations: list[Any]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in operations).encode()


def damaged(folder: Path) -> dict[str, tuple[int | None, str]]:
    """Put good and bad files into a folder; the bad ones: name -> offset, a part of the reason."""
    good = TRACE.read_bytes()
    (folder / "good.itf.json").write_bytes(good)
    (folder / "same.itf.json").write_bytes(good)
    (folder / "small.yaml").write_text(SCENARIO)
    (folder / "live.jsonl").write_bytes(lines(log()))
    (folder / "groups.jsonl").write_bytes(lines([*log(), beat("B", 0, "h")]))
    (folder / "beside.txt").write_text("not looked at")
    first = lines(log()[:2])
    contents = {
        "cut.itf.json": (good[:1000], good.rindex(b'"', 0, 1000), "cut off"),
        "encoding.itf.json": (good[:500] + b"\xff" + good[500:], 500, "not UTF-8"),
        "other.itf.json": (json.dumps(OTHER_SPEC).encode(), None, "group"),
        "empty.itf.json": (b"", 0, "cut off"),
        "list.itf.json": (b"[1, 2]", 0, "not ITF"),
        "deep.itf.json": (b"[" * 100_000, 0, "RecursionError"),
        "broken.jsonl": (first + b'{"op": requ\n' + lines(log()[2:]), len(first) + 7, "cut off"),
        "number.jsonl": (first + b"17\n", len(first), "operation"),
        "half.jsonl": (b'{"op": "request"}\n', 0, "KeyError"),
        "wrong.yaml": (b"name: [", 0, "wrong.yaml"),
    }
    for name, (content, _, _) in contents.items():
        (folder / name).write_bytes(content)
    bad = {name: (offset, reason) for name, (_, offset, reason) in contents.items()}
    return bad | {"groups.jsonl": (None, "left out: ConsumerGroupHeartbeat of group 'h'")}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, dict[str, tuple[int | None, str]]]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "in").mkdir()
    bad = damaged(folder / "in")
    return run(folder / "out", files=find_files([str(folder / "in")])), bad


def test_a_file_that_cannot_be_read_is_a_row_with_place_and_reason(files: Any) -> None:
    ran, bad = files
    rows = {Path(row["uri"]).name: row for row in ran.rows("quarantine")}
    assert rows.keys() == bad.keys()
    for name, (offset, reason) in bad.items():
        assert (rows[name]["offset"], reason in rows[name]["reason"]) == (offset, True), rows[name]
        assert rows[name]["uri"].startswith("file:///")
    assert ran.result.quarantined == len(bad) and not ran.result.holds


def test_the_good_files_are_judged_and_equal_traces_once(files: Any) -> None:
    ran, bad = files
    by_name = {Path(row["uri"]).name: row for row in ran.rows("traces")}
    assert len(by_name) == len(bad) + 4
    assert by_name["good.itf.json"]["trace"] == by_name["same.itf.json"]["trace"]
    assert {row["kind"] for row in by_name.values()} == {"itf", "scenario", "log"}
    judged = ran.rows("verdicts", "traces")
    expected = {"small.yaml": 1, "live.jsonl": 3, "groups.jsonl": 3}
    expected["good.itf.json"] = by_name["good.itf.json"]["states"] - 1
    traces = {name: by_name[name]["trace"] for name in expected}
    steps = {name: sum(row["trace"] == trace for row in judged) for name, trace in traces.items()}
    assert steps == expected
    assert sum(steps.values()) == len(judged) == ran.result.trace_steps
    assert {row["verdict"] for row in judged} == {"pass"} and {row["reached"] for row in judged} == {"trace"}


def test_the_tables_of_traces_have_their_schemas(files: Any) -> None:
    ran, _ = files
    for folder in ("traces", "steps/traces", "verdicts/traces", "quarantine"):
        schema = plain(dataset(ran.place, folder).schema)
        assert schema == plain(tables.TABLES[folder.partition("/")[0]])


def test_a_folder_gives_a_scenario_or_the_trace_beside_it_and_not_both(tmp_path: Path) -> None:
    for name in ("basic.yaml", "basic.itf.json", "incremental.yaml"):
        shutil.copy(GOLDEN / name, tmp_path)
    results = [Path(uri).name for uri in find_files([str(tmp_path), str(tmp_path / "basic.itf.json")])]
    assert results == ["basic.itf.json", "incremental.yaml"]


def test_nothing_but_bad_files_is_no_claim(tmp_path: Path) -> None:
    (tmp_path / "a.itf.json").touch()
    ran = run(tmp_path / "out", files=[tmp_path / "a.itf.json"])
    assert (ran.result.trace_steps, ran.result.quarantined, ran.result.holds) == (0, 1, False)


def test_a_damaged_line_and_a_missing_node_of_a_dump_are_rows(dot: Path, tmp_path: Path) -> None:
    every = dot.read_bytes().splitlines(keepends=True)
    leaves = [n for n, line in enumerate(every) if b"conformLeaf = TRUE" in line]
    broken, unreadable, nonsense, missing = leaves[10:50:10]
    every[broken] = every[broken].replace(b"[label=", b"[labl=", 1)
    every[unreadable] = every[unreadable].replace(b"group", b"gro\xffp", 1)
    every[nonsense] = every[nonsense].replace(b"|->", b"|+>", 1)
    every[missing] = b""
    file = tmp_path / "damaged.dot"
    file.write_bytes(b"".join(every))
    ran = run(tmp_path / "out", files=[file])
    rows = ran.rows("quarantine")
    placed = {row["offset"]: row["reason"] for row in rows if row["uri"] == file.as_uri()}
    before = {n: sum(map(len, every[:n])) for n in (broken, unreadable)}
    assert placed.keys() == set(before.values())
    assert "neither a node nor an edge" in placed[before[broken]]
    assert "is not UTF-8" in placed[before[unreadable]]
    reasons = [row["reason"] for row in rows if row["offset"] is None]
    unknown = [reason for reason in reasons if "names a state that is not in it" in reason]
    assert len(unknown) >= 3  # a leaf may be reached from several states
    assert len(reasons) > len(unknown)  # what is no TLA+
    assert ran.result.steps + len(reasons) == 748
    assert (ran.result.quarantined, ran.result.failed) == (len(rows), 0)
    assert not ran.result.holds


@pytest.mark.parametrize("lines_left", [-3, 0])
def test_a_dump_that_is_cut_off_is_no_claim(dot: Path, tmp_path: Path, lines_left: int) -> None:
    every = dot.read_bytes().splitlines(keepends=True)
    file = tmp_path / "cut.dot"
    file.write_bytes(b"".join(every[:lines_left]))
    ran = run(tmp_path / "out", files=[file])
    assert not ran.result.holds
    if lines_left:
        rows = ran.rows("quarantine")
        assert [(row["uri"], "cut off" in row["reason"]) for row in rows if row["offset"] is not None] == [
            (file.as_uri(), True)
        ]
        assert 0 < ran.result.steps <= 748


Make = Callable[..., Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]]


def losing(make: Make) -> Make:
    """A maker of rows that leaves out the first row."""

    def made(*given: Any) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        real = make(*given)

        def short(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in real(batches):
                yield batch.slice(1)

        return short

    return made


def test_a_transition_that_gets_lost_fails_the_run(
    dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "transitions", losing(decoding.transitions))
    with pytest.raises(
        ConformError, match="transitions of the state graph do not add up: 748 went"
    ) as caught:
        run(tmp_path / "out", files=[dot])
    assert caught.value.exit_code == 3


def test_a_step_of_a_trace_that_gets_lost_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs.decoding, "traces", losing(lambda: decoding_traces)())
    with pytest.raises(ConformError, match="steps of the traces do not add up"):
        run(tmp_path / "out", files=[TRACE])


def test_a_state_that_gets_lost_fails_the_run(
    dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "states", losing(lambda: decoding_states)())
    with pytest.raises(ConformError, match="states of the state graph do not add up"):
        run(tmp_path / "out", files=[dot])


decoding_traces, decoding_states = decoding.traces, decoding.states


def test_a_verdict_that_gets_lost_fails_the_run_and_is_made_by_the_next(
    dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(verdicts, "judging", losing(judging))
        with pytest.raises(ConformError, match="steps of the state graph do not add up"):
            run(tmp_path / "out", files=[dot])
    again = run(tmp_path / "out", files=[dot])
    assert again.units() == ["verdicts/graph"]
    assert again.result.holds


def test_a_part_that_is_removed_fails_the_run(tiny_run: Ran, tmp_path: Path) -> None:
    shutil.copytree(tiny_run.place, tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "verdicts" / "graph" / "part=0")
    with pytest.raises(ConformError, match="do not add up: 748 went in, 0 came out"):
        run(tmp_path / "out", model=tiny_run.model, files=[TRACE])
