"""Shortest ways to the states of a model."""

from __future__ import annotations

import pytest

from harness.errors import USAGE, ConformError
from harness.pipeline.paths import keys_to, path_to

VIA = {"a": ("", "A"), "b": ("a", "B"), "c": ("b", "C")}


def test_a_way_begins_at_an_initial_state() -> None:
    assert keys_to(VIA, "c") == ["a", "b", "c"]
    assert path_to(VIA, "c") == ["A", "B", "C"]


def test_a_way_in_a_circle_ends_with_a_sentence() -> None:
    """States that differ in a variable which no kind keeps have one key, and such a way grew without end."""
    with pytest.raises(ConformError, match="states that differ in a variable") as refused:
        keys_to({**VIA, "a": ("c", "A")}, "c")
    assert refused.value.exit_code == USAGE
