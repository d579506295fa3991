"""A consumer that closes has ended soon after its time-out, whatever the coordinator does (K4, H2)."""

from __future__ import annotations

import pytest
from member_driver import COMMIT, LEAVE, NOT_AVAILABLE, STALE_EPOCH, Driver, foo

from coordinator.members.consumer import Purpose, State

TIMEOUT_MS = 30_000


def closing(auto_commit: bool) -> Driver:
    """A member with foo-0, which was consumed, that closes now."""
    driver = Driver(auto_commit=auto_commit).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.close(driver.now_ms, TIMEOUT_MS)
    driver.run_callbacks()
    return driver


@pytest.mark.parametrize("refused", [False, True])
def test_a_leave_ends_without_a_coordinator(refused: bool) -> None:
    """K4: no FindCoordinator is sent for ever."""
    driver = closing(auto_commit=False)
    began_ms = driver.now_ms
    assert driver.wait().purpose is LEAVE
    driver.lose(disconnected=True)
    while driver.member.state is not State.UNSUBSCRIBED:
        request = driver.wait()
        assert request.purpose is Purpose.FIND_COORDINATOR
        if refused:
            driver.offsets(request, error=NOT_AVAILABLE)
        else:
            driver.lose()
        assert driver.now_ms < began_ms + TIMEOUT_MS + 2_000
    assert driver.now_ms >= began_ms + TIMEOUT_MS


@pytest.mark.parametrize("error", [None, NOT_AVAILABLE])
def test_a_commit_that_waits_for_a_heartbeat_ends(error: int | None) -> None:
    """K4: a stale commit waits for the next epoch (O4), but not for longer than the member may take."""
    driver = closing(auto_commit=True)
    began_ms = driver.now_ms
    request = driver.wait()
    assert request.purpose is COMMIT
    driver.offsets(request, error=STALE_EPOCH)
    while driver.member.state is State.PREPARE_LEAVING:
        request = driver.wait()
        assert request.purpose in (Purpose.HEARTBEAT, Purpose.FIND_COORDINATOR)
        if request.purpose is Purpose.FIND_COORDINATOR:
            driver.offsets(request)
        elif error is None:
            driver.lose()
        else:
            driver.error(error)
        driver.run_callbacks()
        assert driver.now_ms < began_ms + TIMEOUT_MS + 2_000
    assert driver.callbacks == [("revoked", ["foo-0"])]
    while driver.member.state is State.LEAVING:
        driver.wait()
        driver.lose(disconnected=True)
    assert driver.member.state is State.UNSUBSCRIBED and driver.now_ms < began_ms + TIMEOUT_MS + 4_000
