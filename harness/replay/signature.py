"""Signatures: the names by which findings are grouped and waivers find the differences that they cover."""

from __future__ import annotations

import re
from typing import Any, Final

_IN_BRACKETS: Final = re.compile(r"\[(?:([A-Za-z]+) )?[^\]]*\]")


def place(path: str, expected: Any, got: Any) -> str:
    """The place of a difference, for any member or index: in brackets only a kind counts.

    "group.members[m1].state" -> "group.members[].state"; of an error code both values count.
    """
    where = _IN_BRACKETS.sub(r"[\1]", path)
    return f"{where} {expected} -> {got}" if where == "response.errorCode" else where


def way(action: str, branch: str, error: str) -> str:
    """The name of a step's way through the specification: "Heartbeat/stable/NONE"."""
    return "/".join(part for part in (action, branch, error) if part)


def signature(action: str, branch: str, error: str, where: str) -> str:
    """A difference at a `place`, in a step: "Heartbeat/stable/NONE: response.assignment"."""
    return f"{way(action, branch, error)}: {where}"
