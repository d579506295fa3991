"""Reasons of Spark's errors: Java's, gRPC's and PySpark's own, each in one line."""

from __future__ import annotations

import re
from typing import Final

_DETAILS: Final = re.compile(r'^\s*details = "(.*)"$', re.MULTILINE)


def reason_of(error: Exception) -> str:
    """The line of an error with its reason, without a full stop: py4j's first line names the call of Java,
    and gRPC has the reason in a line `details = "…"`."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    if details := _DETAILS.search(str(error)):
        return details[1].rstrip(".")
    is_call = len(lines) > 1 and lines[0].startswith("An error occurred while calling")
    return (lines[1].removeprefix(": ") if is_call else lines[0]).rstrip(".")
