"""The definitions that a result depends on, so that a comment or a new operator costs no proof.

Modules are cut where a line begins in its first column, as all modules here are laid out. A definition counts
if its name is said in one that counts, in the configuration or in the arguments of the run; all else that
begins a line (EXTENDS, CONSTANTS, VARIABLES, ASSUME, type aliases) always counts. Names are not resolved: two
definitions of one name count both, and a bound variable that has the name of a definition makes it count.
That errs on the side of too much.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.files import read_text
from harness.modules import dependencies, strip_comments

_WORD: Final = re.compile(r"\w+")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_DEFINES: Final = re.compile(r"(?:LOCAL\s+)?(\w+)\s*(?:\([^=]*?\)|\[[^=]*?\])?\s*==", re.DOTALL)
_HEADER: Final = re.compile(r"-{4,}.*|={4,}|\s*")
_NOISE: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\\\*[^\n]*|\(\*|\*\)')
_TYPE: Final = "@type"


@dataclass(frozen=True, slots=True)
class _Block:
    """What begins in a first column: `name` is None where it always counts; `mentions` are its words."""

    name: str | None
    text: str
    mentions: frozenset[str]


def definitions(module: Path, config: Path | None, arguments: Iterable[object] = ()) -> dict[str, str]:
    """Name -> hash of each definition that counts; "" has all that has no name, and the configuration.

    Parameters: the module that was checked, with all that it depends on beside it; TLC's or Apalache's
    configuration; the run's arguments, whose texts may name operators (`init`, `next`, `inv`).
    """
    blocks = [block for path in dependencies(module) for block in _blocks(read_text(path, "The module"))]
    named: dict[str, list[_Block]] = {}
    for block in blocks:
        if block.name is not None:
            named.setdefault(block.name, []).append(block)
    said = strip_comments(read_text(config, "The configuration")) if config else ""
    always = sorted({"\n".join(said.split()), *(block.text for block in blocks if block.name is None)})
    waiting = _words(" ".join([*always, *(text for text in arguments if isinstance(text, str))]))
    found: dict[str, str] = {"": _hash(always)}
    while waiting:
        name = waiting.pop()
        if name in named and name not in found:
            found[name] = _hash(sorted(block.text for block in named[name]))
            waiting.update(*(block.mentions for block in named[name]))
    return dict(sorted(found.items()))


def _blocks(text: str) -> Iterator[_Block]:
    """The text without prose, cut where a line begins in the first column; a type goes with what it is of."""
    lines: list[str] = []
    for line in [*_without_prose(text).splitlines(), "="]:
        begins = line[:1].strip() != ""
        if begins and not all(before.startswith("@") for before in lines):
            yield _block(lines)
            lines = []
        if not _HEADER.fullmatch(line):
            lines.append(line.rstrip())


def _block(lines: list[str]) -> _Block:
    text = "\n".join(lines)
    defines = None if "@typeAlias" in text else _DEFINES.match(_code(lines))
    return _Block(defines[1] if defines else None, text, frozenset(_words(text)))


def _code(lines: list[str]) -> str:
    return "\n".join(line for line in lines if not line.startswith("@"))


def _without_prose(text: str) -> str:
    """Comments go, but for those in which Apalache reads a type: each of these becomes a line after a "@".

    Where a comment does not end nothing goes: what looks like prose might be a definition.
    """
    kept: list[str] = []
    unfinished = False
    end = depth = opened = 0
    for match in _NOISE.finditer(text):
        token = match[0]
        if depth == 0 and token != "*)":
            kept.append(text[end : match.start()])
            if token[0] == '"':
                kept.append(token)
            elif token != "(*":
                unfinished = (unfinished or _TYPE in token) and not token.rstrip().endswith(";")
                kept.append(_annotation(token) if _TYPE in token or unfinished else "")
            opened, end = match.start(), match.end()
        depth += {"(*": 1, "*)": -1}.get(token, 0)
        if token == "*)" and depth == 0:
            comment = text[opened : match.end()]
            kept.append(_annotation(comment) if _TYPE in comment else "")
            end = match.end()
    return "".join([*kept, text[end:]])


def _annotation(comment: str) -> str:
    return "@" + " ".join(comment.split())


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_STRING.sub('""', text)))


def _hash(texts: list[str]) -> str:
    """64 bits of SHA-256: enough to notice a change, short enough to keep one a definition."""
    return hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16]
