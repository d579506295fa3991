"""The one exception that the harness raises on purpose, and the exit codes of `conform`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

HOLDS: Final = 0
"""Everything that was checked holds."""
USAGE: Final = 2
"""The command line, a file or a specification given to the command is wrong."""
ENGINE_FAILED: Final = 3
"""An engine or a target is missing, crashed or ran out of memory."""
MODEL_VIOLATED: Final = 10
"""A model has another outcome than the expected one."""
NOT_CONFORMANT: Final = 11
"""An implementation differs from the specification."""
EVIDENCE_MISSING: Final = 12
"""A recorded result is missing, or a module on which it depends has changed since."""
UNDECIDED: Final = 13
"""A model ran out of time: only the properties that were checked in that time are known."""
WORST_FIRST: Final = (
    *(ENGINE_FAILED, USAGE, MODEL_VIOLATED, NOT_CONFORMANT),
    *(UNDECIDED, EVIDENCE_MISSING, HOLDS),
)
"""Exit codes: of several findings the first of these is the verdict."""


class ConformError(Exception):
    """A failure that ends a command: one sentence for the user, and the exit code of the process."""

    def __init__(self, message: str, exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def worst(exit_codes: Iterable[int]) -> int:
    """The most serious of exit codes; HOLDS for none."""
    codes = set(exit_codes)
    return next((code for code in WORST_FIRST if code in codes), HOLDS)


def meant(name: str, names: Iterable[str]) -> str:
    """A hint for the end of a message: the most similar of the known names, "" if none is similar."""
    like = get_close_matches(name, list(names), 1)
    return f" Did you mean {like[0]}?" if like else ""
