"""D2: python -m coordinator groups."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from group_driver import CLIENT, IDS, GroupDriver
from offset_driver import commit_body

from coordinator import Coordinator, SimulatedClock
from coordinator.__main__ import main
from coordinator.classic.embedded import Assignment, write_assignment
from coordinator.core.storage import SqliteStorage

SESSION = "group.consumer.session.timeout.ms"


class Command:
    """A runner of the command on one log, which keeps the output."""

    def __init__(self, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.log = log
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        try:
            code = main(["groups", *arguments, "--log", str(self.log)])
        except SystemExit as ended:
            code = int(ended.code or 0)
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *arguments: str) -> Any:
        self(*arguments, "--json")
        return json.loads(self.out)


@pytest.fixture
def groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """A log with the groups orders (one member), gone (empty) and simple (offsets alone)."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    g = GroupDriver()
    g.coordinator = Coordinator(clock=SimulatedClock(), storage=storage)
    g.topic("foo", 2)
    g.join("m1", groupId="orders", instanceId="i")
    g.join("m1", groupId="gone")
    g.request(groupId="gone", memberId="m1", memberEpoch=-1)
    body = {**commit_body("", -1, {"foo-1": 7}), "groupId": "simple"}
    g.coordinator.request("OffsetCommit", 9, CLIENT, body)
    storage.close()
    return Command(tmp_path / "log.db", capsys)


def test_list(groups: Command) -> None:
    assert groups("list") == 0
    assert groups.out.splitlines() == [
        "GROUP   TYPE      STATE",
        "gone    consumer  Empty", "orders  consumer  Stable", "simple  classic   Empty",
    ]  # fmt: skip
    assert groups("list", "--state", "empty, STABLE", "--type", "Consumer") == 0
    assert groups.out.split()[3::3] == ["gone", "orders"]
    assert [group["groupId"] for group in groups.json("list", "--type", "generic")["groups"]] == ["simple"]


def test_options_stand_before_the_verb_or_after_it(
    groups: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    after = groups.json("list")
    assert main(["groups", "--log", str(groups.log), "--json", "list"]) == 0
    assert json.loads(capsys.readouterr().out) == after


def test_a_filter_that_means_nothing_is_a_mistake(groups: Command) -> None:
    assert groups("list", "--state", "preparingRebalance", "--type", "connect") == 0
    assert groups("list", "--state", "empty,stale") == 2
    assert "there is no state 'stale'; there are Empty, Assigning" in groups.err
    assert groups("list", "--type", "streams") == 2
    assert "there is no type 'streams'" in groups.err


def test_describe(groups: Command) -> None:
    assert groups("describe", "--group", "orders") == 0
    assert re.search(r"orders +consumer +Stable +1 +1 +uniform", groups.out)
    assert re.search(r"m1 +i +1 +client +/127.0.0.1 +foo-0, foo-1 +foo-0, foo-1", groups.out)
    shown = groups.json("describe", "--all-groups")["groups"]
    assert [group["groupState"] for group in shown] == ["Empty", "Stable", "Empty"]
    assert shown[2]["offsets"] == [{"topic": "foo", "partition": 1, "offset": 7}]
    assert shown[1]["members"][0]["assignment"]["topicPartitions"][0]["topicId"] == IDS["foo"]


def classic_group(coordinator: Coordinator, name: str, protocol_type: str) -> None:
    """A stable classic group of one member, which is assigned foo-1, in bytes that only consumers read."""
    coordinator.use_ids([f"{name}-member"])
    body = {"groupId": name, "memberId": "", "groupInstanceId": "i", "protocolType": protocol_type}
    join = {**body, "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 60_000}
    join["protocols"] = [{"name": "range", "metadata": ""}]
    coordinator.request("JoinGroup", 9, CLIENT, join, id=1)
    coordinator.advance(3_000)
    given = write_assignment(Assignment(frozenset({("foo", 1)})))
    assigned = [{"memberId": f"{name}-member", "assignment": b64encode(given).decode()}]
    sync = {**body, "memberId": f"{name}-member", "generationId": 1, "protocolName": "range"}
    coordinator.request("SyncGroup", 5, CLIENT, {**sync, "assignments": assigned})


def test_describe_shows_the_members_of_groups_of_every_type(groups: Command) -> None:
    """KIP-848: a member's current assignment is "Provided for both generic group and consumer group"."""
    storage = SqliteStorage(str(groups.log))
    coordinator = Coordinator(clock=SimulatedClock(), storage=storage)
    classic_group(coordinator, "old", "consumer")
    classic_group(coordinator, "other", "connect")
    worker = {"groupId": "work", "memberId": "w", "memberEpoch": 0, "rebalanceTimeoutMs": 1}
    assignor = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "metadata": ""}
    coordinator.request("ConnectGroupHeartbeat", 0, CLIENT, {**worker, "clientAssignors": [assignor]})
    call = {"groupId": "work", "memberId": "w", "memberEpoch": 0}
    coordinator.request("ConnectGroupPrepareAssignment", 0, CLIENT, call)
    part = {"memberId": "w", "connectorsAndTasks": [{"connectors": ["foo"], "tasks": []}]}
    install = {**call, "groupEpoch": 1, "members": [part]}
    assert coordinator.request("ConnectGroupInstallAssignment", 0, CLIENT, install)["errorCode"] == 0
    coordinator.request("ConnectGroupHeartbeat", 0, CLIENT, {**worker, "clientAssignors": [assignor]})
    storage.close()
    assert groups("describe", "--group", "old", "--group", "other", "--group", "work") == 0
    rows = [line.split() for line in groups.out.splitlines()]
    assert ["old", "classic", "Stable", "1", "-", "range"] in rows
    assert ["old-member", "i", "1", "client", "/127.0.0.1", "foo-1", "-"] in rows
    assert ["other-member", "i", "1", "client", "/127.0.0.1", "-", "-"] in rows
    assert ["w", "-", "1", "client", "/127.0.0.1", "foo", "foo"] in rows
    shown = {group["groupId"]: group for group in groups.json("describe", "--all-groups")["groups"]}
    (member,) = shown["old"]["members"]
    assert member["assignment"] == {"topicPartitions": [{"topicName": "foo", "partitions": [1]}]}
    assert "members" not in shown["simple"]


def test_describe_shows_no_assignment_that_nobody_can_read(groups: Command) -> None:
    """C1, D2: the log has text that is not base64."""
    other = Coordinator(clock=SimulatedClock())
    classic_group(other, "old", "consumer")
    log = other.records()
    log[-1]["value"]["members"][0]["assignment"] = "x!"
    storage = SqliteStorage(str(groups.log))
    Coordinator(clock=SimulatedClock(), storage=storage).load(log, [], {})
    storage.close()
    assert groups("describe", "--group", "old") == 0
    assert ["old-member", "i", "1", "client", "/127.0.0.1", "-", "-"] in [
        line.split() for line in groups.out.splitlines()
    ]


def test_describe_by_type_and_state(groups: Command) -> None:
    """KIP-848, kafka-consumer-groups: `--type` lists or describes groups of a type."""

    def described(*arguments: str) -> list[str]:
        return [group["groupId"] for group in groups.json("describe", *arguments)["groups"]]

    assert described("--type", "consumer") == ["gone", "orders"]
    assert described("--type", "Classic,connect") == ["simple"]
    assert described("--all-groups", "--type", "consumer", "--state", "stable") == ["orders"]
    assert described("--state", "empty") == ["gone", "simple"]
    assert groups("describe", "--group", "orders", "--group", "simple", "--type", "classic") == 1
    assert "group 'orders' is of type consumer and in state Stable: the filters leave it out" in groups.err
    assert groups.out.splitlines()[1].split()[:2] == ["simple", "classic"]
    assert groups("describe", "--type", "streams") == 2
    assert "there is no type 'streams'; there are " in groups.err
    assert groups("describe") == 2
    assert "describe needs --group ID, --all-groups, --type TYPES or --state STATES" in groups.err


def test_a_group_that_is_not_there(groups: Command) -> None:
    assert groups("describe", "--group", "order") == 1
    assert "there is no group 'order' in this log; did you mean 'orders'?" in groups.err
    assert groups("delete", "--group", "xyz") == 1
    assert "it has gone, orders, simple" in groups.err


def test_delete(groups: Command) -> None:
    assert groups("delete", "--group", "gone", "--group", "simple") == 0
    assert groups.out.split()[2:] == ["gone", "deleted", "simple", "deleted"]
    assert groups("delete", "--group", "orders") == 1
    assert "group 'orders' has members" in groups.err and "NON_EMPTY_GROUP" in groups.out
    assert [group["groupId"] for group in groups.json("list")["groups"]] == ["orders"]


def test_configs(groups: Command) -> None:
    assert groups("configs", "--group", "new", "--set", f"{SESSION}=60000") == 0
    assert re.search(rf"{SESSION} +60000 +group", groups.out)
    assert groups("configs", "--group", "new", "--set", f"{SESSION}=1") == 1
    assert "min.session.timeout.ms is 45000" in groups.err
    assert groups("configs", "--group", "new", "--set", SESSION) == 2
    assert groups("configs", "--group", "new", "--unset", "retention") == 2
    assert groups.json("configs", "--group", "new")["configs"][0]["value"] == "60000"
    assert groups("configs", "--group", "new", "--unset", SESSION) == 0
    assert re.search(rf"{SESSION} +45000 +broker", groups.out)


def test_looking_changes_nothing(groups: Command) -> None:
    before = SqliteStorage(str(groups.log))
    entries = before.read()
    before.close()
    for arguments in (("list",), ("describe", "--all-groups"), ("configs", "--group", "orders")):
        assert groups(*arguments) == 0
    after = SqliteStorage(str(groups.log))
    assert after.read() == entries


def test_validate_regex(groups: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """T1."""
    assert main(["groups", "--validate-regex", "f.*"]) == 0
    assert capsys.readouterr().out == "f.* is a valid RE2 expression\n"
    assert main(["groups", "--validate-regex", r"(?=f)"]) == 1
    assert "is not a valid RE2 expression" in capsys.readouterr().err
    assert groups.json("--validate-regex", "fo+") == {"regex": "fo+", "valid": True, "topics": ["foo"]}
    assert groups.json("--validate-regex", "o")["topics"] == []
    assert groups.json("--validate-regex", "(")["valid"] is False


def test_files_that_are_no_logs(groups: Command, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to have a header" * 10)
    (tmp_path / "empty").write_text("")
    (tmp_path / "folder").mkdir()
    for name, sentence in (
        ("text", "is no log of this coordinator"), ("empty", "is empty, and so no log"),
        ("nothing", "there is no log"), (".", "is a folder; name the log in it (log.db)"),
        ("folder", "is a folder; name the log in it (there is no .db)"),
    ):  # fmt: skip
        groups.log = tmp_path / name
        assert groups("list") == 2
        assert sentence in groups.err
    assert not (tmp_path / "nothing").exists() and not (tmp_path / "empty").stat().st_size


def test_a_log_that_a_coordinator_has(groups: Command) -> None:
    running = SqliteStorage(str(groups.log))
    assert groups("list") == 2
    assert "another process has the log" in groups.err
    running.close()
    assert groups("list") == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "say what to do"),
        (["list"], "list needs --log FILE"),
        (["--validate-regex", "a", "list"], "stands alone"),
        (["describe", "--log", "x"], "--group ID, --all-groups, --type TYPES"),
        (["list", "--log", "x", "--dialect", "none"], "there is no dialect 'none'"),
    ],
)
def test_wrong_command_lines(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["groups", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert sentence in capsys.readouterr().err
