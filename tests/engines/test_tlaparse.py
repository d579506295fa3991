"""TLA+ values: a printed value is read back as the same value."""

from __future__ import annotations

import re

import pytest
from frozendict import frozendict
from hypothesis import given
from hypothesis import strategies as st
from tla_values import values

from harness.tlaparse import Reader, TlaSyntaxError, parse_value, print_value
from harness.values import ModelValue, Value, as_function, function, sort_key


@given(values)
def test_printed_values_are_read_back(value: Value) -> None:
    again = parse_value(print_value(value))
    assert again == value
    assert print_value(again) == print_value(value)  # a model value stays one, TRUE does not become 1


@given(st.lists(values, min_size=1, max_size=6))
def test_a_reader_that_remembers_reads_the_same(many: list[Value]) -> None:
    reader = Reader()
    texts = [print_value(value) for value in many]
    assert [reader.value(text) for text in texts + texts] == many + many


@given(values, st.sampled_from([" ", "\n", "\n      "]))
def test_white_space_between_tokens_does_not_matter(value: Value, space: str) -> None:
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|\|->|:>|@@|<<|>>|-?\w+|\S', print_value(value))
    assert parse_value(space.join(tokens)) == value


@given(st.text(alphabet='{}[]()<>|-:@,."\\ab1 \nTRUE', max_size=30))
def test_any_other_text_is_an_error_with_a_place(text: str) -> None:
    try:
        value = parse_value(text)
    except TlaSyntaxError as error:
        assert re.match(r"line \d+, column \d+: ", str(error))
    else:
        assert parse_value(print_value(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-12", -12),
        ("2..4", frozenset({2, 3, 4})),
        ("3..2", frozenset()),
        ("{1..2, 5..5}", frozenset({frozenset({1, 2}), frozenset({5})})),
        (r'"a\"b\\c\n"', 'a"b\\c\n'),
        ('"a, {b} << |->"', "a, {b} << |->"),
        ("<<>>", ()),
        ("{}", frozenset()),
        ("[]", ()),
        ("[a |-> 1, b_2 |-> {TRUE}]", frozendict({"a": 1, "b_2": frozenset({True})})),
        ('(<<"foo", 0>> :> "m1" @@ <<"foo", 1>> :> "")', frozendict({("foo", 0): "m1", ("foo", 1): ""})),
        ("(1 :> 7 @@ 2 :> 8)", (7, 8)),
        ("(0 :> 7 @@ 1 :> 8)", frozendict({0: 7, 1: 8})),
        ("(p1 :> <<p2>>)", frozendict({"p1": ("p2",)})),
    ],
)
def test_values_as_tlc_prints_them(text: str, value: Value) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected a value, found nothing"),
        ("{1, }", "line 1, column 1: expected a value, found nothing"),
        ("{1,\n  <<2, [x |-> ]>>}", "line 2, column 8: expected `field |-> value`, found `x |->`"),
        ("{1, <<2>", "line 1, column 5: this bracket is not closed: `<<`"),
        ("{1>>", "line 1, column 1: `>>` closes nothing"),
        ("(1)", "line 1, column 1: expected `argument :> value`, found `1`"),
        ('<<1, "a>>', 'line 1, column 1: expected a value, found `" a`'),
        ("SUBSET {1}", "line 1, column 1: TLC prints a large set without its elements: `SUBSET {1}`"),
        ("[{1} -> {2}]", "line 1, column 1: expected `field |-> value`, found `{1} -> {2}`"),
    ],
)
def test_errors_say_where_and_what(text: str, message: str) -> None:
    with pytest.raises(TlaSyntaxError) as error:
        parse_value(text)
    assert str(error.value) == message


def test_a_state_over_several_lines() -> None:
    text = (
        '/\\ group = [ epoch |-> 3,\n  members |->\n      [m1 |-> {<<"foo", 0>>}] ]\n'
        "/\\ topics = [foo |-> 2]\n"
    )
    assert Reader().state(text) == frozendict(
        group=frozendict(epoch=3, members=frozendict(m1=frozenset({("foo", 0)}))), topics=frozendict(foo=2)
    )


def test_a_state_of_one_variable_has_no_conjunct() -> None:
    assert Reader().state("at = 0") == frozendict(at=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/\\ x = 1\n/\\ y = <<1,\n  2>", "in the value of y (line 2 of the state), line 1, column 2"),
        ("/\\ x = 1\n/\\ y", "line 2, column 1: expected `variable = value`, found `y`"),
    ],
)
def test_an_error_in_a_state_names_the_variable(text: str, message: str) -> None:
    with pytest.raises(TlaSyntaxError, match=re.escape(message)):
        Reader().state(text)


def test_model_values_equal_their_names_but_print_without_quotes() -> None:
    value = parse_value("{p1}")
    assert value == frozenset({"p1"}) == frozenset({ModelValue("p1")})
    assert print_value(value) == "{p1}"


@given(values, values)
def test_the_order_of_values_is_total(one: Value, other: Value) -> None:
    assert (sort_key(one) == sort_key(other)) == (print_value(one) == print_value(other)) or one == other
    assert sort_key(one) <= sort_key(other) or sort_key(other) <= sort_key(one)


@given(st.dictionaries(st.integers(0, 4), st.integers(), max_size=5))
def test_functions_keep_their_arguments(items: dict[int, int]) -> None:
    assert as_function(function(items)) == items
    assert isinstance(function(items), tuple) == (set(items) == set(range(1, len(items) + 1)))
