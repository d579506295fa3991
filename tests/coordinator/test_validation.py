"""H3, H4, H5: every clause of the request's validation, the rights of the sender, and the coordinator's
state."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import API, CLIENT, IDS, GroupDriver, error

from coordinator import BadInput, Config, Coordinator, ErrorCode
from coordinator.consumer.request import parse_heartbeat
from coordinator.consumer.validation import INVALID_REQUEST, WITHOUT_CONTENT
from coordinator.stdio import LineProtocol

INVALID = ErrorCode.INVALID_REQUEST
UNSUPPORTED = ErrorCode.UNSUPPORTED_ASSIGNOR
ZERO = "00000000-0000-0000-0000-000000000000"


def assignor(**change: Any) -> dict[str, Any]:
    """A valid client-side assignor, changed."""
    return {"name": "a", "minimumVersion": 1, "maximumVersion": 3, "metadataVersion": 2, **change}


def owned(*partitions: int, topic: str = IDS["foo"]) -> list[dict[str, Any]]:
    return [{"topicId": topic, "partitions": list(partitions)}]


JOIN = {"memberEpoch": 0, "rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}

VIOLATIONS: list[tuple[str, dict[str, Any], str]] = [
    ("group_id_empty", {"groupId": ""}, "name the group"),
    ("lacks_member_id", {"memberId": "", "memberEpoch": 1}, "join with member epoch 0"),
    ("lacks_member_id", {"memberId": "", "memberEpoch": -1}, "join with member epoch 0"),
    ("lacks_member_id", {"memberId": "", "memberEpoch": -2, "instanceId": "i"}, "join with member epoch 0"),
    ("epoch_too_low", {"memberEpoch": -2}, "needs an InstanceId"),
    ("epoch_too_low", {"memberEpoch": -3}, "send -2, -1, 0"),
    ("epoch_too_low", {"memberEpoch": -3, "instanceId": "i"}, "send -2, -1, 0"),
    ("epoch_too_low", {"memberEpoch": -(2**31), "instanceId": "i"}, "send -2, -1, 0"),
    ("instance_id_empty", {"instanceId": ""}, "InstanceId is empty"),
    ("join_lacks_rebalance_timeout", {"rebalanceTimeoutMs": 0}, "larger than zero"),
    ("join_lacks_rebalance_timeout", {"rebalanceTimeoutMs": -1}, "larger than zero"),
    ("rebalance_timeout_not_positive", {"memberEpoch": 1, "rebalanceTimeoutMs": 0}, "-1 for unchanged"),
    ("rebalance_timeout_not_positive", {"memberEpoch": 1, "rebalanceTimeoutMs": -2}, "-1 for unchanged"),
    ("join_lacks_subscription", {"subscribedTopicNames": None}, "needs one of them"),
    ("join_lacks_subscription", {"subscribedTopicNames": None, "subscribedTopicRegex": ""}, "one of them"),
    ("text_too_long", {"groupId": "g" * 32_768}, "GroupId is longer than 32767 bytes"),
    ("text_too_long", {"memberId": "m" * 32_768}, "MemberId is longer"),
    ("text_too_long", {"instanceId": "é" * 16_384}, "InstanceId is longer"),
    ("text_too_long", {"rackId": "r" * 10_000_000}, "RackId is longer"),
    ("text_too_long", {"subscribedTopicRegex": "r" * 32_768}, "SubscribedTopicRegex is longer"),
    ("text_too_long", {"serverAssignor": "r" * 32_768}, "ServerAssignor is longer"),
    ("topic_name_invalid", {"subscribedTopicNames": ["foo", ""]}, "a name of 0 characters"),
    ("topic_name_invalid", {"subscribedTopicNames": ["f" * 250]}, "a name of 250 characters"),
    ("topic_name_repeated", {"subscribedTopicNames": ["foo", "bar", "foo"]}, "'foo' twice"),
    ("topic_name_repeated", {"subscribedTopicNames": ["bar", "foo", "foo"]}, "'foo' twice"),
    (
        "subscription_too_long",
        {"subscribedTopicNames": [f"{n:0200}" for n in range(5001)]},
        "5001 names, together more than 1000000 bytes",
    ),
    (
        "subscription_too_long",
        {"subscribedTopicNames": ["é" * 196 + f"{n:04}" for n in range(2526)]},
        "2526 names, together more than 1000000 bytes",
    ),
    ("regex_invalid", {"subscribedTopicRegex": "("}, "missing ): ("),
    ("regex_invalid", {"subscribedTopicRegex": "(?=a)"}, "invalid perl operator"),
    ("regex_invalid", {"subscribedTopicRegex": "a{1001}"}, "invalid repetition size"),
    (
        "server_and_client_assignors",
        {"serverAssignor": "range", "clientAssignors": [assignor()]},
        "cannot be used together",
    ),
    ("assignor_name_empty", {"serverAssignor": ""}, "ServerAssignor is empty"),
    ("assignor_name_empty", {"clientAssignors": [assignor(), assignor(name="")]}, "empty Name"),
    ("client_assignor_repeated", {"clientAssignors": [assignor(), assignor()]}, "'a' twice"),
    ("minimum_version_too_low", {"clientAssignors": [assignor(minimumVersion=-2)]}, "the least is -1"),
    (
        "maximum_version_too_low",
        {"clientAssignors": [assignor(minimumVersion=-1, maximumVersion=-1, metadataVersion=-1)]},
        "the least is 0",
    ),
    ("maximum_version_too_low", {"clientAssignors": [assignor(maximumVersion=0)]}, "the least is 1"),
    ("metadata_version_outside", {"clientAssignors": [assignor(metadataVersion=0)]}, "from 1 to 3"),
    ("metadata_version_outside", {"clientAssignors": [assignor(metadataVersion=4)]}, "from 1 to 3"),
    ("partition_negative", {"topicPartitions": owned(0, -1)}, "partition -1 of topic"),
    ("topic_id_missing", {"topicPartitions": owned(0, topic=ZERO)}, "a topic id of zeros"),
    ("partition_repeated", {"topicPartitions": owned(1, 0, 1)}, "partition 1 of topic"),
    ("partition_repeated", {"topicPartitions": owned(1) + owned(1, topic=IDS["foo"].upper())}, "twice"),
]


@pytest.mark.parametrize(("clause", "change", "sentence"), VIOLATIONS, ids=lambda value: str(value)[:40])
def test_each_clause_of_h3_is_invalid_request_and_changes_nothing(
    clause: str, change: dict[str, Any], sentence: str
) -> None:
    g = GroupDriver()
    g.join("m1")
    before = g.group(), g.coordinator.end
    response = g.request(**{"memberId": "m2", **JOIN, **change})
    assert error(response) == INVALID
    assert sentence in response["errorMessage"]
    assert (g.group(), g.coordinator.end) == before


def test_every_clause_has_a_violation_in_the_order_of_the_table() -> None:
    table = [clause.__name__ for clause in INVALID_REQUEST]
    assert list(dict.fromkeys(clause for clause, _, _ in VIOLATIONS)) == table


@pytest.mark.parametrize(
    "content",
    [
        {"subscribedTopicNames": [""]},
        {"topicPartitions": owned(-1)},
        {"subscribedTopicRegex": "("},
        {"serverAssignor": ""},
        {"clientAssignors": [assignor(name="")]},
    ],
    ids=lambda content: next(iter(content)),
)
def test_a_heartbeat_with_one_wrong_field_alone_is_invalid(content: dict[str, Any]) -> None:
    """Each field makes the clauses of content count."""
    g = GroupDriver()
    g.join("m1")
    assert error(g.request(memberId="m1", memberEpoch=1, **content)) == INVALID


def test_kafka_looks_past_an_assignor_without_a_name() -> None:
    """EmptyAssignorName: the empty name is an unknown assignor there, and all other clauses count."""
    g = GroupDriver("kafka-4.4")
    wrong = {"memberId": "m1", **JOIN, "topicPartitions": owned(0, 0)}
    assert error(g.request(**{**wrong, "topicPartitions": [], "serverAssignor": ""})) == UNSUPPORTED
    assert error(g.request(**{**wrong, "topicPartitions": [], "subscribedTopicNames": [""]})) == INVALID
    g.join("m1")
    repeated = owned(0, topic=ZERO)
    assert error(g.request(memberId="m1", memberEpoch=1, topicPartitions=repeated)) == INVALID


def test_requests_without_content_break_no_clause_of_content() -> None:
    """Clauses of content are not checked then: each violation of one of them is a request with content."""
    with_content = {clause.__name__ for clause in set(INVALID_REQUEST) - set(WITHOUT_CONTENT)}
    fields = (
        "subscribedTopicNames",
        "subscribedTopicRegex",
        "serverAssignor",
        "clientAssignors",
        "topicPartitions",
    )
    bare = {name: None for name in fields}
    beat = {"groupId": "g", "memberId": "m1", "memberEpoch": 1, "rebalanceTimeoutMs": -1, **bare}
    for clause, change, _ in VIOLATIONS:
        alone = parse_heartbeat(CLIENT, {**beat, **change})
        results = {one.__name__ for one in INVALID_REQUEST if one(alone) is not None}
        assert results <= with_content if clause in with_content else True, clause
        bared = parse_heartbeat(CLIENT, {**beat, **{k: v for k, v in change.items() if k not in fields}})
        assert not with_content & {one.__name__ for one in INVALID_REQUEST if one(bared) is not None}, clause


def test_first_clause_that_objects_answers() -> None:
    g = GroupDriver()
    response = g.request(memberId="", memberEpoch=-3, instanceId="", rebalanceTimeoutMs=0)
    assert response["errorMessage"].startswith("MemberId is empty")
    response = g.request(memberId="m1", memberEpoch=1, serverAssignor="", topicPartitions=owned(-1))
    assert response["errorMessage"].startswith("ServerAssignor is empty")


@pytest.mark.parametrize(
    "change",
    [
        {"groupId": "g" * 32_767},
        {"instanceId": "é" * 16_383},
        {"rebalanceTimeoutMs": 1},
        {"rebalanceTimeoutMs": 2**31 - 1},
        {"subscribedTopicNames": []},
        {"subscribedTopicNames": None, "subscribedTopicRegex": "f.*"},
        {"subscribedTopicNames": ["f" * 249]},
        {"subscribedTopicNames": ["f"]},
        {"subscribedTopicNames": [f"{n:0200}" for n in range(5000)]},
        {"subscribedTopicRegex": ""},
        {"clientAssignors": []},
        {"clientAssignors": [], "serverAssignor": "range"},
        {"topicPartitions": owned(2**31 - 1)},
        {"topicPartitions": owned(1) + owned(0)},
        {"topicPartitions": [{"topicId": IDS["bar"], "partitions": []}]},
        {"topicPartitions": None},
    ],
    ids=lambda change: str(change)[:40],
)
def test_requests_at_the_bounds_join(change: dict[str, Any]) -> None:
    assert error(GroupDriver().request(**{"memberId": "m1", **JOIN, **change})) == 0


def test_h4_kafka_has_no_client_side_assignors() -> None:
    g = GroupDriver("kafka-4.4")
    before = g.group(), g.coordinator.end
    response = g.request(**{"memberId": "m1", **JOIN, "clientAssignors": [assignor()]})
    assert error(response) == UNSUPPORTED
    assert "name a ServerAssignor" in response["errorMessage"]
    assert (g.group(), g.coordinator.end) == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"serverAssignor": "nosuch"}, "'nosuch' is not supported; there are uniform, range."),
        ({"serverAssignor": "Range"}, "'Range' is not supported"),
    ],
)
def test_h4_is_unsupported_assignor_and_changes_nothing(change: dict[str, Any], sentence: str) -> None:
    g = GroupDriver()
    g.join("m1")
    before = g.group(), g.coordinator.end
    for base in (JOIN, {"memberEpoch": 1}):
        response = g.request(**{"memberId": "m1", **base, **change})
        assert error(response) == UNSUPPORTED
        assert sentence in response["errorMessage"]
        assert (g.group(), g.coordinator.end) == before


def test_h3_comes_before_h4() -> None:
    response = GroupDriver().request(memberId="m", memberEpoch=0, serverAssignor="nosuch")
    assert error(response) == INVALID


def test_group_may_not_have_more_members_than_configured() -> None:
    """H5: a rejoin and a return add none."""
    g = GroupDriver(config=Config(group_max_size=2))
    assert error(g.join("m1", instanceId="i1")) == error(g.join("m2")) == 0
    before = g.group(), g.coordinator.end
    response = g.join("m3")
    assert error(response) == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert "raise group.consumer.max.size" in response["errorMessage"]
    assert (g.group(), g.coordinator.end) == before
    assert error(g.join("m2")) == 0
    g.request(memberId="m1", memberEpoch=-2, instanceId="i1")
    assert error(g.join("m3", instanceId="i2")) == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert error(g.join("m3", instanceId="i1")) == 0
    assert sorted(g.members()) == ["m2", "m3"]
    assert error(g.join("m4", groupId="h")) == 0


def test_reading_needs_the_right_to_read_the_group() -> None:
    request = []

    def authorizer(principal: str, operation: str, group_id: str) -> bool:
        request.append((principal, operation, group_id))
        return principal == "User:alice"

    coordinator = Coordinator(authorizer=authorizer)
    coordinator.upsert_topic("foo", IDS["foo"], 1)
    body = {"groupId": "g", "memberId": "m1", **JOIN}
    for principal, who in [("User:bob", "User:bob"), ("", "A client without principal")]:
        client = {**CLIENT, "principal": principal}
        response = coordinator.request(API, 0, client, body)
        assert error(response) == ErrorCode.GROUP_AUTHORIZATION_FAILED
        assert response["errorMessage"] == f"{who} needs the right to READ group g."
    assert error(coordinator.request(API, 0, client, {**body, "groupId": ""})) == 30
    assert (coordinator.describe("g")["state"], coordinator.end) == ("Dead", 0)
    assert error(coordinator.request(API, 0, CLIENT, body)) == 0
    assert request[0] == ("User:bob", "READ", "g")


def test_the_line_protocol_takes_rights_from_every_client_until_they_are_given_back() -> None:
    g = GroupDriver()
    g.two_stable_members()
    before = g.group(), g.coordinator.end
    lines = LineProtocol(g.coordinator)
    assert lines.answer({"op": "rights", "denied": ["READ"]}) == {"ok": True}
    refused = [g.join("m3"), g.heartbeat("m1", 2), g.leave("m1"), g.request(memberEpoch=-9)]
    g.coordinator.set_state("moved")  # rights come first
    refused.append(g.heartbeat("m1", 2))
    assert {*map(error, refused)} == {ErrorCode.GROUP_AUTHORIZATION_FAILED}
    assert (g.group(), g.coordinator.end) == before
    answer = lines.answer({"op": "rights", "denied": ["WRITE"]})
    assert answer["error"].startswith("there is no right to 'WRITE'; there are READ, DELETE, DESCRIBE")
    assert error(g.heartbeat("m1", 2)) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    lines.answer({"op": "rights", "denied": []})
    assert error(g.heartbeat("m1", 2)) == ErrorCode.NOT_COORDINATOR
    lines.answer({"op": "coordinator", "state": "active"})
    assert error(g.heartbeat("m1", 2)) == 0


def test_a_loaded_state_has_all_rights() -> None:
    g = GroupDriver()
    g.coordinator.deny(["READ"])
    assert error(g.join("m1")) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    g.coordinator.load([], [], {})
    assert error(g.join("m1")) == 0


def test_a_loaded_state_may_be_that_of_a_coordinator_which_refuses() -> None:
    g, other = GroupDriver(), GroupDriver()
    g.two_stable_members()
    g.coordinator.deny(["READ"])
    g.coordinator.set_state("moved")
    volatile = g.coordinator.volatile()
    assert volatile["coordinator"] == {"state": "moved", "denied": ["READ"]}
    topics = [
        {"name": name, "id": it.id, "partitions": it.partitions} for name, it in g.coordinator.topics.items()
    ]
    other.coordinator.load(g.coordinator.records(), topics, volatile)
    assert other.group() == g.group()
    every: list[Any] = [{"state": "gone"}, {"denied": ["WRITE"]}, {"state": 1}, {"rights": []}, []]
    for wrong in every:
        with pytest.raises(BadInput):
            other.coordinator.load([], [], {"coordinator": wrong})
    assert error(other.heartbeat("m1", 2)) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    other.coordinator.deny([])
    assert error(other.heartbeat("m1", 2)) == ErrorCode.NOT_COORDINATOR
    other.coordinator.set_state("active")
    assert error(other.heartbeat("m1", 2)) == 0
    assert "coordinator" not in other.coordinator.volatile()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("loading", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        ("moved", ErrorCode.NOT_COORDINATOR),
        ("unavailable", ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_coordinator_that_is_not_active_refuses_every_request(state: str, code: ErrorCode) -> None:
    """real-bugs row 39: after an unload any request is refused."""
    g = GroupDriver()
    g.two_stable_members()
    before = g.group(), g.coordinator.end
    g.coordinator.set_state(state)
    for response in (
        g.join("m3"),
        g.heartbeat("m1", 2),
        g.leave("m1"),
        g.heartbeat("m1", 99),
        g.request(memberEpoch=-9),
    ):
        assert error(response) == code
    assert g.coordinator.advance(100_000) == []
    with pytest.raises(BadInput, match=f"no timer fires while the coordinator is {state}"):
        g.coordinator.fire("session", "g", "m1")
    assert (g.group(), g.coordinator.end) == before


def test_coordinator_that_is_active_again_has_loaded_the_log_and_notices_what_changed() -> None:
    """P2."""
    g = GroupDriver()
    g.two_stable_members()
    g.coordinator.set_state("loading")
    g.coordinator.advance(100_000)
    g.topic("foo", 3)
    assert g.epochs() == (2, 2)
    g.coordinator.set_state("active")
    assert g.epochs() == (3, 3)
    assert g.timers()[("session", "m1")] == 145_000
    assert error(g.heartbeat("m1")) == 0


def test_an_active_coordinator_that_becomes_active_loads_nothing() -> None:
    g = GroupDriver()
    g.two_stable_members()
    before = g.group()
    g.coordinator.advance(100)
    g.coordinator.set_state("active")
    assert g.group() == before
