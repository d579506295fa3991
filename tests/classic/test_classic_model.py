"""A classic group without members, and the protocols that a member may join with (C1)."""

from __future__ import annotations

import pytest

from coordinator.classic.model import ClassicGroup, State, candidates, supports


def test_a_group_without_members_has_no_timeouts_and_no_common_protocol() -> None:
    group = ClassicGroup("g", "PreparingRebalance")
    assert (group.rebalance_timeout_ms(), group.session_timeout_ms()) == (0, 0)
    assert candidates(group.members.values()) == set()


@pytest.mark.parametrize("state", ["Dead", "Empty"])
@pytest.mark.parametrize(
    ("protocol_type", "names", "expected"),
    [("consumer", ["range"], True), ("consumer", [], False), ("", ["range"], False), ("", [], False)],
)
def test_the_first_member_names_a_protocol_type_and_a_protocol(
    state: State, protocol_type: str, names: list[str], expected: bool
) -> None:
    assert supports(ClassicGroup("g", state), protocol_type, names) is expected


@pytest.mark.parametrize(("protocol_type", "expected"), [("consumer", True), ("connect", False)])
def test_a_rebalance_that_all_members_left_takes_any_protocol_of_its_type(
    protocol_type: str, expected: bool
) -> None:
    group = ClassicGroup("g", "PreparingRebalance", protocol_type="consumer")
    assert supports(group, protocol_type, ["another"]) is expected
