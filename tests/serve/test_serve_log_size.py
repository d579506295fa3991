"""The log of a server: entries for changes alone, compaction by entries and by size, the same state after."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from served import ROOT, Recorded, ask, broker
from test_serve_topics import create, delete, grow

from coordinator.core.storage import SqliteStorage
from coordinator.serve.broker import COMPACTED
from coordinator.serve.stored import CountedStorage, Size

SESSION = "consumer.session.timeout.ms"


def opened(log: Path, topics: dict[str, int] | None = None) -> tuple[Recorded, CountedStorage]:
    """A server on a log, whose new topics have ids that no server before it gave."""
    storage = CountedStorage(SqliteStorage(str(log)))
    made = broker(topics or {}, storage=storage)
    chance = random.Random(storage.size.entries)
    made._cluster.new_id = lambda: str(UUID(int=chance.getrandbits(128)))
    return made, storage


def alter(made: Recorded, group: str, value: str | None, validate: bool = False) -> int:
    """Set, or delete where it is None, the session's time-out of a group; the error."""
    change = {"name": SESSION, "configOperation": 0 if value else 1, "value": value}
    resource = {"resourceType": 32, "resourceName": group, "configs": [change]}
    return int(
        ask(made, 44, 1, {"resources": [resource], "validateOnly": validate})["responses"][0]["errorCode"]
    )


def commit(made: Recorded, group: str, offset: int) -> None:
    partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": ""}
    body = {"groupId": group, "topics": [{"name": "foo", "partitions": [partition]}]}
    assert ask(made, 8, 9, body)["topics"][0]["partitions"][0]["errorCode"] == 0


def state(made: Recorded) -> dict[str, Any]:
    """Everything that outlives a restart."""
    here = made._coordinator
    topics = {one.name: (one.id, one.partitions) for one in made._cluster.topics.values()}
    assert topics == here.topics
    return {"topics": topics, "configs": dict(here._env.group_configs), "offsets": here._offsets}


def test_the_document_has_these_bounds() -> None:
    page = " ".join((ROOT / "docs/serve.md").read_text().split())
    assert f"when it has {COMPACTED.entries:,} entries, or {COMPACTED.characters >> 20} MiB" in page


NOTHING: dict[str, Callable[[Recorded], object]] = {
    "a topic that is there": lambda made: create(made, "foo"),
    "a topic that cannot be": lambda made: create(made, "new", partitions=2**30),
    "a topic to validate": lambda made: create(made, "new", validateOnly=True),
    "the deletion of none": lambda made: delete(made, "none"),
    "fewer partitions": lambda made: grow(made, "foo", 1),
    "partitions to validate": lambda made: grow(made, "foo", 9, validate=True),
    "the same configuration": lambda made: alter(made, "g", "50000"),
    "a configuration to validate": lambda made: alter(made, "g", "60000", validate=True),
    "a configuration that is not set": lambda made: alter(made, "h", None),
    "a wrong configuration": lambda made: alter(made, "g", "1"),
}


@pytest.mark.parametrize("request_of", NOTHING)
def test_a_request_that_changes_nothing_writes_nothing(request_of: str, tmp_path: Path) -> None:
    made, storage = opened(tmp_path / "log.db", {"foo": 2})
    assert alter(made, "g", "50000") == 0
    before = storage.read()
    for _ in range(3):
        NOTHING[request_of](made)
    assert storage.read() == before
    storage.close()


def test_a_change_is_the_only_thing_in_its_entry(tmp_path: Path) -> None:
    """With 300 topics an entry of all of them would have 24 kB."""
    made, storage = opened(tmp_path / "log.db", {f"topic-{number}": 1 for number in range(300)})
    before = storage.size
    create(made, "new")
    grow(made, "topic-7", 2)
    delete(made, "topic-8")
    assert storage.size.entries == before.entries + 3
    assert storage.size.characters < before.characters + 600
    storage.close()


def test_a_start_writes_what_is_new_alone(tmp_path: Path) -> None:
    """A topic of the command line is made once, and keeps its id."""
    log = tmp_path / "log.db"
    first, storage = opened(log, {"foo": 2})
    expected, size = state(first), storage.size
    storage.close()
    again, storage = opened(log, {"foo": 2})
    assert (state(again), storage.size) == (expected, size)
    storage.close()
    more, storage = opened(log, {"foo": 3, "bar": 1})
    assert {name: partitions for name, (_, partitions) in state(more)["topics"].items()} == {
        "foo": 3,
        "bar": 1,
    }
    assert state(more)["topics"]["foo"][0] == expected["topics"]["foo"][0]
    assert storage.size.entries == size.entries + 1
    storage.close()


@pytest.mark.parametrize("seed", range(3))
def test_changes_of_topics_and_configurations_are_compacted_and_outlive_a_restart(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly no request of these writes a record: entries count, too."""
    monkeypatch.setattr("coordinator.serve.broker.COMPACTED", Size(50, 1 << 30))
    chance, log = random.Random(seed), tmp_path / "log.db"
    made, storage = opened(log, {"foo": 1})
    written = 0
    for number in range(600):
        name, before = chance.choice("abcd"), storage.size.entries
        match chance.randrange(9):
            case 0 | 1:
                create(made, name, partitions=chance.randint(1, 4))
            case 2:
                delete(made, name, chance.choice("abcd"))
            case 3:
                grow(made, name, chance.randint(1, 9))
            case 4 | 5 | 6 | 7:
                alter(made, name, chance.choice((None, "50000", "55000", "60000")))
            case _:
                commit(made, name, number)
        written += storage.size.entries - before
        made.ready()
        assert storage.size.entries < 50 and storage.size.entries == len(storage.read())
        if number % 100 == 99:
            expected = state(made)
            storage.close()
            made, storage = opened(log)
            assert state(made) == expected
    assert written > 200
    storage.close()


@pytest.mark.parametrize("stored", [True, False], ids=["on disk", "in memory"])
def test_long_records_are_compacted_before_there_are_many(
    stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member joins anew, each time with another subscription of 50 kB."""
    monkeypatch.setattr("coordinator.serve.broker.COMPACTED", COMPACTED._replace(characters=1 << 20))
    storage = CountedStorage(SqliteStorage(str(tmp_path / "log.db"))) if stored else None
    made = broker({"foo": 1}, storage=storage)
    most = 0
    for number in range(60):
        names = [f"{number}-{'x' * 200}-{index}" for index in range(250)]
        body = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 60000}
        answer = ask(made, 68, 0, body | {"subscribedTopicNames": names, "topicPartitions": []})
        assert answer["errorCode"] == 0
        made.ready()
        most = max(most, made._coordinator.end)
        assert storage is None or storage.size.characters < 1 << 20
    assert 20 < most < 150, "all of them are 300"
    if storage is not None:
        storage.close()


def test_a_log_that_stays_large_is_compacted_when_it_has_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with each request, as the configurations of 60 groups are more than the least size."""
    monkeypatch.setattr("coordinator.serve.broker.COMPACTED", Size(10, 1 << 30))
    made, storage = opened(tmp_path / "log.db", {"foo": 1})
    compactions = 0
    for number in range(60):
        for group in (f"g{number}", "same"):
            alter(made, group, str(45_001 + number))
            before = storage.size.entries
            made.ready()
            compactions += storage.size.entries < before
    assert 3 <= compactions <= 8
    assert storage.size.entries == len(storage.read())
    storage.close()
