"""D1: a group whose targets its members compute, described."""

from __future__ import annotations

from client_driver import ClientGroup, Json, offer, part


def described(g: ClientGroup) -> Json:
    body = {"groupIds": ["g"], "includeAuthorizedOperations": False}
    (group,) = g.coordinator.request("ConsumerGroupDescribe", 0, {}, body)["groups"]
    return dict(group)


def delivered(group: Json, which: str) -> list[tuple[int, str]]:
    assignments = [member[which] for member in group["members"]]
    return [(one["metadataVersion"], one["metadataBytes"]) for one in assignments]


def test_d1_the_assignor_is_the_members_own_while_they_have_one() -> None:
    g = ClientGroup()
    g.join("m1", offer("x"), offer("y"))
    assert (described(g)["assignorName"], described(g)["groupState"]) == ("x", "Assigning")
    g.join("m2", offer("y"))
    assert described(g)["assignorName"] == "y"
    g.join("m3")
    assert described(g)["assignorName"] == "uniform"


def test_d1_metadata_is_the_targets_until_the_member_gets_it() -> None:
    g = ClientGroup().prepared("m1")
    g.install("m1", 2, part("m1", 0, 1, metadataVersion=1, metadataBytes="to m1"))
    assert delivered(described(g), "targetAssignment") == [(1, "to m1")]
    assert delivered(described(g), "assignment") == [(0, "")]
    g.beat("m1", 1)
    assert delivered(described(g), "assignment") == [(1, "to m1")]


def test_d1_the_error_of_an_assignor_is_described() -> None:
    g = ClientGroup().prepared("m1")
    g.install("m1", 2, error=5)
    g.beat("m1", 1)
    (member,) = described(g)["members"]
    assert (member["assignment"]["error"], member["targetAssignment"]["error"]) == (5, 5)
