"""Waiting for timers, on a clock of the test: the planned timers, the times of checks, and the timers that
are not waited for."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from harness.targets.broker.patience import EARLY, LATE, LONG_S, PAUSE, SHORT_S, Patience, TooEarly
from harness.targets.waiting import ANOTHER_FIRST, NO_TIME, NO_TIMER, Due, NotWaited, Waited


@dataclass
class Run:
    """A trace on a broker: `ends` has the time at which the timer's member is gone."""

    due: list[Due]
    budget_s: float = 1000
    now_s: float = 0
    ends: float = 10**9
    patience: Patience = field(init=False)

    def __post_init__(self) -> None:
        self.patience = Patience("broker:b", Waited(self.budget_s), now=lambda: self.now_s, sleep=self._sleep)
        self.patience.expect(self.due)

    def _sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def send(self, client: str, leaves: bool = False) -> int:
        """A request; the session that it would arm."""
        self.patience.next_step(client)
        session_ms = self.patience.session_ms()
        self.patience.sent(client, leaves)
        return session_ms

    def fire(self) -> None:
        self.patience.next_step()
        self.patience.run_out(lambda: self.now_s < self.ends)


def test_only_the_step_that_arms_the_timer_gets_a_short_session() -> None:
    run = Run([Due("session", "a", 1, 3)])
    assert [run.send("a"), run.send("a"), run.send("b")] == [LONG_S * 1000, SHORT_S * 1000, LONG_S * 1000]
    run.ends = SHORT_S
    run.fire()
    assert SHORT_S <= run.now_s < SHORT_S + 0.1, "it looks often, and waits no longer than it must"
    assert run.patience.waited.spent_s == pytest.approx(run.now_s)
    assert run.patience.waited.timers == 1


def test_a_member_that_stays_is_waited_for_no_longer_than_is_fair() -> None:
    run = Run([Due("session", "a", 0, 1)])
    run.send("a")
    run.fire()
    assert run.now_s == pytest.approx(LATE * SHORT_S)


def test_a_timer_that_runs_out_before_its_time_is_a_difference() -> None:
    run = Run([Due("session", "a", 0, 1)])
    run.send("a")
    run.ends = EARLY * SHORT_S - 0.1
    with pytest.raises(TooEarly, match=r"gone after 2\.4 s of 3 s"):
        run.fire()


def test_a_member_that_sends_before_its_timer_runs_out_sends_late() -> None:
    """A broker that starts the timer anew is too late."""
    run = Run([Due("rebalance", "a", 1, 4)])
    run.send("a")
    assert run.patience.rebalance_ms("a") == SHORT_S * 1000
    assert run.patience.rebalance_ms("b") is None
    run.send("a")
    run.send("b")
    assert run.now_s == 0
    run.send("a")
    assert run.now_s == pytest.approx(PAUSE * SHORT_S)
    assert PAUSE * SHORT_S + SHORT_S > LATE * SHORT_S


def test_timers_run_out_in_the_order_of_the_trace() -> None:
    """The timer that is armed first runs out last: it must outlive the wait for the other."""
    run = Run([Due("session", "b", 1, 2), Due("session", "a", 0, 3)])
    assert run.send("a") > LATE * run.send("b")
    run.ends = SHORT_S
    run.fire()
    run.ends = run.now_s + 10
    run.fire()
    assert run.patience.waited.timers == 2


@pytest.mark.parametrize(("budget_s", "waits"), [(4.4, 0), (4.6, 1), (8.9, 1), (9.1, 2)])
def test_the_time_limit_holds_and_unfinished_work_is_listed(budget_s: float, waits: int) -> None:
    run = Run([Due("session", "a", 0, 1), Due("session", "a", 2, 3)], budget_s)
    for _ in range(waits):
        run.send("a")
        run.fire()
    run.send("a")
    with pytest.raises(NotWaited) as failed:
        run.fire()
    assert failed.value.reason == (NO_TIME if waits < 2 else NO_TIMER)
    assert run.patience.waited.spent_s == pytest.approx(waits * LATE * SHORT_S)


def test_a_timer_that_no_client_can_shorten_is_not_waited_for() -> None:
    run = Run([Due("group", "a", 0, 1)])
    run.send("a")
    with pytest.raises(NotWaited) as failed:
        run.fire()
    assert failed.value.reason == NO_TIMER


def test_a_session_of_the_brokers_own_length_is_waited_for_alone() -> None:
    """All sessions have the same length then: that of an earlier sender would run out first."""
    for first, reason in (("a", None), ("b", ANOTHER_FIRST)):
        run = Run([Due("session", "a", 1, 2)])
        run.patience.keep_sessions("not allowed", "20000")
        run.send(first)
        run.send("a")
        run.ends = 20
        if reason is None:
            run.fire()
            assert run.now_s == pytest.approx(20, abs=0.1)
            continue
        with pytest.raises(NotWaited) as failed:
            run.fire()
        assert failed.value.reason == reason
