"""Laws of classic groups, on random members (C1)."""

from __future__ import annotations

from classic_driver import ClassicDriver
from hypothesis import given, settings
from hypothesis import strategies as st

SESSION_MS = 45_000
TIME_OUTS = st.lists(st.integers(1_000, 9_000), min_size=2, max_size=4)


@settings(max_examples=30, derandomize=True)
@given(time_outs=TIME_OUTS, number=st.integers(0, 3))
def test_150_a_rebalance_waits_for_the_longest_time_out_of_its_members(
    time_outs: list[int], number: int
) -> None:
    """C1: members that do not rejoin have the longest time-out of all."""
    driver = ClassicDriver()
    request = {f"c{n}": {"rebalance_ms": ms, "session_ms": SESSION_MS} for n, ms in enumerate(time_outs)}
    members = driver.stable(*request, **request)
    client = f"c{number % len(request)}"
    assert driver.join(client, members[client], metadata="bar", **request[client]) is None
    driver.advance(max(time_outs) - 1)
    assert driver.late == {}
    assert {one["memberId"] for one in driver.group["members"]} == set(members.values())
    assert driver.advance(1) == ["join"]
    assert driver.taken("JoinGroup", client)["errorCode"] == 0
    assert [one["memberId"] for one in driver.group["members"]] == [members[client]]
