r"""Mutants of a TLA+ module, token by token.

No mutation tool for TLA+ is maintained; these operators follow those of other languages. Comments and the
text before the first definition stay as they are, so that positions are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from harness.mutate.mutant import Mutant, mutants_of

_TOKEN: Final = re.compile(
    r"""(?P<comment>\\\*[^\n]*) | (?P<string>"[^"\n]*") | (?P<number>\b\d+\b)
      | (?P<operator>/\\|\\/|\\cup\b|\\cap\b|\\notin\b|\\in\b|\\subseteq\b|\\union\b|\\A\b|\\E\b
        |=>|==|<=|>=|=<|\#|/=|<<|>>|->|<-|\|->|:>|@@|=|<|>|~|\\(?![A-Za-z])|\+|-)
      | (?P<word>[A-Za-z_][A-Za-z_0-9]*)""",
    re.VERBOSE,
)
SWAPS: Final = {
    "/\\": "\\/",
    "\\/": "/\\",
    "\\cup": "\\cap",
    "\\cap": "\\cup",
    "\\in": "\\notin",
    "\\notin": "\\in",
    "\\A": "\\E",
    "\\E": "\\A",
    "=": "#",
    "#": "=",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "+": "-",
    "-": "+",
    "\\": "\\cap",
    "=>": "/\\",
    "TRUE": "FALSE",
    "FALSE": "TRUE",
}
_BEFORE_LIST: Final = ("IN", "THEN", "ELSE", "LET")


class Token(NamedTuple):
    """A token with its place in the text; `kind` is a group of the pattern."""

    kind: str
    text: str
    start: int
    end: int


def tla_mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of the module, in the order of their lines."""
    changed = ((name, source[:start] + new + source[end:]) for name, start, end, new in _changes(source))
    return sorted(mutants_of(path, source, changed), key=lambda mutant: mutant.line)


def tokens(source: str) -> list[Token]:
    """The tokens of all definitions, without comments and the line that ends the module."""
    first = re.search(r"^\S.*==", source, re.MULTILINE)
    begin = first.start() if first else len(source)
    last = re.search(r"^====+\s*\Z", source, re.MULTILINE)
    end = last.start() if last else len(source)
    blocks = [match.span() for match in re.finditer(r"\(\*.*?\*\)", source, re.DOTALL)]
    read = []
    for match in _TOKEN.finditer(source, begin, end):
        outside = not any(start <= match.start() < end for start, end in blocks)
        if match.lastgroup and match.lastgroup != "comment" and outside:
            read.append(Token(match.lastgroup, match[0], *match.span()))
    return read


def _changes(source: str) -> Iterator[tuple[str, int, int, str]]:
    """Name of the operator, the replaced text's beginning and end, its replacement."""
    every = tokens(source)
    for place, token in enumerate(every):
        if token.text in SWAPS and not (
            _is_binding(every, place, source) or _begins_list(every, place, source)
        ):
            yield f"swap {token.text}", token.start, token.end, SWAPS[token.text]
        if token.kind == "number" and _is_value(source, token):
            yield "number", token.start, token.end, str(int(token.text) + 1)
        if token.text == "~":
            yield "drop ~", token.start, token.end, ""
        if token.text == "IF":
            end = _matching(every, place, "IF", "THEN")
            if end is not None:
                start, stop = token.end, every[end].start
                yield "negate IF", start, stop, f" ~({source[start:stop].strip()}) "
        if token.text == "\\" or token.text in ("\\cup", "\\cap"):
            yield from _drop_operand(source, token)
    yield from _dropped_junctions(source)


def _is_value(source: str, token: Token) -> bool:
    """Tell if a number is a value, and not the index of a pair."""
    return source[token.start - 1] != "["


def _is_binding(every: list[Token], place: int, source: str) -> bool:
    r"""Tell if `\in` or `=` is a part of the syntax: of a bound variable, or a definition."""
    token = every[place]
    if token.text in ("\\in", "\\notin"):
        # `\A m \in S :`, `{m \in S : P}`, `[m \in S |-> e]`, also the later ones of a list
        before = source[: token.start].rstrip()
        head = re.search(r"(\\A|\\E|CHOOSE|\{|\[)\s*[^(){}\[\]:]*$", before)
        return bool(head) and bool(re.search(r"[A-Za-z_0-9,\s]+$", before[head.end(1) :] if head else ""))
    if token.text == "=" and re.match(r"\s*\[?@", source[token.end :]):
        return False
    if token.text == "=":
        line = source[source.rfind("\n", 0, token.start) + 1 : token.start]
        return bool(re.search(r"![.\[]\S*( ?\\*\S*\])*\s*$", line)) or _in_except(source, token.start)
    return False


def _begins_list(every: list[Token], place: int, source: str) -> bool:
    r"""Tell if a bullet is the first of a list. Such a bullet may as well be the other one: `\/ a /\ b` is `a
    /\ b`, since a list ends where the bullets change."""
    token = every[place]
    if token.text not in ("/\\", "\\/"):
        return False
    if place == 0:
        return True
    last = every[place - 1]
    between = re.sub(r"\\\*[^\n]*|\(\*.*?\*\)", "", source[last.end : token.start], flags=re.DOTALL).strip()
    return between[-1] in "(,:[{" if between else last.kind == "operator" or last.text in _BEFORE_LIST


def _in_except(source: str, start: int) -> bool:
    """Tell if `=` stands after a `!.field` of EXCEPT."""
    before = source[:start]
    mark = before.rfind("!")
    return mark >= 0 and bool(re.fullmatch(r"!(\.\w+|\[[^\]]*\])+\s*", before[mark:]))


def _matching(every: list[Token], place: int, opens: str, closes: str) -> int | None:
    depth = 0
    for index in range(place + 1, len(every)):
        if every[index].text == opens:
            depth += 1
        elif every[index].text == closes:
            if depth == 0:
                return index
            depth -= 1
    return None


_OPERAND: Final = r"(?:[\w.!']+(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])*(?:\.\w+)*|\{[^{}]*\})"


def _drop_operand(source: str, token: Token) -> Iterator[tuple[str, int, int, str]]:
    """`a \\ b` -> `a`, where the operands are names, calls or fields; of unions and intersections each
    operand."""
    left = re.search(rf"({_OPERAND})\s*$", source[: token.start])
    right = re.match(rf"\s*({_OPERAND})", source[token.end :])
    if right:
        start = token.start - (len(source[: token.start]) - len(source[: token.start].rstrip()))
        yield f"drop after {token.text}", start, token.end + right.end(), ""
    if left and token.text != "\\":
        lead = re.match(r"\s*", source[token.end :])
        yield f"drop before {token.text}", left.start(1), token.end + (lead.end() if lead else 0), ""


def _dropped_junctions(source: str) -> Iterator[tuple[str, int, int, str]]:
    r"""Leave out a line that begins with `/\` or `\/`, with the lines that belong to it."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for number, line in enumerate(lines):
        bullet = re.match(r"( *)(/\\|\\/) ", line)
        if not bullet:
            continue
        end = number + 1
        while end < len(lines) and re.match(rf" {{{len(bullet[1]) + 1},}}\S", lines[end]):
            end += 1
        yield f"drop {bullet[2]}", starts[number], starts[end], ""
