"""A consumer from its configuration, by Kafka's names (K4): `group.protocol` chooses the machine.

    member = consumer({"group.id": "g", "group.protocol": "consumer", "group.remote.assignor": "range"})

`classic` is the default, as in KIP-848, whose text calls it `generic`. A setting that a protocol does not use
is refused with this protocol: KIP-848 calls those settings deprecated, and users would rely on a setting that
is silently ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from coordinator.classic.assignors import ASSIGNORS
from coordinator.members.classic import ClassicMember
from coordinator.members.classic import Settings as ClassicSettings
from coordinator.members.consumer import Member, Settings

CONSUMER: Final = "consumer"
CLASSIC: Final = frozenset({"classic", "generic"})

_COMMON: Final = {
    "group.id": "group_id",
    "group.instance.id": "instance_id",
    "client.rack": "rack_id",
    "retry.backoff.ms": "retry_backoff_ms",
}
_OF_CONSUMER: Final = _COMMON | {
    "group.remote.assignor": "server_assignor",
    "enable.auto.commit": "auto_commit",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "retry.backoff.max.ms": "retry_backoff_max_ms",
}
_OF_CLASSIC: Final = _COMMON | {
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "rebalance_timeout_ms",
}
"""Name of each setting -> the field of the machine's `Settings`."""
_ASSIGNORS: Final = {CONSUMER: "group.local.assignors", "classic": "partition.assignment.strategy"}


def consumer(configuration: Mapping[str, Any], member_id: str = "") -> Member | ClassicMember:
    """The consumer's side of a protocol. Assignors are objects; those of classic groups may be given by name.

    ValueError, in a sentence, for a setting that is missing, unknown or of the other protocol, and for local
    assignors beside a remote one.
    """
    given = dict(configuration)
    protocol = given.pop("group.protocol", "classic")
    if protocol in CLASSIC:
        protocol = "classic"
    elif protocol != CONSUMER:
        raise ValueError(f"group.protocol is {protocol!r}: it may be classic (or generic) or consumer.")
    assignors: Sequence[Any] = given.pop(_ASSIGNORS[protocol], ())
    names = _OF_CONSUMER if protocol == CONSUMER else _OF_CLASSIC
    for name in given:
        if name not in names:
            raise ValueError(f"{name} is no setting of a consumer whose group.protocol is {protocol}.")
    if not given.get("group.id"):
        raise ValueError("group.id is missing: a consumer of a group needs its name.")
    settings = {names[name]: value for name, value in given.items()}
    if protocol == CONSUMER:
        return Member(Settings(**settings), member_id, tuple(assignors))
    return ClassicMember(ClassicSettings(**settings), _classic(assignors or ("range",)), member_id)


def _classic(assignors: Sequence[Any]) -> list[Any]:
    unknown = [name for name in assignors if isinstance(name, str) and name not in ASSIGNORS]
    if unknown:
        raise ValueError(
            f"partition.assignment.strategy names {unknown[0]}: there are {', '.join(sorted(ASSIGNORS))}."
        )
    return [ASSIGNORS[one] if isinstance(one, str) else one for one in assignors]
