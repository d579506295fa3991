"""Operations that random schedules never draw, with the reasons: each run prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.replay import wire
from harness.replay.features import CLIENT_SIDE, FEATURES, REGEXES

_DRAWN: Final = tuple(name for name in FEATURES if name not in (REGEXES, CLIENT_SIDE))
CAN: Final = ("fire", "advance", "restart", "ids", "configure", wire.COMMIT, wire.FETCH, *_DRAWN)
"""Operations, requests and features that are drawn only if both targets have them."""
TIED_BY_CHANCE: Final = "kafka-4.4"
TEXT: Final = "kip-848"

LEFT_OUT: Final = (
    "classic groups (JoinGroup, SyncGroup, Heartbeat, LeaveGroup): conform replay traces/classic has them",
    "groups that migrate between the protocols: conform replay traces/migration has them",
    "Connect groups: conform replay traces/connect has them",
    "share groups: conform replay traces/share has them",
    "client-side assignors (PrepareAssignment, InstallAssignment): conform replay traces/client has them",
    "administration (ListGroups, DeleteGroups, configurations): conform replay traces/corpus has it",
    "clients without rights: conform replay traces/admission has them",
    "regular expressions: Kafka resolves them in the background, a dialect at once",
    "offsets of partitions that are not there, and topics by name: a broker answers, and not its coordinator",
    "member ids that change their instance id while they are in the group: the dialects do not say what then",
    "names and owned partitions without a rebalance time-out: in the specification requests have none",
    "fail-overs while a member is away that left in the middle of a revocation: Kafka then removes it",
    "intervals between target assignments: the dialects compute targets at once, and so the interval is 0",
)
"""Operations that are never drawn, for any targets, with the reasons."""
LEFT_OUT_KAFKA: Final = (
    "assignors that fail: what then becomes of the request, the dialects of Kafka do not say",
    "commits with an epoch below 0 where there is no group: Kafka makes a classic group",
    "commits of a member id with an epoch below 0 in a group without members: Kafka takes them",
    "fetches of a member id where there is no group: Kafka answers that nothing is committed",
)
LEFT_OUT_TIED: Final = (
    "two assignors in one group: Kafka 4.4 breaks a tie between them by the order of a hash map"
)


def left_out(dialects: Sequence[str], can: frozenset[str]) -> list[str]:
    """All operations that are not drawn with two targets of these dialects that both can do `can`, with the
    reasons."""
    return [
        *LEFT_OUT,
        *(LEFT_OUT_KAFKA if set(dialects) != {TEXT} else ()),
        *([LEFT_OUT_TIED] if TIED_BY_CHANCE in dialects else ()),
        *(f"{name}: one of the targets does not have it" for name in CAN if name not in can),
    ]
