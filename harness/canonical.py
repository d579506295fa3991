"""The meaning of a TLA+ definition: tokens without layout, and without branches that its model's dialect
rules out.

The beginning of a line matters in TLA+ in one place, lists of conjuncts or disjuncts; here such a list has
brackets of its own, so that a line that is broken elsewhere or indented more reads the same. `IF
Dialect.Departure = "value" THEN a ELSE b` (`#`, or a plain `Dialect.Departure`) is reduced to the branch that
the dialect chooses, so that a departure that a model does not take costs none of its proofs. Text that cannot
be read with certainty stays as it is: two equal definitions that look different cost a proof, and hide
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\w+|\\\w+|/\\|\\/|\|->|<=>|<<|>>|\[\]|<>|~>|->|<-|=>|==|=<|<=|>=|:>|@@|\.\.|\S'
)
_BULLETS: Final = ("/\\", "\\/")
_FIRST: Final = {"/\\": "(/\\", "\\/": "(\\/"}
_NEXT, _LAST = ")(", "/)"
"""Marks around and between the items of a list that lines make; no token of TLA+ looks like them."""
_OPENING: Final = {"(", "[", "{", "<<", *_FIRST.values()}
_CLOSING: Final = {")", "]", "}", ">>", _LAST}
_KEYWORDS: Final = {
    *("ASSUME", "ASSUMPTION", "AXIOM", "CASE", "CHOOSE", "DOMAIN", "ELSE"),
    *("ENABLED", "EXCEPT", "IF", "IN", "LAMBDA", "LET", "OTHER"),
    *("SUBSET", "THEN", "THEOREM", "UNCHANGED", "UNION", "WITH"),
}
_BEFORE: Final = {"==", "(", ",", "THEN", "ELSE", "IN", "->", ":", "|->", *_FIRST.values(), _NEXT}
"""The tokens after which an IF begins an expression of its own, which extends as far as it can."""


def canonical(text: str, dialect: Mapping[str, str]) -> list[str]:
    """The tokens of a definition without comments, as `dialect` (departure -> value as text) leaves them."""
    return _chosen(list(_tokens(text)), dialect)


@lru_cache(maxsize=10_000)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_listed(text))


def _listed(text: str) -> Iterator[str]:
    """The tokens, with brackets around a list of conjuncts or disjuncts: the list ends at a token that begins
    no further right."""
    open_at: list[tuple[str, int]] = []
    before = ""
    for line in text.splitlines():
        for match in _TOKEN.finditer(line):
            token, column = match[0], match.start()
            while open_at and open_at[-1][0] in _BULLETS and column <= open_at[-1][1]:
                if (token, column) == open_at[-1]:
                    break
                open_at.pop()
                yield _LAST
            if token in _BULLETS and open_at and (token, column) == open_at[-1]:
                before = token
                yield _NEXT
                continue
            if token in _CLOSING:
                while open_at and open_at[-1][0] in _BULLETS:
                    open_at.pop()
                    yield _LAST
                if open_at:
                    open_at.pop()
            elif token in _OPENING:
                open_at.append((token, column))
            elif token in _BULLETS and not _ends_operand(before):
                open_at.append((token, column))
                yield _FIRST[token]
                before = token
                continue
            before = token
            yield token
    yield from (_LAST for bracket, _ in open_at if bracket in _BULLETS)


def _ends_operand(token: str) -> bool:
    if token in _KEYWORDS:
        return False
    return (
        token in _CLOSING
        or token in ("'", "@")
        or token[:1] == '"'
        or re.fullmatch(r"\w+", token) is not None
    )


def _chosen(tokens: list[str], dialect: Mapping[str, str]) -> list[str]:
    """The tokens in which every decided IF is the branch that is taken."""
    position = 0
    while position < len(tokens):
        decided = _decided(tokens, position, dialect)
        if decided is None:
            position += 1
        else:
            end, branch = decided
            tokens[position:end] = branch
    return tokens


def _decided(tokens: list[str], start: int, dialect: Mapping[str, str]) -> tuple[int, list[str]] | None:
    """The end of the IF at `start`, and its branch, if the dialect decides it."""
    if tokens[start : start + 3] != ["IF", "Dialect", "."] or tokens[start - 1] not in _BEFORE:
        return None
    then = start + 4
    value = dialect.get(tokens[start + 3])
    if value is None:
        return None
    holds = value == "TRUE"
    if tokens[then] in ("=", "#"):
        if not re.fullmatch(r'"[^"]*"|TRUE|FALSE|\d+', tokens[then + 1]):
            return None
        holds = (value == tokens[then + 1]) == (tokens[then] == "=")
        then += 2
    elif value not in ("TRUE", "FALSE"):
        return None
    otherwise = _end(tokens, then + 1)
    if tokens[then] != "THEN" or otherwise is None or tokens[otherwise : otherwise + 1] != ["ELSE"]:
        return None
    end = _end(tokens, otherwise + 1)
    if end is None:
        return None
    return end, tokens[then + 1 : otherwise] if holds else tokens[otherwise + 1 : end]


def _end(tokens: Sequence[str], start: int) -> int | None:
    """The end of the expression that begins at `start` and extends as far as it can; None where the end is
    not certain."""
    depth = lets = ifs = cases = 0
    for position in range(start, len(tokens)):
        token = tokens[position]
        if depth == 0 and token in (*_CLOSING, _NEXT, ","):
            return position
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth:
            continue
        if (token == "ELSE" and not ifs) or (token == "IN" and not lets):
            return position
        if token == "[]" and not cases and _ends_operand(tokens[position - 1]):
            return position
        if (token == "THEN" and not ifs) or (token == "==" and not lets):
            return None
        lets += (token == "LET") - (token == "IN")
        ifs += (token == "IF") - (token == "ELSE")
        cases += token == "CASE"
    return len(tokens)
