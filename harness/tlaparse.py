"""TLA+ values and states, in TLC's form: text -> value -> text.

State graphs have hundreds of thousands of states that differ in little, so everything is remembered: a value
of a variable by its text, and a bracketed expression by the tuple of its parts. Grammar is checked only at
the first occurrence of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from frozendict import frozendict

from harness.values import ModelValue, State, Value, function, is_field, sort_key

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|<<|>>|\|->|->|:>|@@|\.\.|/\\|-?\w+|\S')
_CLOSING = {"{": "}", "<<": ">>", "[": "]", "(": ")"}
_CLOSERS = frozenset(_CLOSING.values())
_INTEGER = re.compile(r"-?[0-9]+")
_NAME = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}
_PRINTED = {letter: f"\\{code}" for code, letter in _ESCAPED.items()}
_UNREAD = re.compile(r"[^\x20-\x7e\t]|\\(?=u)")
"""A character that SANY does not read in a text, or one that makes a text look like a spelled one."""
_SPELLED = re.compile(r"\\u([0-9a-f]{6})")
_CONJUNCT = "\n/\\ "
_MEMORY = 200_000

_Part = str | int
"""A token, or the number of an expression that was read before."""


class TlaSyntaxError(ValueError):
    """Text that is not a TLA+ value; the message has the place (line and column from 1) and the reason."""


class Reader:
    """A reader of many values of one specification, which remembers them."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._values: list[Value] = []
        self._numbers: dict[tuple[_Part, ...], int] = {}
        self._leaves: dict[str, Value] = {"TRUE": True, "FALSE": False}
        self._assignments: dict[str, tuple[str, Value]] = {}

    def value(self, text: str) -> Value:
        """Read one value. Raises TlaSyntaxError."""
        parts = self._parts(text)
        try:
            return self._operand(parts)
        except ValueError as error:
            raise TlaSyntaxError(f"line 1, column 1: {error}") from None

    def state(self, text: str) -> State:
        r"""Read `/\ x = 1 /\ y = 2` (one conjunct begins a line) or `x = 1`. Raises TlaSyntaxError."""
        state: dict[str, Value] = {}
        line = 1
        for chunk in text.strip().removeprefix("/\\ ").split(_CONJUNCT):
            assignment = self._assignments.get(chunk)
            if assignment is None:
                assignment = self._assignments[chunk] = self._assignment(chunk, line)
            state[assignment[0]] = assignment[1]
            line += chunk.count("\n") + 1
        return frozendict(state)

    def _assignment(self, chunk: str, line: int) -> tuple[str, Value]:
        if len(self._assignments) > _MEMORY or len(self._values) > _MEMORY:
            self._clear()
        name, equals, text = chunk.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            raise TlaSyntaxError(
                f"line {line}, column 1: expected `variable = value`, found {_excerpt(chunk)}"
            )
        try:
            return name.strip(), self.value(text)
        except TlaSyntaxError as error:
            raise TlaSyntaxError(
                f"in the value of {name.strip()} (line {line} of the state), {error}"
            ) from None

    def _parts(self, text: str) -> list[_Part]:
        """Replace every bracketed expression by its number."""
        parts: list[_Part] = []
        outer: list[list[_Part]] = []
        starts: list[int] = []
        numbers = self._numbers
        for index, token in enumerate(_TOKEN.findall(text)):
            if token in _CLOSING:
                outer.append(parts)
                starts.append(index)
                parts = [token]
            elif token in _CLOSERS:
                parts.append(token)
                number = numbers.get(key := tuple(parts))
                if number is None:
                    number = self._add(key, text, starts[-1] if starts else index)
                parts = outer.pop()
                starts.pop()
                parts.append(number)
            else:
                parts.append(token)
        if outer:
            raise TlaSyntaxError(
                f"{_place(text, starts[-1])}: this bracket is not closed: {_excerpt(parts[0])}"
            )
        return parts

    def _add(self, parts: tuple[_Part, ...], text: str, start: int) -> int:
        try:
            value = self._expression(parts)
        except ValueError as error:
            raise TlaSyntaxError(f"{_place(text, start)}: {error}") from None
        self._values.append(value)
        number = self._numbers[parts] = len(self._values) - 1
        return number

    def _expression(self, parts: tuple[_Part, ...]) -> Value:
        opening, body, closing = parts[0], list(parts[1:-1]), parts[-1]
        if len(parts) == 1 or _CLOSING.get(str(opening)) != closing:
            raise ValueError(f"`{closing}` closes nothing")
        if opening == "{":
            return frozenset(self._operand(item) for item in _split(body, ","))
        if opening == "<<":
            return tuple(self._operand(item) for item in _split(body, ","))
        if opening == "[":
            return function(dict(self._field(item) for item in _split(body, ",")))
        if not body:
            raise ValueError("`()` is not a value")
        return function(dict(self._argument(item) for item in _split(body, "@@")))

    def _field(self, item: list[_Part]) -> tuple[str, Value]:
        name = item[0] if item else ""
        if len(item) < 3 or item[1] != "|->" or not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"expected `field |-> value`, found {self._shown(item)}")
        return name, self._operand(item[2:])

    def _argument(self, item: list[_Part]) -> tuple[Value, Value]:
        if item.count(":>") != 1:
            raise ValueError(f"expected `argument :> value`, found {self._shown(item)}")
        arrow = item.index(":>")
        return self._operand(item[:arrow]), self._operand(item[arrow + 1 :])

    def _operand(self, parts: list[_Part]) -> Value:
        if len(parts) == 1:
            part = parts[0]
            return self._values[part] if isinstance(part, int) else self._leaf(part)
        if len(parts) == 3 and parts[1] == "..":
            first, last = (self._operand([part]) for part in (parts[0], parts[2]))
            if type(first) is int and type(last) is int:
                return frozenset(range(first, last + 1))
        if "SUBSET" in parts or "->" in parts:
            raise ValueError(f"TLC prints a large set without its elements: {self._shown(parts)}")
        raise ValueError(f"expected a value, found {self._shown(parts)}")

    def _leaf(self, token: str) -> Value:
        value = self._leaves.get(token)
        if value is None:
            value = self._leaves[token] = _leaf(token)
        return value

    def _shown(self, parts: list[_Part]) -> str:
        texts = (print_value(self._values[part]) if isinstance(part, int) else part for part in parts)
        return _excerpt(" ".join(texts))


def _leaf(token: str) -> Value:
    if token[0] == '"' and len(token) > 1:
        text = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), token[1:-1])
        return _SPELLED.sub(lambda match: chr(int(match[1], 16)), text)
    if _INTEGER.fullmatch(token):
        return int(token)
    if _NAME.fullmatch(token):
        return ModelValue(token)
    raise ValueError("this string is not closed" if token == '"' else f"expected a value, found `{token}`")


def _split(parts: list[_Part], separator: str) -> Iterator[list[_Part]]:
    """The parts between separators; nothing at all if there are no parts."""
    if not parts:
        return
    item: list[_Part] = []
    for part in parts:
        if part == separator:
            yield item
            item = []
        else:
            item.append(part)
    yield item


def _place(text: str, index: int) -> str:
    """Line and column of the token with this index."""
    match = next(islice(_TOKEN.finditer(text), index, None))
    line_start = text.rfind("\n", 0, match.start()) + 1
    return f"line {text.count(chr(10), 0, line_start) + 1}, column {match.start() - line_start + 1}"


def _excerpt(text: object) -> str:
    shown = str(text).strip()
    return f"`{shown if len(shown) <= 60 else shown[:57] + '...'}`" if shown else "nothing"


def spelled(text: str) -> str:
    """A text of ASCII alone, for a module: SANY reads no other. A `Reader` gives back the text itself."""
    return _UNREAD.sub(lambda match: f"\\u{ord(match[0]):06x}", text)


def parse_value(text: str) -> Value:
    """Read one value; to read many of one specification, keep a `Reader`. Raises TlaSyntaxError."""
    return Reader().value(text)


def print_value(value: Value) -> str:
    """Print a value on one line as TLC does, sets and functions in a fixed order."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, ModelValue):
        return str(value)
    if isinstance(value, str):
        return f'"{"".join(_PRINTED.get(letter, letter) for letter in value)}"'
    if isinstance(value, tuple):
        return f"<<{', '.join(print_value(item) for item in value)}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(print_value(item) for item in sorted(value, key=sort_key))}}}"
    items = sorted(value.items(), key=lambda item: sort_key(item[0]))
    if all(isinstance(key, str) and not isinstance(key, ModelValue) and is_field(key) for key in value):
        return f"[{', '.join(f'{key} |-> {print_value(item)}' for key, item in items)}]"
    return f"({' @@ '.join(f'{print_value(key)} :> {print_value(item)}' for key, item in items)})"
