"""Groups of KIP-848's text and of dialects that depart from it, side by side."""

from __future__ import annotations

import dataclasses
from typing import Any

from group_driver import GroupDriver

from coordinator import Dialect


def drivers(**departure: Any) -> tuple[GroupDriver, GroupDriver]:
    """A group of the text and one of a dialect with this one departure."""
    return GroupDriver(), GroupDriver(dataclasses.replace(Dialect(), **departure))
