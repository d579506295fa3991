"""Input of a classic group: its requests, and the records that it writes (C1, M1, P1)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from classic_driver import VERSIONS, ClassicDriver, Json, encoded

from coordinator import BadInput, Coordinator

REMOVED = ...
JOIN: Json = {
    "groupId": "g",
    "memberId": "",
    "sessionTimeoutMs": 10_000,
    "rebalanceTimeoutMs": 60_000,
    "protocolType": "consumer",
    "protocols": [{"name": "range", "metadata": encoded("foo")}],
}
BODIES: dict[str, Json] = {
    "JoinGroup": JOIN,
    "SyncGroup": {
        **{"groupId": "g", "memberId": "m", "generationId": 1},
        "assignments": [{"memberId": "m", "assignment": ""}],
    },
    "Heartbeat": {"groupId": "g", "memberId": "m", "generationId": 1},
    "LeaveGroup": {"groupId": "g", "members": [{"memberId": "m"}]},
}


def put(value: Any, path: tuple[str | int, ...], to: object) -> Json:
    """The JSON with another value in that place, or without it."""
    changed = deepcopy(value)
    place = changed
    for name in path[:-1]:
        place = place[name]
    if to is REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return dict(changed)


@pytest.mark.parametrize(
    ("api", "path", "to", "sentence"),
    [
        *(
            (api, (name,), REMOVED, f"{api} needs the field '{name}'")
            for api, body in BODIES.items()
            for name in body
        ),
        *((api, ("more",), 1, f"{api} has no field 'more'") for api in BODIES),
        *(
            (api, ("groupInstanceId",), 1, f"'groupInstanceId' of {api}")
            for api in BODIES
            if api != "LeaveGroup"
        ),
        ("JoinGroup", ("reason",), 1, "'reason' of JoinGroup"),
        ("JoinGroup", ("sessionTimeoutMs",), 2**31, "'sessionTimeoutMs' of JoinGroup must fit into an int32"),
        (
            "JoinGroup",
            ("rebalanceTimeoutMs",),
            2**31,
            "'rebalanceTimeoutMs' of JoinGroup must fit into an int32",
        ),
        ("JoinGroup", ("protocols",), [1], "an entry of JoinGroup must be an object"),
        ("JoinGroup", ("protocols",), JOIN["protocols"] * 2, "JoinGroup names a protocol twice"),
        ("JoinGroup", ("protocols", 0, "more"), 1, "an entry of JoinGroup has no field 'more'"),
        ("JoinGroup", ("protocols", 0, "name"), REMOVED, "an entry of JoinGroup needs the field 'name'"),
        (
            "JoinGroup",
            ("protocols", 0, "metadata"),
            REMOVED,
            "an entry of JoinGroup needs the field 'metadata'",
        ),
        (
            "JoinGroup",
            ("protocols", 0, "metadata"),
            "a",
            "'metadata' of an entry of JoinGroup must be bytes in",
        ),
        (
            "JoinGroup",
            ("protocols", 0, "metadata"),
            "YQ==YQ==",
            "'metadata' of an entry of JoinGroup must be",
        ),
        ("SyncGroup", ("generationId",), 2**31, "'generationId' of SyncGroup must fit into an int32"),
        ("SyncGroup", ("protocolType",), 1, "'protocolType' of SyncGroup"),
        ("SyncGroup", ("protocolName",), 1, "'protocolName' of SyncGroup"),
        (
            "SyncGroup",
            ("assignments", 0, "memberId"),
            REMOVED,
            "an entry of SyncGroup needs the field 'memberId'",
        ),
        (
            "SyncGroup",
            ("assignments", 0, "assignment"),
            "a",
            "'assignment' of an entry of SyncGroup must be byt",
        ),
        ("Heartbeat", ("generationId",), -(2**31) - 1, "'generationId' of Heartbeat must fit into an int32"),
        ("LeaveGroup", ("members",), [1], "a member of LeaveGroup must be an object"),
        (
            "LeaveGroup",
            ("members", 0, "memberId"),
            REMOVED,
            "a member of LeaveGroup needs the field 'memberId'",
        ),
        ("LeaveGroup", ("members", 0, "groupInstanceId"), 1, "'groupInstanceId' of a member of LeaveGroup"),
        ("LeaveGroup", ("members", 0, "reason"), 1, "'reason' of a member of LeaveGroup"),
        ("LeaveGroup", ("members", 0, "more"), 1, "a member of LeaveGroup has no field 'more'"),
    ],
)
def test_c1_a_field_outside_the_schema_is_named(
    api: str, path: tuple[str | int, ...], to: object, sentence: str
) -> None:
    coordinator = Coordinator()
    with pytest.raises(BadInput, match=sentence):
        coordinator.request(api, VERSIONS[api], {}, put(BODIES[api], path, to))
    assert "g" not in coordinator.others


def test_c1_further_fields_are_allowed() -> None:
    """Why it joins or leaves, and times of any length that an int32 has; a session must be in range."""
    coordinator = Coordinator()
    for change, error in (
        ({"reason": "new"}, 79),
        ({"rebalanceTimeoutMs": 2**31 - 1}, 79),
        ({"rebalanceTimeoutMs": -(2**31)}, 79),
        ({"sessionTimeoutMs": -(2**31)}, 26),
    ):
        assert coordinator.request("JoinGroup", 9, {}, {**JOIN, **change})["errorCode"] == error
    leaves = {"groupId": "g", "members": [{"memberId": "m", "reason": "done", "groupInstanceId": None}]}
    assert coordinator.request("LeaveGroup", 5, {}, leaves)["members"][0]["errorCode"] == 25


@pytest.mark.parametrize(
    ("session_ms", "error"),
    [(5_999, 26), (6_000, 79), (1_800_000, 79), (1_800_001, 26)],
)
def test_c1_a_session_timeout_lies_between_two_limits(session_ms: int, error: int) -> None:
    """The limits of Kafka's `group.min.session.timeout.ms` and `group.max.session.timeout.ms` belong to the
    range."""
    answer = Coordinator().request("JoinGroup", 9, {}, JOIN | {"sessionTimeoutMs": session_ms})
    assert answer["errorCode"] == error


LONGEST, TOO_LONG = "\u00e9" * 16_383 + "x", "\u00e9" * 16_384
"""32,767 bytes, and a byte more."""


@pytest.mark.parametrize("api", BODIES)
def test_c1_a_group_id_that_no_record_can_have(api: str) -> None:
    for group_id, error in (
        ("", 24),
        (TOO_LONG, 24),
        (LONGEST, 79 if api == "JoinGroup" else 25),
    ):
        coordinator = Coordinator()
        answer = coordinator.request(api, VERSIONS[api], {}, BODIES[api] | {"groupId": group_id})
        assert answer["errorCode"] == error
        assert coordinator.end == (error == 79)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("memberId", LONGEST, 25),
        ("memberId", TOO_LONG, 42),
        ("groupInstanceId", "", 42),
        ("groupInstanceId", LONGEST, 0),
        ("groupInstanceId", TOO_LONG, 42),
        ("protocolType", "", 23),
        ("protocolType", LONGEST, 79),
        ("protocolType", TOO_LONG, 42),
        ("name", "", 42),
        ("name", LONGEST, 79),
        ("name", TOO_LONG, 42),
    ],
    ids=lambda value: str(value)[:16],
)
def test_c1_texts_that_no_member_can_have(name: str, text: str, error: int) -> None:
    """H3, S1: the leader's answer has the instance ids, and an older version of it shorter strings."""
    second = {"name": text, "metadata": ""}
    change = {"protocols": [*JOIN["protocols"], second]} if name == "name" else {name: text}
    driver = ClassicDriver()
    answer = driver.send("JoinGroup", "c", JOIN | change)
    assert (0 if answer is None else answer["errorCode"]) == error
    assert (driver.coordinator.end == 0) == (error in (23, 25, 42))
    if name in ("memberId", "groupInstanceId") and error == 42:
        for api in ("SyncGroup", "Heartbeat"):
            known = driver.send(api, "c", BODIES[api] | change)
            assert known is not None and known["errorCode"] == 25, "it only names no member"


@pytest.mark.parametrize("api", BODIES)
@pytest.mark.parametrize("beside", [-1, 1])
def test_another_version_of_a_request_is_refused(api: str, beside: int) -> None:
    version = VERSIONS[api] + beside
    with pytest.raises(
        BadInput, match=f"{api} has the versions {VERSIONS[api]} to {VERSIONS[api]}, not {version}"
    ):
        Coordinator().request(api, version, {}, BODIES[api])


def static_pair() -> ClassicDriver:
    """A static member that leads and a dynamic one, Stable."""
    driver = ClassicDriver()
    driver.join("c1", instance="i1", rebalance_ms=30_000)
    driver.join("c2", driver.known("c2"), session_ms=20_000)
    driver.open_barrier()
    first, second = (driver.taken("JoinGroup", client)["memberId"] for client in ("c1", "c2"))
    driver.sync("c2", second, 1)
    driver.sync("c1", first, 1, {first: "one", second: "two"})
    return driver


def test_p1_the_record_is_kafkas() -> None:
    driver = static_pair()
    first, second = (one["memberId"] for one in driver.group["members"])
    (written,) = driver.coordinator.records(driver.coordinator.end - 1)
    common = {"clientHost": "/h", "subscription": encoded("foo")}
    assert written == {
        "offset": driver.coordinator.end - 1,
        "key": {"type": "GroupMetadata", "group": "g"},
        "value": {
            "protocolType": "consumer",
            "generation": 1,
            "protocol": "range",
            "leader": first,
            "currentStateTimestamp": driver.clock.now_ms(),
            "members": [
                {
                    **common,
                    "memberId": first,
                    "groupInstanceId": "i1",
                    "clientId": "c1",
                    "rebalanceTimeout": 30_000,
                    "sessionTimeout": 10_000,
                    "assignment": encoded("one"),
                },
                {
                    **common,
                    "memberId": second,
                    "groupInstanceId": None,
                    "clientId": "c2",
                    "rebalanceTimeout": 60_000,
                    "sessionTimeout": 20_000,
                    "assignment": encoded("two"),
                },
            ],
        },
    }


def test_p2_the_record_gives_the_group_back() -> None:
    driver = static_pair()
    before = driver.group
    driver.coordinator.restart()
    assert {**driver.group, "timers": 0} == {**before, "timers": 0}


MEMBER = {
    "memberId": "m",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "/h",
    "rebalanceTimeout": 1,
    "sessionTimeout": 1,
    "subscription": "",
    "assignment": "",
}
RECORD: Json = {
    "offset": 0,
    "key": {"type": "GroupMetadata", "group": "g"},
    "value": {
        "protocolType": "consumer",
        "generation": 1,
        "protocol": None,
        "leader": None,
        "currentStateTimestamp": -1,
        "members": [MEMBER],
    },
}


@pytest.mark.parametrize(
    ("path", "to", "sentence"),
    [
        (("key", "group"), REMOVED, "the key of a GroupMetadata record needs the field 'group'"),
        (("key", "more"), 1, "the key of a GroupMetadata record has no field 'more'"),
        (("value",), 1, "'value' of a GroupMetadata record must be an object"),
        *(
            (("value", name), REMOVED, f"a GroupMetadata record needs the field '{name}'")
            for name in ("protocolType", "generation", "currentStateTimestamp", "members")
        ),
        *((("value", name), 1, f"'{name}' of a GroupMetadata record") for name in ("protocol", "leader")),
        (("value", "generation"), -1, "'generation' of a GroupMetadata record must be at least 0"),
        (("value", "currentStateTimestamp"), -2, "'currentStateTimestamp' of a GroupMetadata .* at least -1"),
        (("value", "members"), [1], "a member of a GroupMetadata record must be an object"),
        (("value", "members", 0, "groupInstanceId"), 1, "'groupInstanceId' of a GroupMetadata record"),
        *(
            (("value", "members", 0, name), REMOVED, f"a GroupMetadata record needs the field '{name}'")
            for name in MEMBER
            if name != "groupInstanceId"
        ),
    ],
)
def test_p1_invalid_records(path: tuple[str | int, ...], to: object, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Coordinator().load([put(RECORD, path, to)], [], {})


def test_p1_an_empty_instance_id_in_a_log_is_none() -> None:
    """M1, S1: the records of a consumer group have it as none, and so has the group that this one becomes."""
    driver = ClassicDriver()
    driver.coordinator.load([put(RECORD, ("value", "members", 0, "groupInstanceId"), "")], [], {})
    assert [one["instanceId"] for one in driver.group["members"]] == [None]
    volatile = deepcopy(driver.coordinator.volatile())
    volatile["classic"]["g"]["members"][0]["instanceId"] = ""
    driver.coordinator.load([RECORD], [], volatile)
    assert [one["instanceId"] for one in driver.group["members"]] == [None]


def test_p1_a_record_without_protocol_and_leader() -> None:
    """A group that is empty, or that another coordinator wrote in this way, where the first member leads, as
    in Kafka; no value at all is a tombstone."""
    driver = ClassicDriver()
    driver.coordinator.load([RECORD], [], {})
    group = driver.group
    assert (group["state"], group["protocol"], group["leader"]) == ("CompletingRebalance", None, "m")
    assert driver.coordinator.records() == [RECORD]
    again = Coordinator()
    again.load([RECORD], [], driver.coordinator.volatile())
    assert again.describe("g") == group
    driver.coordinator.load([RECORD, put(RECORD, ("value",), None)], [], {})
    assert "g" not in driver.coordinator.others


@pytest.mark.parametrize("members", [[], [MEMBER]], ids=["empty", "one member"])
def test_p1_a_leader_that_is_no_member_is_refused(members: list[Json]) -> None:
    """Nobody could choose the protocol when a static member returns, nor send the assignment."""
    record = put(put(RECORD, ("value", "leader"), "x"), ("value", "members"), members)
    with pytest.raises(BadInput, match="the leader of the classic group 'g' is 'x', which is no member"):
        Coordinator().load([record], [], {})
    driver = static_pair()
    given = deepcopy(driver.coordinator.volatile())
    given["classic"]["g"]["leader"] = "x"
    with pytest.raises(BadInput, match="the leader of volatile classic group 'g' is 'x', which is no member"):
        Coordinator().load(driver.coordinator.records(), [], given)


def test_p1_the_first_member_leads_where_the_record_names_no_leader() -> None:
    """S1: the answer to a static member that returns names the leader, which is told to assign nothing."""
    members = [
        {**MEMBER, "memberId": name, "groupInstanceId": f"i-{name}", "assignment": encoded("one")}
        for name in ("b", "a")
    ]
    record = put(put(RECORD, ("value", "members"), members), ("value", "protocol"), "range")
    for instance, leads in (("i-a", True), ("i-b", False)):
        driver = ClassicDriver()
        driver.coordinator.load([record], [], {})
        answer = driver.join("c", instance=instance, metadata="")
        assert answer is not None and answer["errorCode"] == 0
        assert (answer["leader"] == answer["memberId"], answer["skipAssignment"]) == (leads, leads)


def consumer_record(metadata: object) -> list[Json]:
    """A consumer group's member that uses the classic protocol, in the log."""
    value = {
        "instanceId": None,
        "rackId": None,
        "clientId": "c",
        "clientHost": "/h",
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": 1,
        "serverAssignor": None,
        "classicMemberMetadata": metadata,
    }
    return [{"key": {"type": "ConsumerGroupMemberMetadata", "groupId": "g", "memberId": "m"}, "value": value}]


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        (1, "classicMemberMetadata of .* must be an object"),
        ({"supportedProtocols": []}, "classicMemberMetadata of .* needs the field 'sessionTimeoutMs'"),
        ({"sessionTimeoutMs": 1}, "classicMemberMetadata of .* needs the field 'supportedProtocols'"),
        ({"sessionTimeoutMs": 1, "supportedProtocols": [1]}, "classicMemberMetadata of .* must be an object"),
        (
            {"sessionTimeoutMs": 1, "supportedProtocols": [{"metadata": ""}]},
            "classicMemberMetadata .* 'name'",
        ),
        (
            {"sessionTimeoutMs": 1, "supportedProtocols": [{"name": ""}]},
            "classicMemberMetadata .* 'metadata'",
        ),
    ],
)
def test_m1_records_of_a_classic_member_in_a_consumer_group(metadata: object, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Coordinator().load(consumer_record(metadata), [], {})
