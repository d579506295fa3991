"""Data of members of the classic protocol, in the form of the consumer protocol (M2, M4).

Only here does the coordinator read the embedded consumer protocol. All protocols of a JoinGroup have the same
data, except for user data: the first one counts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from coordinator.classic.embedded import (
    NEWEST,
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    version_of,
    write_assignment,
    write_subscription,
)
from coordinator.consumer.model import (
    CLASSIC_VERSION,
    ClassicMetadata,
    ClientAssignor,
    MemberMetadata,
    Partitions,
    Target,
)
from coordinator.consumer.subscription import shared
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.step import Env

CONSUMER: Final = "consumer"
"""The protocol type whose groups migrate."""
LEAST_VERSION: Final = 3
"""The least version of the embedded protocol that has all fields that the consumer protocol needs (M2)."""

Protocols = tuple[tuple[str, str], ...]


class ProtocolData(NamedTuple):
    """Data of a JoinGroup: the subscription, the owned partitions, their generation (-1 for none)."""

    subscription: frozenset[str]
    owned: Partitions
    generation: int
    rack_id: str | None
    assignors: tuple[ClientAssignor, ...]


def read_protocols(env: Env, protocols: Protocols) -> ProtocolData:
    """The protocols of a JoinGroup. BadInput where one is older than version 3, or cut off (M2)."""
    read = [(name, _subscription(name, _bytes(metadata))) for name, metadata in protocols]
    if not read:
        raise BadInput("there is no protocol")
    first = read[0][1]
    return ProtocolData(
        shared(first.topics),
        ids_of(env, first.owned),
        first.generation,
        first.rack_id,
        tuple(_assignor(name, one) for name, one in read) if env.dialect.has_client_assignors else (),
    )


def _subscription(name: str, metadata: bytes) -> Subscription:
    version = version_of(metadata)
    if version < LEAST_VERSION:
        raise BadInput(
            f"protocol {name!r} has version {version} of the embedded consumer protocol, and migration takes "
            f"version {LEAST_VERSION}; upgrade the member's client"
        )
    return read_subscription(metadata)


def _assignor(name: str, subscription: Subscription) -> ClientAssignor:
    """M4: user data becomes the metadata of an assignor; only that assignor can read them."""
    user_data = b64encode(subscription.user_data or b"").decode()
    return ClientAssignor(name, CLASSIC_VERSION, CLASSIC_VERSION, 0, CLASSIC_VERSION, user_data)


def ids_of(env: Env, named: frozenset[tuple[str, int]]) -> Partitions:
    """Partitions by topic id; those of an unknown topic, or with an index that the topic does not have, are
    left out (T2)."""
    return frozenset(
        (env.topics[name].id, index)
        for name, index in named
        if name in env.topics and 0 <= index < env.topics[name].partitions
    )


def metadata_of(
    data: ProtocolData,
    protocols: Protocols,
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
    instance_id: str | None,
    client: tuple[str, str],
) -> MemberMetadata:
    """The member as the consumer protocol knows it; `client` is its id and host."""
    return MemberMetadata(
        instance_id,
        data.rack_id,
        *client,
        data.subscription,
        None,
        rebalance_timeout_ms,
        None,
        data.assignors,
        ClassicMetadata(session_timeout_ms, protocols),
    )


def assigned_to(env: Env, assignment: str) -> Partitions:
    """The partitions of a leader's assignment, by topic id. BadInput where it cannot be read."""
    return ids_of(env, read_assignment(_bytes(assignment)).partitions)


def assignment_bytes(
    assigned: Partitions, target: Target, protocols: Protocols, names: Mapping[str, str]
) -> str:
    """The assignment of a SyncGroup, in the version of the member's subscription; `names` has the names of
    topic ids. The metadata of its assignor becomes the user data."""
    named = frozenset((names[topic_id], index) for topic_id, index in assigned if topic_id in names)
    user_data = _user_data(target.metadata_bytes)
    version = _version(protocols[0][1])
    return b64encode(write_assignment(Assignment(named, user_data), version)).decode()


def _user_data(metadata: str) -> bytes | None:
    """M4: the bytes of a target's metadata. Text that is not base64 was computed for a consumer whose place a
    classic member has taken since, or is from an older log: it stands for no bytes."""
    try:
        return fields.from_base64(metadata) or None
    except ValueError:
        return None


def owning(env: Env, protocols: Protocols, held: Partitions, generation: int) -> Protocols:
    """The protocols of a member as if it reported its held partitions now, in that generation. Bytes from a
    log that cannot be read stay as they are."""
    names = env.names_by_id
    owned = frozenset((names[topic_id], index) for topic_id, index in held if topic_id in names)
    return tuple((name, _with_owned(content, owned, generation)) for name, content in protocols)


def _with_owned(content: str, owned: frozenset[tuple[str, int]], generation: int) -> str:
    try:
        owning = replace(read_subscription(_bytes(content)), owned=owned, generation=generation)
    except BadInput:
        return content
    return b64encode(write_subscription(owning)).decode()


def _version(metadata: str) -> int:
    """The version of an assignment: that of the subscription, or the newest where the log's subscription
    cannot be read."""
    try:
        return min(version_of(_bytes(metadata)), NEWEST)
    except BadInput:
        return NEWEST


def _bytes(text: str) -> bytes:
    """Bytes of a member, as text in base64. BadInput where the text is not base64: only a log can have
    that."""
    try:
        return b64decode(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not base64 ({error})") from None
