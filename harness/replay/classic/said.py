"""What is kept of a member of the classic protocol in a consumer group."""

from __future__ import annotations

from typing import NamedTuple


class Classic(NamedTuple):
    """What the coordinator keeps of a member that uses the classic protocol, besides (M2): where it is in its
    rebalance ("prepare", "complete" or "stable"), and the last JoinGroup's protocols and subscription."""

    phase: str
    protocols: tuple[str, ...]
    subscription: frozenset[str]
