"""The definitions on which a result depends, so that a comment or a new operator costs no proof.

Modules are cut where a line begins in its first column, as all modules here are laid out. A definition counts
if its name is in a definition that counts, in the configuration or in the arguments of the run; all other
blocks (EXTENDS, CONSTANTS, VARIABLES, ASSUME, type aliases) always count. Names are not resolved: two
definitions of one name count both, and a bound variable with the name of a definition makes the definition
count. That errs on the side of too much. Layout does not count, and neither do branches that the model's
dialect does not take (`canonical.py`); of the dialect itself those departures count that the remaining text
names.

A new name costs nothing, either: `renamed.toml` beside the modules has an operator's former name, under which
results were recorded, and each text is read with that name. An entry counts only where the former name is not
in use any more, so that no two definitions can become one.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from harness.canonical import canonical
from harness.files import read_text
from harness.modules import dependencies, strip_comments

RENAMED: Final = "renamed.toml"
"""File beside the modules: new name of an operator = the name under which its results were recorded."""
_WORD: Final = re.compile(r"\w+")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_DEFINES: Final = re.compile(r"(?:LOCAL\s+)?(\w+)\s*(?:\([^=]*?\)|\[[^=]*?\])?\s*==", re.DOTALL)
_HEADER: Final = re.compile(r"-{4,}.*|={4,}|\s*")
_NOISE: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\\\*[^\n]*|\(\*|\*\)')
_TYPE: Final = "@type"
_DIALECT: Final = re.compile(r"\bDialect\s*<-\s*(\w+)")
_PLAIN: Final = r'(?:"[^"]*"|TRUE|FALSE|\d+)'
_VALUE: Final = re.compile(rf"(\w+) (?:\|->|=) ({_PLAIN})")
_RECORD: Final = re.compile(
    rf"\w+ == (?:(?P<other>\w+)|\[ (?P<base>\w+) EXCEPT (?P<changes>(?:! \. \w+ = {_PLAIN} ,? ?)+)\]"
    rf"|\[ (?P<fields>(?:\w+ \|-> {_PLAIN} ,? ?)+)\])"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """A text that begins in a first column: `name` is None where it always counts; `types` are for
    Apalache. The blocks of a text are cut once, so that a block is its own key."""

    name: str | None
    types: tuple[str, ...]
    code: str


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A block under a dialect: its text without layout with the hash of that alone, the names in it, the
    departures that it reads."""

    text: str
    hash: str
    names: frozenset[str]
    departures: frozenset[str]


def definitions(module: Path, config: Path | None, arguments: Iterable[object] = ()) -> dict[str, str]:
    """Name -> hash of each definition that counts; "" has all blocks without a name, and the configuration.

    Parameters: the checked module, with all modules beside it on which it depends; TLC's or Apalache's
    configuration; the run's arguments, whose texts may name operators (`init`, `next`, `inv`). A departure of
    the model's dialect counts under `Dialect.NAME`.
    """
    named: dict[str | None, list[_Block]] = {}
    for path in dependencies(module):
        for block in _blocks(read_text(path, "The module")):
            named.setdefault(block.name, []).append(block)
    former = _former_names(module.parent / RENAMED, (part for parts in named.values() for part in parts))
    named = {former.get(name, name) if name else name: blocks for name, blocks in named.items()}
    config_text = strip_comments(read_text(config, "The configuration")) if config else ""
    config_text = _WORD.sub(lambda word: former.get(word[0], word[0]), config_text)
    dialect = _dialect(named, config_text)
    meaning = _meanings(tuple(dialect.items()), tuple(former.items()))
    always = [meaning(block) for block in named.pop(None, []) if not (dialect and _types_dialects(block))]
    outside = [_DIALECT.sub("", config_text) if dialect else config_text, *map(str, arguments)]
    waiting = _words(" ".join(outside)).union(*(part.names for part in always))
    hashes = {"": _hash({" ".join(config_text.split()), *(part.text for part in always)})}
    departures = set[str]().union(*(part.departures for part in always))
    while waiting:
        name = waiting.pop()
        if name in hashes or name not in named:
            continue
        counted = [meaning(block) for block in named[name]]
        hashes[name] = counted[0].hash if len(counted) == 1 else _hash({part.text for part in counted})
        waiting.update(*(part.names for part in counted))
        departures.update(*(part.departures for part in counted))
    hashes |= {f"Dialect.{departure}": _hash({dialect[departure]}) for departure in departures}
    return dict(sorted(hashes.items()))


def present_names(module: Path) -> dict[str, str]:
    """Former name, under which `definitions` has an operator of `renamed.toml` -> its present name in the
    modules."""
    blocks = (block for path in dependencies(module) for block in _blocks(read_text(path, "The module")))
    return {old: new for new, old in _former_names(module.parent / RENAMED, blocks).items()}


def _former_names(table: Path, blocks: Iterable[_Block]) -> dict[str, str]:
    """New name -> former name, for the entries of `renamed.toml` that are valid in these blocks.

    A former name that is still in use, or that two new names here would get, is left alone: the result of
    another specification must not count.
    """
    if not table.is_file():
        return {}
    used = set[str]().union(*map(_identifiers, blocks))
    renamed = {new: str(old) for new, old in _renamed(table.read_text()).items() if new in used}
    shared = Counter(renamed.values())
    return {new: old for new, old in renamed.items() if old not in used and shared[old] == 1}


@lru_cache(maxsize=16)
def _renamed(text: str) -> dict[str, object]:
    return tomllib.loads(text)


@lru_cache(maxsize=50_000)
def _identifiers(block: _Block) -> frozenset[str]:
    return frozenset(_words(block.code))


def _dialect(named: Mapping[str | None, Sequence[_Block]], config: str) -> dict[str, str]:
    """Departure -> its value as text in the dialect that a configuration names; empty if the dialect is no
    plain record."""
    chosen = _DIALECT.search(config)
    return _choices(named, chosen[1]) if chosen else {}


def _choices(named: Mapping[str | None, Sequence[_Block]], name: str) -> dict[str, str]:
    """The fields of `[A |-> 1, B |-> 2]`, of `[Other EXCEPT !.A = 3]` or of another's name."""
    blocks = named.get(name, ())
    text = " ".join(canonical(blocks[0].code, {})) if len(blocks) == 1 else ""
    match = _RECORD.fullmatch(text)
    if match is None:
        return {}
    values = dict(_VALUE.findall(match["fields"] or match["changes"] or ""))
    base = match["base"] or match["other"]
    if base is None:
        return values
    below = _choices(named, base)
    return {**below, **values} if below.keys() >= values.keys() else {}


def _types_dialects(block: _Block) -> bool:
    """Tell if this is the type of dialects: a plain dialect has the types of its values."""
    return any("@typeAlias: dialect =" in line for line in (*block.types, block.code))


@lru_cache(maxsize=256)
def _meanings(
    choices: tuple[tuple[str, str], ...], renamed: tuple[tuple[str, str], ...]
) -> Callable[[_Block], _Meaning]:
    """The meaning of each block under one dialect and with the same former names, computed once a block."""
    return lru_cache(maxsize=5_000)(partial(_meaning, dict(choices), dict(renamed)))


def _meaning(dialect: Mapping[str, str], former: Mapping[str, str], block: _Block) -> _Meaning:
    tokens = [former.get(token, token) for token in canonical(block.code, dialect)]
    departures: set[str] = set()
    for position, token in enumerate(tokens):
        if token == "Dialect" and tokens[position + 1 : position + 2] == ["."]:
            departures |= {tokens[position + 2]} & dialect.keys()
        elif token == "Dialect" and block.name is not None:
            departures |= dialect.keys()
    text = "\n".join([*block.types, " ".join(tokens)])
    return _Meaning(text, _hash({text}), frozenset(_words(text)), frozenset(departures))


@lru_cache(maxsize=512)
def _blocks(text: str) -> tuple[_Block, ...]:
    return tuple(_cut(text))


def _cut(text: str) -> Iterator[_Block]:
    """The text without prose, cut where a line begins in the first column; a type stays with its
    definition."""
    lines: list[str] = []
    for line in [*_without_prose(text).splitlines(), "="]:
        begins = line[:1].strip() not in ("", "]", "}", ")")
        if begins and not all(before.startswith("@") for before in lines):
            yield _block(lines)
            lines = []
        if not _HEADER.fullmatch(line):
            lines.append(line.rstrip())


def _block(lines: list[str]) -> _Block:
    types = tuple(line for line in lines if line.startswith("@"))
    code = "\n".join(line for line in lines if not line.startswith("@"))
    alias = any("@typeAlias" in line for line in types)
    defines = None if alias else _DEFINES.match(code)
    return _Block(defines[1] if defines else None, types, code)


def _without_prose(text: str) -> str:
    """The text without comments, except for those in which Apalache reads a type: each of these becomes a
    line after a "@".

    Where a comment does not end nothing is removed: the apparent prose might be a definition.
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


def _hash(texts: Iterable[str]) -> str:
    """64 bits of SHA-256: enough to notice a change, short enough to keep one for each definition."""
    return hashlib.sha256("\n\n".join(sorted(texts)).encode()).hexdigest()[:16]
