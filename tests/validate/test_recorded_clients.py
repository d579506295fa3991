"""Recorded clients: the member of this kit is one on a simulated clock, and each faulty client is refused
by the rule that it breaks. H1, H2, H6, H7, K1, O2, O4, R9, S1."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from judged import write
from simulated_clients import HELLO, LOAD, blind, heartbeats, recorded

from harness.cli.replay import command as replay
from harness.cli.sides import Side
from harness.cli.validate import command as validate
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.kinds.consumer.client_recorded import RULES
from harness.targets.base import Json

ROOT = Path(__file__).parents[2]
ASSIGNED = [{"topicId": "00000000-0000-0000-0000-000000000001", "partitions": [0, 1]}]
Lines = list[Json]


def report_of(log: Path, lines: Lines, side: Side | None = Side.CLIENT) -> Json:
    result = log.with_suffix(".json")
    try:
        validate(write(log, lines), side=side, json_file=result)
    except ConformError as error:
        assert error.exit_code == NOT_CONFORMANT, error.message
    report: Json = json.loads(result.read_text())
    return report


def broken(member: Json) -> set[str]:
    """The rules of the nearest step, with their requirements."""
    return {
        f"{one['requirement']} {one['rule']}" for one in member.get("broken", [{"rules": []}])[0]["rules"]
    }


def test_the_reference_is_a_member_with_and_without_connections(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = recorded("reference", range(20))
    lines += blind(recorded("reference", range(20, 30))[1:])
    lines += recorded("reference", [100])[1:]  # it is refused while it closes: it has nothing to repeat
    report = report_of(tmp_path / "log", lines)
    assert report["holds"] and report["clients_hold"], capsys.readouterr().out
    assert sum(member["steps"] for member in report["clients"]) > 500
    assert "each client is a behaviour of a member" in capsys.readouterr().out


FAULTY = {
    "ReportsOneTooMany": (0, "H7 OwnsOnlyAssigned"),
    "RejoinsWithChangesOnly": (2, "H7 JoinsWithAllFields"),
    "RejoinsWithPartitions": (2, "H7 JoinsWithAllFields"),
    "RepeatsNothing": (65, "H7 RepeatsAllAfterError"),
    "RejoinsAsAnother": (2, "K1 RejoinsWhenRemoved"),
    "ContinuesWhenFenced": (20, "K1 RejoinsWhenRemoved"),
    "TriesAgainAfterFatal": (49, "K1 EndsWhenFatal"),
    "CommitsWithoutMemberId": (2, "O2 CommitsWithItsEpoch"),
    "CommitsWithAnotherEpoch": (2, "O2 CommitsWithItsEpoch"),
    "FetchesOffsetsWithAnotherEpoch": (1, "O4 FetchesOffsetsWithItsEpoch"),
}
"""A seed that shows it, and the rule."""


def test_each_faulty_client_is_refused_by_its_rule(tmp_path: Path) -> None:
    """The listener tells one from another."""
    lines = [HELLO]
    for listener, (name, (seed, _)) in enumerate(FAULTY.items()):
        lines += recorded(name, [seed], listener)[1:]
    report = report_of(tmp_path / "log", lines)
    assert not report["holds"]
    for listener, (name, (_, rule)) in enumerate(FAULTY.items()):
        results = [broken(member) for member in report["clients"] if member["listener"] == listener]
        assert {rule} in results, (name, results)


def session(instance: str | None = None) -> Lines:
    """A member joins, is assigned two partitions, reports, is refused, gives one up, commits, and leaves."""
    members: Lines = []
    response = {"assignedTopicPartitions": ASSIGNED}
    less = {"assignedTopicPartitions": [{**ASSIGNED[0], "partitions": [0]}]}

    def beat(epoch: int, answer: Json | None, connection: int = 1, full: bool = False, **fields: Any) -> None:
        body = {"groupId": "g", "memberId": "m", "memberEpoch": epoch, "instanceId": None}
        body |= {"subscribedTopicNames": None, "topicPartitions": None, "rebalanceTimeoutMs": -1}
        if full:
            body |= {"subscribedTopicNames": ["foo"], "rebalanceTimeoutMs": 1000, "instanceId": instance}
        line = {"op": "request", "api": "ConsumerGroupHeartbeat", "listener": 1, "connection": connection}
        members.append({**line, "body": body | fields, "answer": {} if answer is None else {"body": answer}})

    def ok(epoch: int, assignment: Json | None = None) -> Json:
        return {"errorCode": 0, "memberId": "m", "memberEpoch": epoch, "assignment": assignment}

    def commit(epoch: int) -> None:
        body = {"groupId": "g", "memberId": "m", "generationIdOrMemberEpoch": epoch, "topics": []}
        line = {"op": "request", "api": "OffsetCommit", "listener": 1, "connection": 2}
        members.append({**line, "body": body, "answer": {"body": {"topics": []}}})

    beat(0, ok(1, response), full=True, topicPartitions=[])  # 0
    beat(1, ok(1), topicPartitions=ASSIGNED)
    beat(1, {"errorCode": 16})  # 2
    beat(1, None, full=True, topicPartitions=ASSIGNED)
    beat(1, ok(2, less), 2, full=True)  # 4: a new connection, as the answer was lost
    beat(2, ok(2), 2, topicPartitions=less["assignedTopicPartitions"])
    commit(2)  # 6
    beat(2, {"errorCode": 110}, 2)
    beat(0, ok(3, response), 2, full=True, topicPartitions=[])  # 8
    beat(3, ok(3), 2, topicPartitions=ASSIGNED)
    beat(-1, ok(-1), 2)  # 10
    beat(0, ok(4), 2, full=True, topicPartitions=[])
    return [HELLO, LOAD, *members]


def put(place: int, **fields: Any) -> Callable[[Lines], None]:
    def change(members: Lines) -> None:
        members[place]["body"] |= fields

    return change


def another_after_the_fence(members: Lines) -> None:
    members[8]["body"]["memberId"] = members[8]["answer"]["body"]["memberId"] = "n"


def on_after_the_leave(members: Lines) -> None:
    members[11] = deepcopy(members[9])


WRONG: dict[str, tuple[Callable[[Lines], None], str]] = {
    "an epoch that it was not told": (put(1, memberEpoch=2), "H6 SendsTheEpochItWasTold"),
    "an epoch that an error took away": (put(3, memberEpoch=3), "H6 SendsTheEpochItWasTold"),
    "a join that nothing asks for": (
        put(5, memberEpoch=0, topicPartitions=[], subscribedTopicNames=["foo"], rebalanceTimeoutMs=1),
        "H6 SendsTheEpochItWasTold",
    ),
    "a part after an error": (put(3, rebalanceTimeoutMs=-1), "H7 RepeatsAllAfterError"),
    "a part after a loss": (put(4, subscribedTopicNames=None), "H7 RepeatsAllAfterError"),
    "more than it was told": (
        put(1, topicPartitions=[{**ASSIGNED[0], "partitions": [0, 1, 2]}]),
        "H7 OwnsOnlyAssigned",
    ),
    "what it acknowledged": (put(7, topicPartitions=ASSIGNED), "H7 OwnsOnlyAssigned"),
    "on with its epoch when fenced": (put(8, memberEpoch=2), "K1 RejoinsWhenRemoved"),
    "another id when fenced": (another_after_the_fence, "K1 RejoinsWhenRemoved"),
    "partitions with the join": (put(8, topicPartitions=ASSIGNED), "H7 JoinsWithAllFields"),
    "a join that says nothing of partitions": (put(11, topicPartitions=None), "H7 JoinsWithAllFields"),
    "a commit of an old epoch": (put(6, generationIdOrMemberEpoch=7), "O2 CommitsWithItsEpoch"),
    "a commit of nobody": (put(6, memberId=""), "O2 CommitsWithItsEpoch"),
    "away without an instance id": (put(10, memberEpoch=-2), "H2 LeavesWhenClosed"),
    "an epoch after the leave": (on_after_the_leave, "H2 LeavesWhenClosed"),
    "an instance id that it had not": (put(9, instanceId="i"), "S1 KeepsItsInstanceId"),
}


def test_each_wrong_request_is_refused_where_it_is(tmp_path: Path) -> None:
    """All in one run of TLC; the right session holds, without connections, too, as a static member, and with
    an answer that the broker gave and the client never got."""
    static = session("i")
    static[2 + 10]["body"] |= {"memberEpoch": -2, "instanceId": "i"}
    unheard = session()
    unheard[2 + 3]["answer"] = {"body": {**unheard[2 + 4]["answer"]["body"], "assignment": None}}
    right = [session(), blind(session()), static, unheard]
    logs = [*right, *(session() for _ in WRONG)]
    lines: Lines = [HELLO]
    for number, log in enumerate(logs):
        members = log[2:]
        if number >= len(right):
            list(WRONG.values())[number - len(right)][0](members)
        lines += [LOAD, *({**line, "listener": number} for line in members)]
    judged = report_of(tmp_path / "log", lines)["clients"]
    for number, name in enumerate(["right", "blind", "static", "unheard", *WRONG]):
        result = set().union(*(broken(one) for one in judged if one["listener"] == number))
        assert result == ({WRONG[name][1]} if name in WRONG else set()), (name, result)
    assert {rule for _, rule in WRONG.values()} | {rule for _, rule in FAULTY.values()} == {
        f"{rule.requirement} {name}" for name, rule in RULES.items()
    }


def test_members_of_the_closed_models_and_of_the_case_studies_are_members(tmp_path: Path) -> None:
    """The logs of such members name no connection, and hold."""
    replay([ROOT / "traces/members", ROOT / "traces/golden"], record=tmp_path / "replayed")
    lines = [json.loads(text) for text in (tmp_path / "replayed").read_text().splitlines()]
    report = report_of(tmp_path / "log", lines)
    assert report["holds"], [member for member in report["clients"] if "line" in member]
    assert len(report["clients"]) > 40 and sum(member["steps"] for member in report["clients"]) > 150


def test_the_report_says_what_a_member_might_have_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A member that answers an error with a keep-alive may be a member that leaves, until its next request
    decides."""
    lines = session()
    lines[2 + 3]["body"] |= {"subscribedTopicNames": None, "rebalanceTimeoutMs": -1, "topicPartitions": None}
    with pytest.raises(ConformError, match="has a request that no member may send") as error:
        validate(write(tmp_path / "log", lines), side=Side.CLIENT)
    assert error.value.exit_code == NOT_CONFORMANT
    output = capsys.readouterr().out
    assert (
        "member m (listener 1): 4 of 12 requests are those of a member; no member may send line 7" in output
    )
    assert (
        "a member that is about to leave may not, by\n    H7 RepeatsAllAfterError: a keep-alive or a "
        in output
    )
    assert "a leave, as line 6 did not repeat all fields after an error or a loss; not subscription" in output


def test_the_judged_members(tmp_path: Path) -> None:
    """Both ends of a record of a proxy, else the coordinator; without a member that joins it is an error."""
    lines = session()[:4]
    lines[1] = {**LOAD, "topics": [{**LOAD["topics"][0], "partitions": 2}]}
    assert report_of(tmp_path / "both", lines, None).keys() >= {"coordinator_holds", "clients_hold"}
    assert "clients" not in report_of(tmp_path / "one", lines, Side.COORDINATOR)
    for line in lines[2:]:
        del line["listener"]
    assert "clients" not in report_of(tmp_path / "unnamed", lines, None)
    assert "coordinator_holds" not in report_of(tmp_path / "asked", lines, Side.CLIENT)
    lines[2]["body"]["memberEpoch"] = 1
    with pytest.raises(ConformError, match=r"group that joins .*before the log: 2") as error:
        validate(write(tmp_path / "late", lines), side=Side.CLIENT)
    assert error.value.exit_code == USAGE


def test_a_group_that_was_there_before_is_not_judged(tmp_path: Path) -> None:
    """The group's answered requests are not in the record, those with a fault are."""
    lines = session()
    gone: Json = {"op": "fault", "fault": "not recorded", "group": "g", "says": "", "answer": {}}
    report_of(tmp_path / "log", lines)
    with pytest.raises(ConformError, match="a group that was there before the record: 1"):
        validate(write(tmp_path / "old", [*lines, gone]), side=Side.CLIENT)


def test_faults_of_a_record_are_requests_that_were_sent(tmp_path: Path) -> None:
    """A request that never arrived was sent all the same; the arrival of a late request is not its sending;
    an answer that was not delivered is not known."""
    lines = session()
    beats = heartbeats(lines)
    lost = {"op": "fault", "client": 1, "nth": 1, "fault": "late", "answer": {}}
    lost |= {name: beats[3][name] for name in ("api", "connection", "body")}
    arrival = {**beats[3], "late": True, "answer": {"body": {"errorCode": 110}}}
    place = lines.index(beats[3])
    right = [*lines[:place], lost, *lines[place + 1 : -1], arrival, lines[-1]]
    report = report_of(tmp_path / "right", right)
    assert report["holds"] and [member["steps"] for member in report["clients"]] == [12]
    beats[0]["delivered"] = False
    (member,) = report_of(tmp_path / "unknown", lines)["clients"]
    assert member["fits"] == 1
    assert broken(member) == {"H6 SendsTheEpochItWasTold", "H7 OwnsOnlyAssigned"}
