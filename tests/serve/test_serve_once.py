"""Names that a request repeats multiply no answer, and answers are bounded where distinct names would."""

from __future__ import annotations

from typing import Any

import pytest
from served import ROOT, Recorded, ask, broker, frame

from coordinator.admin.configs import MOST_CONFIGURED, MOST_DESCRIBED
from coordinator.core.clock import SimulatedClock
from coordinator.serve.cluster import MOST_RECORDS
from coordinator.serve.cluster_apis import MOST_FETCHED
from coordinator.serve.frames import Malformed
from coordinator.serve.reading import MOST_ITEMS, MOST_TEXT

FOO = "00000000-0000-0000-0000-000000000001"
NONE = "00000000-0000-0000-0000-000000000000"
TOPIC, BROKER, GROUP = 2, 4, 32


def resource(kind: int, name: str, *names: str) -> dict[str, Any]:
    return {"resourceType": kind, "resourceName": name, "configurationKeys": list(names) or None}


def fetched(*topics: tuple[str | None, str | None, list[tuple[int, int]]]) -> dict[str, Any]:
    """A Fetch of topics by name or id, each with partitions and offsets."""
    named = [
        {
            **({"topic": name} if name else {"topicId": topic_id}),
            "partitions": [
                {"partition": index, "fetchOffset": offset, "partitionMaxBytes": 2**30}
                for index, offset in given
            ],
        }
        for name, topic_id, given in topics
    ]
    return {"replicaId": -1, "maxWaitMs": 0, "minBytes": 1, "maxBytes": 2**31 - 1, "topics": named}


def filled() -> Recorded:
    """A broker with two topics, whose partitions have records, and a group with offsets."""
    clock = SimulatedClock()
    made = broker({"foo": 3, "bar": 1}, clock=clock)
    clock.set(clock.later(5000))
    commits = [
        {"partitionIndex": one, "committedOffset": 7, "committedMetadata": "m" * 99} for one in range(3)
    ]
    ask(made, 8, 9, {"groupId": "g", "topics": [{"name": "foo", "partitions": commits}]})
    return made


REPEATED: dict[str, tuple[int, int, str, dict[str, Any], list[Any]]] = {
    "Metadata by name": (3, 9, "topics", {}, [{"name": "foo"}]),
    "Metadata by name and any id": (
        *(3, 12, "topics", {"allowAutoTopicCreation": False}),
        [{"name": "foo", "topicId": id} for id in (None, NONE, FOO, FOO.replace("1", "9"))],
    ),
    "Metadata by id": (3, 12, "topics", {"allowAutoTopicCreation": False}, [{"name": None, "topicId": FOO}]),
    "Metadata of no topic": (3, 9, "topics", {}, [{"name": "none"}]),
    "DescribeGroups": (15, 6, "groups", {}, ["g"]),
    "FindCoordinator": (10, 4, "coordinatorKeys", {"keyType": 0}, ["g"]),
    "OffsetFetch": (9, 9, "groups", {}, [{"groupId": "g", "topics": None}]),
    "DescribeConfigs of the broker": (32, 4, "resources", {}, [resource(BROKER, "0")]),
    "DescribeConfigs of a group": (32, 4, "resources", {}, [resource(GROUP, "g")]),
    "DescribeConfigs of a topic": (32, 4, "resources", {}, [resource(TOPIC, "foo")]),
    "Fetch": (1, 12, "topics", fetched(), fetched(("foo", None, [(0, 0)]))["topics"]),
    "Fetch by id": (1, 13, "topics", fetched(), fetched((None, FOO, [(0, 0), (0, 0)]))["topics"]),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_name_that_is_repeated_is_answered_once(case: str) -> None:
    """The answer to 400 mentions has the bytes of the answer to one."""
    key, version, field, body, mentions = REPEATED[case]
    made = filled()
    one, many = (
        made.handle(frame(key, version, {**body, field: given}), "h")
        for given in (mentions[:1], mentions * 400)
    )
    assert isinstance(one, bytes) and one == many


def test_each_of_several_has_the_place_of_its_first_mention() -> None:
    made = filled()
    topics = ask(made, 3, 9, {"topics": [{"name": name} for name in ("bar", "none", "foo", "bar", "foo")]})
    assert [one["name"] for one in topics["topics"]] == ["bar", "none", "foo"]
    groups = ask(made, 15, 5, {"groups": ["b", "a", "b"]})["groups"]
    assert [one["groupId"] for one in groups] == ["b", "a"]
    request = fetched(
        ("foo", None, [(2, 1), (0, 1)]), ("bar", None, [(0, 3)]), ("foo", None, [(2, 900), (1, 1)])
    )
    answer = ask(made, 1, 12, request)["responses"]
    shown = [(one["topic"], [part["partitionIndex"] for part in one["partitions"]]) for one in answer]
    assert shown == [("foo", [2, 0, 1]), ("bar", [0])]
    assert [part["errorCode"] for part in answer[0]["partitions"]] == [1, 0, 0], "the last mention counts"


def test_configurations_that_several_mentions_name_are_in_one_answer() -> None:
    made = filled()
    session, interval = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"

    def names(*resources: dict[str, Any]) -> list[list[str]]:
        results = ask(made, 32, 4, {"resources": list(resources)})["results"]
        return [[config["name"] for config in one["configs"]] for one in results]

    assert names(resource(GROUP, "g", session), resource(GROUP, "h"), resource(GROUP, "g", interval)) == [
        [session, interval],
        [session, interval],
    ]
    assert names(resource(GROUP, "g", session), resource(GROUP, "g", session)) == [[session]]
    assert names(resource(GROUP, "g", session), resource(GROUP, "g")) == [[session, interval]]
    assert names(resource(GROUP, "g"), resource(GROUP, "g", session)) == [[session, interval]]


def test_more_resources_than_are_described_get_an_error_each() -> None:
    made = broker({})
    named = [resource(BROKER, str(number)) for number in range(MOST_DESCRIBED + 2)]
    results = ask(made, 32, 4, {"resources": named})["results"]
    assert [one["resourceName"] for one in results] == [one["resourceName"] for one in named]
    assert [bool(one["configs"]) for one in results] == [True] * MOST_DESCRIBED + [False] * 2
    assert [one["errorCode"] for one in results[-3:]] == [0, 42, 42]
    assert f"At most {MOST_DESCRIBED} resources" in results[-1]["errorMessage"]


def test_the_records_of_an_answer_are_bounded_whatever_a_client_asks_for() -> None:
    """Partitions behind the bound are answered without records, and read with the next Fetch."""
    clock = SimulatedClock()
    made = broker({"foo": 200}, clock=clock)
    clock.set(clock.later(100_000))
    partitions = ask(made, 1, 12, fetched(("foo", None, [(index, 0) for index in range(200)])))["responses"][
        0
    ]["partitions"]
    sizes = [len(one["records"]) for one in partitions]
    full, rest = [size for size in sizes if size], [size for size in sizes if not size]
    assert sizes == full + rest and full and rest
    assert sum(full[:-1]) < MOST_FETCHED <= sum(full)
    assert {one["highWatermark"] for one in partitions} == {1000} and MOST_RECORDS < 1000


def test_the_texts_and_objects_of_a_request_are_bounded_and_numbers_are_not() -> None:
    made = broker({"foo": 1})
    groups = [f"g{number}" for number in range(MOST_ITEMS)]
    assert len(ask(made, 10, 4, {"keyType": 0, "coordinatorKeys": groups})["coordinators"]) == MOST_ITEMS
    with pytest.raises(Malformed, match=f"more than {MOST_ITEMS} texts and objects"):
        ask(made, 10, 4, {"keyType": 0, "coordinatorKeys": [*groups, "g"]})
    halves = [{"name": "foo", "partitions": [{"partitionIndex": 0, "timestamp": -1}] * (MOST_ITEMS // 2)}] * 2
    with pytest.raises(Malformed, match="texts and objects"):
        ask(made, 2, 7, {"replicaId": -1, "isolationLevel": 0, "topics": halves})
    numbers = {"topicId": FOO, "partitions": list(range(MOST_ITEMS + 1))}
    body = {"groupId": "g", "memberId": "m", "memberEpoch": 9, "topicPartitions": [numbers]}
    assert ask(made, 68, 0, body)["errorCode"] in (25, 69), "an unknown member"


def test_the_document_has_these_bounds() -> None:
    page = " ".join((ROOT / "docs/serve.md").read_text().split())
    assert f"A request may have {MOST_ITEMS:,} texts and objects in its lists" in page
    assert f"A string may have {MOST_TEXT:,} bytes" in page
    assert f"no further records after {MOST_FETCHED >> 10} KiB" in page
    assert f"DescribeConfigs describes {MOST_DESCRIBED:,} resources" in page
    assert f"{MOST_CONFIGURED:,} groups may have configurations of their own" in page


def test_topics_by_thousands_of_ids() -> None:
    """By id as by name, also ids of no topic and of a topic that the same request has deleted."""
    made = broker({f"t{number}": 1 for number in range(1500)})
    ids = [f"00000000-0000-0000-0000-{number:012}" for number in range(1, 3001)]
    topics = ask(made, 3, 12, {"topics": [{"name": None, "topicId": one} for one in ids]})["topics"]
    shown = [(one["errorCode"], one["name"], one["topicId"]) for one in topics]
    expected = [(0, f"t{number}", one) for number, one in enumerate(ids[:1500])]
    assert shown == expected + [(100, "", one) for one in ids[1500:]]
    wanted = [{"name": None, "topicId": one} for one in (ids[0], ids[0], ids[1])]
    deleted = ask(made, 20, 6, {"topics": wanted, "timeoutMs": 1})["responses"]
    assert [(one["errorCode"], one["name"]) for one in deleted] == [(0, "t0"), (100, ""), (0, "t1")]
    assert "t0" not in made._coordinator.topics and "t2" in made._coordinator.topics


def test_the_partitions_of_all_topics_are_counted_within_a_request() -> None:
    made = broker({"foo": 9000})
    wanted = [{"name": name, "numPartitions": 400, "replicationFactor": 1} for name in ("a", "b", "c")]
    created = ask(made, 19, 4, {"topics": wanted, "timeoutMs": 1, "validateOnly": False})["topics"]
    assert [one["errorCode"] for one in created] == [0, 0, 44]
    more = [{"name": name, "count": 500, "assignments": None} for name in ("a", "b", "none")]
    grown = ask(made, 37, 1, {"topics": more, "timeoutMs": 1, "validateOnly": False})["results"]
    assert [one["errorCode"] for one in grown] == [0, 0, 3]
    again = [{"name": name, "count": 501, "assignments": None} for name in ("a", "foo")]
    grown = ask(made, 37, 1, {"topics": again, "timeoutMs": 1, "validateOnly": False})["results"]
    assert [one["errorCode"] for one in grown] == [44, 37]
