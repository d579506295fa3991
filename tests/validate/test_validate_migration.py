"""`conform validate` of groups that migrate: recorded runs of the Python coordinator, also made wrong."""

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
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.kinds.classic import wire as classic
from harness.kinds.fields import Partition
from harness.kinds.recordings import read_log
from harness.replay import wire
from harness.targets import open_target
from harness.targets.base import Json
from harness.targets.recording import recorded

ROOT = Path(__file__).parents[2]
FOO = wire.topic("foo", 2)
BOTH = [("foo", 0), ("foo", 1)]


class Run:
    """A group of the Python coordinator, of which everything is recorded."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._recorded = recorded(open_target("python", "kip-848"), log)
        self.target = self._recorded.__enter__()
        self.target.hello()
        self.target.configure({"group.initial.rebalance.delay.ms": 100_000})
        self.target.load([], [FOO], {"clockMs": 0})

    def ask(self, api: str, client: str, **body: Any) -> Json | None:
        fields = {"groupId": "g", **body}
        return self.target.request(api, wire.VERSIONS[api], wire.client(client), fields, "g").body

    def beat(self, member: str, epoch: int, **fields: Any) -> Json:
        """Send a heartbeat of the consumer protocol."""
        answer = self.ask(wire.HEARTBEAT, member, memberId=member, memberEpoch=epoch, **fields)
        assert answer is not None
        return answer

    def comes(self, member: str) -> Json:
        """A member that joins with the consumer protocol."""
        body = {"rebalanceTimeoutMs": 300_000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
        return self.beat(member, 0, **body)

    def join(self, member: str, generation: int = -1, owned: list[Partition] | None = None) -> Json | None:
        given = {"foo", f"generation {generation}", *(f"owns {name} {index}" for name, index in owned or ())}
        metadata = classic.subscription(frozenset(given))
        return self.ask(
            "JoinGroup",
            member,
            sessionTimeoutMs=45_000,
            rebalanceTimeoutMs=300_000,
            memberId=member,
            groupInstanceId=None,
            protocolType="consumer",
            protocols=[{"name": "range", "metadata": metadata}],
            reason=None,
        )

    def sync(self, member: str, generation: int, **given: list[Partition]) -> Json | None:
        assignments = [
            {"memberId": name, "assignment": classic.assignment(frozenset(entry))}
            for name, entry in given.items()
        ]
        return self._of(
            "SyncGroup",
            member,
            generation,
            protocolType="consumer",
            protocolName="range",
            assignments=assignments,
        )

    def alive(self, member: str, generation: int) -> Json | None:
        return self._of("Heartbeat", member, generation)

    def _of(self, api: str, member: str, generation: int, **more: Any) -> Json | None:
        return self.ask(api, member, generationId=generation, memberId=member, groupInstanceId=None, **more)

    def leave(self, member: str) -> None:
        self.ask(
            "LeaveGroup", member, members=[{"memberId": member, "groupInstanceId": None, "reason": None}]
        )

    def commit(self, member: str, generation: int) -> None:
        topics = [{"name": "foo", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}]
        body = {"memberId": member, "generationIdOrMemberEpoch": generation, "groupInstanceId": None}
        self.ask(wire.COMMIT, member, **body, topics=topics)

    def end(self) -> list[Json]:
        self._recorded.__exit__(None, None, None)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def there_and_back(log: Path) -> list[Json]:
    """A classic group of a alone, which c converts as it joins; a revokes the partitions that c is to have;
    then c leaves, and the group is a classic one again."""
    run = Run(log)
    run.target.ids(["a"])
    run.join("")
    run.join("a")
    run.target.advance(100_000, "g")
    run.sync("a", 1, a=BOTH)
    run.commit("a", 1)
    run.comes("c")
    run.alive("a", 1)
    run.join("a", 1, BOTH)
    given = run.sync("a", 1)
    assert given is not None
    kept = sorted(classic.partitions_of(given["assignment"]))
    assert len(kept) == 1
    run.join("a", 1, kept)
    run.sync("a", 2)
    run.beat("c", 2)
    run.commit("a", 1)
    run.target.fire("session", "g", "c", "g")
    run.alive("a", 2)
    run.join("a", 2, kept)
    return run.end()


STEPS = 16


def answers(lines: list[Json], api: str) -> list[Json]:
    """The answers to the requests of an API."""
    return [line["answer"] for line in lines if line.get("api") == api]


def test_a_replayed_run_is_a_behaviour(tmp_path: Path) -> None:
    """From a stable classic group on; where members may compute the target, a run ends."""
    log = tmp_path / "migration.jsonl"
    replay([ROOT / "traces" / "migration"], record=log)
    validate(log, json_file=tmp_path / "result.json")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["holds"] and result["steps"] > 200 and len(result["runs"]) > 80
    # steps after such a member joined: the way to goal 9 of MCMigrationAssignors has some, and all 3 of the
    # traces of MCMigrationApart are such joins
    assert result["left_out"]["from a member on that may compute the target itself (A5, M4)"] <= 15 + 3


def test_unobserved_values_are_not_compared(tmp_path: Path) -> None:
    """As it was seen, from its answers alone, and with a line too few."""
    lines = there_and_back(tmp_path / "log")
    blind = deepcopy(lines)
    for line in blind:
        line["answer"].pop("group", None)
    wrong, short = deepcopy(blind), deepcopy(blind)
    answers(wrong, "Heartbeat")[1]["body"]["errorCode"] = 0
    short.remove(next(line for line in short if line["op"] == "fire"))
    runs = judged(tmp_path / "four", lines, blind, wrong, short)
    assert [(run["fits"], run["steps"]) for run in runs] == [
        (STEPS, STEPS),
        (STEPS, STEPS),
        (STEPS - 2, STEPS),
        (STEPS - 3, STEPS - 1),
    ]
    assert differences_of(runs[2]) == ["response.error: REBALANCE_IN_PROGRESS, not NONE"]
    assert runs[2]["enabled"] == ["JoinTimeout", "SessionTimeout a"]


def is_no_member(lines: list[Json]) -> None:
    answers(lines, wire.HEARTBEAT)[0]["group"]["members"].pop()


def has_nothing_to_give(lines: list[Json]) -> None:
    for member in answers(lines, wire.HEARTBEAT)[0]["group"]["members"]:
        member["target"] = []


def knows_no_topic(lines: list[Json]) -> None:
    answers(lines, wire.HEARTBEAT)[0]["group"]["metadata"] = []


def has_converged(lines: list[Json]) -> None:
    answers(lines, wire.HEARTBEAT)[1]["group"]["state"] = "Assigning"


def keeps_all(lines: list[Json]) -> None:
    answers(lines, "SyncGroup")[1]["body"]["assignment"] = classic.assignment(frozenset(BOTH))


def need_not_rejoin(lines: list[Json]) -> None:
    answers(lines, wire.HEARTBEAT)[0]["group"]["members"][0]["classicState"] = "Stable"


def says_another(lines: list[Json]) -> None:
    metadata = classic.subscription(frozenset({"foo", "generation 1"}))
    given = answers(lines, "JoinGroup")[2]["group"]["members"][0]["classicMemberMetadata"]
    given["supportedProtocols"][0]["metadata"] = metadata


def accepts_a_commit(lines: list[Json]) -> None:
    answers(lines, wire.COMMIT)[1]["body"]["topics"][0]["partitions"][0]["errorCode"] = 0


def is_given_too_much(lines: list[Json]) -> None:
    pending = answers(lines, wire.HEARTBEAT)[1]["body"]["assignment"]["assignedTopicPartitions"]
    pending[0]["partitions"] = [0, 1]


def stays_a_consumer_group(lines: list[Json]) -> None:
    group = answers(lines, wire.COMMIT)[1]["group"]
    next(line for line in lines if line["op"] == "fire")["answer"]["group"] = deepcopy(group)


SPOILED: dict[Callable[[list[Json]], None], tuple[int, str]] = {
    is_no_member: (5, "group.members: {a, c}, not {a}"),
    has_nothing_to_give: (5, "response.pending: {foo-0, foo-1}, not {foo-1}"),
    knows_no_topic: (5, "group.metadata: {foo-2}, not {}"),
    need_not_rejoin: (5, "a.phase: prepare, not stable"),
    says_another: (7, "a.subscription: {foo, generation 1, owns foo 0, owns foo 1}, not {foo, generation 1}"),
    keeps_all: (8, "response.assignment: {foo-0}, not {foo-0, foo-1}"),
    is_given_too_much: (11, "response.assigned: {foo-1}, not {foo-0, foo-1}"),
    has_converged: (11, "group.state: Stable, not Assigning"),
    accepts_a_commit: (12, "response.error: ILLEGAL_GENERATION, not NONE"),
    stays_a_consumer_group: (13, "group.type: classic, not consumer"),
}
"""The number of steps that fit, and the report on the next step."""


def test_wrong_input_is_reported(tmp_path: Path) -> None:
    lines = there_and_back(tmp_path / "log")
    logs = [deepcopy(lines) for _ in SPOILED]
    for log, spoil in zip(logs, SPOILED, strict=True):
        spoil(log)
    runs = judged(tmp_path / "spoiled", *logs)
    assert [(run["fits"], differences_of(run)[0]) for run in runs] == [*SPOILED.values()]


def test_the_texts_way_is_not_kafkas(tmp_path: Path) -> None:
    """A log is judged the way of its dialect, or of the one that is given."""
    there_and_back(tmp_path / "log")
    result = tmp_path / "result.json"
    with pytest.raises(ConformError) as caught:
        validate(tmp_path / "log", dialect="kafka-4.2", json_file=result)
    assert caught.value.exit_code == NOT_CONFORMANT
    (run,) = json.loads(result.read_text())["runs"]
    assert run["fits"] == 5 and "a.phase: stable, not prepare" in differences_of(run)


def test_a_mix_names_its_own_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there_and_back(tmp_path / "log")
    validate(tmp_path / "log", dialect="kip-848,MemberIdAnswered=always")
    assert "dialect kip-848,MemberIdAnswered=always\na behaviour" in capsys.readouterr().out


def test_a_later_run_says_that_a_classic_group_migrates(tmp_path: Path) -> None:
    """A recording of several runs is of one kind, though the first was not converted."""
    lines = there_and_back(tmp_path / "log")
    first = next(number for number, line in enumerate(lines) if line.get("api") == wire.HEARTBEAT)
    write(tmp_path / "two", [*lines[:first], *lines[1:]])
    result = read_log(tmp_path / "two")
    assert [len(run.lines) for run in result.runs] == [5, STEPS] and not result.left_out


def test_a_step_that_the_model_lacks_ends_a_run(tmp_path: Path) -> None:
    run = Run(tmp_path / "log")
    run.target.ids(["a"])
    run.join("")
    run.comes("c")
    run.target.topics([wire.topic("foo", 3)], [], "g")
    run.target.topics([wire.topic("bar", 1)], [], "g")
    run.beat("c", 1)
    run.target.load([], [FOO], {"clockMs": 0})
    run.target.ids(["a"])
    run.join("")
    run.join("a")
    run.target.advance(100_000, "g")
    run.sync("a", 1, a=[("foo", 2)])
    run.end()
    result = read_log(run.log)
    assert [len(one.lines) for one in result.runs] == [3, 3]
    assert result.left_out == {
        "after a change of topics other than one more partition, which no step of the model is": 1,
        "a SyncGroup that assigns partitions which there are not, which no step of the model is": 1,
    }


def test_too_many_targets_are_an_error_before_any_work(tmp_path: Path) -> None:
    lines = there_and_back(tmp_path / "log")
    next(line for line in lines if line["op"] == "load")["topics"][0]["partitions"] = 40
    for line in lines:
        line["answer"].pop("group", None)
    with pytest.raises(ConformError, match="there could be more than a million") as caught:
        validate(write(tmp_path / "many", lines), memory="none")  # TLC would not even start
    assert caught.value.exit_code == USAGE


def test_hundreds_of_steps(tmp_path: Path) -> None:
    """Members of both protocols, which rejoin when asked, leave, and are lost."""
    rng, run = random.Random(848), Run(tmp_path / "log")
    run.target.ids([f"o{number}" for number in range(500)])
    old: list[str] = []
    for step in range(50):
        group = run.target.describe("g")
        known = {one["memberId"]: one for one in group["members"]}
        old = [name for name in old if name in known or name in group.get("pending", ())]
        if group.get("type") == "classic" or not known:
            act = rng.choice(["old", "go on", "go on", "new"] if old else ["old", "new"])
        else:
            act = rng.choice(["old", "go on", "go on", "go on", "new", "new on", "new on", "leave"])
        new = [name for name in known if name not in old]
        if act == "old" and len(old) < 3:
            answered = run.join("")
            if answered and answered["memberId"]:
                old.append(answered["memberId"])
                run.join(answered["memberId"])
        elif act == "go on" and old:
            name = rng.choice(old)
            at = known[name]["memberEpoch"] if name in known and "memberEpoch" in known[name] else 0
            generation = at or group.get("generation", 0)
            heard = run.alive(name, generation)
            if heard and heard["errorCode"]:
                held = known.get(name, {}).get("assigned", [])
                owned = [("foo", index) for one in held for index in one["partitions"]]
                run.join(name, generation if owned else -1, owned)
                run.sync(name, generation + rng.choice([0, 1]))
        elif act == "new" and len(new) < 2:
            run.comes(f"n{step % 3}")
        elif act == "new on" and new:
            name = rng.choice(new)
            held = known[name]["assigned"] if rng.random() < 0.7 else None
            run.beat(name, known[name]["memberEpoch"], topicPartitions=held)
        elif act == "leave" and known:
            name = rng.choice(sorted(known))
            if name in old:
                run.leave(name)
            else:
                run.beat(name, -1)
        if step % 20 == 19:
            run.target.restart()
        run.target.advance(rng.choice([1, 1, 1, 2000, 60_000]), "g")
    run.end()
    validate(run.log, json_file=tmp_path / "result.json")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["holds"] and result["steps"] > 60
