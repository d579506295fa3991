"""Hypothesis strategies for TLA+ values."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.values import ModelValue, Value, function

_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
model_values = _NAMES.filter(lambda name: name not in ("TRUE", "FALSE", "SUBSET")).map(ModelValue)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves: st.SearchStrategy[Value] = st.one_of(st.integers(), st.booleans(), texts)


def _deeper(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.frozensets(inner, max_size=4),
        st.dictionaries(_NAMES, inner, max_size=4).map(function),
        st.dictionaries(inner, inner, max_size=4).map(function),
        st.dictionaries(st.integers(1, 4), inner, max_size=4).map(function),
    )


itf_values: st.SearchStrategy[Value] = st.deferred(lambda: st.recursive(leaves, _deeper, max_leaves=12))
"""ITF has no model values."""
values: st.SearchStrategy[Value] = st.deferred(
    lambda: st.recursive(st.one_of(leaves, model_values), _deeper, max_leaves=12)
)
