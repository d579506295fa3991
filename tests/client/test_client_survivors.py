"""Mutants of client-side assignors that survived all traces of `conform mutate`, each killed here."""

from __future__ import annotations

import dataclasses
from copy import deepcopy
from typing import Any

import pytest
from client_driver import FOO, INSTALL, PREPARE, ClientGroup, Json, offer, part

from coordinator import BadInput, Coordinator, Dialect, ErrorCode

TOPICS = [{"name": "foo", "id": FOO, "partitions": 2}]
NOW_MS = 100_000
UNSUPPORTED_ASSIGNOR = 112


class Later:
    """Another machine's clock."""

    def now_ms(self) -> int:
        return NOW_MS


def second_of_three() -> ClientGroup:
    """A group of m1, m2 and m3: m1 timed out, m2 was told to compute and has prepared."""
    g = ClientGroup().prepared("m1", "m2", "m3")
    g.beat("m1", 1)
    g.coordinator.fire("computation", "g", "m1")
    g.beat("m2", 1)
    g.prepare("m2")
    return g


def loaded(source: Coordinator, computation: Json) -> ClientGroup:
    """Another coordinator, with a clock of its own, from the records of the first and such a computation."""
    other = ClientGroup(clock=Later())
    volatile = source.volatile()
    volatile["groups"]["g"]["computation"] = computation
    other.coordinator.load(source.records(), TOPICS, volatile)
    return other


def test_p2_a_computation_goes_on_in_a_coordinator_that_is_given_it() -> None:
    g = second_of_three()
    was = g.coordinator.volatile()["groups"]["g"]["computation"]
    assert (was["chosen"], was["tried"], was["prepared"]) == ("m2", ["m1"], g.prepare("m2"))
    other = loaded(g.coordinator, was)
    left_ms = was["deadlineMs"] - g.clock.now_ms()
    now = other.coordinator.volatile()["groups"]["g"]["computation"]
    assert now == {**was, "deadlineMs": NOW_MS + left_ms}
    assert other.prepare("m2") == g.prepare("m2")
    assert other.install("m2", 4, part("m2", 0, 1))["errorCode"] == 0
    assert other.target("m2")[0]["partitions"] == [0, 1]


def test_p2_only_who_is_chosen_must_be_given() -> None:
    """A member that was not told yet has no deadline; "" is no member, and is not shown."""
    g = second_of_three()
    chosen = loaded(g.coordinator, {"chosen": "m3"})
    assert chosen.group()["computation"] == {"chosen": "m3", "notified": False, "tried": [], "prepared": None}
    assert "computation" not in loaded(g.coordinator, {"chosen": ""}).group()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"chosen": "m9"}, "the computation of 'g' is by 'm9', which is no member"),
        ({"choosen": "m1"}, "the computation of 'g' has no field 'choosen'"),
        ({"chosen": None}, "'chosen' of the computation of 'g'"),
        ({"deadlineMs": "1"}, "'deadlineMs' of the computation of 'g'"),
        ({"chosen": "", "deadlineMs": 1}, "the computation of 'g' has a deadline but no member in 'chosen'"),
        ({"tried": "m1"}, "'tried' of the computation of 'g'"),
        ({"prepared": 1}, "'prepared' of the computation of 'g'"),
        ({"prepared": {}}, "'prepared' of the computation of 'g' needs the field 'groupEpoch'"),
    ],
)
def test_p2_invalid_computations(change: dict[str, Any], sentence: str) -> None:
    g = second_of_three()
    was = g.coordinator.volatile()["groups"]["g"]["computation"]
    with pytest.raises(BadInput, match=sentence):
        loaded(g.coordinator, {**was, **change})


ODD: Any = ...
"""Stands for a field that is left out."""


@pytest.mark.parametrize(
    ("path", "to", "sentence"),
    [
        (("groupEpoch",), ODD, "needs the field 'groupEpoch'"),
        (("groupEpoch",), "x", "'groupEpoch' of .* must be a whole number, not 'x'"),
        (("groupEpoch",), None, "'groupEpoch' of .* must be a whole number, not None"),
        (("groupEpoch",), -1, "'groupEpoch' of .* must be at least 0"),
        (("errorCode",), "x", "'errorCode' of .* must be a whole number"),
        (("throttleTimeMs",), "x", "'throttleTimeMs' of .* must be a whole number"),
        (("errorMessage",), 1, "'errorMessage' of .* must be a string"),
        (("assignorName",), 1, "'assignorName' of .* must be a string"),
        (("more",), [], "has no field 'more'"),
        (("members",), 1, "'members' of .* must be a list"),
        (("members", 0), ["a"], "a member in 'prepared' of the computation of 'g' must be an object"),
        (("members", 0, "more"), [], "a member in .* has no field 'more'"),
        (("members", 0, "memberId"), ["a"], "'memberId' of a member in .* must be a string"),
        (("members", 0, "memberEpoch"), "1", "'memberEpoch' of a member in .* must be a whole number"),
        (("members", 0, "instanceId"), 1, "'instanceId' of a member in .* must be a string"),
        (("members", 0, "rackId"), 1, "'rackId' of a member in .* must be a string"),
        (("members", 0, "subscribedTopicIds"), ODD, "needs the field 'subscribedTopicIds'"),
        (("members", 0, "subscribedTopicIds"), ["foo"], "the topic id of a member in .* must be a UUID"),
        (("members", 0, "topicPartitions"), [1], "topicPartitions of a member in .* must hold objects"),
        (("members", 0, "assignor"), 1, "'assignor' of a member in .* must be an object"),
        (("members", 0, "assignor", "more"), 1, "the assignor of a member in .* has no field 'more'"),
        (("members", 0, "assignor", "reason"), "x", "'reason' of the assignor of .* must be a whole number"),
        (("members", 0, "assignor", "metadataVersion"), ODD, "needs the field 'metadataVersion'"),
        (("members", 0, "assignor", "metadataBytes"), None, "'metadataBytes' of the assignor of"),
        (("topics",), ODD, "needs the field 'topics'"),
        (("topics", 0), 1, "a topic in 'prepared' of the computation of 'g' must be an object"),
        (("topics", 0, "more"), 1, "a topic in .* has no field 'more'"),
        (("topics", 0, "topicId"), "foo", "the topic id of a topic in .* must be a UUID"),
        (("topics", 0, "topicName"), 1, "'topicName' of a topic in .* must be a string"),
        (("topics", 0, "numPartitions"), "x", "'numPartitions' of a topic in .* must be a whole number"),
        (("topics", 0, "numPartitions"), -1, "'numPartitions' of a topic in .* must be at least 0"),
    ],
)
def test_p2_an_answer_that_nobody_can_have_got_is_not_loaded(
    path: tuple[str | int, ...], to: Any, sentence: str
) -> None:
    """A6: each field has its type, so that the answer can be given again and an assignment be checked."""
    g = second_of_three()
    was = deepcopy(g.coordinator.volatile()["groups"]["g"]["computation"])
    assert was["prepared"]["members"] and was["prepared"]["topics"]
    place = was["prepared"]
    for name in path[:-1]:
        place = place[name]
    if to is ODD:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    with pytest.raises(BadInput, match=sentence):
        loaded(g.coordinator, was)


def test_a5_a_member_that_timed_out_and_joins_again_is_new() -> None:
    """Late members are skipped while they are members; their ids are not."""
    g = second_of_three()
    g.beat("m1", -1)
    g.join("m1", offer())
    g.coordinator.fire("computation", "g", "m2")
    assert g.chosen() == "m1"


def test_e2_a_target_that_a_member_computed_counts_for_the_interval() -> None:
    """TargetMayLag: the coordinator does not compute the next one at once, when no member offers to."""
    dialect = dataclasses.replace(Dialect(), TargetMayLag=True)
    g = ClientGroup(dialect=dialect).prepared("m1")
    g.install("m1", 2, part("m1", 0, 1))
    g.join("m2")
    assert (g.group()["groupEpoch"], g.group()["assignmentEpoch"]) == (3, 2)
    g.clock.set(g.clock.now_ms() + 1_000)
    g.beat("m1", 1)
    assert g.group()["assignmentEpoch"] == 3


@pytest.mark.parametrize("last_leave", [False, True])
def test_a5_a_member_that_has_gone_does_not_compute(last_leave: bool) -> None:
    """TargetOnRemoval: no target is computed when a member goes, and yet another member is chosen."""
    changes = {"TargetOnRemoval": "next-heartbeat", "LastLeaveAdvancesAssignmentEpoch": last_leave}
    g = ClientGroup(dialect=Dialect().but(changes))
    g.join("m1", offer())
    g.join("m2", offer())
    g.beat("m1", -1)
    assert g.chosen() == "m2"
    assert g.beat("m2", 1)["shouldComputeAssignment"]
    loaded(g.coordinator, g.coordinator.volatile()["groups"]["g"]["computation"])
    g.beat("m2", -1)
    assert "computation" not in g.group()
    assert g.coordinator.advance(10**6) == []


def test_a5_nobody_computes_a_target_that_waits_for_the_interval() -> None:
    """TargetMayLag: the member that was chosen stops where another one joins without its assignor."""
    g = ClientGroup(dialect=dataclasses.replace(Dialect(), TargetMayLag=True)).prepared("m1")
    g.install("m1", 2, part("m1", 0, 1))
    g.join("m2", offer())
    assert g.chosen() == "m1"
    g.join("m3")
    assert g.chosen() == ""
    assert g.prepare("m1")["errorCode"] == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("api", "change", "sentence"),
    [
        (PREPARE, {"memberEpoch": 2**31}, "'memberEpoch' of ConsumerGroupPrepareAssignment .* int32"),
        (PREPARE, {"groupEpoch": 1}, "ConsumerGroupPrepareAssignment has no field 'groupEpoch'"),
        (PREPARE, {"memberId": None}, "'memberId' of ConsumerGroupPrepareAssignment"),
        (PREPARE, {"groupId": None}, "'groupId' of ConsumerGroupPrepareAssignment"),
        (INSTALL, {"groupEpoch": 2**31}, "'groupEpoch' of ConsumerGroupInstallAssignment .* int32"),
        (INSTALL, {"groupEpoch": None}, "'groupEpoch' of ConsumerGroupInstallAssignment"),
        (INSTALL, {"memberEpoch": -(2**31) - 1}, "'memberEpoch' of ConsumerGroupInstallAssignment .* int32"),
        (INSTALL, {"error": 128}, "'error' of ConsumerGroupInstallAssignment .* int8"),
        (INSTALL, {"error": None}, "'error' of ConsumerGroupInstallAssignment"),
        (INSTALL, {"members": None}, "'members' of ConsumerGroupInstallAssignment"),
        (INSTALL, {"more": 1}, "ConsumerGroupInstallAssignment has no field 'more'"),
        (INSTALL, {"members": [1]}, "a member of ConsumerGroupInstallAssignment must be an object"),
        (INSTALL, {"members": [part("m1", more=1)]}, "a member of ConsumerGroupInstallAssignment has no"),
        (INSTALL, {"members": [part("m1", memberId=1)]}, "'memberId' of a member of Consumer"),
        (INSTALL, {"members": [part("m1", partitions=1)]}, "'partitions' of a member of Consumer"),
        (INSTALL, {"members": [part("m1", partitions=[1])]}, "the partitions of a member of Consumer"),
        (INSTALL, {"members": [part("m1", metadataVersion=2**15)]}, "'metadataVersion' of a member .* int16"),
        (INSTALL, {"members": [part("m1", metadataVersion="1")]}, "'metadataVersion' of a member"),
        (INSTALL, {"members": [part("m1", metadataBytes=1)]}, "'metadataBytes' of a member"),
    ],
)
def test_a10_a_field_outside_the_schema_is_named(api: str, change: Json, sentence: str) -> None:
    g = ClientGroup().prepared("m1")
    body: Json = {"memberId": "m1", "memberEpoch": 1}
    if api == INSTALL:
        body |= {"groupEpoch": 2, "members": [part("m1", 0, 1)]}
    before = g.group()
    with pytest.raises(BadInput, match=sentence):
        g.request(api, **{**body, **change})
    assert g.group() == before


def test_a10_optional_fields_may_be_absent() -> None:
    """No error, no metadata of its own; and where its assignor failed, no members."""
    g = ClientGroup().prepared("m1")
    carried: Json = {"memberId": "m1", "memberEpoch": 1, "groupEpoch": 2}
    assert g.request(INSTALL, **carried, members=[part("m1", 0, 1)])["errorCode"] == 0
    assignment = g.beat("m1", 1)["assignment"]
    answer = assignment["error"], assignment["metadataVersion"], assignment["metadataBytes"]
    assert answer == (0, 0, "")
    g = ClientGroup().prepared("m1")
    assert g.request(INSTALL, **carried, error=-128)["errorCode"] == 0
    assert g.beat("m1", 1)["assignment"]["error"] == -128


def test_a10_the_prepared_epoch_is_named() -> None:
    g = ClientGroup().prepared("m1")
    assert "but group epoch 2 was prepared" in g.install("m1", 3)["errorMessage"]


@pytest.mark.parametrize("member", ["m1", "m9"])
def test_s1_a_member_computes_as_it_returns(member: str) -> None:
    """Under its own member id, or under another one."""
    g = ClientGroup()
    g.join("m1", offer(), instanceId="i1")
    g.beat("m1", -2, instanceId="i1")
    assert not g.chosen()
    assert g.join(member, offer(), instanceId="i1")["shouldComputeAssignment"]
    assert g.chosen() == member


@pytest.mark.parametrize("versions", [(0, 1), (5, 6)])
def test_a8_versions_beside_the_others_on_either_side(versions: tuple[int, int]) -> None:
    g = ClientGroup()
    g.join("m1", offer("x", 2, 4))
    assert g.join("m2", offer("x", *versions))["errorCode"] == UNSUPPORTED_ASSIGNOR
    assert g.join("m2", offer("x", *versions), offer("x2"))["errorCode"] == UNSUPPORTED_ASSIGNOR
    least, most = versions
    assert g.join("m2", offer("x", min(least, 4), max(most, 2)))["errorCode"] == 0


@pytest.mark.parametrize(("prepares", "chosen"), [(True, "m1"), (False, "m2")])
def test_a6_a_member_that_prepared_continues_though_it_could_not_be_chosen_now(
    prepares: bool, chosen: str
) -> None:
    """A8: m2 reads versions that m1 does not; a member that has not prepared would get metadata of these."""
    g = ClientGroup()
    g.join("m1", offer("x", 0, 2))
    if prepares:
        g.prepare("m1")
    g.join("m2", offer("x", 0, 3))
    assert g.chosen() == chosen
    error = g.install("m1", 2, part("m1", 0, 1))["errorCode"]
    assert (error == 0) is prepares
