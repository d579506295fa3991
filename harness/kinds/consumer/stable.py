"""A state as traces load it: a group that is stable, made without any request to the target."""

from __future__ import annotations

from typing import Final

from frozendict import frozendict

from harness.kinds.consumer import expect
from harness.kinds.consumer.decode import ConsumerLoad
from harness.kinds.consumer.state import Group, Member, Request, Response, SpecState, SpecStep
from harness.kinds.fields import Partition
from harness.replay import wire
from harness.replay.dialects import FORMS, operator_of
from harness.targets.base import Json

EPOCH: Final = 7
"""The epoch of the group, of its target assignment and of both members."""
OWNED: Final = frozendict({"m1": frozenset({("foo", 0)}), "m2": frozenset({("foo", 1)})})
"""The partitions of each member."""
_NOTHING: Final = SpecStep(
    "", "", "", Request("", 0, None, None, None, None, None), Response("", "", 0, None, None), "", 0, None, 0
)


def stable_group(dialect: str, topics: bool) -> ConsumerLoad:
    """Two members that own a partition each, at time 0; without topics they own nothing. `dialect` decides
    the form of the records."""
    owned: dict[str, frozenset[Partition]] = {
        name: partitions if topics else frozenset() for name, partitions in OWNED.items()
    }
    members = {
        name: Member(EPOCH, EPOCH - 1, "", frozenset({"foo"}), "", "", partitions, frozenset(), True)
        for name, partitions in owned.items()
    }
    sizes = {"foo": 2} if topics else {}
    group = Group(EPOCH, EPOCH, owned, sizes, members)
    timers: list[Json] = [
        {"timer": "session", "group": wire.GROUP, "member": name, "deadlineMs": wire.SESSION_TIMEOUT_MS}
        for name in members
    ]
    state = SpecState(group, sizes, _NOTHING, (0, 0, 0), {})
    return ConsumerLoad(state, timers, 0, expect.description(group), FORMS[operator_of(dialect)])
