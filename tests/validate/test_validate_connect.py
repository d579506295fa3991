"""`conform validate` of Connect groups: recorded runs of the Python coordinator, also made wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from judged import differences_of, judged, write

from harness.cli.replay import command as replay
from harness.cli.validate import command as validate
from harness.errors import USAGE, ConformError
from harness.kinds.connect import wire as connect
from harness.kinds.fields import Partition
from harness.kinds.recordings import read_log
from harness.replay import wire
from harness.targets import open_target
from harness.targets.base import Json
from harness.targets.recording import recorded

ROOT = Path(__file__).parents[2]


class Run:
    """A Connect group of the Python coordinator, of which everything is recorded."""

    def __init__(self, log: Path, connectors: dict[str, int]) -> None:
        self.log = log
        self._recorded = recorded(open_target("python", "kip-848"), log)
        self.target = self._recorded.__enter__()
        self.target.hello()
        topics = [wire.topic(name, count) for name, count in connectors.items()]
        self.target.load([], topics, {"clockMs": 0})

    def ask(self, api: str, worker: str, epoch: int, group: str = "g", **fields: Any) -> Json:
        waits = {"rebalanceTimeoutMs": 60_000} if api == connect.HEARTBEAT and not epoch else {}
        body = {"groupId": group, "memberId": worker, "memberEpoch": epoch, **waits, **fields}
        answer = self.target.request(api, 0, wire.client(worker), body, group)
        assert answer.body is not None
        return answer.body

    def join(self, worker: str, group: str = "g", **fields: Any) -> Json:
        body = {"clientAssignors": connect.assignors(0), "connectorsAndTasks": []}
        return self.ask(connect.HEARTBEAT, worker, 0, group, **body, **fields)

    def beat(self, worker: str, epoch: int, owned: list[Partition] | None = None, **fields: Any) -> Json:
        given = None if owned is None else connect.resources(owned)
        return self.ask(connect.HEARTBEAT, worker, epoch, connectorsAndTasks=given, **fields)

    def prepare(self, worker: str, epoch: int) -> int:
        return int(self.ask(connect.PREPARE, worker, epoch)["groupEpoch"])

    def install(self, worker: str, epoch: int, group_epoch: int, **given: list[Partition]) -> Json:
        members = [
            {"memberId": who, "connectorsAndTasks": connect.resources(entry), "version": 0, "metadata": ""}
            for who, entry in given.items()
        ]
        return self.ask(connect.INSTALL, worker, epoch, groupEpoch=group_epoch, error=0, members=members)

    def end(self) -> list[Json]:
        self._recorded.__exit__(None, None, None)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def two_workers(log: Path) -> list[Json]:
    """w1 computes and has all, w2 joins and gets a task once w1 has given it up; w1 is lost with its part."""
    run = Run(log, {"A": 2})
    run.join("w1")
    run.install("w1", 0, run.prepare("w1", 0), w1=[("A", 0), ("A", 1)])
    run.beat("w1", 0)
    run.join("w2")
    run.install("w1", 1, run.prepare("w1", 1), w1=[("A", 0)], w2=[("A", 1)])
    run.beat("w1", 1, [("A", 0), ("A", 1)])
    run.beat("w1", 1, [("A", 0)])
    run.beat("w2", 0)
    run.target.fire("session", "g", "w1", "g")
    run.prepare("w2", 2)
    return run.end()


def answers(lines: list[Json], api: str) -> list[Json]:
    """The answers to the requests of an API."""
    return [line["answer"] for line in lines if line.get("api") == api]


def failure(log: Path, **options: Any) -> ConformError:
    with pytest.raises(ConformError) as caught:
        validate(log, **options)
    return caught.value


def test_a_replayed_run_is_a_behaviour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "connect.jsonl"
    # spec/RecordedConnect.tla has one assignor that all workers offer, as Connect.tla.
    traces = sorted((ROOT / "traces" / "connect").glob("*.itf.json"))
    replay([file for file in traces if not file.name.startswith("MCConnectNames-")], record=log)
    validate(log, json_file=tmp_path / "result.json", out=tmp_path / "traces")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["holds"] and result["steps"] > 100 and len(result["runs"]) > 25 and not result["left_out"]
    assert "a behaviour of the specification (TLC 2.18, spec " in capsys.readouterr().out
    replay(sorted((tmp_path / "traces").glob("connect-*.itf.json")))


def test_unobserved_values_are_not_compared(tmp_path: Path) -> None:
    """As it was seen, from its answers alone, and without an answer; then nothing is left."""
    lines = two_workers(tmp_path / "log")
    blind = deepcopy(lines)
    for line in blind:
        line["answer"].pop("group", None)
    answers(blind, connect.INSTALL)[0].pop("body")
    wrong = deepcopy(blind)
    answers(wrong, connect.PREPARE)[2]["body"]["members"][1]["connectorsAndTasks"] = []
    runs = judged(tmp_path / "three", lines, blind, wrong)
    assert [(run["fits"], run["steps"]) for run in runs] == [(12, 12), (12, 12), (11, 12)]
    assert differences_of(runs[2]) == ["response.members of w1, which has gone.resources: {A-0}, not {}"]
    for line in wrong:
        line["answer"].pop("body", None)
    assert "there is nothing to validate" in failure(write(tmp_path / "deaf", wrong)).message


def test_the_computing_worker_reads_the_versions_of_others(tmp_path: Path) -> None:
    """W1: as it was, and as if the one were told that has been chosen before."""
    log = tmp_path / "versions"
    (trace,) = (ROOT / "traces" / "connect").glob("MCConnectVersions-*-who-reads-the-versions-of-all-*")
    replay([trace], record=log)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    wrong = deepcopy(lines)
    last = answers(wrong, connect.HEARTBEAT)[-1]
    last["body"]["shouldComputeAssignment"] = False
    last["group"]["chosen"] = "w1"
    runs = judged(log, lines, wrong)
    assert [run["fits"] == run["steps"] for run in runs] == [True, False]
    assert "response.compute: True, not False" in differences_of(runs[1])


def has_another_epoch(lines: list[Json]) -> None:
    answers(lines, connect.HEARTBEAT)[1]["body"]["memberEpoch"] = 0


def asks_nobody(lines: list[Json]) -> None:
    answers(lines, connect.HEARTBEAT)[0]["body"]["shouldComputeAssignment"] = False


def forgets_what_is_lost(lines: list[Json]) -> None:
    del answers(lines, connect.PREPARE)[2]["body"]["members"][1]


def gives_at_once(lines: list[Json]) -> None:
    given = answers(lines, connect.HEARTBEAT)[5]["body"]["assignment"]
    given["connectorsAndTasks"] = connect.resources([("A", 0), ("A", 1)])


def refuses_an_install(lines: list[Json]) -> None:
    answers(lines, connect.INSTALL)[1]["body"]["errorCode"] = wire.ERROR_CODES["INVALID_ASSIGNMENT"]


def has_no_task(lines: list[Json]) -> None:
    answers(lines, connect.PREPARE)[0]["group"]["connectors"][0]["numTasks"] = 0


def knows_the_target(lines: list[Json]) -> None:
    answers(lines, connect.HEARTBEAT)[2]["group"]["members"][1]["target"] = []


def chooses_another(lines: list[Json]) -> None:
    answers(lines, connect.HEARTBEAT)[2]["group"]["chosen"] = "w2"


SPOILED: dict[Callable[[list[Json]], None], tuple[int, str]] = {
    asks_nobody: (0, "response.compute: True, not False"),
    has_no_task: (1, "group.connectors: {A-2}, not {A-1}"),
    has_another_epoch: (3, "response.epoch: 1, not 0"),
    knows_the_target: (4, "target of w2: (none), not {}"),
    chooses_another: (4, "group.chosen: w1, not w2"),
    refuses_an_install: (6, "response.error: NONE, not INVALID_ASSIGNMENT"),
    gives_at_once: (9, "response.assigned: {A-1}, not {A-0, A-1}"),
    forgets_what_is_lost: (11, "response.members: {w1, which has gone, w2}, not {w2}"),
}
"""The number of the 12 steps that fit, and the report on the next step."""


def test_wrong_input_is_reported(tmp_path: Path) -> None:
    lines = two_workers(tmp_path / "log")
    logs = [deepcopy(lines) for _ in SPOILED]
    for log, spoil in zip(logs, SPOILED, strict=True):
        spoil(log)
    runs = judged(tmp_path / "spoiled", *logs)
    assert [(run["fits"], *differences_of(run)) for run in runs] == [*SPOILED.values()]


def test_a_missing_line_is_reported(tmp_path: Path) -> None:
    """An install needs what was prepared; a time-out needs a line where the clock was the recorder's."""
    lines = two_workers(tmp_path / "log")
    unprepared = [line for line in lines if line.get("api") != connect.PREPARE]
    unfired = [line for line in lines if line["op"] != "fire"]
    runs = judged(tmp_path / "two", unprepared, unfired)
    assert (runs[0]["fits"], runs[1]["fits"]) == (1, 10)
    assert differences_of(runs[0])[0] == "response.error: INVALID_ASSIGNMENT, not NONE"
    assert runs[0]["enabled"] == ["AssignmentTimeout w1", "SessionTimeout w1"]
    unfired[0]["answer"]["controls"].remove("advance")
    validate(write(tmp_path / "untimed", unfired))


def test_the_group_is_named_among_several(tmp_path: Path) -> None:
    run = Run(tmp_path / "log", {"A": 1})
    run.join("w1")
    run.join("w1", "h")
    run.join("w2", "h")
    run.target.request(wire.COMMIT, 9, wire.client("c"), {"groupId": "k", "topics": []})
    run.end()
    assert read_log(run.log).left_out == {"another group": 2, wire.COMMIT: 1}
    assert read_log(run.log, "h").lines == 2


def test_steps_that_the_model_lacks_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A request that is refused for it is left out, one that is not ends the run."""
    run = Run(tmp_path / "log", {"A": 1})
    run.join("w1")
    run.join("w2", rebalanceTimeoutMs=0)
    run.target.topics([wire.topic("B", 1)], [], "g")
    run.target.restart()
    run.ask(connect.PREPARE, "w1", 0)
    run.ask(connect.INSTALL, "w1", 0, groupEpoch=2, error=1, members=[])
    run.beat("w1", 0)
    run.end()
    validate(run.log)
    out = capsys.readouterr().out
    assert "4 steps of group g in 1 run" in out
    for reason in ("a join without a rebalance time-out, which", "an assignor that failed, which"):
        assert f"left out: 1 line, {reason} no" in out
    assert "left out: 1 line, after an assignor that failed" in out


def test_hundreds_of_steps(tmp_path: Path) -> None:
    """Workers that join, alternate their reason, compute, own, leave and are lost, while connectors come."""
    rng, run = random.Random(848), Run(tmp_path / "log", {"A": 3, "B": 2})
    counts = {"A": 3, "B": 2}
    for step in range(150):
        group = run.target.describe("g")
        known = {one["memberId"]: one for one in group["members"]}
        worker = rng.choice(["w1", "w2", "w3", "w4"])
        epoch = known[worker]["memberEpoch"] if worker in known else 0
        every = [(name, number) for name, count in sorted(counts.items()) for number in range(count)]
        if worker not in known:
            run.join(worker)
        elif worker == group["chosen"] and rng.random() < 0.8:
            result = run.prepare(worker, epoch)
            given: dict[str, list[Partition]] = {who: [] for who in known}
            for resource in every:
                given[rng.choice(sorted(known))].append(resource)
            run.install(worker, epoch, result, **given)
        elif rng.random() < 0.1:
            run.beat(worker, rng.choice([-1, max(epoch - 1, 0)]))
        else:
            reason = connect.assignors(rng.choice([0, 0, 0, 1]))
            owned = rng.choice([None, [], *([known[worker]["assigned"]] * 3)])
            run.ask(connect.HEARTBEAT, worker, epoch, connectorsAndTasks=owned, clientAssignors=reason)
        if step % 40 == 39:
            run.target.restart()
        if step % 60 == 59:
            counts["B"] += 1
            run.target.topics([wire.topic("B", counts["B"])], [], "g")
        run.target.advance(rng.choice([1, 1, 3000]), "g")
    run.end()
    validate(run.log, json_file=tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["steps"] > 180


def test_invalid_requests_of_a_worker(tmp_path: Path) -> None:
    lines = two_workers(tmp_path / "log")
    answers(lines, connect.PREPARE)[0]["body"]["groupEpoch"] = "1"
    error = failure(write(tmp_path / "log", lines))
    assert (error.exit_code, "body.groupEpoch: '1' is not of type 'integer'" in error.message) == (
        USAGE,
        True,
    )
