"""`conform validate`: recorded runs of the Python coordinator, as they were and made wrong."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged import differences_of, judged, write

from harness.cli.replay import command as replay
from harness.cli.validate import command as validate
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.kinds.consumer.recorded import ConsumerRecording
from harness.kinds.consumer.render import render
from harness.kinds.recordings import read_log
from harness.replay import wire
from harness.targets import open_target
from harness.targets.base import Json, Refused
from harness.targets.recording import recorded

ROOT = Path(__file__).parents[2]
FOO = wire.topic("foo", 2)


class Run:
    """A group of the Python coordinator, of which everything is recorded."""

    def __init__(self, log: Path, dialect: str = "kip-848", topics: tuple[Json, ...] = (FOO,)) -> None:
        self.log = log
        self._recorded = recorded(open_target("python", dialect), log)
        self.target = self._recorded.__enter__()
        self.target.hello()
        self.target.load([], list(topics), {"clockMs": 0})

    def heartbeat(self, member: str, epoch: int, **fields: Any) -> Json:
        body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, **fields}
        answer = self.target.request(wire.HEARTBEAT, 0, wire.client(member), body, "g")
        assert answer.body is not None
        return answer.body

    def join(self, member: str, *names: str, **fields: Any) -> int:
        body = {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": list(names), "topicPartitions": []}
        return int(self.heartbeat(member, 0, **{**body, **fields})["memberEpoch"])

    def end(self) -> list[Json]:
        self._recorded.__exit__(None, None, None)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def test_a_run_ends_where_the_coordinator_refuses_all_requests(tmp_path: Path) -> None:
    """H5: the following lines are reported as left out, and are no difference; the log is read to its end."""
    log = tmp_path / "log.jsonl"
    replay([ROOT / "traces" / "admission"], record=log, json_file=None)
    assert any('"op":"rights"' in line for line in log.read_text().splitlines())
    result = read_log(log)
    assert result.left_out["after a coordinator or rights that refuse all requests (H5)"] == 3
    validate(log, json_file=None)


def test_a_run_ends_where_members_may_compute_the_target(tmp_path: Path) -> None:
    """A5: the following lines are reported as left out, and are no difference."""
    run = Run(tmp_path / "log.jsonl")
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "reason": 0, "metadataVersion": 0}
    run.join("m1", "foo", clientAssignors=[{**offer, "metadataBytes": ""}])
    run.heartbeat("m1", 1)
    run.end()
    assert "that may compute the target itself (A5): 2" in failure(run.log).message


def failure(log: Path, **options: Any) -> ConformError:
    with pytest.raises(ConformError) as caught:
        validate(log, **options)
    return caught.value


def two_members(log: Path, dialect: str = "kip-848") -> list[Json]:
    """m1 revokes and acknowledges, m2 gets the released partitions, and m1's session runs out."""
    run = Run(log, dialect)
    run.join("m1", "foo")
    owned = [{"topicId": FOO["id"], "partitions": [0, 1]}]
    epoch = run.join("m2", "foo")
    run.heartbeat("m1", epoch - 1, topicPartitions=owned)
    kept = run.target.describe("g")["members"][0]["assigned"]
    run.heartbeat("m1", epoch - 1, topicPartitions=kept)
    run.heartbeat("m2", epoch)
    run.target.fire("session", "g", "m1", "g")
    run.heartbeat("m2", epoch)
    return run.end()


def test_a_replayed_run_is_a_behaviour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "golden.jsonl"
    replay([ROOT / "traces" / "golden"], record=log)
    validate(log, json_file=tmp_path / "result.json", out=tmp_path / "traces")
    output = capsys.readouterr().out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["holds"] and result["steps"] > 80
    assert all(run["steps"] == run["fits"] > 0 for run in result["runs"])
    assert f"{result['steps']} steps of group g in {len(result['runs'])} runs, dialect kip-848" in output
    assert "a behaviour of the specification (TLC 2.18, spec " in output
    assert result["left_out"]["OffsetCommit"] > 0, "commits are counted, not silently dropped"
    replay(sorted((tmp_path / "traces").glob("golden-*.itf.json")))


def test_a_wrong_response_ends_the_longest_prefix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = two_members(tmp_path / "log")
    requests = [number for number, line in enumerate(lines) if line["op"] == "request"]
    lines[requests[3]]["answer"]["body"]["memberEpoch"] -= 1
    error = failure(write(tmp_path / "bad", lines), json_file=tmp_path / "result.json")
    assert error.exit_code == NOT_CONFORMANT
    output = capsys.readouterr().out
    assert "the longest prefix that is a behaviour: 3 of 7 steps" in output
    assert f"line {requests[3] + 1} does not fit" in output
    assert "the specification has Heartbeat (acknowledge), where\n    response.epoch: 2, not 1" in output
    assert "enabled there, too: RebalanceTimeout m1, SessionTimeout m1, SessionTimeout m2" in output
    (run,) = json.loads((tmp_path / "result.json").read_text())["runs"]
    assert (run["fits"], run["line"]) == (3, requests[3] + 1)
    assert run["instead"][0]["differences"] == [{"path": "response.epoch", "expected": "2", "got": "1"}]


def described(line: Json) -> list[Json]:
    members: list[Json] = line["answer"]["group"]["members"]
    return members


def give_away(line: Json) -> None:
    """The target that must be computed is given to no member: it is not legal (A4)."""
    for member in described(line):
        member["target"] = []


def give_back(line: Json) -> None:
    described(line)[0]["assigned"] = described(line)[0]["pendingRevocation"]


def knows_nothing(line: Json) -> None:
    line["answer"]["group"] |= {"state": "Empty", "metadata": []}
    described(line)[0]["acknowledged"] = not described(line)[0]["acknowledged"]


def without_m1(line: Json) -> None:
    del described(line)[0]


WRONG: dict[Callable[[Json], None], str] = {
    give_away: "target of m2: {foo-0, foo-1}, not {}",
    give_back: "m1.assigned: ",
    knows_nothing: "group.state: Reconciling, not Empty\ngroup.metadata: {foo-2}, not {}\nm1.acknowledged: ",
    without_m1: "group.members: {m1, m2}, not {m2}",
}


def test_a_wrong_state_does_not_fit(tmp_path: Path) -> None:
    lines = two_members(tmp_path / "log")
    logs = [deepcopy(lines) for _ in WRONG]
    for log, change in zip(logs, WRONG, strict=True):
        observed = [line for line in log if line["answer"].get("group")]
        change(observed[-1 if change is give_away else 2])
    for run, given in zip(judged(tmp_path / "bad", *logs), WRONG.values(), strict=True):
        assert run["fits"] < run["steps"] and given in "\n".join(differences_of(run))


def test_a_log_of_another_dialect(tmp_path: Path) -> None:
    two_members(tmp_path / "log", "kafka-4.2")
    validate(tmp_path / "log")
    assert failure(tmp_path / "log", dialect="kip-848").exit_code == NOT_CONFORMANT
    assert "there are kip-848, kafka-4.0" in failure(tmp_path / "log", dialect="kafka-9").message


@pytest.mark.parametrize(
    "mix", ["kip-848,FirstGroupEpoch=2", "kafka-4.2,FirstGroupEpoch=1,PendingInResponse=yes"]
)
def test_a_log_of_a_mix_is_judged_by_its_departures(tmp_path: Path, mix: str) -> None:
    two_members(tmp_path / "log", mix)
    validate(tmp_path / "log")
    assert failure(tmp_path / "log", dialect=mix.partition(",")[0]).exit_code == NOT_CONFORMANT


def test_only_a_script_leaves_a_partition_without_an_owner(tmp_path: Path) -> None:
    """A4: the same target, of an assignor."""
    run = Run(tmp_path / "log")
    run.target.assign("g", {"m1": [{"topicId": FOO["id"], "partitions": [0]}]})
    run.join("m1", "foo")
    lines = run.end()
    validate(tmp_path / "log")
    without_script = [line for line in lines if line["op"] != "assign"]
    assert len(without_script) < len(lines)
    assert failure(write(tmp_path / "unscripted", without_script)).exit_code == NOT_CONFORMANT


def test_unobserved_values_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = two_members(tmp_path / "log")
    blind = [{**line, "answer": {**line["answer"], "group": None}} for line in lines]
    validate(write(tmp_path / "blind", blind))
    capsys.readouterr()
    blind[-1]["answer"]["body"]["memberEpoch"] += 1
    assert failure(write(tmp_path / "wrong", blind)).exit_code == NOT_CONFORMANT
    deaf = [{**line, "answer": {} if line["op"] in ("request", "fire") else line["answer"]} for line in blind]
    assert failure(write(tmp_path / "deaf", deaf)).exit_code == USAGE


def test_time_outs_need_no_line_where_the_clock_was_not_the_recorders(tmp_path: Path) -> None:
    lines = two_members(tmp_path / "log")
    unseen = [line for line in lines if line["op"] != "fire"]
    assert failure(write(tmp_path / "timed", unseen)).exit_code == NOT_CONFORMANT
    unseen[0]["answer"]["controls"].remove("advance")
    validate(write(tmp_path / "untimed", unseen))


def test_steps_after_a_deletion_of_the_group_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """D1: a deletion is not a step of the group, and may have deleted only its offsets."""
    run = Run(tmp_path / "log")
    run.join("m1", "foo")
    run.heartbeat("m1", -1)
    run.target.request("DeleteGroups", 2, {"id": "admin"}, {"groupsNames": ["g"]}, "g")
    run.join("m1", "foo")
    run.end()
    validate(tmp_path / "log", json_file=tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["steps"] == 2
    assert "1 line, after a deletion of the group" in capsys.readouterr().out


def test_hundreds_of_steps(tmp_path: Path) -> None:
    """Static members, fail-overs, topics, regular expressions, a full group, every kind of request."""
    rng, run = random.Random(848), Run(tmp_path / "log", topics=())
    run.target.load([], [], {"clockMs": 0})
    run.target.configure({"group.consumer.max.size": 2})
    run.target.topics([FOO], [])
    members, partitions = ("m1", "m2", "m3"), [[0], [1], [0, 1], []]
    for step in range(400):
        member = rng.choice(members)
        known = {one["memberId"]: one["memberEpoch"] for one in run.target.describe("g")["members"]}
        owned = rng.choice([None, *([{"topicId": FOO["id"], "partitions": some}] for some in partitions)])
        if member not in known:
            run.join(member, "foo", instanceId=rng.choice([None, "i1"]))
        elif rng.random() < 0.1:
            run.heartbeat(member, rng.choice([-1, known[member] - 1]))
        else:
            run.heartbeat(member, known[member], topicPartitions=owned)
        if step % 40 == 39:
            run.target.restart()
        if step % 90 == 89:
            run.target.topics([wire.topic("bar" if step < 200 else "foo", 1 + step // 100)], [], "g")
        run.target.advance(rng.choice([1, 1, 3000]), "g")
    run.end()
    validate(tmp_path / "log", json_file=tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["steps"] > 400


def test_too_many_targets_to_search_are_an_error_before_any_work(tmp_path: Path) -> None:
    """The first join alone has a million possible targets of 20 partitions."""
    run = Run(tmp_path / "log", topics=(wire.topic("foo", 19),))
    run.target.topics([wire.topic("foo", 20)], [])
    run.join("m1", "foo", rebalanceTimeoutMs=5000)
    lines = run.end()
    recorded_run = read_log(run.log).runs[0]
    ConsumerRecording().check(recorded_run)  # the log shows the target
    for line in lines:
        line["answer"].pop("group", None)
    error = failure(write(run.log, lines), memory="none")  # TLC would not even start
    assert (
        error.exit_code == USAGE and "after line 4, where there could be more than a million" in error.message
    )
    (unseen,) = read_log(run.log).runs
    ConsumerRecording().check(replace(unseen, topics={"foo": 19}))


def test_the_value_of_a_constant_is_computed_once(tmp_path: Path) -> None:
    """Elsewhere TLC works it out at each mention: minutes of a long log."""
    two_members(tmp_path / "log")
    module, config = render(read_log(tmp_path / "log").runs, "kip-848", tmp_path)
    log = module.with_name(f"{module.stem}Log.tla").read_text()
    names = re.findall(r"<- Recorded(\w+)", config.read_text())
    by_log = [name for name in names if f"\nLog{name} ==" in log]
    assert by_log == ["Members", "Topics", "TopicName", "Regexes", "Partitions"]
    assert all(f"\nRecorded{name} == Log{name}\n" in log for name in by_log)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no step of a group"),
        ("{", "line 1 is no operation with its answer"),
        ('{"op":"request"}', "line 1 is no operation with its answer (it lacks answer)"),
        ('{"op":"hello","answer":null}', "line 1 is no operation with its answer (it lacks answer)"),
        (
            '{"op":"request","api":"ConsumerGroupHeartbeat","body":{"groupId":"g","memberId":3,"memberEpoch":0},'
            '"answer":{"body":{"errorCode":0,"memberId":"m","memberEpoch":1}}}',
            "line 1 has not the form of the line protocol: body.memberId: 3 is not of type 'string'.",
        ),
        ('{"op":"guess","answer":{}}', "there is no operation 'guess'"),
        ('{"op":"request","api":"OffsetCommit","body":{},"answer":{"body":{}}}', "left out: OffsetCommit: 1"),
        ('{"op":"topics","upsert":[],"delete":[],"answer":{"error":"no"}}', "left out: refused: 1"),
    ],
)
def test_invalid_logs(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "log").write_text(text)
    error = failure(tmp_path / "log")
    assert (error.exit_code, message in error.message) == (USAGE, True), error.message


@pytest.mark.parametrize(
    "name", ["groupEpoch", "assignmentEpoch", "members", "memberEpoch", "errorCode", "target"]
)
@pytest.mark.parametrize("there", [True, False])
def test_a_missing_part_and_null_are_the_same(tmp_path: Path, name: str, there: bool) -> None:
    """Targets need not be observed; without the other parts a line cannot be judged."""
    log, lines = tmp_path / "log", two_members(tmp_path / "log")
    answer = next(line["answer"] for line in lines if line["op"] == "request")
    parts = [answer["group"], answer["body"], answer["group"]["members"][0]]
    part = next(part for part in (parts[::-1] if name == "target" else parts) if name in part)
    part.pop(name)
    part |= {name: None} if there else {}
    write(log, lines)
    if name == "target":
        first, second = read_log(log).runs[0].lines[:2]
        assert (first.seen.targets is None, second.seen.targets is None) == (True, False)
    else:
        assert failure(log).message.count(f"is no operation with its answer (it lacks {name})") == 1


def test_steps_without_words_in_the_specification_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(tmp_path / "log")
    run.join("m1", "foo")
    body = {"groupId": "h", "memberId": "m1", "memberEpoch": 0, "subscribedTopicNames": ["foo"]}
    run.target.request(wire.HEARTBEAT, 0, wire.client("m1"), {**body, "rebalanceTimeoutMs": 1}, "h")
    with pytest.raises(Refused):
        run.target.topics([{**FOO, "partitions": 1}], [])
    run.target.restart(1)
    run.heartbeat("m1", 1)
    run.end()
    validate(tmp_path / "log")
    output = capsys.readouterr().out
    assert "1 step of group g in 1 run" in output
    for reason in ("another group", "refused", "after a restart from a part of the log"):
        assert f"left out: 1 line, {reason}" in output
    validate(tmp_path / "log", group="h")
    assert "1 step of group h in 1 run" in capsys.readouterr().out
