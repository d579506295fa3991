"""D1, D3: configurations of groups, and the broker's."""

from __future__ import annotations

from pathlib import Path

import pytest
from admin_driver import BROKER, GROUP, INTERVAL, SESSION, alter, ask, change, configs, delete, values
from group_driver import IDS, GroupDriver

from coordinator import AppendFailed, BadInput, Config, Coordinator, ErrorCode
from coordinator.admin.configs import MOST_CONFIGURED, alter_configs, changed_configs
from coordinator.admin.requests import DELETE, AlteredResource, AlterRequest, ConfigChange
from coordinator.core.admission import CLUSTER, allow_everything
from coordinator.core.dialect import Dialect
from coordinator.core.log import opened
from coordinator.core.step import Env
from coordinator.core.storage import SqliteStorage

OWN, STATIC, DEFAULT = 8, 4, 5


def test_a_group_that_does_not_exist_has_the_brokers_values_and_may_have_its_own() -> None:
    g = GroupDriver()
    assert values(g.coordinator) == [("45000", DEFAULT), ("5000", DEFAULT)]
    assert alter(g.coordinator, change(SESSION, " 60000 ")) == ("NONE", "")
    assert values(g.coordinator) == [("60000", OWN), ("5000", DEFAULT)]
    assert values(g.coordinator, "h") == [("45000", DEFAULT), ("5000", DEFAULT)]
    assert alter(g.coordinator, change(SESSION, None, 1), change(INTERVAL, "15000")) == ("NONE", "")
    assert values(g.coordinator) == [("45000", DEFAULT), ("15000", OWN)]
    assert alter(g.coordinator, change(INTERVAL, None, 1)) == ("NONE", "")
    assert "configs" not in g.coordinator.volatile()


def test_they_count_from_the_next_heartbeat_on() -> None:
    """H8, H9: the response has the interval; the session keeps its armed length, then has the new one."""
    g = GroupDriver()
    assert g.join("m1")["heartbeatIntervalMs"] == 5_000
    alter(g.coordinator, change(SESSION, "60000"), change(INTERVAL, "7000"))
    assert g.coordinator.describe("g")["timers"][0]["deadlineMs"] == 45_000
    assert g.heartbeat("m1")["heartbeatIntervalMs"] == 7_000
    assert g.coordinator.describe("g")["timers"][0]["deadlineMs"] == 60_000
    assert g.coordinator.advance(59_999) == []
    assert [fired["timer"] for fired in g.coordinator.advance(1)] == ["session"]


def test_one_that_is_away_has_the_groups_session_too() -> None:
    """S1."""
    g = GroupDriver()
    alter(g.coordinator, change(SESSION, "50000"))
    g.join("m1", instanceId="i")
    g.heartbeat("m1", epoch=-2, instanceId="i")
    assert g.coordinator.describe("g")["timers"][0]["deadlineMs"] == 50_000


def test_they_survive_the_group_a_fail_over_and_a_restart_of_the_program(tmp_path: Path) -> None:
    """Configurations are no records of the group, and yet in its log (P3)."""
    path = str(tmp_path / "log.db")
    storage = SqliteStorage(path)
    coordinator = Coordinator(storage=storage)
    coordinator.upsert_topic("foo", "00000000-0000-4000-8000-0000000000f0", 1)
    join = {
        "groupId": "g", "memberId": "m1", "memberEpoch": 0, "rebalanceTimeoutMs": 1,
        "subscribedTopicNames": ["foo"], "topicPartitions": [],
    }  # fmt: skip
    coordinator.request("ConsumerGroupHeartbeat", 0, {}, join)
    written = coordinator.end
    alter(coordinator, change(SESSION, "60000"))
    assert coordinator.end == written
    coordinator.request(
        "ConsumerGroupHeartbeat", 0, {}, {"groupId": "g", "memberId": "m1", "memberEpoch": -1}
    )
    assert delete(coordinator, "g") == {"g": "NONE"}
    coordinator.restart()
    coordinator.restart(keep=0)
    assert values(coordinator)[0] == ("60000", OWN)
    storage.close()
    storage = SqliteStorage(path)
    again = Coordinator(storage=storage)
    assert values(again)[0] == ("60000", OWN)
    again.request("ConsumerGroupHeartbeat", 0, {}, join)
    again.restart()
    assert again.describe("g")["timers"][0]["deadlineMs"] == 60_000
    storage.close()
    _, changes = opened(SqliteStorage(path))
    assert {"configs": {"group": "g", "values": {SESSION: 60_000}}} in changes


def test_a_state_is_loaded_with_its_configurations_and_another_without() -> None:
    g = GroupDriver()
    g.join("m1")
    alter(g.coordinator, change(SESSION, "60000"))
    topics = [{"name": "foo", "id": "00000000-0000-4000-8000-0000000000f0", "partitions": 2}]
    records, volatile = g.coordinator.records(), g.coordinator.volatile("g")
    assert "configs" not in g.coordinator.volatile("h")
    other = Coordinator()
    other.load(records, topics, volatile)
    assert values(other)[0] == ("60000", OWN)
    assert other.volatile() == volatile
    other.load(records, topics, {})
    assert values(other)[0] == ("45000", DEFAULT)


def test_an_entry_of_the_log_that_has_more_is_none() -> None:
    with pytest.raises(BadInput, match="value"):
        changed_configs({}, {"group": "g", "values": {}, "value": 1})
    with pytest.raises(BadInput, match="an empty 'group'"):
        changed_configs({}, {"group": "", "values": {SESSION: 60_000}})
    with pytest.raises(BadInput, match="must fit into an int32, not 2147483648"):
        changed_configs({}, {"group": "g", "values": {SESSION: 2**31}})


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ([change(SESSION, "44999")], "INVALID_CONFIG", f"{SESSION} is 44999, but group.consumer.min.session"),
        ([change(SESSION, "60001")], "INVALID_CONFIG", "max.session.timeout.ms is 60000"),
        ([change(INTERVAL, "4999")], "INVALID_CONFIG", "min.heartbeat.interval.ms is 5000"),
        ([change(INTERVAL, "15001")], "INVALID_CONFIG", "max.heartbeat.interval.ms is 15000"),
        ([change(SESSION, "6e4")], "INVALID_CONFIG", "a number of milliseconds"),
        ([change(SESSION, "99999999999")], "INVALID_CONFIG", "a number of milliseconds"),
        ([change("group.consumer.max.size", "5")], "INVALID_CONFIG", "has no configuration"),
        ([change(SESSION, "1", 2)], "INVALID_CONFIG", "APPEND is for lists"),
        ([change(SESSION, "1", 3)], "INVALID_CONFIG", "SUBTRACT is for lists"),
        ([change(SESSION, "60000", 4)], "INVALID_REQUEST", "no configuration operation 4"),
        ([change(SESSION, None)], "INVALID_REQUEST", "is null"),
        ([change(SESSION, "60000"), change(SESSION, "50000")], "INVALID_REQUEST", "is given twice"),
        ([change(SESSION, "60000"), change(SESSION[6:], "50000")], "INVALID_REQUEST", "is given twice"),
        ([change(SESSION, "60000"), change(INTERVAL, "1")], "INVALID_CONFIG", INTERVAL),
    ],
)
def test_a_forbidden_operation_changes_nothing(
    changes: list[dict[str, object]], error: str, sentence: str
) -> None:
    coordinator = Coordinator()
    code, message = alter(coordinator, *changes)
    assert code == error and sentence in message
    assert values(coordinator) == [("45000", DEFAULT), ("5000", DEFAULT)]


def test_resources() -> None:
    coordinator = Coordinator()
    assert alter(coordinator, change(SESSION, "60000"), group="")[0] == "INVALID_REQUEST"
    assert alter(coordinator, change(SESSION, "60000"), group="x" * 40_000)[0] == "INVALID_REQUEST"
    assert alter(coordinator, change(SESSION, "60000"), kind=2)[0] == "INVALID_REQUEST"
    twice = {"resourceType": GROUP, "resourceName": "g", "configs": [change(SESSION, "60000")]}
    responses = ask(coordinator, "IncrementalAlterConfigs", resources=[twice, twice])["responses"]
    assert [ErrorCode(one["errorCode"]).name for one in responses] == ["INVALID_REQUEST"] * 2
    for kind, name in ((2, "foo"), (GROUP, "")):
        request = [{"resourceType": kind, "resourceName": name}]
        (result,) = ask(coordinator, "DescribeConfigs", resources=request)["results"]
        assert (result["errorCode"], result["configs"]) == (ErrorCode.INVALID_REQUEST, [])


def test_kafkas_names_mean_the_same_and_validation_alone_changes_nothing() -> None:
    coordinator = Coordinator()
    assert alter(coordinator, change("consumer.session.timeout.ms", "60000"), only=True) == ("NONE", "")
    assert values(coordinator)[0] == ("45000", DEFAULT)
    assert alter(coordinator, change("consumer.session.timeout.ms", "60000")) == ("NONE", "")
    assert list(configs(coordinator, names=["consumer.session.timeout.ms"])) == [SESSION]


@pytest.mark.parametrize("stored", [False, True])
def test_a_log_that_refuses(tmp_path: Path, stored: bool) -> None:
    """P3: a log in memory alone refuses every write, too."""
    storage = SqliteStorage(str(tmp_path / "log.db")) if stored else None
    coordinator = Coordinator(storage=storage)
    coordinator.fail_appends(True)
    assert alter(coordinator, change(SESSION, "60000"))[0] == "UNKNOWN_SERVER_ERROR"
    assert values(coordinator)[0] == ("45000", DEFAULT)
    with pytest.raises(AppendFailed, match="the topics are as they were"):
        coordinator.upsert_topic("foo", IDS["foo"], 1)
    assert coordinator.topics == {}
    coordinator.fail_appends(False)
    assert alter(coordinator, change(SESSION, "60000")) == ("NONE", "")
    coordinator.upsert_topic("foo", IDS["foo"], 1)


def test_synonyms_and_documentation() -> None:
    coordinator = Coordinator(config=Config(session_timeout_ms=50_000))
    alter(coordinator, change(SESSION, "60000"))
    shown = configs(coordinator, includeSynonyms=True, includeDocumentation=True)[SESSION]
    sources = [(one["value"], one["source"]) for one in shown["synonyms"]]
    assert sources == [("60000", OWN), ("50000", STATIC)]
    assert "milliseconds" in shown["documentation"]
    assert configs(coordinator)[SESSION]["synonyms"] == []


def test_the_broker_has_the_defaults_of_the_kip() -> None:
    """D3."""
    results = configs(Coordinator(), "0", BROKER)
    assert {name: config["value"] for name, config in results.items()} == {
        "group.coordinator.threads": "1",
        "group.consumer.session.timeout.ms": "45000",
        "group.consumer.min.session.timeout.ms": "45000",
        "group.consumer.max.session.timeout.ms": "60000",
        "group.consumer.heartbeat.interval.ms": "5000",
        "group.consumer.min.heartbeat.interval.ms": "5000",
        "group.consumer.max.heartbeat.interval.ms": "15000",
        "group.consumer.max.size": "2147483647",
        "group.consumer.assignors": "uniform,range",
    }
    assert all(config["readOnly"] for config in results.values())


def test_rights() -> None:
    """D5."""
    rights = {
        ("bob", "ALTER_CONFIGS", "g"),
        ("eve", "DESCRIBE_CONFIGS", "g"),
        ("ann", "DESCRIBE_CONFIGS", CLUSTER),
    }
    coordinator = Coordinator(authorizer=lambda *request: request in rights)
    assert alter(coordinator, change(SESSION, "60000"), principal="eve")[0] == "GROUP_AUTHORIZATION_FAILED"
    assert alter(coordinator, change(SESSION, "60000"), principal="bob")[0] == "NONE"
    for principal, kind, error in (
        ("eve", GROUP, "NONE"), ("bob", GROUP, "GROUP_AUTHORIZATION_FAILED"),
        ("ann", BROKER, "NONE"), ("eve", BROKER, "CLUSTER_AUTHORIZATION_FAILED"),
    ):  # fmt: skip
        request = [{"resourceType": kind, "resourceName": "g"}]
        (result,) = ask(coordinator, "DescribeConfigs", principal, resources=request)["results"]
        assert ErrorCode(result["errorCode"]).name == error
        assert bool(result["configs"]) == (error == "NONE")


class Name(str):
    """A name that counts with how many others it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str(self) == str(other)


@pytest.mark.parametrize("of", ["resources", "changes"])
def test_each_name_is_compared_with_few_others(of: str) -> None:
    """A frame of 1 MiB has tens of thousands of them."""
    names = [Name(f"name {number}") for number in range(2000)]
    if of == "resources":
        resources = [AlteredResource(GROUP, name, []) for name in names]
    else:
        resources = [AlteredResource(GROUP, "g", [ConfigChange(name, DELETE, None) for name in names])]
    Name.compared = 0
    env = Env(Dialect(), Config(), {}, {}, {})
    answer = alter_configs(env, AlterRequest(resources, True, ""), allow_everything, lambda *_: None)
    assert {one["errorCode"] for one in answer["responses"]} == {0}
    assert Name.compared < 10 * len(names)


def of_groups(coordinator: Coordinator, groups: list[str], value: str | None = "60000") -> list[str]:
    """Set, or delete where it is None, the session's time-out of many groups in one request; the errors."""
    changes = [change(SESSION, value, 0 if value else DELETE)]
    resources = [{"resourceType": GROUP, "resourceName": group, "configs": changes} for group in groups]
    responses = ask(coordinator, "IncrementalAlterConfigs", resources=resources)["responses"]
    assert [one["resourceName"] for one in responses] == groups
    return [ErrorCode(one["errorCode"]).name for one in responses]


def test_the_changes_of_one_request_are_one_entry(tmp_path: Path) -> None:
    """P3: a log on a disk takes milliseconds for each; the next start knows all of them."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    coordinator = Coordinator(storage=storage)
    groups = [f"g{number}" for number in range(500)]
    of_groups(coordinator, groups[:3], "50000")
    before = len(storage.read())
    assert of_groups(coordinator, [*groups, ""]) == ["NONE"] * 500 + ["INVALID_REQUEST"]
    assert of_groups(coordinator, groups[1:3], None) == ["NONE"] * 2
    assert len(storage.read()) == before + 2
    storage.close()
    again = Coordinator(storage=SqliteStorage(str(tmp_path / "log.db")))
    own = {group for group in groups if values(again, group)[0] == ("60000", OWN)}
    assert own == set(groups) - {"g1", "g2"}


def test_a_log_that_refuses_changes_none_of_many() -> None:
    """P3: the groups that would have changed have the error, the others their own answer."""
    coordinator = Coordinator()
    of_groups(coordinator, ["same"])
    coordinator.fail_appends(True)
    errors = of_groups(coordinator, ["a", "same", "", "b"])
    assert errors == ["UNKNOWN_SERVER_ERROR", "NONE", "INVALID_REQUEST", "UNKNOWN_SERVER_ERROR"]
    assert [values(coordinator, group)[0] for group in "ab"] == [("45000", DEFAULT)] * 2
    message = alter(coordinator, change(SESSION, "60000"), group="a")[1]
    assert message == "The log took no records; try again."


def test_the_groups_that_have_configurations_are_bounded() -> None:
    """Groups with configurations need not exist, so that each would grow the coordinator for ever."""
    coordinator = Coordinator()
    groups = [f"g{number}" for number in range(MOST_CONFIGURED + 2)]
    most = MOST_CONFIGURED
    assert of_groups(coordinator, groups) == ["NONE"] * most + ["INVALID_CONFIG"] * 2
    assert of_groups(coordinator, ["one more"]) == ["INVALID_CONFIG"]
    message = alter(coordinator, change(SESSION, "60000"), group="one more")[1]
    assert f"At most {most} groups" in message
    assert of_groups(coordinator, groups[:2], "50000") == ["NONE"] * 2, "those that have some may change them"
    mixed = of_groups(coordinator, ["one more", *groups[:2], "another"], "60000")
    assert mixed == ["INVALID_CONFIG", "NONE", "NONE", "INVALID_CONFIG"], "whatever stands before them"
    assert of_groups(coordinator, groups[:1], None) == ["NONE"]
    assert of_groups(coordinator, ["one more"]) == ["NONE"]
