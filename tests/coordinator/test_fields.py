"""Readers of fields: the value in its type, or one sentence that names the field and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.core import fields
from coordinator.core.errors import BadInput

UUID = "0195dc41-9aab-7cf1-8b8e-1e5b4cf0a111"


def refusal(read: Callable[..., Any], *args: Any, **options: Any) -> str:
    """The sentence with which a reader refuses its arguments."""
    with pytest.raises(BadInput) as refused:
        read(*args, **options)
    return str(refused.value)


def test_an_unknown_field_is_named_with_those_that_there_are() -> None:
    fields.known({"a": 1}, ("b", "a"), "R")
    fields.known({}, (), "R")
    assert refusal(fields.known, {"a": 1, "x": 2}, ("b", "a"), "R") == "R has no field 'x'; it has a, b"


@pytest.mark.parametrize(
    ("read", "right", "wrong", "called"),
    [
        (fields.text, "", 1, "a string"),
        (fields.text, "ü", None, "a string"),
        (fields.integer, 7, "7", "a whole number"),
        (fields.integer, 7, True, "a whole number"),
        (fields.integer, 7, 7.0, "a whole number"),
        (fields.boolean, False, 0, "true or false"),
        (fields.items, [], {}, "a list"),
        (fields.mapping, {}, [], "an object"),
        (fields.names, [], "a", "a list"),
    ],
)
def test_a_required_field_has_its_type(
    read: Callable[..., Any], right: object, wrong: object, called: str
) -> None:
    assert read({"f": right}, "f", "R") == right
    assert refusal(read, {"f": wrong}, "f", "R") == f"'f' of R must be {called}, not {wrong!r}"
    assert refusal(read, {"g": right}, "f", "R") == "R needs the field 'f'"


def test_a_number_has_a_least_value_and_a_size() -> None:
    assert fields.integer({"f": 0}, "f", "R") == 0
    assert refusal(fields.integer, {"f": -1}, "f", "R") == "'f' of R must be at least 0, not -1"
    assert fields.integer({"f": 5}, "f", "R", least=5) == 5
    assert refusal(fields.integer, {"f": 4}, "f", "R", least=5) == "'f' of R must be at least 5, not 4"
    assert fields.integer({"f": -9}, "f", "R", None) == -9
    assert fields.integer({"f": 2**63 - 1}, "f", "R") == 2**63 - 1
    assert "fit into an int64" in refusal(fields.integer, {"f": 2**63}, "f", "R")


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_a_signed_number_of_bits(bits: int) -> None:
    for value in (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1):
        assert fields.fits(value, bits, "f", "R") == value
    for value in (-(2 ** (bits - 1)) - 1, 2 ** (bits - 1)):
        sentence = f"'f' of R must fit into an int{bits}, not {value}"
        assert refusal(fields.fits, value, bits, "f", "R") == sentence


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    assert fields.encodable("aü\U0001f600", "f", "R") == "aü\U0001f600"
    for read in (fields.text, fields.optional_text):
        assert refusal(read, {"f": "a\ud800"}, "f", "R") == "'f' of R is not Unicode text: 'a\\ud800'"
    assert refusal(fields.names, {"f": ["a", "\ud800"]}, "f", "R").startswith("'f' of R is not Unicode text")


def test_names_are_a_list_of_strings() -> None:
    assert fields.names({"f": ["b", "a"]}, "f", "R") == ["b", "a"]
    assert refusal(fields.names, {"f": ["a", 1]}, "f", "R") == (
        "'f' of R must be a list of strings, not ['a', 1]"
    )


@pytest.mark.parametrize(("read", "value"), [(fields.optional_text, "a"), (fields.optional_integer, 0)])
def test_an_optional_field_is_null_or_left_out(read: Callable[..., Any], value: object) -> None:
    assert read({"f": value}, "f", "R") == value
    assert read({"f": None}, "f", "R") is None
    assert read({}, "f", "R") is None
    assert "must be a" in refusal(read, {"f": []}, "f", "R")


def test_a_negative_number_is_no_optional_number() -> None:
    assert refusal(fields.optional_integer, {"f": -1}, "f", "R") == "'f' of R must be at least 0, not -1"


def test_an_object_is_itself() -> None:
    value = {"a": 1}
    assert fields.as_object(value, "R") is value
    assert refusal(fields.as_object, [1], "R") == "R must be an object, not [1]"


def test_a_long_value_is_cut_in_a_message() -> None:
    assert fields.shown("a" * 98) == repr("a" * 98)
    assert fields.shown("a" * 99) == "'" + "a" * 99 + "..."


def test_a_value_that_is_nested_too_deeply_is_named_by_its_type() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert fields.shown(deep) == "a list that is nested too deeply"


@pytest.mark.parametrize("text", ["YQ", "YQ=", "Y Q==", "YQ==YQ==", "-_-_", "a\n", "=", "ü"])
def test_text_that_is_not_wholly_base64(text: str) -> None:
    with pytest.raises(ValueError):
        fields.from_base64(text)
    assert fields.from_base64("YQ==") == b"a"
    assert fields.from_base64("") == b""


@pytest.mark.parametrize("text", [UUID.upper(), UUID.replace("-", ""), f"{{{UUID}}}"])
def test_a_topic_id_has_a_normal_form(text: str) -> None:
    assert fields.topic_id(text, "R") == UUID


@pytest.mark.parametrize("value", [None, 1, "", "x", UUID[:-1]])
def test_a_value_that_is_no_topic_id_is_refused(value: object) -> None:
    assert refusal(fields.topic_id, value, "R") == (
        f"the topic id of R must be a UUID as text, not {value!r}"
    )
