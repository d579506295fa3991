"""W1: the assignor that a Connect group uses of its workers' lists, and the workers that are refused for
their lists.

The draft, "Assignor Selection": "The Group Co-ordinator will use the assignors which are supported by all
workers and if there are multiple such assignors, then the precedence order of assignments are honoured."
"""

from __future__ import annotations

import pytest
from connect_driver import OFFER, ConnectGroup, Json

from coordinator.core.errors import ErrorCode


def offers(names: str, **more: object) -> list[Json]:
    """A worker's list: "sessioned eager"."""
    return [{**OFFER, "name": name, **more} for name in names.split()]


def code(response: Json) -> str:
    return ErrorCode(response["errorCode"]).name


def used(g: ConnectGroup) -> str:
    """The assignor that the chosen worker is told to run."""
    chosen = g.group()["chosen"]
    return str(g.prepare(chosen, g.member(chosen)["memberEpoch"])["assignorName"])


@pytest.mark.parametrize(
    ("lists", "name"),
    [
        (["sessioned eager"], "sessioned"),
        (["sessioned eager", "sessioned eager"], "sessioned"),
        (["sessioned eager", "eager"], "eager"),
        (["eager", "sessioned eager"], "eager"),
        (["c b a", "b c a"], "b"),
        (["c b a", "b c a", "c a b"], "c"),
        (["z a", "b z"], "z"),
    ],
    ids=["alone", "agreed", "second-alone", "first-alone", "tie-by-name", "least-sum", "not-first-by-name"],
)
def test_w1_the_assignor_is_one_of_all_workers_in_their_order(lists: list[str], name: str) -> None:
    g = ConnectGroup()
    for number, names in enumerate(lists, start=1):
        assert code(g.join(f"w{number}", clientAssignors=offers(names))) == "NONE"
    assert used(g) == name
    g.coordinator.restart()
    assert used(g) == name


@pytest.mark.parametrize("names", ["bb", ""])
def test_w1_a_join_that_leaves_no_common_assignor_is_refused(names: str) -> None:
    g = ConnectGroup()
    g.join("w1", clientAssignors=offers("aa"))
    before, end = g.group(), g.coordinator.end
    refused = g.join("w2", clientAssignors=offers(names))
    assert code(refused) == "UNSUPPORTED_ASSIGNOR"
    assert refused["errorMessage"].endswith(".") and "w2" in refused["errorMessage"]
    assert (g.group(), g.coordinator.end) == (before, end)


def test_w1_a_worker_that_offers_nothing_makes_no_group() -> None:
    g = ConnectGroup()
    assert code(g.join("w1", clientAssignors=[])) == "UNSUPPORTED_ASSIGNOR"
    assert code(g.join("w1", clientAssignors=None)) == "UNSUPPORTED_ASSIGNOR"
    assert g.coordinator.end == 0


def test_w1_each_pair_may_agree_where_all_do_not() -> None:
    g = ConnectGroup()
    assert code(g.join("w1", clientAssignors=offers("a b"))) == "NONE"
    assert code(g.join("w2", clientAssignors=offers("b c"))) == "NONE"
    assert code(g.join("w3", clientAssignors=offers("c a"))) == "UNSUPPORTED_ASSIGNOR"
    g.beat("w1", -1)
    assert code(g.join("w3", clientAssignors=offers("c a"))) == "NONE", "w1 has left"
    assert used(g) == "c"


def stable_pair() -> ConnectGroup:
    """Two workers that offer "a" and "b", at epoch 2."""
    g = ConnectGroup()
    for worker in ("w1", "w2"):
        g.join(worker, clientAssignors=offers("a b"))
    g.rebalance(w1="A", w2="A-1 A-2")
    for worker in ("w1", "w2"):
        g.join(worker, clientAssignors=offers("a b"))
    assert g.member("w2")["memberEpoch"] == 2
    return g


def test_w1_a_change_that_leaves_no_common_assignor_is_refused() -> None:
    g = stable_pair()
    before, end = g.group(), g.coordinator.end
    assert code(g.beat("w2", 2, clientAssignors=offers("c"))) == "UNSUPPORTED_ASSIGNOR"
    assert code(g.beat("w2", 2, clientAssignors=[])) == "UNSUPPORTED_ASSIGNOR"
    assert code(g.join("w2", clientAssignors=offers("c"))) == "UNSUPPORTED_ASSIGNOR"
    assert (g.group(), g.coordinator.end) == (before, end)
    assert code(g.beat("w2", 2)) == "NONE"


def test_w1_a_change_of_the_list_may_change_the_assignor() -> None:
    g = stable_pair()
    assert code(g.beat("w2", 2, clientAssignors=offers("b"))) == "NONE"
    assert g.group()["groupEpoch"] == 3
    assert used(g) == "b"
    assert code(g.beat("w1", 2, clientAssignors=offers("a"))) == "UNSUPPORTED_ASSIGNOR"


def test_w1_an_assignor_that_a_worker_can_run_for_all_comes_first() -> None:
    """As A1: of "a" no worker reads the versions of all; of "b" every worker does."""
    g = ConnectGroup()
    low, high = (
        {"maximumVersion": 2, "minimumVersion": 1, "version": 1},
        {"maximumVersion": 3, "minimumVersion": 2},
    )
    g.join("w1", clientAssignors=[*offers("a", **low), *offers("b")])
    g.join("w2", clientAssignors=[*offers("a", **high, version=2), *offers("b")])
    assert used(g) == "b"


def test_w1_where_nobody_reads_all_versions_of_any_the_order_decides_still() -> None:
    g = ConnectGroup()
    low, high = (
        {"maximumVersion": 2, "minimumVersion": 1, "version": 1},
        {"maximumVersion": 3, "minimumVersion": 2},
    )
    g.join("w1", clientAssignors=offers("z a", **low))
    g.join("w2", clientAssignors=offers("z a", **high, version=2))
    assert used(g) == "z"
