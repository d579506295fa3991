"""Every field of every request: missing, null, of a wrong type, out of range, too long, repeated, unknown.

A value that a client can put on the wire gets the protocol's error, a value that only JSON can express gets
the line protocol's; in both cases neither the group nor the log has changed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from group_driver import API, CLIENT, IDS, GroupDriver

from coordinator import ErrorCode
from coordinator.consumer.model import ClientAssignor
from coordinator.consumer.request import HeartbeatRequest, client_assignor, parse_heartbeat
from coordinator.core.errors import BadInput
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
INVALID = int(ErrorCode.INVALID_REQUEST)
UNKNOWN = int(ErrorCode.UNKNOWN_MEMBER_ID)
DESCRIBE = "ConsumerGroupDescribe"
MISSING = object()

FOO = [{"topicId": IDS["foo"], "partitions": [0]}]
ASSIGNOR = {
    "name": "a",
    "minimumVersion": 1,
    "maximumVersion": 3,
    "reason": 0,
    "metadataVersion": 2,
    "metadataBytes": "",
}
FULL: Json = {
    "groupId": "g",
    "memberId": "m3",
    "memberEpoch": 0,
    "instanceId": "k",
    "rackId": "r",
    "rebalanceTimeoutMs": 5000,
    "subscribedTopicNames": ["foo"],
    "subscribedTopicRegex": "f.*",
    "serverAssignor": "range",
    "clientAssignors": None,
    "topicPartitions": [],
}
REQUESTS: dict[str, tuple[str, Json]] = {
    "join": (API, FULL),
    "rejoin": (API, {**FULL, "memberId": "m1", "instanceId": "i"}),
    "heartbeat": (
        API,
        {**FULL, "memberId": "m1", "instanceId": "i", "memberEpoch": 2, "topicPartitions": FOO},
    ),
    "leave": (API, {**FULL, "memberId": "m1", "instanceId": "i", "memberEpoch": -1}),
    "leave temporarily": (API, {**FULL, "memberId": "m1", "instanceId": "i", "memberEpoch": -2}),
    "describe": (DESCRIBE, {"groupIds": ["g"], "includeAuthorizedOperations": True}),
}
KINDS: dict[str, tuple[type, ...]] = {
    "groupId": (str,),
    "memberId": (str,),
    "memberEpoch": (int,),
    "instanceId": (str, type(None)),
    "rackId": (str, type(None)),
    "rebalanceTimeoutMs": (int,),
    "subscribedTopicNames": (list, type(None)),
    "subscribedTopicRegex": (str, type(None)),
    "serverAssignor": (str, type(None)),
    "clientAssignors": (list, type(None)),
    "topicPartitions": (list, type(None)),
    "groupIds": (list,),
    "includeAuthorizedOperations": (bool,),
}
WRONG_TYPES: tuple[Any, ...] = (None, True, 7, 1.5, "x", [7], [None], ["\ud800"], {}, {"a": 1}, "\ud800")
"""A value of every type of JSON, and invalid text; those that a field may have are left out."""


def session() -> LineProtocol:
    """m1 (instance i) revokes foo-1, which is m2's (instance j); both are members of g."""
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", instanceId="i")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2", instanceId="j")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert g.revoking("m1") == ["foo-1"]
    return LineProtocol(g.coordinator)


def answer(protocol: LineProtocol, operation: Json) -> Json:
    results: Json = json.loads(protocol.handle(json.dumps(operation)))
    return results


def whole_state(protocol: LineProtocol) -> Any:
    return [answer(protocol, {"op": "describe", "group": group}) for group in ("g", "h", "")] + [
        answer(protocol, {"op": "records"})
    ]


def send(protocol: LineProtocol, name: str, change: Json, client: Any = CLIENT) -> Json:
    """One of REQUESTS with a change; the answer."""
    api, body = REQUESTS[name]
    body = {field: value for field, value in {**body, **change}.items() if value is not MISSING}
    operation = {"op": "request", "id": 1, "api": api, "version": 0, "client": client, "body": body}
    return answer(protocol, operation)


def error_codes(response: Json) -> set[int]:
    """The error codes in all places of a response."""
    assert response["ok"] is True, response
    body = response["body"]
    errors = body.get("groups", [body])
    for entry in errors:
        assert (entry["errorMessage"] is None) == (entry["errorCode"] == 0)
    return {entry["errorCode"] for entry in errors}


def test_requests_that_are_changed_below_are_valid() -> None:
    for name in REQUESTS:
        codes = error_codes(send(session(), name, {}))
        assert codes == ({int(ErrorCode.FENCED_MEMBER_EPOCH)} if name == "heartbeat" else {0}), name


def test_every_field_of_every_request_is_below() -> None:
    assert {field for _, body in REQUESTS.values() for field in body} == set(KINDS)


@pytest.mark.parametrize("name", REQUESTS)
def test_wrong_type_is_refused_and_changes_nothing(name: str) -> None:
    protocol = session()
    before = whole_state(protocol)
    for field in REQUESTS[name][1]:
        for value in WRONG_TYPES:
            if type(value) in KINDS[field] and value not in ("\ud800", ["\ud800"], [7], [None]):
                continue
            result = send(protocol, name, {field: value})
            assert result["ok"] is False, (field, value, result)
            assert len(result["error"]) < 400
            assert whole_state(protocol) == before, (field, value)


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("field", ["groupId", "memberEpoch", "groupIds"])
def test_missing_field_that_must_be_there_is_refused(name: str, field: str) -> None:
    if field not in REQUESTS[name][1]:
        return
    protocol = session()
    before = whole_state(protocol)
    result = send(protocol, name, {field: MISSING})
    assert (result["ok"], f"needs the field '{field}'" in result["error"]) == (False, True)
    assert whole_state(protocol) == before


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("join", {"rebalanceTimeoutMs": MISSING}, INVALID),
        ("join", {"subscribedTopicNames": MISSING, "subscribedTopicRegex": MISSING}, INVALID),
        ("join", {"subscribedTopicNames": None, "subscribedTopicRegex": None}, INVALID),
        ("heartbeat", {"memberId": MISSING}, INVALID),
        ("leave", {"memberId": MISSING}, INVALID),
        ("leave temporarily", {"memberId": MISSING}, INVALID),
        ("leave temporarily", {"instanceId": MISSING}, INVALID),
        ("leave temporarily", {"instanceId": None}, INVALID),
    ],
)
def test_missing_field_that_a_client_may_leave_out(name: str, change: Json, code: int) -> None:
    protocol = session()
    before = whole_state(protocol)
    assert error_codes(send(protocol, name, change)) == {code}
    assert whole_state(protocol) == before


@pytest.mark.parametrize("name", [name for name in REQUESTS if name != "describe"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("groupId", ""),
        ("groupId", "g" * 40_000),
        ("memberId", "m" * 40_000),
        ("memberEpoch", -3),
        ("memberEpoch", -(2**31)),
        ("instanceId", ""),
        ("instanceId", "i" * 40_000),
        ("rackId", "r" * 1_000_000),
        ("rebalanceTimeoutMs", 0),
        ("rebalanceTimeoutMs", -2),
        ("rebalanceTimeoutMs", -(2**31)),
        ("subscribedTopicNames", [""]),
        ("subscribedTopicNames", ["f" * 250]),
        ("subscribedTopicNames", ["foo", "foo"]),
        ("subscribedTopicNames", [str(n) for n in range(200_000)]),
        ("subscribedTopicRegex", "(" * 1000),
        ("subscribedTopicRegex", "(((a{100}){100}){100})"),
        ("subscribedTopicRegex", "f" * 40_000),
        ("serverAssignor", ""),
        ("serverAssignor", "a" * 40_000),
        ("clientAssignors", [ASSIGNOR]),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": [-1]}]),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": [-(2**31)]}]),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": [0, 0]}]),
        ("topicPartitions", FOO + FOO),
        ("topicPartitions", [{"topicId": "0" * 32, "partitions": [0]}]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_out_of_range_too_long_or_repeated_is_invalid_and_changes_nothing(
    name: str, field: str, value: Any
) -> None:
    protocol = session()
    before = whole_state(protocol)
    assert error_codes(send(protocol, name, {field: value})) == {INVALID}
    assert whole_state(protocol) == before


@pytest.mark.parametrize("name", [name for name in REQUESTS if name != "describe"])
@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("memberEpoch", 2**31, "must fit into an int32"),
        ("memberEpoch", -(2**31) - 1, "must fit into an int32"),
        ("memberEpoch", 10**4000, "must fit into an int32"),
        ("rebalanceTimeoutMs", 2**31, "must fit into an int32"),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": [2**31]}], "must fit into an int32"),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": [True]}], "must be a whole number"),
        ("topicPartitions", [{"topicId": IDS["foo"], "partitions": None}], "must be a list"),
        ("topicPartitions", [{"topicId": IDS["foo"]}], "must hold objects with topicId and partitions"),
        ("topicPartitions", [{"partitions": [0]}], "must hold objects with topicId and partitions"),
        ("topicPartitions", [{"topicId": "foo", "partitions": [0]}], "must be a UUID as text, not 'foo'"),
        ("topicPartitions", [{"topicId": None, "partitions": [0]}], "must be a UUID"),
        ("topicPartitions", [{**FOO[0], "more": 1}], "must hold objects with topicId and partitions"),
        ("clientAssignors", [{**ASSIGNOR, "minimumVersion": 2**15}], "must fit into an int16"),
        ("clientAssignors", [{**ASSIGNOR, "maximumVersion": -(2**15) - 1}], "must fit into an int16"),
        ("clientAssignors", [{**ASSIGNOR, "metadataVersion": None}], "must be a whole number, not None"),
        ("clientAssignors", [{**ASSIGNOR, "metadataVersion": 2**15}], "must fit into an int16"),
        ("clientAssignors", [{**ASSIGNOR, "reason": 128}], "must fit into an int8"),
        ("clientAssignors", [{**ASSIGNOR, "metadataBytes": 1}], "must be a string"),
        ("clientAssignors", [{**ASSIGNOR, "name": None}], "must be a string"),
        ("clientAssignors", [{"name": "a"}], "needs the field"),
        ("clientAssignors", [{**ASSIGNOR, "nome": 1}], "has no field 'nome'"),
        ("memberID", "m1", "has no field 'memberID'; it has groupId, memberId"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_field_outside_the_schema_gets_one_sentence_and_changes_nothing(
    name: str, field: str, value: Any, sentence: str
) -> None:
    protocol = session()
    before = whole_state(protocol)
    if value == 10**4000:
        operation = {"op": "request", "api": API, "version": 0, "body": {**REQUESTS[name][1], field: 0}}
        line = json.dumps(operation).replace(f'"{field}": 0', f'"{field}": 1{"0" * 4000}')
        results = json.loads(protocol.handle(line))
    else:
        results = send(protocol, name, {field: value})
    assert results["ok"] is False and sentence in results["error"], results
    assert whole_state(protocol) == before


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("heartbeat", {"groupId": "h"}, UNKNOWN),
        ("leave", {"groupId": "h"}, UNKNOWN),
        ("leave temporarily", {"groupId": "h"}, UNKNOWN),
        ("heartbeat", {"memberId": "m9", "instanceId": None}, UNKNOWN),
        ("leave", {"memberId": "m9", "instanceId": None}, UNKNOWN),
        ("leave temporarily", {"memberId": "m9", "instanceId": "k"}, UNKNOWN),
        ("leave temporarily", {"instanceId": "k"}, UNKNOWN),
        ("join", {"instanceId": "i"}, int(ErrorCode.UNRELEASED_INSTANCE_ID)),
        ("heartbeat", {"instanceId": "j"}, int(ErrorCode.UNRELEASED_INSTANCE_ID)),
        ("join", {"serverAssignor": "nosuch"}, int(ErrorCode.UNSUPPORTED_ASSIGNOR)),
        ("heartbeat", {"serverAssignor": "nosuch"}, int(ErrorCode.UNSUPPORTED_ASSIGNOR)),
        ("describe", {"groupIds": ["h"]}, int(ErrorCode.GROUP_ID_NOT_FOUND)),
        ("describe", {"groupIds": [""]}, INVALID),
        ("describe", {"groupIds": ["g" * 40_000]}, INVALID),
    ],
)
def test_unknown_id_is_the_protocols_error_and_changes_nothing(name: str, change: Json, code: int) -> None:
    protocol = session()
    before = whole_state(protocol)
    assert error_codes(send(protocol, name, change)) == {code}
    assert whole_state(protocol) == before


def test_topic_that_nobody_knows_in_a_report_is_owned_by_nobody() -> None:
    """A member may still report deleted partitions: no error, and none of them is kept."""
    g = GroupDriver()
    g.join("m1")
    gone = [{"topicId": IDS["bar"], "partitions": [7]}]
    g.request(memberId="m1", memberEpoch=1, topicPartitions=gone)
    assert (g.assigned("m1"), g.member("m1")["acknowledged"]) == (["foo-0", "foo-1"], False)


@pytest.mark.parametrize(
    ("client", "sentence"),
    [
        ({"id": 1}, "'id' of client must be a string"),
        ({"host": None}, "'host' of client must be a string"),
        ({"principal": []}, "'principal' of client must be a string"),
        ({"id": "\ud800"}, "is not Unicode text"),
        (1, "must be an object"),
    ],
)
@pytest.mark.parametrize("name", ["heartbeat", "describe"])
def test_client_that_is_none_is_refused(name: str, client: Any, sentence: str) -> None:
    protocol = session()
    before = whole_state(protocol)
    result = send(protocol, name, {}, client)
    assert result["ok"] is False and sentence in result["error"]
    assert whole_state(protocol) == before


def test_fields_left_out_have_the_defaults_of_the_schema() -> None:
    nothing = (None, None, None, None, None)
    request = parse_heartbeat({}, {"groupId": "g", "memberEpoch": 0})
    assert request == HeartbeatRequest("g", "", 0, None, None, -1, *nothing, "", "", "", [], [])
    versions = {"minimumVersion": 1, "maximumVersion": 3, "metadataVersion": 2}
    assert client_assignor({"name": "a", **versions}) == ClientAssignor("a", 1, 3, 0, 2, "")


@pytest.mark.parametrize(
    ("client", "change", "sentence"),
    [
        ({}, {"memberId": 5}, "'memberId' of ConsumerGroupHeartbeat cannot be 5"),
        ({}, {"rackId": "\ud800"}, "'rackId' of ConsumerGroupHeartbeat is not Unicode text"),
        ({}, {"memberEpoch": 2**31}, "'memberEpoch' of ConsumerGroupHeartbeat must fit into an int32"),
        ({}, {"topicPartitions": [{}]}, "topicPartitions must hold objects with topicId and partitions"),
        ({}, {"clientAssignors": [{**ASSIGNOR, "name": 1}]}, "'name' of clientAssignors must be a string"),
        ({"host": 1}, {}, "'host' of client must be a string, not 1"),
        ({"id": 1, "host": 2}, {}, "'id' of client must be a string, not 1"),
        ({"id": 1, "host": 2, "principal": 3}, {}, "'id' of client must be a string, not 1"),
        ({"id": "\ud800"}, {}, "'id' of client is not Unicode text"),
    ],
)
def test_a_sentence_names_the_field_and_where_it_is(client: Json, change: Json, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_heartbeat(client, {"groupId": "g", "memberEpoch": 0, **change})
    assert str(refused.value).startswith(sentence)
