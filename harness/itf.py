"""Traces in the Informal Trace Format (Apalache's ADR-015), of any engine.

The library itf-py reads the files that this module writes (tested); it is not used for reading because it
makes a new class for every record, which costs most of the time of a replay, and gives functions and records
different types.

There are two readers, which give the same result (tested). `trace_from_json` decodes JSON value by value and
names the fault of a file. `ItfReader` decodes equal values once: a step changes little, so nearly every value
of a state was in an earlier one. It leaves everything that it cannot read to the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

import msgspec
from frozendict import frozendict

from harness.errors import ConformError
from harness.files import read_bytes, unreadable, write_text
from harness.values import State, Value, function, is_field, sort_key


@dataclass(frozen=True)
class Trace:
    """A behaviour, or the beginning of one.

    `meta` has its origin (JSON values). `actions` names the action that led into each state, as far as the
    engine recorded it: empty, or one name for each state. `loop` is the index of the state to which the last
    one leads back, if the behaviour is infinite.
    """

    meta: dict[str, Any]
    variables: tuple[str, ...]
    states: list[State]
    actions: tuple[str, ...] = field(default=())
    loop: int | None = None


def read_trace(path: Path) -> Trace:
    """Read an ITF file. ConformError (exit 2) with the file and the place for anything that is not ITF."""
    return ItfReader().read(path)


class ItfReader:
    """A reader of ITF files, in which equal values of all files are one object, as no code can change a
    value.

    A value is known by its bytes in the file. Unknown values are read level by level, so that a group with
    one changed member costs one member.
    """

    def __init__(self) -> None:
        self._values: dict[bytes, Value] = {}
        self._bytes = 0
        self._actions: dict[bytes, str | msgspec.UnsetType] = {}

    def read(self, path: Path) -> Trace:
        """Read a file. ConformError (exit 2) as from `read_trace`."""
        return self.decode(read_bytes(Path(path), "The trace"), f"The trace {path}")

    def decode(self, content: bytes, name: str) -> Trace:
        """Decode the UTF-8 text of a file; `name` begins the sentence of an error, a ConformError."""
        try:
            if not content.isascii():
                content.decode()  # msgspec checks only the fields in use
            return self._trace(_FILE.decode(content))
        except (msgspec.MsgspecError, ValueError, TypeError, KeyError, RecursionError):
            return _named_fault(content, name)

    def _trace(self, file: _File) -> Trace:
        if self._bytes > _MOST_BYTES:
            self._values, self._actions, self._bytes = {}, {}, 0
        if not file.vars or not file.states or not _is_loop(file.loop, len(file.states)):
            raise ValueError("this is no trace")
        allowed = {*file.vars, *file.params, "#meta"}
        states: list[State] = []
        actions: list[str] = []
        before: dict[str, msgspec.Raw] = {}
        values: dict[str, Value] = {}
        for raw in file.states:
            if not raw.keys() <= allowed:
                raise ValueError("this state has a variable that the file does not list")
            for name in file.vars:
                if (item := raw[name]) != before.get(name):  # a comparison costs less than a search
                    values[name] = self._value(bytes(item))
            before = raw
            states.append(frozendict(values))
            if "#meta" in raw and isinstance(action := self._action(bytes(raw["#meta"])), str):
                actions.append(action)
        same = len(actions) == len(states)
        return Trace(file.meta, tuple(file.vars), states, tuple(actions) if same else (), file.loop)

    def _action(self, raw: bytes) -> str | msgspec.UnsetType:
        if raw not in self._actions:
            self._actions[raw] = _OF_STATE.decode(raw).action
        return self._actions[raw]

    def _value(self, raw: bytes) -> Value:
        """The value of these bytes; ValueError or TypeError if they are none."""
        value = self._values.get(raw)
        if value is None:
            value = self._values[raw] = self._new(raw)
            self._bytes += len(raw)
        return value

    def _new(self, raw: bytes) -> Value:
        start = raw[:1]
        if start == b"[":
            return tuple(self._items(raw))
        if start != b"{":
            return value_from_json(_SCALAR.decode(raw))
        fields = _FIELDS.decode(raw)
        tag = next((name for name in fields if name[:1] == "#"), None)
        if tag is None:
            record: dict[Value, Value] = {name: self._value(bytes(item)) for name, item in fields.items()}
            return frozendict(record) if record else ()
        if len(fields) != 1:
            raise ValueError(f"an object has other fields beside {tag}")
        content = bytes(fields[tag])
        if tag == "#tup":
            return tuple(self._items(content))
        if tag == "#set":
            return frozenset(self._items(content))
        if tag == "#map":
            pairs = [self._items(bytes(pair)) for pair in _ITEMS.decode(content)]
            return function({key: item for key, item in pairs})
        return value_from_json({tag: _SCALAR.decode(content)})

    def _items(self, raw: bytes) -> list[Value]:
        return [self._value(bytes(item)) for item in _ITEMS.decode(raw)]


class _File(msgspec.Struct):
    """The outer part of a file; the values of variables are still bytes."""

    vars: list[str]
    states: list[dict[str, msgspec.Raw]]
    meta: dict[str, Any] = msgspec.field(name="#meta", default_factory=dict)
    loop: Any = None
    params: list[str] = []


class _OfState(msgspec.Struct):
    """The parts of a state's #meta that are read."""

    action: str | msgspec.UnsetType = msgspec.UNSET


_FILE: Final = msgspec.json.Decoder(_File)
_OF_STATE: Final = msgspec.json.Decoder(_OfState)
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_SCALAR: Final = msgspec.json.Decoder()
_MOST_BYTES: Final = 64_000_000
"""The bytes of values that an `ItfReader` keeps before it begins anew."""


def _named_fault(content: bytes, name: str) -> Trace:
    """Read a trace by the slow reader, which names a fault."""
    try:
        return trace_from_json(_json(content, name), name)
    except RecursionError:
        raise ConformError(f"{name} has values that are nested too deeply to be read.") from None


def _json(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode())
    except UnicodeDecodeError as error:
        raise ConformError(f"{name} is not UTF-8 text (byte {error.start}).") from None
    except json.JSONDecodeError as error:
        raise ConformError(
            f"{name} is not JSON or is cut off (line {error.lineno}, column {error.colno}: {error.msg})."
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise ConformError(f"{name} cannot be read: {error}.") from None


def read_meta(path: Path) -> dict[str, Any]:
    """The #meta of an ITF file, without decoding its states; {} where it has none or is not ITF. ConformError
    (exit 2) for a file that cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(_BEGINNING)
            if first := _META_FIRST.match(text):
                with suppress(ValueError, RecursionError):  # the #meta may be longer
                    return _dict(json.JSONDecoder().raw_decode(text, first.end())[0])
            return _dict(json.loads(text + stream.read())["#meta"])
    except OSError as error:
        raise unreadable(path, "The trace", error) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _dict(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {}


_META_FIRST: Final = re.compile(r'\s*\{\s*"#meta"\s*:\s*')
"""The beginning of a file in which nearly every engine writes #meta; the states behind it may be many."""
_BEGINNING: Final = 10_000
"""The number of characters in which a file's #meta nearly always ends."""


def trace_from_json(data: Any, name: str) -> Trace:
    """Decode ITF's JSON; `name` begins the sentence of an error, e.g. "The trace x.itf.json"."""
    if not isinstance(data, dict):
        raise ConformError(f"{name} is not ITF: an object is expected at the top, not {_kind(data)}.")
    variables = _member(data, "vars", list, name)
    if not variables or not all(isinstance(item, str) for item in variables):
        raise ConformError(f'{name} is not ITF: "vars" must be a list of variable names.')
    raw_states = _member(data, "states", list, name)
    if not raw_states:
        raise ConformError(f'{name} has no states: "states" is empty.')
    meta = data.get("#meta", {})
    if not isinstance(meta, dict):
        raise ConformError(f'{name} is not ITF: "#meta" must be an object, not {_kind(meta)}.')
    loop = data.get("loop")
    if not _is_loop(loop, len(raw_states)):
        raise ConformError(f'{name} is not ITF: "loop" must be the index of a state, not {loop!r}.')
    params = data.get("params", [])
    if not isinstance(params, list) or not all(isinstance(item, str) for item in params):
        raise ConformError(f'{name} is not ITF: "params" must be a list of names of constants.')
    states = [
        _state(raw, variables, params, f"{name}, state {index},") for index, raw in enumerate(raw_states)
    ]
    actions = tuple(raw["#meta"]["action"] for raw in raw_states if "action" in raw.get("#meta", {}))
    return Trace(meta, tuple(variables), states, actions if len(actions) == len(states) else (), loop)


def _is_loop(loop: Any, states: int) -> bool:
    """Tell if the value is the index of a state, or None."""
    return loop is None or (type(loop) is int and 0 <= loop < states)


def _member(data: dict[str, Any], key: str, kind: type, name: str) -> Any:
    if key not in data:
        raise ConformError(f'{name} is not ITF: the field "{key}" is missing.')
    if not isinstance(data[key], kind):
        raise ConformError(f'{name} is not ITF: "{key}" must be a list, not {_kind(data[key])}.')
    return data[key]


def _state(raw: Any, variables: list[str], params: list[str], place: str) -> State:
    """A state without the values of constants, which Apalache repeats in each state."""
    if not isinstance(raw, dict) or not isinstance(raw.get("#meta", {}), dict):
        raise ConformError(f"{place} is not an ITF state: an object is expected, not {_kind(raw)}.")
    decoded: dict[str, Value] = {}
    for variable in variables:
        if variable not in raw:
            raise ConformError(f'{place} has no value for the variable "{variable}".')
        try:
            decoded[variable] = value_from_json(raw[variable])
        except (TypeError, ValueError) as error:
            raise ConformError(f'{place} variable "{variable}": {error}.') from None
    if unknown := sorted(set(raw) - set(variables) - set(params) - {"#meta"}):
        raise ConformError(f'{place} has the variable "{unknown[0]}", which "vars" does not list.')
    return frozendict(decoded)


def value_from_json(raw: Any) -> Value:
    """Decode one ITF value; functions and records both become `frozendict` (see harness.values).

    Raises TypeError or ValueError, in words, for JSON that is no ITF value.
    """
    if isinstance(raw, (str, bool, int)):
        return raw
    if isinstance(raw, list):
        return tuple([value_from_json(item) for item in raw])
    if not isinstance(raw, dict):
        raise TypeError(f"{_kind(raw)} is not a TLA+ value")
    for tag in raw:
        if tag[:1] == "#":
            if len(raw) != 1 or tag not in _TAGS:
                raise ValueError(f'an object with the field "{tag}" is not a value of ITF')
            return _TAGS[tag](raw[tag])
    return frozendict({key: value_from_json(item) for key, item in raw.items()}) if raw else ()


def _bigint(raw: Any) -> Value:
    if isinstance(raw, str) and raw.removeprefix("-").isdecimal() and raw.isascii():
        return int(raw)
    raise ValueError(f'"#bigint" must be a string of digits, not {raw!r}')


def _items(tag: str, raw: Any) -> list[Value]:
    if not isinstance(raw, list):
        raise TypeError(f'"{tag}" must be a list, not {_kind(raw)}')
    return [value_from_json(item) for item in raw]


def _map(raw: Any) -> Value:
    if not isinstance(raw, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in raw):
        raise ValueError('"#map" must be a list of pairs')
    return function({value_from_json(key): value_from_json(item) for key, item in raw})


def _unserializable(raw: Any) -> Value:
    raise ValueError(f"the engine could not write this value down ({raw})")


_TAGS: dict[str, Callable[[Any], Value]] = {
    "#bigint": _bigint,
    "#tup": lambda raw: tuple(_items("#tup", raw)),
    "#set": lambda raw: frozenset(_items("#set", raw)),
    "#map": _map,
    "#unserializable": _unserializable,
}


def write_trace(path: Path, trace: Trace) -> None:
    """Write an ITF file, atomically: one state on a line, sets and functions in a fixed order."""
    write_text(Path(path), trace_to_text(trace))


def trace_to_text(trace: Trace) -> str:
    """The bytes of a trace's file: equal traces give equal text."""
    return ItfWriter().text(trace)


class ItfWriter:
    """A writer of the texts of traces; a value that several of their states share is encoded once.

    A value is known by its object: values that are equal in Python, like True and 1, may have different
    texts.
    """

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Value, str]] = {}
        self._characters = 0

    def text(self, trace: Trace) -> str:
        """The text of a trace's file."""
        if self._characters > _MOST_BYTES:
            self._texts, self._characters = {}, 0
        meta = {
            **trace.meta,
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        }
        head = [f'"#meta": {_dumps(meta)}', f'"vars": {_dumps(list(trace.variables))}']
        if trace.loop is not None:
            head.append(f'"loop": {trace.loop}')
        states = ",\n".join(self._state_lines(trace))
        return "{\n" + ",\n".join(head) + f',\n"states": [\n{states}\n]\n}}\n'

    def _state_lines(self, trace: Trace) -> Iterable[str]:
        names = [(name, _dumps(name)) for name in trace.variables]
        for index, state in enumerate(trace.states):
            meta: dict[str, Any] = {"index": index}
            if trace.actions:
                meta["action"] = trace.actions[index]
            values = [f"{shown}: {self._value(state[name])}" for name, shown in names]
            yield "{" + ", ".join(['"#meta": ' + _dumps(meta), *values]) + "}"

    def _value(self, value: Value) -> str:
        known = self._texts.get(id(value))
        if known is None:  # the value is kept, so that its id is not used again
            known = self._texts[id(value)] = value, _dumps(value_to_json(value))
            self._characters += len(known[1])
        return known[1]


def _dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def value_to_json(value: Value) -> Any:
    """Encode one value as ITF. A record is an object if itf-py can read it as one, else a "#map"."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple):
        return {"#tup": [value_to_json(item) for item in value]}
    if isinstance(value, frozenset):
        return {"#set": [value_to_json(item) for item in sorted(value, key=sort_key)]}
    items = sorted(value.items(), key=lambda item: sort_key(item[0]))
    if all(isinstance(key, str) and _is_name(key) for key in value) and set(value) != {"tag", "value"}:
        return {str(key): value_to_json(item) for key, item in items}
    return {"#map": [[value_to_json(key), value_to_json(item)] for key, item in items]}


def _is_name(key: str) -> bool:
    """Tell if a field name can also be a field of the named tuple that itf-py makes of a record."""
    return is_field(key) and key.isidentifier() and not iskeyword(key) and not key.startswith("_")


def _kind(raw: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(raw), "a number")
