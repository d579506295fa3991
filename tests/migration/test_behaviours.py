"""The coordinator along behaviours of the specification: group and members after every step (M1-M3)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from behaviour import Follower

from harness.itf import read_trace

BEHAVIOURS = sorted((Path(__file__).parent / "behaviours").glob("*.itf.json"))


@pytest.mark.parametrize("path", BEHAVIOURS, ids=[path.name.removesuffix(".itf.json") for path in BEHAVIOURS])
def test_the_coordinator_does_as_specified(path: Path) -> None:
    states = read_trace(path).states
    follower = Follower(states[0], partitions=2)
    for before, after in pairwise(states):
        follower.follow(before, after)
    assert len(follower.done) >= 3
