"""Logs that outlive their process: P3, P4. Every acknowledged record is there, and nothing is half
applied."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crash_schedule import LOOK, Model, durable, next_operation, request
from fake_disk import FakeDisk, PowerCut

from coordinator import AppendFailed, BadInput, Config, Coordinator, ErrorCode
from coordinator.core.storage import LogStorage, SqliteStorage
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
FOO = {"name": "foo", "id": "00000000-0000-4000-8000-000000000066", "partitions": 2}


def scheduled(seed: int, length: int) -> tuple[list[Json], list[Json]]:
    """Operations, and the durable state before the first and after each."""
    rng, model = random.Random(seed), Model()
    operations, views = [], [model.durable()]
    for _ in range(length):
        operations.append(next_operation(rng, model))
        assert model.ask(operations[-1])["ok"]
        views.append(model.durable())
    return operations, views


def look(storage: LogStorage) -> Json:
    """The durable state that a new coordinator finds."""
    protocol = LineProtocol(Coordinator(storage=storage))
    return durable([protocol.answer(operation) for operation in LOOK])


def answered(operations: list[Json], disk: FakeDisk) -> int:
    """The number of operations that are answered until the power is cut."""
    count = 0
    try:
        protocol = LineProtocol(Coordinator(storage=disk))
        for operation in operations:
            assert protocol.answer(operation)["ok"]
            count += 1
    except PowerCut:
        pass
    return count


@pytest.mark.parametrize("seed", range(3))
def test_power_cut_at_every_write_and_sync_loses_nothing_that_was_acknowledged(seed: int) -> None:
    """P3: everything that was answered is there; the operation after it whole or not at all."""
    operations, views = scheduled(seed, 40)
    whole = FakeDisk()
    assert answered(operations, whole) == len(operations)
    seen = set()
    for point in range(whole.points):
        disk = FakeDisk(cut_at=point)
        count = answered(operations, disk)
        assert count < len(operations)
        for tear in range(4):
            result = look(disk.after_the_cut(random.Random(f"{seed} {point} {tear}")))
            assert result in (views[count], views[count + 1]), (point, tear)
            seen.add(result == views[count])
    assert seen == {True, False}


def test_schedules_reach_what_they_are_for() -> None:
    """Every kind of record and its tombstone, of which a lost one could be missed."""
    records = [record for seed in range(9) for record in scheduled(seed, 40)[1][-1]["records"]]
    assert len({(record["key"]["type"], record["value"] is None) for record in records}) == 14


def test_torn_tail_of_the_file_is_the_state_before_or_after(tmp_path: Path) -> None:
    """P3: SQLite's write-ahead log, cut or full of holes wherever it was not synced yet."""
    operations, _ = scheduled(7, 30)
    path, torn = tmp_path / "log.db", tmp_path / "torn.db"
    wal, torn_wal = tmp_path / "log.db-wal", tmp_path / "torn.db-wal"
    storage = SqliteStorage(str(path))
    protocol = LineProtocol(Coordinator(storage=storage))
    rng = random.Random(7)
    before, start, outcomes = storage.read(), wal.stat().st_size, set()
    for operation in operations:
        assert protocol.answer(operation)["ok"]
        after, content = storage.read(), wal.read_bytes()
        for holes in range(4):
            torn.write_bytes(path.read_bytes())
            torn_wal.write_bytes(content[:start] + damaged(content[start:], rng if holes else None))
            result = SqliteStorage(str(torn))
            assert result.read() in (before, after)
            outcomes.add((bool(holes), result.read() == after))
            result.close()
        before, start = after, len(content)
    assert outcomes >= {(False, True), (True, False)}


def damaged(content: bytes, rng: random.Random | None) -> bytes:
    """Some of its sectors lost, or its end."""
    if rng is None:
        return content
    if rng.random() < 0.5:
        return content[: rng.randrange(len(content) + 1)]
    sectors = [content[at : at + 512] for at in range(0, len(content), 512)]
    return b"".join(bytes(len(sector)) if rng.random() < 0.5 else sector for sector in sectors)


def commit(offset: int, **fields: Any) -> Json:
    topics = [{"name": "foo", "partitions": [{"partitionIndex": 0, "committedOffset": offset, **fields}]}]
    return request("OffsetCommit", 9, {"groupId": "g1", "topics": topics})


def test_appends_are_synced_and_the_file_is_locked(tmp_path: Path) -> None:
    storage = SqliteStorage(str(tmp_path / "log.db"))
    names = ("synchronous", "fullfsync", "journal_mode", "locking_mode", "busy_timeout")
    results = [storage._database.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    assert results == [2, 1, "wal", "exclusive", 0]


HOLDER = """
import sys
from coordinator.core.storage import SqliteStorage
held = SqliteStorage(sys.argv[1])
print("held", flush=True)
input()
"""


def test_a_log_that_another_process_has_is_refused_and_not_kept_open(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(
            BadInput, match=r"another process has the log .*log\.db: stop it first"
        ) as refused:
            SqliteStorage(str(path))
        assert refused.traceback and not opened(path)
        holder.communicate("\n")
    assert SqliteStorage(str(path)).read() == []


def test_the_header_of_a_log_has_its_mark(tmp_path: Path) -> None:
    """Logs of earlier versions have this mark, by which they are known, at the place that SQLite says."""
    SqliteStorage(str(tmp_path / "log.db")).close()
    assert (tmp_path / "log.db").read_bytes()[68:72] == b"K8LG"


def test_an_extended_code_of_sqlite_also_tells_that_another_process_has_the_log(tmp_path: Path) -> None:
    """SQLITE_BUSY_RECOVERY: the other process reads its write-ahead log after a crash."""
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    assert "another process has the log" in SqliteStorage(str(tmp_path / "log.db"))._why_not(error)


def test_entries_that_replace_all_others_leave_none_of_them(tmp_path: Path) -> None:
    storage = SqliteStorage(str(tmp_path / "log.db"))
    storage.append(["a", "b", "c"])
    storage.rewrite(["d"])
    assert storage.read() == ["d"]
    storage.append(["e"])
    storage.close()
    assert SqliteStorage(str(tmp_path / "log.db")).read() == ["d", "e"]


def test_a_write_that_fails_in_the_middle_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    """P3: SQLite ends a transaction by itself where the disk is full, and not after every other error."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    storage.append(["a"])
    refuse = "BEFORE INSERT ON batch WHEN NEW.entry = 'c' BEGIN SELECT RAISE(FAIL, 'no c'); END"
    storage._database.execute(f"CREATE TEMP TRIGGER refuse {refuse}")
    for write in (storage.append, storage.rewrite):
        with pytest.raises(AppendFailed, match=r"log\.db took no records: no c"):
            write(["b", "c"])
        assert storage.read() == ["a"]
    storage.append(["d"])
    storage.close()
    assert SqliteStorage(str(tmp_path / "log.db")).read() == ["a", "d"]


def test_disk_that_is_full_refuses_and_changes_nothing(tmp_path: Path) -> None:
    """P3: COORDINATOR_NOT_AVAILABLE, also for a change of topics; with space again all goes on."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    protocol = LineProtocol(Coordinator(storage=storage))
    assert protocol.answer({"op": "topics", "upsert": [FOO]})["ok"]
    (pages,) = storage._database.execute("PRAGMA page_count").fetchone()
    storage._database.execute(f"PRAGMA max_page_count = {pages}")
    for offset in range(1000):
        before = [protocol.answer(operation) for operation in LOOK]
        body = protocol.answer(commit(offset, committedMetadata="x" * 1000))["body"]
        if body["topics"][0]["partitions"][0]["errorCode"]:
            break
    assert body["topics"][0]["partitions"][0]["errorCode"] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    many = [{"name": f"t{n}", "id": f"{n:032x}", "partitions": 1} for n in range(1, 100)]
    refused = protocol.answer({"op": "topics", "upsert": many})
    assert not refused["ok"] and refused["error"].endswith("the topics are as they were")
    assert [protocol.answer(operation) for operation in LOOK] == before
    storage._database.execute(f"PRAGMA max_page_count = {pages + 99}")
    assert protocol.answer(commit(7))["body"]["topics"][0]["partitions"][0]["errorCode"] == 0
    expected = durable([protocol.answer(operation) for operation in LOOK])
    storage.close()
    assert look(SqliteStorage(str(tmp_path / "log.db"))) == expected


class RefusingDisk(FakeDisk):
    """A disk that refuses every write once it is told to."""

    refuses = False

    def _write(self, entries: Any) -> None:
        if self.refuses:
            raise AppendFailed("the disk took nothing")
        super()._write(entries)


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "topics", "delete": ["foo"]},
        {"op": "topics", "upsert": [{**FOO, "partitions": 3}]},
        {"op": "load", "records": []},
        {"op": "restart", "keep": 0},
        {"op": "fire", "timer": "session", "group": "g1", "member": "m1"},
    ],
    ids=lambda operation: str(operation["op"]),
)
def test_operation_that_the_storage_refuses_changes_nothing(operation: Json) -> None:
    disk = RefusingDisk()
    protocol = LineProtocol(Coordinator(storage=disk))
    protocol.answer({"op": "topics", "upsert": [FOO]})
    join = {"groupId": "g1", "memberId": "m1", "memberEpoch": 0, "rebalanceTimeoutMs": 1}
    body = {**join, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    protocol.answer(request("ConsumerGroupHeartbeat", 0, body))
    before = durable([protocol.answer(look) for look in LOOK])
    disk.refuses = True
    assert protocol.answer(operation)["ok"] is False
    assert durable([protocol.answer(look) for look in LOOK]) == before
    disk.refuses = False
    assert look(disk) == before


def test_members_have_their_sessions_where_what_a_new_coordinator_notices_is_refused() -> None:
    """P2, P3: the coordinator has loaded the log by then, and the due target waits."""
    disk = RefusingDisk()
    coordinator = Coordinator(storage=disk)
    join = {"groupId": "g1", "memberId": "m1", "memberEpoch": 0, "rebalanceTimeoutMs": 1}
    body = {**join, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    coordinator.load(coordinator.records()[:3], [FOO], {})
    coordinator.advance(1000)
    disk.refuses = True
    coordinator.restart()
    disk.refuses = False
    assert coordinator.advance(44_999) == []
    assert [one["timer"] for one in coordinator.advance(1)] == ["session"]


@pytest.mark.parametrize("keep", [None, 7, 0])
def test_load_and_restart_leave_in_the_file_what_they_leave_in_memory(
    tmp_path: Path, keep: int | None
) -> None:
    operations, views = scheduled(3, 20)
    storage = SqliteStorage(str(tmp_path / "log.db"))
    protocol = LineProtocol(Coordinator(storage=storage))
    for operation in operations:
        protocol.answer(operation)
    assert protocol.answer({"op": "restart", "keep": keep})["ok"]
    lost = durable([protocol.answer(operation) for operation in LOOK])
    assert len(lost["records"]) <= (len(views[-1]["records"]) if keep is None else keep + 20)
    storage.close()
    storage = SqliteStorage(str(tmp_path / "log.db"))
    assert look(storage) == lost
    protocol = LineProtocol(Coordinator(storage=storage))
    assert protocol.answer({"op": "load", "records": views[-1]["records"], "topics": [FOO]})["ok"]
    loaded = durable([protocol.answer(operation) for operation in LOOK])
    storage.close()
    assert look(SqliteStorage(str(tmp_path / "log.db")))["topics"] == loaded["topics"]


def test_batch_that_is_too_large_is_not_in_the_file_either(tmp_path: Path) -> None:
    """P4."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    coordinator = Coordinator(storage=storage, config=Config(max_batch_bytes=500))
    protocol = LineProtocol(coordinator)
    protocol.answer({"op": "topics", "upsert": [FOO]})
    before = storage.read()
    answer = protocol.answer(commit(5, committedMetadata="x" * 400))
    code = answer["body"]["topics"][0]["partitions"][0]["errorCode"]
    assert (code, storage.read()) == (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, before)


def run(log: Path, *operations: Json) -> subprocess.CompletedProcess[str]:
    lines = "".join(f"{json.dumps(operation)}\n" for operation in operations)
    command = [sys.executable, "-m", "coordinator", "--stdio", "--log", str(log)]
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=False)


def test_program_finds_what_its_predecessor_left(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    first = run(log, {"op": "topics", "upsert": [FOO]}, commit(5), *LOOK)
    second = run(log, *LOOK)
    assert (first.returncode, second.returncode, second.stderr) == (0, 0, "")
    assert first.stdout.splitlines()[2:] == second.stdout.splitlines()
    assert '"committedOffset":5' in second.stdout


def other_database(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t (x)")
    database.close()


def marked(path: Path, pragma: str) -> None:
    """Make a database without tables that another program has marked as its own."""
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA {pragma} = 7")
    database.close()


def opened(path: Path) -> int:
    """The number of open descriptors of a file; of a system without /proc there is no such number."""
    numbers = Path("/proc/self/fd")
    return sum(number.resolve() == path for number in numbers.iterdir()) if numbers.is_dir() else 0


def other_version(path: Path) -> None:
    SqliteStorage(str(path)).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 2")
    database.close()


def written(path: Path) -> None:
    storage = SqliteStorage(str(path))
    for number in range(200):
        storage.append([json.dumps({"records": [], "number": number, "filler": "x" * 100})])
    storage.close()


def changed(path: Path, statement: str) -> None:
    written(path)
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


def overwritten_page(path: Path) -> None:
    written(path)
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(4096)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_bytes(b"nonsense" * 1000), "is no log of this coordinator: file is not a"),
        (lambda path: path.write_text("notes"), "is no log of this coordinator: file is not a database"),
        (other_database, "is a database, but no log of this coordinator; name another file"),
        *(
            (lambda path, name=name: marked(path, name), "is a database, but no log of this coordinator")
            for name in ("application_id", "user_version")
        ),
        (other_version, "has the format 2, and this coordinator reads 1: use the version that wrote it"),
        (overwritten_page, "is damaged: "),
        (lambda path: changed(path, "DELETE FROM batch WHERE id = 9"), "is damaged at batch 9; restore it"),
        (
            lambda path: changed(path, "UPDATE batch SET entry = replace(entry, '1', '2') WHERE id = 150"),
            "is damaged at batch 150; restore it from a copy",
        ),
        (lambda path: path.mkdir(), "cannot be opened: unable to open database file; name another file"),
    ],
)
def test_file_that_is_no_log_is_refused_in_a_sentence_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    path = tmp_path / "log.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(BadInput, match=sentence) as refused:
        SqliteStorage(str(path))
    assert refused.traceback and not opened(path)  # not even while a caller holds the error
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_program_refuses_a_log_with_exit_code_2(tmp_path: Path) -> None:
    held = SqliteStorage(str(tmp_path / "held.db"))
    (tmp_path / "other").write_text("no log")
    for path, sentence in (
        (tmp_path / "held.db", "another process has the log"),
        (tmp_path / "other", "is no log of this coordinator"),
        (tmp_path / "no folder" / "log.db", "cannot be opened: unable to open database file"),
    ):
        ended = run(path, *LOOK)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert sentence in ended.stderr
    held.close()


def test_entries_that_are_no_records_are_refused(tmp_path: Path) -> None:
    """A file that another program wrote in the same format: only P1's records count."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    storage.append(['{"records":[{"key":{"type":"ConsumerGroupMagic","groupId":"g"},"value":{}}]}'])
    storage.close()
    ended = run(tmp_path / "log.db", *LOOK)
    assert (ended.returncode, "there is no record type 'ConsumerGroupMagic'" in ended.stderr) == (2, True)


def test_file_whose_making_was_interrupted_is_a_new_log(tmp_path: Path) -> None:
    (tmp_path / "log.db").touch()
    assert SqliteStorage(str(tmp_path / "log.db")).read() == []
