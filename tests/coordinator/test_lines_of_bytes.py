"""Lines as bytes: the line protocol reads each of them as Python's json does."""

from __future__ import annotations

import json

import pytest

from coordinator import Coordinator
from coordinator.stdio import LineProtocol


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", ['{"op":"describe","group":"gé"}', ' {"op": "hello"}', '{"op"', "[]", "{}"])
def test_lines_of_bytes_are_read_as_json_reads_them(encoding: str, text: str) -> None:
    line = text.encode(encoding)
    protocol = LineProtocol(Coordinator())
    try:
        expected = protocol.answer(json.loads(line))
    except ValueError as error:
        expected = {"ok": False, "error": f"the line is not JSON: {error}"}
    assert json.loads(protocol.handle(line)) == expected


ODD = [
    *('"\\ud83d"', '"\\ud83d\\ude00"', '"\u2028"', '"\x7f"', "123456789012345678901234567890", "1e999"),
    *("NaN", "-Infinity", "1.0", "-0", "01", "1.", '{"a":1,"a":2}', '"\t"', "[" * 50 + "]" * 50, "1" * 5000),
]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("place", ['{"op":"request","id":%s}', '{"op":"records","since":%s}', '{"op":%s}'])
def test_odd_values_are_read_as_json_reads_them(place: str, value: str) -> None:
    line = place % value
    protocol = LineProtocol(Coordinator())
    try:
        expected = protocol.answer(json.loads(line))
    except ValueError as error:
        expected = {"ok": False, "error": f"the line is not JSON: {error}"}
    handled = protocol.handle(line.encode())
    assert handled.isascii()
    assert json.loads(handled) == expected


def test_a_line_that_is_not_utf_8_is_not_json() -> None:
    answer = json.loads(LineProtocol(Coordinator()).handle(b'{"op":"describe","group":"\xff"}'))
    assert not answer["ok"] and answer["error"].startswith("the line is not JSON: 'utf-8' codec")
