"""The target assignment: A1-A4, E2, and an assignor that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from group_driver import API, CLIENT, IDS, GroupDriver, given, partition_names

from coordinator import BadInput, Coordinator
from coordinator.assignors import AssignmentSpec, GroupAssignment, MemberSubscription


class Recorder:
    """An assignor that gives everything to the first member and notes its input."""

    def __init__(self, name: str, calls: list[tuple[str, AssignmentSpec]]) -> None:
        self.name = name
        self._calls = calls

    def assign(self, spec: AssignmentSpec) -> GroupAssignment:
        self._calls.append((self.name, spec))
        everything = frozenset(
            (topic, index) for topic, count in spec.partitions.items() for index in range(count)
        )
        return {min(spec.members): everything}


def recorded(votes: Sequence[str | None]) -> list[tuple[str, AssignmentSpec]]:
    """The calls of assignors a, b, c (in this order of configuration) while members with these votes join."""
    calls: list[tuple[str, AssignmentSpec]] = []
    coordinator = Coordinator(assignors={name: Recorder(name, calls) for name in "abc"})
    coordinator.upsert_topic("foo", IDS["foo"], 2)
    for number, vote in enumerate(votes):
        body = {"groupId": "g", "memberId": f"m{number}", "memberEpoch": 0, "rebalanceTimeoutMs": 1}
        body |= {"subscribedTopicNames": ["foo", "bar"], "serverAssignor": vote}
        assert coordinator.request(API, 0, CLIENT, body)["errorCode"] == 0
    return calls


@pytest.mark.parametrize(
    ("votes", "selected"),
    [
        ([None], "a"),
        (["b"], "b"),
        ([None, None, "c"], "c"),
        (["c", "b", "b"], "b"),
        (["c", "b"], "b"),
        (["a", "c", "c", "a"], "a"),
    ],
)
def test_assignor_that_most_members_name_is_used(votes: list[str | None], selected: str) -> None:
    """A1 after the errata: no name is no vote; ties and no votes go by the order of configuration."""
    assert recorded(votes)[-1][0] == selected


def test_assignor_sees_metadata_and_the_current_target() -> None:
    """A3: topics by id, only existing ones, and the target rather than what is assigned."""
    (_, first), (_, second) = recorded([None, None])
    foo = frozenset({IDS["foo"]})
    both = frozenset({(IDS["foo"], 0), (IDS["foo"], 1)})
    counts, names = {IDS["foo"]: 2}, {IDS["foo"]: "foo"}
    assert first == AssignmentSpec({"m0": MemberSubscription(foo, frozenset())}, counts, names)
    assert second.members == {"m0": MemberSubscription(foo, both), "m1": MemberSubscription(foo, frozenset())}


def test_assignor_sees_what_members_say_of_themselves_and_the_names_of_topics() -> None:
    """A2: instance id and rack at that time, and the name of each topic, also of one that a regular
    expression matched; not of topics without subscribers."""
    calls: list[tuple[str, AssignmentSpec]] = []
    coordinator = Coordinator(assignors={"a": Recorder("a", calls)})
    for name in ("foo", "bar"):
        coordinator.upsert_topic(name, IDS[name], 1)

    def send(member: str, epoch: int, **more: object) -> None:
        body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, "rebalanceTimeoutMs": 1, **more}
        assert coordinator.request(API, 0, CLIENT, body)["errorCode"] == 0

    send("m0", 0, subscribedTopicRegex="f.*", instanceId="i", rackId="east")
    send("m0", 1, rackId="west")
    send("m1", 0, subscribedTopicNames=["foo"])
    content = {name: (one.instance_id, one.rack_id) for name, one in calls[-1][1].members.items()}
    assert content == {"m0": ("i", "west"), "m1": (None, None)}
    assert calls[-1][1].names == {IDS["foo"]: "foo"}


@pytest.mark.parametrize("looks", [True, False])
def test_e1_another_rack_bumps_where_the_assignor_looks_at_racks(looks: bool) -> None:
    """E1, A2: racks are "the input of the assignment function" for such an assignor, and no other. A static
    member that returns with another rack is such a change, too; one that returns with its own is none."""
    calls: list[tuple[str, AssignmentSpec]] = []
    assignor = Recorder("a", calls)
    if looks:
        vars(assignor)["looks_at_racks"] = True
    coordinator = Coordinator(assignors={"a": assignor})
    coordinator.upsert_topic("foo", IDS["foo"], 1)

    def epoch_after(member: str, epoch: int, **more: object) -> int:
        body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, "rebalanceTimeoutMs": 1, **more}
        assert coordinator.request(API, 0, CLIENT, body)["errorCode"] == 0
        return int(coordinator.describe("g")["groupEpoch"])

    joins = {"subscribedTopicNames": ["foo"], "instanceId": "i"}
    assert epoch_after("m0", 0, rackId="east", **joins) == 1
    west = epoch_after("m0", 1, rackId="west")
    assert (west, calls[-1][1].members["m0"].rack_id) == ((2, "west") if looks else (1, "east"))
    assert epoch_after("m0", west, rackId="west", rebalanceTimeoutMs=2) == west
    epoch_after("m0", -2, instanceId="i")
    assert epoch_after("m1", 0, rackId="west", **joins) == west
    epoch_after("m1", -2, instanceId="i")
    assert epoch_after("m2", 0, rackId="north", **joins) == west + looks


FOO = IDS["foo"]


class Plugged:
    """An assignor whose answers `answer` makes up."""

    name = "plugged"

    def __init__(self) -> None:
        self.answer: Callable[[AssignmentSpec], GroupAssignment] = lambda spec: {}

    def assign(self, spec: AssignmentSpec) -> GroupAssignment:
        return self.answer(spec)


def _raise(spec: AssignmentSpec) -> GroupAssignment:
    raise KeyError("no such rack")


ILLEGAL: dict[str, tuple[Callable[[AssignmentSpec], GroupAssignment], str]] = {
    "raises": (_raise, "raised"),
    "nothing": (lambda spec: cast(GroupAssignment, None), "raised"),
    "left out": (lambda spec: {"m1": frozenset({(FOO, 0)})}, "leaves out partition 1"),
    "twice": (lambda spec: dict.fromkeys(spec.members, frozenset({(FOO, 0), (FOO, 1)})), "to m1 and m2"),
    "a stranger": (lambda spec: {"m3": frozenset({(FOO, 0), (FOO, 1)})}, "m3, which is no member"),
    "no such partition": (lambda spec: {"m1": frozenset((FOO, n) for n in (0, 1, 2))}, "does not exist"),
    "no such topic": (lambda spec: {"m1": frozenset({(IDS["bar"], 0)})}, "does not exist"),
    "not subscribed": (lambda spec: {"m2": frozenset({(FOO, 0), (FOO, 1)})}, "does not subscribe"),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_an_assignor_of_somebody_else_cannot_install_what_is_not_legal(
    case: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A4, A7: the group keeps its target, its members are told, and the log says why; then it goes on."""
    plugged = Plugged()
    coordinator = Coordinator(assignors={"plugged": plugged})
    coordinator.upsert_topic("foo", FOO, 2)

    def join(member: str, topic: str) -> dict[str, Any]:
        body = {"groupId": "g", "memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 1}
        return coordinator.request(API, 0, CLIENT, {**body, "subscribedTopicNames": [topic]})

    def targets() -> list[list[str]]:
        return [partition_names(one["target"]) for one in coordinator.describe("g")["members"]]

    plugged.answer = lambda spec: {"m1": frozenset({(FOO, 0), (FOO, 1)})}
    join("m1", "foo")
    plugged.answer, why = ILLEGAL[case]
    answer = join("m2", "bar" if case == "not subscribed" else "foo")
    assert (answer["errorCode"], answer["assignment"]["error"]) == (0, 1)
    assert targets() == [["foo-0", "foo-1"], []]
    assert [why in record.getMessage() for record in caplog.records] == [True]
    plugged.answer = lambda spec: {"m2": frozenset({(FOO, 0), (FOO, 1)}), "m1": frozenset()}
    assert join("m2", "foo")["assignment"]["error"] == 0
    assert targets() == [[], ["foo-0", "foo-1"]]


def test_target_is_only_computed_when_the_group_epoch_moves_on() -> None:
    g = GroupDriver()
    g.join("m1")
    g.script(m1=[])
    g.heartbeat("m1", owned=[], rebalanceTimeoutMs=3)
    assert g.coordinator.scripted_groups() == {"g"}
    g.heartbeat("m1", subscribedTopicNames=["bar"])
    assert g.coordinator.scripted_groups() == set()


def test_script_is_used_once_and_members_it_does_not_know_get_nothing() -> None:
    g = GroupDriver()
    g.script(m1=["foo-1"], gone=["foo-0"])
    assert given(g.join("m1")) == ["foo-1"]
    assert list(g.members()) == ["m1"]
    assert g.join("m1")["errorCode"] == 0
    assert g.target("m1") == ["foo-0", "foo-1"]


def test_empty_group_uses_no_script() -> None:
    g = GroupDriver()
    g.join("m1")
    g.script(m1=["foo-0"])
    g.leave("m1")
    assert g.coordinator.scripted_groups() == {"g"}


def test_script_must_be_partitions() -> None:
    g = GroupDriver()
    with pytest.raises(BadInput, match="the scripted target of 'm1' must be a list of topic partitions"):
        g.coordinator.script_target("g", {"m1": "foo-0"})
    assert g.coordinator.scripted_groups() == set()


def test_failing_assignor_keeps_the_target_and_advances_the_assignment_epoch() -> None:
    """Errata, KIP-848 427: else ASSIGNING never ends. The members get the error, until they have reported
    again."""
    g = GroupDriver()
    g.two_stable_members()
    g.coordinator.script_target("g", "no way")
    joined = g.join("m3")
    assert (joined["memberEpoch"], given(joined), joined["assignment"]["error"]) == (3, [], 1)
    assert (g.epochs(), g.target("m1"), g.target("m2")) == ((3, 3), ["foo-0"], ["foo-1"])
    answer = g.heartbeat("m1", owned=["foo-0"])
    assert (answer["memberEpoch"], given(answer), answer["assignment"]["error"]) == (3, ["foo-0"], 1)
    assert given(g.heartbeat("m1", owned=["foo-0"])) is None
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.leave("m3")
    assert [member["targetError"] for member in g.group()["members"]] == [0, 0]
    assert given(g.heartbeat("m1")) is None


def test_error_of_the_assignor_is_durable() -> None:
    g = GroupDriver()
    g.join("m1")
    g.new_records()
    g.coordinator.script_target("g", "no way")
    g.join("m2")
    errors = {
        member: value["error"]
        for kind, member, value in g.new_records()
        if value and "Target" in kind and member
    }
    assert errors == {"m1": 1, "m2": 1}
