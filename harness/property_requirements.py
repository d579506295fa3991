"""The requirements that a property of a specification states, from the prose over its definition."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.files import read_text
from harness.modules import dependencies

_DEFINITION: Final = re.compile(
    r"(?P<prose>(?:^\\\*.*\n)*)^(?:LOCAL )?(?P<name>\w+)(?:\([^=]*?\))? ==(?P<body>.*(?:\n .*)*)",
    re.MULTILINE,
)
_ID: Final = re.compile(r"\b[A-Z]\d{1,2}\b")
_TYPE: Final = re.compile(r"^\\\* @type.*$", re.MULTILINE)


def requirements_of(name: str, module: Path) -> tuple[str, ...]:
    """The IDs in the prose over a property's definition, in their order there.

    A property without an ID of its own (`NeverBoth == [][NeverRevokeAndAssign(…)]_vars`) has those of the
    operators that its body names. () where there is none, or no such definition in the module and those that
    it extends.
    """
    defined = _defined(module)
    if name not in defined:
        return ()
    own, body = defined[name]
    if own:
        return own
    named = (defined[word][0] for word in re.findall(r"\w+", body) if word in defined)
    return tuple(dict.fromkeys(one for ids in named for one in ids))


def _defined(module: Path) -> dict[str, tuple[tuple[str, ...], str]]:
    """Each definition's IDs and body; of two definitions of one name that of the module itself."""
    by_name: dict[str, tuple[tuple[str, ...], str]] = {}
    for path in dependencies(module):
        for name, defined in _defined_in(read_text(path, "The module")).items():
            by_name.setdefault(name, defined)
    return by_name


@lru_cache(maxsize=512)
def _defined_in(text: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Each definition's IDs and body in one text; of two definitions of one name the first."""
    by_name: dict[str, tuple[tuple[str, ...], str]] = {}
    for one in _DEFINITION.finditer(text):
        prose = _TYPE.sub("", one["prose"])
        by_name.setdefault(one["name"], (tuple(dict.fromkeys(_ID.findall(prose))), one["body"]))
    return by_name
