"""ITF files: read back, readable by itf-py, and clear about their faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from itf_py import trace_from_json as itf_py_trace
from tla_values import itf_values

from harness.errors import USAGE, ConformError
from harness.itf import (
    ItfReader,
    ItfWriter,
    Trace,
    read_meta,
    read_trace,
    trace_from_json,
    trace_to_text,
    value_from_json,
    write_trace,
)
from harness.values import Value, function

ROOT = Path(__file__).parents[2]
TRACE = Trace(
    {"model": "Counter", "seed": 3},
    ("x", "y"),
    [
        frozendict(x=0, y=frozenset({("foo", 10), ("foo", 9)})),
        frozendict(x=-1, y=value_from_json({"#map": [[{"#tup": ["foo", 0]}, "m1"], ["b", {"epoch": 2}]]})),
    ],
    ("Init", "Join"),
)


def from_itf_py(value: Any) -> Value:
    """A value of itf-py as one of ours."""
    if hasattr(value, "_fields"):  # a record is a named tuple
        return function({key: from_itf_py(getattr(value, key)) for key in value._fields})
    if isinstance(value, (tuple, list)):
        return tuple(from_itf_py(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(from_itf_py(item) for item in value)
    if isinstance(value, dict):
        return function({from_itf_py(key): from_itf_py(item) for key, item in value.items()})
    assert isinstance(value, (bool, int, str))
    return value


def told_apart(value: Value) -> Any:
    """A value in the comparison of itf-py, whose records are named tuples and so equal to the tuples of their
    fields: of such a pair in one set, or among the keys of one function, it has only one. Then there is no
    example."""
    if isinstance(value, tuple):
        return tuple(map(told_apart, value))
    if isinstance(value, frozenset):
        members = [told_apart(item) for item in value]
        assume(len(set(members)) == len(members))
        return frozenset(members)
    if isinstance(value, frozendict):
        keys = [told_apart(key) for key in value]
        assume(len(set(keys)) == len(keys))
        items = zip(keys, map(told_apart, value.values()), strict=True)
        is_record = all(isinstance(key, str) for key in value)
        return (
            tuple(item for _, item in sorted(items, key=lambda one: str(one[0])))
            if is_record
            else frozenset(items)
        )
    return value


@given(st.lists(itf_values, min_size=1, max_size=4))
@example([function({(0,): (), function({"A": 0}): ()})])
def test_written_traces_are_read_back_and_itf_py_agrees(many: list[Value]) -> None:
    trace = Trace({"a": [1]}, ("x",), [frozendict(x=value) for value in many])
    data = json.loads(trace_to_text(trace))
    assert trace_from_json(data, "the trace").states == trace.states
    for value in many:
        told_apart(value)
    theirs = itf_py_trace(data)
    assert theirs.vars == ["x"]
    assert [from_itf_py(state.values["x"]) for state in theirs.states] == many


READER = ItfReader()
"""One reader for all examples, as for all files of a replay: a kept value must not alter a later one."""


def outcome(read: Callable[[], Trace]) -> tuple[str, ...]:
    """A trace down to the types of its values, or the sentence of its error."""
    try:
        trace = read()
    except ConformError as error:
        return (error.message,)
    return trace_to_text(trace), repr(trace.meta), repr(trace.actions), repr(trace.loop)


def by_json(text: str) -> Trace:
    """A trace by the reader without memory."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise ConformError(f"The trace x is not JSON or is cut off ({place}).") from None
    return trace_from_json(data, "The trace x")


@st.composite
def itf_texts(draw: st.DrawFn) -> str:
    """ITF in the forms of several engines: with white space, plain integers and lists, constants, a loop."""
    values = draw(st.lists(itf_values, min_size=1, max_size=3))
    loop = draw(st.sampled_from([None, 0, len(values) - 1, len(values), True, 1.0]))
    trace = Trace({"a": [1]}, ("x",), [frozendict(x=value) for value in values])
    data = json.loads(trace_to_text(trace))
    data |= {"loop": loop} if loop is not None else {}
    if draw(st.booleans()):
        data["params"] = ["N"]
        for state in data["states"]:
            state["N"] = draw(st.sampled_from([1, None, {"#bigint": "1"}]))
    text = json.dumps(data, indent=draw(st.sampled_from([None, 1])), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = re.sub(r'\{\s*"#bigint":\s*"(-?\d+)"\s*\}', r"\1", text)
    if draw(st.booleans()):
        text = re.sub(r'\{\s*"#tup":\s*(\[[^][{}]*\])\s*\}', r"\1", text)
    return text


@given(itf_texts(), st.data())
@settings(max_examples=300)
def test_the_reader_that_remembers_gives_what_the_one_without_memory_gives(
    text: str, data: st.DataObject
) -> None:
    assert outcome(lambda: READER.decode(text.encode(), "The trace x")) == outcome(lambda: by_json(text))
    # the same holds for a file that is no trace, or another one: both readers report the same
    at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
    put = data.draw(st.text('{}[]",:#-0123.eE\\ntrueNaI\n\t x', max_size=4))
    altered = text[:at] + put + text[at + cut :]
    read = outcome(lambda: READER.decode(altered.encode(), "The trace x"))
    assert read == outcome(lambda: by_json(altered))


def test_committed_traces_are_read_as_json_is() -> None:
    files = sorted((ROOT / "traces").rglob("*.itf.json"))[::9]
    for file in files:
        text = file.read_text(encoding="utf-8")
        read = outcome(lambda text=text: READER.decode(text.encode(), "The trace x"))  # type: ignore[misc]
        assert read == outcome(lambda text=text: by_json(text))  # type: ignore[misc]
    assert len(files) > 50


@given(st.lists(itf_values, min_size=1, max_size=3))
def test_equal_values_are_one_object_that_nobody_can_change(values: list[Value]) -> None:
    text = trace_to_text(Trace({}, ("x", "y"), [frozendict(x=value, y=(value,)) for value in values]))
    trace, again = (READER.decode(text.encode(), "The trace x") for _ in range(2))
    for one, other in zip(trace.states, again.states, strict=True):
        assert one["x"] is other["x"] and one["y"] is other["y"]
        for value in parts(one):
            assert type(value) in (int, bool, str, tuple, frozenset, frozendict)
            if isinstance(value, frozendict):
                with pytest.raises((AttributeError, TypeError)):
                    value["x"] = 1  # type: ignore[index]


def parts(value: Value) -> Iterator[Value]:
    """A value and all that is in it."""
    yield value
    if isinstance(value, frozendict):
        for key, item in value.items():
            yield from parts(key)
            yield from parts(item)
    elif isinstance(value, (tuple, frozenset)):
        for item in value:
            yield from parts(item)


def test_a_reader_that_has_kept_much_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.itf._MOST_BYTES", 100)
    reader, text = ItfReader(), trace_to_text(TRACE).encode()
    traces = [reader.decode(text, "The trace x") for _ in range(5)]
    assert all(trace.states == TRACE.states for trace in traces)
    assert traces[0].states[0]["y"] is not traces[-1].states[0]["y"]


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_bytes(b'{"vars": ["x"], "params": ["N"], "states": [{"x": 1, "N": "\xff"}]}')
    with pytest.raises(ConformError, match=r"The trace .*bad\.itf\.json is not UTF-8 text \(byte 59\)"):
        read_trace(path)


def test_a_file_keeps_everything(tmp_path: Path) -> None:
    path = tmp_path / "t.itf.json"
    write_trace(path, TRACE)
    again = read_trace(path)
    assert (again.variables, again.states, again.actions) == (TRACE.variables, TRACE.states, TRACE.actions)
    assert again.meta.items() >= TRACE.meta.items()
    assert again.meta["format"] == "ITF"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.itf.json"]


def test_a_loop_is_kept(tmp_path: Path) -> None:
    write_trace(tmp_path / "t", Trace({}, ("x",), [frozendict(x=0), frozendict(x=1)], loop=1))
    assert read_trace(tmp_path / "t").loop == 1


def test_equal_traces_give_equal_bytes() -> None:
    one, other = (
        Trace({}, ("x",), [frozendict(x=frozenset(order), y=frozendict({key: 1 for key in order}))])
        for order in (["b", "a", "c"], ["c", "b", "a"])
    )
    assert trace_to_text(one) == trace_to_text(other)
    assert '"x": {"#set": ["a", "b", "c"]}' in trace_to_text(one)


@pytest.mark.parametrize(
    "raw",
    [
        {"a": {"#bigint": "1"}, "b": 2},
        {"#map": [["b", {"#bigint": "2"}], ["a", 1]]},
    ],
)
def test_maps_over_strings_are_records_and_integers_may_be_plain(raw: Any) -> None:
    assert value_from_json(raw) == frozendict(a=1, b=2)


def test_constants_that_apalache_repeats_in_each_state_are_left_out() -> None:
    data = {"params": ["N"], "vars": ["x"], "states": [{"N": 3, "x": 0}, {"N": 3, "x": 1}]}
    assert trace_from_json(data, "the trace").states == [frozendict(x=0), frozendict(x=1)]


def test_functions_over_1_to_n_are_sequences() -> None:
    assert value_from_json({"#map": [[2, "b"], [1, "a"]]}) == value_from_json(["a", "b"]) == ("a", "b")
    assert value_from_json({"#map": []}) == value_from_json({}) == ()


def test_every_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.itf.json"
    text = trace_to_text(TRACE).rstrip()
    for length in range(len(text)):
        path.write_text(text[:length])
        with pytest.raises(ConformError, match=r"cut\.itf\.json is not JSON or is cut off") as error:
            read_trace(path)
        assert error.value.exit_code == USAGE


STATE = '{"#meta": {"index": 0}, "x": 1}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "is not ITF: an object is expected at the top, not a list."),
        ('{"states": []}', 'is not ITF: the field "vars" is missing.'),
        ('{"vars": ["x"]}', 'is not ITF: the field "states" is missing.'),
        ('{"vars": "x", "states": []}', 'is not ITF: "vars" must be a list, not a string.'),
        ('{"vars": [1], "states": []}', 'is not ITF: "vars" must be a list of variable names.'),
        ('{"vars": ["x"], "states": []}', 'has no states: "states" is empty.'),
        (f'{{"vars": ["x"], "states": [{STATE}, {{}}]}}', 'state 1, has no value for the variable "x".'),
        (f'{{"vars": ["x"], "states": [{STATE}], "loop": 1}}', '"loop" must be the index of a state, not 1.'),
        (
            '{"vars": ["x"], "states": [3]}',
            "state 0, is not an ITF state: an object is expected, not a number.",
        ),
        (
            '{"vars": ["x"], "states": [{"x": 1, "z": 2}]}',
            'state 0, has the variable "z", which "vars" does not',
        ),
        ('{"vars": ["x"], "states": [{"x": null}]}', 'state 0, variable "x": null is not a TLA+ value.'),
        ('{"vars": ["x"], "states": [{"x": 1.5}]}', 'state 0, variable "x": a number is not a TLA+ value.'),
        ('{"vars": ["x"], "states": [{"x": {"#bigint": "1e3"}}]}', "must be a string of digits, not '1e3'."),
        ('{"vars": ["x"], "states": [{"x": {"#set": 1}}]}', '"#set" must be a list, not a number.'),
        ('{"vars": ["x"], "states": [{"x": {"#map": [[1]]}}]}', '"#map" must be a list of pairs.'),
        ('{"vars": ["x"], "states": [{"x": {"#odd": 1}}]}', 'the field "#odd" is not a value of ITF.'),
        (
            '{"vars": ["x"], "states": [{"x": {"#unserializable": "Int"}}]}',
            "the engine could not write this value down (Int).",
        ),
    ],
)
def test_input_that_is_not_itf_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_text(text)
    with pytest.raises(ConformError) as error:
        read_trace(path)
    assert message in error.value.message
    assert str(path) in error.value.message
    assert error.value.exit_code == USAGE


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"The trace .*none\.itf\.json does not exist"):
        read_trace(tmp_path / "none.itf.json")


def test_nothing_is_left_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConformError, match="cannot be written: Not a directory"):
        write_trace(tmp_path / "file" / "t.itf.json", TRACE)
    (tmp_path / "t.itf.json").mkdir()
    with pytest.raises(ConformError, match="cannot be written: Is a directory"):
        write_trace(tmp_path / "t.itf.json", TRACE)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "t.itf.json"]


def test_one_writer_writes_each_trace_as_a_writer_of_its_own_does() -> None:
    """Python holds True and 1 to be equal; their texts differ, also within values that are equal to it."""
    values: list[Value] = [(True,), (1,), True, 1, frozenset({True}), frozenset({1}), (), "a", ("a",)]
    traces = [
        Trace({}, ("x", "y"), [frozendict(x=one, y=two), frozendict(x=two, y=one)], ("Init", "A"))
        for one in values
        for two in values
    ]
    writer = ItfWriter()
    assert [writer.text(trace) for trace in traces] == [trace_to_text(trace) for trace in traces]
    assert '"x": {"#tup": [true]}, "y": {"#tup": [{"#bigint": "1"}]}' in writer.text(traces[1])


def test_meta_of_what_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"The trace .* cannot be read: Is a directory") as caught:
        read_meta(tmp_path)
    assert caught.value.exit_code == USAGE
