"""Client-side assignors: the chosen member, the installed target, and the answer to each mistake (A1, A5, A6,
A7, A8, A9, A10)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from client_driver import BAR, FOO, PREPARE, ClientGroup, Json, offer, part

from coordinator import BadInput
from coordinator.core.errors import ErrorCode


def code(response: Json) -> ErrorCode:
    return ErrorCode(response["errorCode"])


@pytest.mark.parametrize(
    ("offers", "assignor"),
    [
        ({"m1": "x y z", "m2": "x y z"}, "x"),
        ({"m1": "x y z", "m2": "z y x"}, "x"),
        ({"m1": "x y z", "m2": "y z x"}, "y"),
        ({"m1": "z y", "m2": "x y"}, "y"),
        ({"m1": "b a", "m2": "a b"}, "a"),
        ({"m1": "a b", "m2": "b a", "m3": "b a"}, "b"),
    ],
)
def test_a1_the_assignor_that_all_offer_and_most_prefer(offers: dict[str, str], assignor: str) -> None:
    g = ClientGroup()
    for member, names in offers.items():
        g.join(member, *map(offer, names.split()))
    assert g.prepare("m1")["assignorName"] == assignor


def test_a1_without_a_common_one_the_vote_decides_at_once() -> None:
    g = ClientGroup()
    g.join("m1", offer("x"))
    assert g.chosen() == "m1"
    g.join("m2", offer("y"))
    assert not g.chosen()
    group = g.group()
    assert group["groupEpoch"] == group["assignmentEpoch"]
    assert code(g.install("m1", 2, part("m1", 0, 1))) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a8_the_kips_example_a_must_be_selected() -> None:
    """KIP-848 "Member Selection": A [1-5], B [3-4], C [2-4]."""
    g = ClientGroup()
    for member, least, most in (("C", 2, 4), ("B", 3, 4), ("A", 1, 5)):
        assert code(g.join(member, offer("x", least, most))) == ErrorCode.NONE
    assert g.chosen() == "A"


def test_a8_versions_of_who_was_away_do_not_count_against_its_successor() -> None:
    """S1: the place belongs to one member, before and after."""
    g = ClientGroup()
    g.join("m1", offer("x", 0, 1), instanceId="i1")
    g.beat("m1", -2, instanceId="i1")
    assert code(g.join("m2", offer("x", 2, 3), instanceId="i1")) == ErrorCode.NONE


def test_a8_without_a_member_for_all_versions_the_vote_decides() -> None:
    g = ClientGroup()
    g.join("m1", offer("x", 0, 2))
    assert code(g.join("m2", offer("x", 2, 3))) == ErrorCode.NONE
    assert not g.chosen()
    assert g.group()["assignmentEpoch"] == g.group()["groupEpoch"]


def test_a8_versions_that_overlap_with_nobodys_are_refused_and_change_nothing() -> None:
    g = ClientGroup()
    g.join("m1", offer("x", 0, 2))
    before = g.group(), g.coordinator.end
    response = g.join("m2", offer("x", 3, 4))
    assert code(response) == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "Versions 3 to 4 of x" in response["errorMessage"]
    assert (g.group(), g.coordinator.end) == before
    assert code(g.join("m2", offer("x", 2, 4))) == ErrorCode.NONE
    assert code(g.join("m3", offer("x", 3, 4))) == ErrorCode.NONE  # m2's overlap, m1's do not
    assert code(g.join("m1", offer("x", 7, 8))) == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_a5_a_member_computes_prepares_installs_and_delivers() -> None:
    g = ClientGroup()
    assert g.join("m1", offer(metadataBytes="one", reason=7))["shouldComputeAssignment"]
    assert not g.join("m2", offer(metadataBytes="two"))["shouldComputeAssignment"]
    prepared = g.prepare("m1")
    assert [(one["memberId"], one["assignor"]) for one in prepared["members"]] == [
        ("m1", {"reason": 7, "metadataVersion": 2, "metadataBytes": "one"}),
        ("m2", {"reason": 0, "metadataVersion": 2, "metadataBytes": "two"}),
    ]
    assert prepared["topics"] == [{"topicId": FOO, "topicName": "foo", "numPartitions": 2}]
    answer = {"m1": {"metadataVersion": 1, "metadataBytes": "for m1"}, "m2": {"metadataBytes": "for m2"}}
    parts = part("m1", 1, **answer["m1"]), part("m2", 0, **answer["m2"])
    assert code(g.install("m1", prepared["groupEpoch"], *parts)) == ErrorCode.NONE
    for member, metadata in (("m1", (1, "for m1")), ("m2", (0, "for m2"))):
        assignment = g.beat(member, 1)["assignment"]
        assert (assignment["metadataVersion"], assignment["metadataBytes"]) == metadata
    assert g.group()["state"] == "Stable"


@pytest.mark.parametrize("news", [{"metadataBytes": "new"}, {"metadataVersion": 1}])
def test_h9_metadata_is_news_even_where_partitions_stay(news: Json) -> None:
    g = ClientGroup().prepared("m1")
    g.install("m1", 2, part("m1", 0, 1, metadataBytes="old"))
    owned = g.beat("m1", 1)["assignment"]["assignedTopicPartitions"]
    assert g.beat("m1", 2, topicPartitions=owned)["assignment"] is None
    assert g.beat("m1", 2, clientAssignors=[offer(reason=1)])["shouldComputeAssignment"]
    assert g.prepare("m1", 2)["groupEpoch"] == 3
    g.install("m1", 3, part("m1", 0, 1, **news), epoch=2)
    assert g.beat("m1", 2, topicPartitions=owned)["assignment"].items() >= news.items()
    assert g.beat("m1", 3, topicPartitions=owned)["assignment"] is None


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ([part("m1", 0)], "Partition 1 of topic .* is not assigned"),
        ([], "is not assigned"),
        ([part("m1", 0, 1), part("m2", 1)], "is assigned twice"),
        ([part("m1", 0, 1, 1)], "is assigned twice"),
        ([part("m1", 0), part("m9", 1)], "m9 was no member"),
        ([part("m1", 0), part("m3", 1)], "m3 was no member"),
        ([part("m1", 0, 1, 2)], "no partition 2"),
        ([part("m1", 0, 1, -1)], "no partition -1"),
        ([part("m1", 0, 1), part("m2", 0, topic=BAR)], "no partition 0"),
        ([part("m1", 0), part("m1", 1)], "m1 is there twice"),
    ],
)
def test_a7_each_mistake_is_an_invalid_assignment_and_changes_nothing(
    parts: list[Json], sentence: str
) -> None:
    g = ClientGroup().prepared("m1", "m2")
    g.join("m3", offer())  # after the preparation
    before = g.group(), g.coordinator.end
    response = g.install("m1", 3, *parts)
    assert code(response) == ErrorCode.INVALID_ASSIGNMENT
    assert re.search(sentence, response["errorMessage"])
    assert (g.group(), g.coordinator.end) == before
    assert code(g.install("m1", 3, part("m1", 0), part("m2", 1))) == ErrorCode.NONE


def test_a4_a_member_is_assigned_only_what_it_subscribes_to() -> None:
    g = ClientGroup()
    g.join("m1", offer())
    g.coordinator.upsert_topic("bar", BAR, 1)
    g.join("m2", offer(), topics=("bar",))
    g.prepare("m1")
    wrong = part("m1", 0, 1), part("m2", 0, topic=BAR)
    assert code(g.install("m1", 3, part("m1", 0), part("m2", 1))) == ErrorCode.INVALID_ASSIGNMENT
    assert code(g.install("m1", 3, *wrong)) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"groupId": ""}, ErrorCode.INVALID_REQUEST),
        ({"memberId": ""}, ErrorCode.INVALID_REQUEST),
        ({"memberEpoch": -1}, ErrorCode.INVALID_REQUEST),
        ({"groupId": "g" * 40_000}, ErrorCode.INVALID_GROUP_ID),
        ({"groupId": "h"}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"memberId": "m9"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"memberEpoch": 0}, ErrorCode.STALE_MEMBER_EPOCH),
        ({"memberEpoch": 2}, ErrorCode.STALE_MEMBER_EPOCH),
        ({"memberId": "m2"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
@pytest.mark.parametrize("api", [PREPARE, "ConsumerGroupInstallAssignment"])
def test_a9_each_error_changes_nothing(api: str, body: Json, error: ErrorCode) -> None:
    g = ClientGroup().prepared("m1", "m2")
    before = g.group(), g.coordinator.end
    carried = {} if api == PREPARE else {"groupEpoch": 3, "error": 1}
    response = g.request(api, **{"memberId": "m1", "memberEpoch": 1, **carried, **body})
    assert code(response) == error
    assert response["errorMessage"].endswith(".")
    assert (g.group(), g.coordinator.end) == before


def test_a10_another_epoch_than_was_prepared_or_nothing_prepared() -> None:
    g = ClientGroup()
    g.join("m1", offer())
    parts = part("m1", 0, 1)
    assert "nothing was prepared" in g.install("m1", 2, parts)["errorMessage"]
    g.prepare("m1")
    assert code(g.install("m1", 1, parts)) == code(g.install("m1", 3, parts)) == ErrorCode.INVALID_ASSIGNMENT
    assert code(g.install("m1", 2, parts)) == ErrorCode.NONE
    assert code(g.install("m1", 2, parts)) == ErrorCode.UNKNOWN_MEMBER_ID  # a doubled request


def test_a6_the_prepared_group_counts_and_the_next_computation_starts_at_once() -> None:
    g = ClientGroup().prepared("m1", "m2")
    again = g.prepare("m1")
    g.coordinator.upsert_topic("foo", FOO, 3)
    g.request("ConsumerGroupHeartbeat", memberId="m2", memberEpoch=-1)
    g.join("m3", offer())
    assert g.prepare("m1") == again
    assert code(g.install("m1", 3, part("m1", 0), part("m2", 1))) == ErrorCode.NONE
    group = g.group()
    assert (group["groupEpoch"], group["assignmentEpoch"], g.chosen()) == (6, 3, "m1")
    assert g.target("m1")[0]["partitions"] == [0]
    assert g.target("m3") == []
    written = [
        one["key"].get("memberId") for one in g.coordinator.records() if "Target" in one["key"]["type"]
    ]
    assert written[-3:] == ["m1", "m3", None]


def test_a7_an_assignors_error_keeps_the_target_and_is_delivered() -> None:
    g = ClientGroup().prepared("m1")
    g.install("m1", 2, part("m1", 0, 1))
    g.beat("m1", 1)
    g.join("m2", offer())
    g.prepare("m1", 2)
    assert code(g.install("m1", 3, part("nobody"), epoch=2, error=5)) == ErrorCode.NONE
    assert g.group()["assignmentEpoch"] == 3
    assert g.target("m1")[0]["partitions"] == [0, 1]
    assert g.beat("m1", 2)["assignment"]["error"] == g.beat("m2", 2)["assignment"]["error"] == 5


def test_a5_a_late_one_is_not_fenced_and_all_others_come_before_it_again() -> None:
    g = ClientGroup().prepared("m1", "m2", "m3")
    chosen = []
    for _ in range(4):
        chosen.append(g.chosen())
        g.beat(g.chosen(), 1)
        g.coordinator.fire("computation", "g", g.chosen())
    assert chosen == ["m1", "m2", "m3", "m1"]
    assert code(g.install("m1", 4, part("m1", 0, 1))) == ErrorCode.UNKNOWN_MEMBER_ID
    assert code(g.beat("m1", 1)) == ErrorCode.NONE


def test_a5_the_time_starts_once_with_the_response_to_the_chosen_member() -> None:
    g = ClientGroup()
    g.join("m1", offer())
    for _ in range(9):
        g.clock.set(g.clock.now_ms() + 30_000)
        assert g.beat("m1", 1)["shouldComputeAssignment"]
    timers = {one["timer"]: one["deadlineMs"] for one in g.group()["timers"]}
    assert timers["computation"] == 300_000
    assert g.coordinator.advance(29_999) == []
    assert g.coordinator.advance(1) == [{"timer": "computation", "group": "g", "member": "m1"}]
    assert g.chosen() == "m1"  # there is no other member


def test_a5_the_next_member_has_its_own_time_when_the_first_goes() -> None:
    g = ClientGroup()
    g.join("m1", offer())
    g.join("m2", offer())
    assert (g.chosen(), g.beat("m1", 1)["shouldComputeAssignment"]) == ("m1", True)
    g.clock.set(20_000)
    g.beat("m1", -1)
    assert (g.chosen(), g.beat("m2", 1)["shouldComputeAssignment"]) == ("m2", True)
    fired = []
    for _ in range(10):
        fired += g.coordinator.advance(30_000)
        g.beat("m2", 1)
    assert fired == [{"timer": "computation", "group": "g", "member": "m2"}]


def test_s1_a_member_that_is_away_computes_nothing() -> None:
    g = ClientGroup()
    g.join("m1", offer(), instanceId="i1")
    g.join("m2", offer())
    g.request("ConsumerGroupHeartbeat", memberId="m1", memberEpoch=-2, instanceId="i1")
    assert g.chosen() == "m2"
    g.coordinator.fire("session", "g", "m2")
    assert not g.chosen()
    assert g.join("m4", offer(), instanceId="i1")["shouldComputeAssignment"]


def test_p2_a_new_coordinator_chooses_anew_from_the_offers_in_the_log() -> None:
    g = ClientGroup().prepared("m1", "m2")
    g.coordinator.restart()
    assert g.group()["computation"] == {"chosen": "m1", "notified": False, "tried": [], "prepared": None}
    assert "nothing was prepared" in g.install("m1", 3, part("m1", 0), part("m2", 1))["errorMessage"]
    assert g.beat("m1", 1)["shouldComputeAssignment"]


@pytest.mark.parametrize(
    "body",
    [
        {"members": None},
        {"members": [{"memberId": "m1"}]},
        {"members": [{"memberId": "m1", "partitions": [], "metadataVersion": 2**15}]},
        {"members": [{"memberId": "m1", "partitions": [], "more": 1}]},
        {"error": 128},
        {"groupEpoch": "2"},
        {"memberID": "m1"},
    ],
)
def test_fields_outside_the_schema_are_bad_input(body: dict[str, Any]) -> None:
    g = ClientGroup().prepared("m1")
    before = g.group()
    with pytest.raises(BadInput):
        g.request(
            "ConsumerGroupInstallAssignment", **{"memberId": "m1", "memberEpoch": 1, "groupEpoch": 2, **body}
        )
    assert g.group() == before


def test_h3_assignors_of_one_side_take_the_place_of_those_of_the_other() -> None:
    """H3: a member has the assignors of one side, from its last request with any."""
    g = ClientGroup()

    def sides() -> tuple[str | None, list[str]]:
        (known,) = g.group()["members"]
        return known["serverAssignor"], [one["name"] for one in known.get("clientAssignors", ())]

    g.join("m1", serverAssignor="range")
    answer = g.beat("m1", 1, clientAssignors=[offer()])
    assert (answer["errorCode"], answer["shouldComputeAssignment"]) == (0, True)
    assert sides() == (None, ["x"])
    answer = g.beat("m1", 1, serverAssignor="range")
    assert (answer["errorCode"], answer["shouldComputeAssignment"]) == (0, False)
    assert (sides(), g.chosen()) == (("range", []), "")
    request = {"groupIds": ["g"]}
    (described,) = g.coordinator.request("ConsumerGroupDescribe", 0, {}, request)["groups"]
    assert described["assignorName"] == "range"
    epoch = g.group()["groupEpoch"]
    g.beat("m1", answer["memberEpoch"], clientAssignors=[])
    assert (sides(), g.group()["groupEpoch"]) == (("range", []), epoch)


def test_h3_a_return_with_offers_forgets_the_server_side_assignor_of_its_place() -> None:
    """S1, H3: a field that a returning member leaves out keeps the place's value, except for the other side's
    assignors."""
    g = ClientGroup()
    g.join("m1", instanceId="i1", serverAssignor="range")
    g.beat("m1", -2, instanceId="i1")
    answer = g.join("m2", offer("x"), instanceId="i1")
    assert (answer["errorCode"], answer["shouldComputeAssignment"]) == (0, True)
    (known,) = g.group()["members"]
    assert (known["memberId"], known["serverAssignor"]) == ("m2", None)
