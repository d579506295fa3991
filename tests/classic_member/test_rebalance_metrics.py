"""The metrics of KIP-429 on a member of a classic group (C7); and a rebalance that is enforced (K4)."""

from __future__ import annotations

import pytest
from scripted_member import COOPERATIVE, EAGER, INCONSISTENT, REBALANCE, UNKNOWN, ScriptedMember


def totals(script: ScriptedMember) -> tuple[float, float]:
    results = script.member.metrics.values(script.now_ms)
    return results["rebalance-total"], results["failed-rebalance-total"]


def callbacks(script: ScriptedMember, *took_ms: int) -> None:
    for each_ms in took_ms:
        assert script.member.next_callback(script.now_ms) is not None
        script.now_ms += each_ms
        script.member.callback_done(script.now_ms)
    assert script.member.next_callback(script.now_ms) is None


@pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
def test_a_rebalance_lasts_until_on_partitions_assigned_has_returned(protocols: frozenset[int]) -> None:
    script = ScriptedMember(protocols).stable("foo-0")
    assert totals(script) == (1, 0)
    script.heartbeat(REBALANCE)
    script.now_ms += 500
    script.joined()
    script.assigned("foo-0")
    callbacks(script, 70)
    script.now_ms += 3_000
    results = script.member.metrics.values(script.now_ms)
    assert totals(script) == (2, 0)
    assert (results["rebalance-latency-max"], results["partitions-assigned-latency-max"]) == (570, 70)
    assert results["last-rebalance-seconds-ago"] == 3


def test_two_rounds_are_two_rebalances_and_the_second_begins_as_the_first_ends() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0 foo-1")
    script.heartbeat(REBALANCE)
    script.joined()
    script.assigned("foo-0")
    callbacks(script, 100, 10)
    assert totals(script) == (2, 0)
    script.run()
    script.now_ms += 200
    script.joined()
    script.assigned("foo-0")
    callbacks(script, 1)
    results = script.member.metrics.values(script.now_ms)
    assert totals(script) == (3, 0)
    assert (results["rebalance-latency-max"], results["rebalance-latency-total"]) == (201, 311)


def test_one_that_another_overtakes_has_failed() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.joined()
    script.reply(errorCode=REBALANCE)
    assert totals(script) == (1, 1)
    script.joined()
    script.synced("foo-0")
    assert totals(script) == (2, 1)


@pytest.mark.parametrize("error", [UNKNOWN, INCONSISTENT])
def test_a_member_removed_or_refused_in_a_rebalance_fails_in_it(error: int) -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.reply(errorCode=error)
    assert totals(script) == (1, 1)


def test_a_member_removed_at_rest_begins_a_rebalance_and_fails_in_none() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(UNKNOWN)
    assert totals(script) == (1, 0) and script.member.metrics.rebalancing


def test_a_member_that_closes_in_a_rebalance_neither_succeeds_nor_fails() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.member.close()
    script.run()
    assert totals(script) == (1, 0) and not script.member.metrics.rebalancing


def test_k4_an_enforced_rebalance_is_a_join_group_with_its_reason() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.member.enforce_rebalance(script.now_ms, "a cache is warm")
    script.run()
    assert script.log == ["user data", "JoinGroup foo-0"]
    assert script.sent is not None and script.sent.body["reason"] == "a cache is warm"
    script.member.enforce_rebalance(script.now_ms, "during a rebalance it is being done already")
    script.joined()
    script.synced("foo-0")
    assert script.sent is None
    script.heartbeat(REBALANCE)
    assert script.sent is not None and script.sent.body["reason"] is None


def test_k4_only_a_member_of_a_group_enforces_a_rebalance() -> None:
    with pytest.raises(ValueError, match="subscribe first"):
        ScriptedMember(EAGER).member.enforce_rebalance(0)
