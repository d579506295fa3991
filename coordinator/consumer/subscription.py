"""Subscriptions (T1): topic names, and a regular expression in RE2's syntax.

RE2 takes time linear in the length of the name, whatever the expression. A compiled expression takes up to 8
MB, so only few are kept. The matching names are kept for more expressions, by the topics of the cluster.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final
from weakref import WeakValueDictionary

import re2

from coordinator.consumer.model import Subscription

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False


@lru_cache(maxsize=16)
def _compiled(regex: str) -> Any:
    compiled = re2.compile(regex, _OPTIONS)
    re2.purge()  # the library itself keeps 128
    return compiled


def regex_problem(regex: str) -> str | None:
    """The fault of the expression, in RE2's words; None if it is valid."""
    try:
        _compiled(regex)
    except re2.error as error:
        reason: bytes = error.args[0]
        return reason.decode()
    return None


_SHARED: Final[WeakValueDictionary[int, frozenset[str]]] = WeakValueDictionary()
"""The sets that subscriptions share, by their hash, as long as a member or a record has them."""


def shared(names: frozenset[str]) -> frozenset[str]:
    """The names, as the one set that equal subscriptions share.

    Ten thousand members that subscribe to the same thousand topics keep one set, not a gigabyte of copies,
    and a comparison of two such sets takes no time.
    """
    known = _SHARED.get(hash(names))
    if known == names:
        return known
    _SHARED[hash(names)] = names
    return names


def topics_of(subscription: Subscription, existing: frozenset[str]) -> frozenset[str]:
    """TopicsOf (T1): the existing topics that are named, or that the regular expression matches."""
    names, regex = subscription
    named = names & existing
    return named | _matching(regex, existing) if regex else named


@lru_cache(maxsize=256)
def _matching(regex: str, names: frozenset[str]) -> frozenset[str]:
    """The names that a valid expression matches as a whole."""
    matches = _compiled(regex).fullmatch
    return frozenset(name for name in names if matches(name))
