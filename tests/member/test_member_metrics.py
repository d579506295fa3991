"""The metrics of KIP-429 on a member of a consumer group (C7); times are the driver's."""

from __future__ import annotations

import math

import pytest
from member_driver import FENCED, Driver

from coordinator.members.consumer import CallbackName
from coordinator.members.consumer.metrics import HOUR_MS, RebalanceMetrics

NAMES = {
    *(f"partitions-{name}-latency-{of}" for name in ("revoked", "assigned", "lost") for of in ("avg", "max")),
    *("rebalance-rate-per-hour", "rebalance-total"),
    *(f"rebalance-latency-{of}" for of in ("avg", "max", "total")),
    *("failed-rebalance-rate-per-hour", "failed-rebalance-total", "last-rebalance-seconds-ago"),
}


def run(driver: Driver, *took_ms: int) -> None:
    """The application polls, and is in its callbacks for so long."""
    driver.member.poll(driver.now_ms)
    for each_ms in took_ms:
        assert driver.member.next_callback(driver.now_ms) is not None
        driver.now_ms += each_ms
        driver.member.callback_done(driver.now_ms)
    assert driver.member.next_callback(driver.now_ms) is None


def values(driver: Driver) -> dict[str, float]:
    return driver.member.metrics.values(driver.now_ms)


def test_the_document_names_fourteen() -> None:
    results = RebalanceMetrics().values(0)
    assert results.keys() == NAMES and len(NAMES) == 14
    assert math.isnan(results["rebalance-latency-avg"]) and math.isnan(results["partitions-lost-latency-max"])
    assert results["last-rebalance-seconds-ago"] == -1


def test_a_rebalance_lasts_from_the_assignment_to_the_end_of_its_callbacks() -> None:
    driver = Driver(auto_commit=False).subscribe()
    driver.heartbeat()
    driver.ok(1, "foo-0", "foo-1")
    driver.now_ms += 100
    run(driver, 20)
    driver.heartbeat()
    driver.ok(2, "foo-0", "bar-0")
    run(driver, 30, 50)
    driver.now_ms += 2_500
    results = values(driver)
    assert results["rebalance-total"] == results["rebalance-rate-per-hour"] == 2
    assert (results["rebalance-latency-avg"], results["rebalance-latency-max"]) == (100, 120)
    assert results["rebalance-latency-total"] == 200
    assert (results["partitions-assigned-latency-avg"], results["partitions-assigned-latency-max"]) == (
        35,
        50,
    )
    assert results["partitions-revoked-latency-max"] == 30
    assert results["failed-rebalance-total"] == 0 and results["last-rebalance-seconds-ago"] == 2


def test_fenced_before_the_callbacks_have_ended_it_has_failed() -> None:
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.heartbeat()
    driver.ok(2)
    driver.heartbeat()
    driver.error(FENCED)
    run(driver, 40)
    results = values(driver)
    assert (results["rebalance-total"], results["failed-rebalance-total"]) == (1, 1)
    assert results["failed-rebalance-rate-per-hour"] == 1
    assert results["partitions-lost-latency-max"] == 40


def test_a_member_that_does_not_poll_fails() -> None:
    driver = Driver(auto_commit=False, max_poll_interval_ms=10_000).stable("foo-0")
    driver.heartbeat()
    driver.ok(2, "foo-0", "foo-1")
    driver.now_ms += 10_000
    driver.take()
    assert values(driver)["failed-rebalance-total"] == 1


def test_an_application_that_closes_neither_succeeds_nor_fails() -> None:
    driver = Driver(auto_commit=False).stable("foo-0")
    before = values(driver)["rebalance-total"]
    driver.heartbeat()
    driver.ok(2, "foo-0", "foo-1")
    driver.member.close(driver.now_ms)
    run(driver, 10)
    driver.heartbeat()
    driver.kept(-1)
    assert (values(driver)["rebalance-total"], values(driver)["failed-rebalance-total"]) == (before, 0)


def test_rebalances_older_than_an_hour_count_in_totals_alone() -> None:
    metrics = RebalanceMetrics()
    for began_ms in (0, 1_000):
        metrics.began(began_ms)
        metrics.callback_began(CallbackName.REVOKED, began_ms)
        metrics.callback_ended(began_ms + 10)
        metrics.succeeded(began_ms + 20)
    results = metrics.values(HOUR_MS + 20)
    assert (results["rebalance-rate-per-hour"], results["rebalance-total"]) == (1, 2)
    assert results["partitions-revoked-latency-avg"] == 10
    results = metrics.values(HOUR_MS + 1_020)
    assert results["rebalance-rate-per-hour"] == 0 and math.isnan(results["rebalance-latency-max"])
    assert results["rebalance-latency-total"] == 40 and results["last-rebalance-seconds-ago"] == 3_600


@pytest.mark.parametrize("polls", [1, 3])
def test_a_callback_is_measured_once(polls: int) -> None:
    driver = Driver(auto_commit=False).subscribe()
    driver.heartbeat()
    driver.ok(1, "foo-0")
    run(driver, 5)
    for _ in range(polls):
        run(driver)
    assert values(driver)["rebalance-total"] == 1
