"""`conform validate` of classic groups: recorded runs of the Python coordinator, also made wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from judged import differences_of, judged, write

from harness.cli.replay import command as replay
from harness.cli.validate import command as validate
from harness.errors import ConformError
from harness.kinds.classic.description import CLASSIC
from harness.replay import wire
from harness.targets import open_target
from harness.targets.base import Json
from harness.targets.recording import recorded

ROOT = Path(__file__).parents[2]
PROTOCOLS = [{"name": "range", "metadata": "AAAA"}, {"name": "sticky", "metadata": "AAAB"}]


class Run:
    """A classic group of the Python coordinator, of which everything is recorded; without `observe`, the
    answers alone."""

    def __init__(self, log: Path, observe: str | None = "g") -> None:
        self.log, self.observe = log, observe
        self._recorded = recorded(open_target("python", "kip-848"), log)
        self.target = self._recorded.__enter__()
        self.target.hello()
        self.target.configure({"group.initial.rebalance.delay.ms": 100_000})
        self.target.load([], [wire.topic("foo", 1)], {"clockMs": 0})

    def ask(self, api: str, client: str, **body: Any) -> Json | None:
        version = CLASSIC.apis.get(api, wire.VERSIONS.get(api, 0))
        fields = {"groupId": "g", **body}
        return self.target.request(api, version, wire.client(client), fields, self.observe).body

    def join(self, client: str, member: str = "", instance: str | None = None) -> Json | None:
        return self.ask(
            "JoinGroup",
            client,
            sessionTimeoutMs=45_000,
            rebalanceTimeoutMs=300_000,
            memberId=member,
            groupInstanceId=instance,
            protocolType="consumer",
            protocols=PROTOCOLS,
            reason=None,
        )

    def member(self, client: str) -> str:
        """Join with the id that the first answer gives."""
        answer = self.join(client)
        assert answer is not None
        self.join(client, answer["memberId"])
        return str(answer["memberId"])

    def sync(self, member: str, generation: int, client: str, **given: str) -> Json | None:
        assignments = [{"memberId": name, "assignment": text} for name, text in given.items()]
        return self.ask(
            "SyncGroup",
            client,
            generationId=generation,
            memberId=member,
            groupInstanceId=None,
            protocolType="consumer",
            protocolName="range",
            assignments=assignments,
        )

    def beat(self, member: str, generation: int) -> None:
        self.ask("Heartbeat", member, generationId=generation, memberId=member, groupInstanceId=None)

    def commit(self, member: str, generation: int) -> None:
        topics = [{"name": "foo", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}]
        self.ask(
            wire.COMMIT,
            member,
            memberId=member,
            generationIdOrMemberEpoch=generation,
            groupInstanceId=None,
            topics=topics,
        )

    def end(self) -> list[Json]:
        self._recorded.__exit__(None, None, None)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def two_members(log: Path, observe: str | None = "g") -> list[Json]:
    """A generation of two members, which is synchronised, goes on, commits, and loses a member."""
    run = Run(log, observe)
    run.target.ids(["a", "b"])
    a, b = run.member("one"), run.member("two")
    run.target.advance(200_000, observe)
    run.sync(b, 1, "two")
    run.sync(a, 1, "one", a="AAAC", b="AAAD")
    run.beat(a, 1)
    run.commit(b, 1)
    run.target.fire("session", "g", b, observe)
    run.beat(a, 1)
    return run.end()


def answered(lines: list[Json], api: str, number: int = 0) -> Json:
    """The answer to a request of an API."""
    result: Json = [line["answer"] for line in lines if line.get("api") == api][number]
    return result


def completed(lines: list[Json], number: int = 0) -> Json:
    """The answer to a request that waited."""
    result: Json = [one for line in lines for one in line["answer"].get("completed", ())][number]
    return result


def test_a_replayed_run_is_a_behaviour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "classic.jsonl"
    replay([ROOT / "traces" / "classic"], record=log)
    validate(log, json_file=tmp_path / "result.json")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["holds"] and result["steps"] > 200 and len(result["runs"]) > 40
    assert "a behaviour of the specification (TLC 2.18, spec " in capsys.readouterr().out


@pytest.mark.parametrize("observe", ["g", None])
def test_a_run_of_two_members_is_a_behaviour(tmp_path: Path, observe: str | None) -> None:
    """As it was seen, and from its answers alone."""
    two_members(tmp_path / "log", observe)
    validate(tmp_path / "log", json_file=tmp_path / "result.json")
    (run,) = json.loads((tmp_path / "result.json").read_text())["runs"]
    assert run["steps"] == run["fits"] == 12


def wrong_generation(lines: list[Json]) -> None:
    completed(lines)["body"]["generationId"] = 2


def wrong_leader(lines: list[Json]) -> None:
    completed(lines, 1)["body"]["leader"] = "b"


def shows_fields_that_no_request_has(lines: list[Json]) -> None:
    completed(lines)["body"]["members"][1]["metadata"] = "AAAB"


def answers_too_few(lines: list[Json]) -> None:
    line = next(line for line in lines if len(line["answer"].get("completed", ())) == 2)
    line["answer"]["completed"].pop()


def assigns_another(lines: list[Json]) -> None:
    completed(lines, 2)["body"]["assignment"] = "AAAC"


def accepts_a_heartbeat(lines: list[Json]) -> None:
    answered(lines, "Heartbeat", 1)["body"]["errorCode"] = 0


def refuses_a_commit(lines: list[Json]) -> None:
    answered(lines, wire.COMMIT)["body"]["topics"][0]["partitions"][0]["errorCode"] = 22


def forgets_a_member(lines: list[Json]) -> None:
    answered(lines, "SyncGroup", 1)["group"]["members"].pop()


def makes_it_stable_at_once(lines: list[Json]) -> None:
    answered(lines, "SyncGroup")["group"]["state"] = "Stable"


SPOILED: dict[Callable[[list[Json]], None], tuple[int, str]] = {
    wrong_generation: (5, "answer to the JoinGroup of a.generation: 1, not 2"),
    wrong_leader: (5, "answer to the JoinGroup of b.leader: a, not b"),
    shows_fields_that_no_request_has: (
        *(5, "answer to the JoinGroup of a.members of b: ('', ['range AAAA']), not ('', ['range AAAB'])"),
    ),
    answers_too_few: (5, "that waited: {JoinGroup of a, JoinGroup of b}, not {JoinGroup of a}"),
    assigns_another: (7, "answer to the SyncGroup of b.assignment: AAAD, not AAAC"),
    accepts_a_heartbeat: (11, "response.error: REBALANCE_IN_PROGRESS, not NONE"),
    refuses_a_commit: (9, "response.error: NONE, not ILLEGAL_GENERATION"),
    forgets_a_member: (7, "group.members: {a, b}, not {a}"),
    makes_it_stable_at_once: (6, "group.state: CompletingRebalance, not Stable"),
}
"""The number of steps that fit, and the report on the next step."""


def test_wrong_input_is_reported(tmp_path: Path) -> None:
    lines = two_members(tmp_path / "log")
    logs = [deepcopy(lines) for _ in SPOILED]
    for log, spoil in zip(logs, SPOILED, strict=True):
        spoil(log)
    runs = judged(tmp_path / "spoiled", *logs)
    assert [run["steps"] for run in runs] == [12] * len(SPOILED)
    for run, (fits, given) in zip(runs, SPOILED.values(), strict=True):
        assert run["fits"] == fits and given in "\n".join(differences_of(run))


def test_armed_timers_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = two_members(tmp_path / "log")
    fired = next(line for line in lines if line["op"] == "fire")
    fired["answer"]["fired"][0]["timer"] = "sync"
    with pytest.raises(ConformError):
        validate(write(tmp_path / "bad", lines))
    out = capsys.readouterr().out
    assert "the specification has no such step there" in out
    assert "enabled there, too: SessionTimeout a, SessionTimeout b" in out


def test_a_static_member_returns_under_another_id(tmp_path: Path) -> None:
    """S1: the new id is in the answer alone, and the previous id is fenced."""
    run = Run(tmp_path / "log", None)
    run.target.ids(["a", "b"])
    run.join("one", instance="i")
    run.target.advance(100_000)
    run.sync("a", 1, "one", a="AAAC")
    run.join("two", instance="i")
    run.beat("b", 1)
    run.end()
    validate(run.log, json_file=tmp_path / "result.json")
    (result,) = json.loads((tmp_path / "result.json").read_text())["runs"]
    assert result["steps"] == result["fits"] == 5


def test_a_step_that_the_model_lacks_ends_a_run_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(tmp_path / "log")
    run.target.ids(["a"])
    a = run.member("one")
    leaving = [{"memberId": name, "groupInstanceId": None, "reason": None} for name in (a, "b")]
    run.ask("LeaveGroup", "one", members=leaving)
    run.beat(a, 1)
    run.end()
    validate(run.log)
    assert "left out: 1 line, after a LeaveGroup of several members, " in capsys.readouterr().out


def test_a_worker_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """W1: a group that takes requests of Connect is no classic group any more."""
    lines = two_members(tmp_path / "log")
    body = {"groupId": "g", "memberId": "c", "memberEpoch": 0}
    given = {
        "op": "request",
        "api": "ConnectGroupHeartbeat",
        "body": body,
        "answer": {"body": {"errorCode": 0}},
    }
    validate(write(tmp_path / "more", [*lines[:-1], given, lines[-1]]))
    out = capsys.readouterr().out
    assert "11 steps of group g" in out
    assert "left out: 1 line, of a group of another kind (M1, W1)" in out


def test_without_a_clock_of_ones_own_time_outs_would_be_missing(tmp_path: Path) -> None:
    lines = two_members(tmp_path / "log")
    lines[0]["answer"]["controls"].remove("advance")
    with pytest.raises(ConformError, match="whose clock is not the recorder's"):
        validate(write(tmp_path / "untimed", lines))
