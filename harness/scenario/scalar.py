"""Texts in YAML."""

from __future__ import annotations

import json
import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_][\w./#+-]*")
_YAML_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_UNPRINTABLE: Final = re.compile(
    r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""YAML's non-printable characters, and those that it takes for the end of a line."""


def scalar(text: str) -> str:
    """A text in YAML, in quotes where a reader could read something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS:
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """A text in quotes, without characters that YAML does not allow as they are."""
    written = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
