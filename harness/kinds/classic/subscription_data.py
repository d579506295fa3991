"""Data that members of the classic protocol send as they migrate (spec/Conversions.tla)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

_CLAIM: Final = re.compile(r"owns (\S+) (\d+)")
_GENERATION: Final = re.compile(r"generation (-?\d+)")
_USER_DATA: Final = re.compile(r"user data (\S*)")
_Partition: TypeAlias = tuple[str, int]


class SubscriptionData(NamedTuple):
    """A subscription. Without a `generation` it reports no owned partitions, either. `user_data` is for the
    member's assignor (M4), in base64."""

    topics: frozenset[str]
    owned: frozenset[_Partition] = frozenset()
    generation: int | None = None
    user_data: str = ""


def subscription_data(texts: frozenset[str]) -> SubscriptionData:
    """A subscription of the specification, in which owned partitions, the generation and user data are
    strings among the topics."""
    generations = [match for text in texts if (match := _GENERATION.fullmatch(text))]
    if not generations:
        return SubscriptionData(texts)
    claims = [match for text in texts if (match := _CLAIM.fullmatch(text))]
    user_data = [match for text in texts if (match := _USER_DATA.fullmatch(text))]
    topics = texts - {match.string for match in (*generations, *claims, *user_data)}
    owned = frozenset((match[1], int(match[2])) for match in claims)
    return SubscriptionData(topics, owned, int(generations[0][1]), "".join(match[1] for match in user_data))


class Classic(NamedTuple):
    """The coordinator's further state of a member of the classic protocol (M2): its phase in the rebalance
    ("prepare", "complete", "stable", and in Kafka "both"), and the last JoinGroup's protocols and
    subscription."""

    phase: str
    protocols: tuple[str, ...]
    subscription: frozenset[str]
