"""TLC's configuration files: read their sections, write variants of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.files import read_text
from harness.modules import strip_comments

_ALIASES = {
    "CONSTANTS": "CONSTANT",
    "CONSTRAINTS": "CONSTRAINT",
    "ACTION_CONSTRAINTS": "ACTION_CONSTRAINT",
    "ACTION-CONSTRAINT": "ACTION_CONSTRAINT",
    "ACTION-CONSTRAINTS": "ACTION_CONSTRAINT",
    "INVARIANTS": "INVARIANT",
    "PROPERTIES": "PROPERTY",
}
_KEYWORDS = {
    *_ALIASES.values(),
    *("INIT", "NEXT", "SPECIFICATION", "VIEW", "SYMMETRY", "CHECK_DEADLOCK", "ALIAS", "POSTCONDITION"),
    *("TYPE", "TYPE_CONSTRAINT", "PERIODIC"),
}
_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"|[^\s"]+')

_ASSIGNED = re.compile(r'(\w+)\s*=\s*(-?\d+|TRUE|FALSE|"(?:[^"\\\n]|\\.)*")(?=\s|$)')
_NAMED = re.compile(r"\b(Dialect|Versions)\s*<-\s*(\w+)")

UNKNOWN_TO_TLC = ("ALIAS", "POSTCONDITION", "PERIODIC")
"""Sections of newer TLCs that version 2.18 does not read."""
CHECKS = ("INVARIANT", "PROPERTY", "CHECK_DEADLOCK")
"""Sections with the checks: a behaviour is valid whether or not they hold."""


@dataclass(frozen=True)
class Config:
    """A configuration as a list of sections: keyword (singular) and the text behind it."""

    sections: tuple[tuple[str, str], ...]

    def without(self, keywords: Iterable[str]) -> Config:
        """A configuration without the sections of these keywords."""
        dropped = set(keywords)
        return Config(tuple(section for section in self.sections if section[0] not in dropped))

    def having(self, keyword: str, text: str) -> Config:
        """A configuration with one more section."""
        return Config((*self.sections, (keyword, text)))

    def names(self, keyword: str) -> list[str]:
        """The names that the sections of this keyword list, e.g. the invariants."""
        return [name for key, text in self.sections if key == keyword for name in text.split()]

    def constants(self) -> dict[str, int | str | bool]:
        """The constants whose value is a number, a string or a boolean, e.g. MaxEpoch = 3; and the name of
        the dialect's operator, and the Versions of Connect's workers."""
        text = "\n".join(text for key, text in self.sections if key == "CONSTANT")
        known = {name: _literal(value) for name, value in _ASSIGNED.findall(text)}
        return {**known, **dict(_NAMED.findall(text))}

    def text(self) -> str:
        """The configuration as a file's text."""
        return "".join(f"{keyword} {text}\n" for keyword, text in self.sections)


def read_config(path: Path) -> Config:
    """Read a configuration. Words before the first keyword are kept, so that TLC reports them."""
    text = strip_comments(read_text(path, "The configuration"))
    sections: list[tuple[str, str]] = []
    keyword, start = "", 0
    for match in _WORD.finditer(text):
        word = _ALIASES.get(match[0], match[0])
        if word in _KEYWORDS:
            sections.append((keyword, text[start : match.start()].strip()))
            keyword, start = word, match.end()
    sections.append((keyword, text[start:].strip()))
    return Config(tuple(section for section in sections if any(section)))


def trace_origin(config: Config) -> dict[str, Any]:
    """The part of a trace's #meta that comes from its model's configuration.

    `{"constants": {name: value}}` where the configuration has any, else nothing: a replay needs them to know
    the model's dialect and the bounds that a target is configured with.
    """
    constants = config.constants()
    return {"constants": constants} if constants else {}


def _literal(text: str) -> int | str | bool:
    if text.startswith('"'):
        return text[1:-1]
    return text == "TRUE" if text in ("TRUE", "FALSE") else int(text)
