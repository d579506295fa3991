"""Checks of a ConsumerGroupHeartbeat that need no group: H3 and H4, clause by clause.

A clause takes the request and returns a sentence with the fault and its remedy, or None. The first clause of
the tables below that finds a fault decides the answer, and nothing changes. Clauses have the names of
spec/Validation.tla where the specification has them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Final, TypeVar

from coordinator.consumer.model import AWAY
from coordinator.consumer.request import JOIN_EPOCH, LEAVE_EPOCH, HeartbeatRequest
from coordinator.consumer.subscription import regex_problem
from coordinator.core.dialect import Dialect
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import shown

MAX_TEXT_BYTES: Final = 32_767
"""The most bytes, in UTF-8, of Kafka's strings in keys of records."""
MAX_TOPIC_NAME: Final = 249
"""The most characters of a topic's name in Kafka."""
MAX_SUBSCRIPTION_BYTES: Final = 1_000_000
"""The most bytes of all names together: the member's record must fit into a batch of 1 MB (P4)."""
NO_TOPIC_ID: Final = "00000000-0000-0000-0000-000000000000"

T = TypeVar("T", bound=Hashable)
Clause = Callable[[HeartbeatRequest], str | None]


def validate_heartbeat(request: HeartbeatRequest, assignors: Collection[str], dialect: Dialect) -> None:
    """H3, then H4. Raises RequestRejected with INVALID_REQUEST or UNSUPPORTED_ASSIGNOR."""
    if dialect.JoinOwns == "empty" and (problem := join_owns_something(request)) is not None:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, problem)
    for clause in INVALID_REQUEST if _has_content(request) else WITHOUT_CONTENT:
        problem = clause(request)
        if clause is assignor_name_empty and dialect.EmptyAssignorName == "unsupported":
            continue
        if problem is not None:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, problem)
    problem = server_assignor_unknown(request, assignors) or client_assignors_unsupported(request, dialect)
    if problem is not None:
        raise RequestRejected(ErrorCode.UNSUPPORTED_ASSIGNOR, problem)


def _has_content(request: HeartbeatRequest) -> bool:
    """Tell if a request has lists, expressions or assignors: a heartbeat without news (H7) has none."""
    return (
        request.subscription is not None
        or request.owned is not None
        or request.regex is not None
        or request.server_assignor is not None
        or request.client_assignors is not None
    )


def join_owns_something(request: HeartbeatRequest) -> str | None:
    """H3, where JoinOwns requires it: TopicPartitions of a join is present, and empty."""
    if request.member_epoch != 0 or request.owned == frozenset():
        return None
    return "TopicPartitions of a join must be an empty list; give up all partitions before joining."


def group_id_empty(request: HeartbeatRequest) -> str | None:
    """H3: GroupId must be non-empty."""
    return None if request.group_id else "GroupId is empty; name the group."


def lacks_member_id(request: HeartbeatRequest) -> str | None:
    """H3: MemberId must be non-empty, except on the first join."""
    if request.member_id or request.member_epoch == JOIN_EPOCH:
        return None
    return "MemberId is empty; send the one that the join was answered with, or join with member epoch 0."


def epoch_too_low(request: HeartbeatRequest) -> str | None:
    """H3: MemberEpoch >= -1, or >= -2 with an instance id."""
    least = LEAVE_EPOCH if request.instance_id is None else AWAY
    if request.member_epoch >= least:
        return None
    if request.member_epoch == AWAY:
        return "MemberEpoch -2 needs an InstanceId; give it, or leave with member epoch -1."
    return f"MemberEpoch is {request.member_epoch}; send -2, -1, 0 or the epoch of the last response."


def instance_id_empty(request: HeartbeatRequest) -> str | None:
    """H3: InstanceId, if given, is non-empty."""
    return "InstanceId is empty; give one, or leave it out." if request.instance_id == "" else None


def join_lacks_rebalance_timeout(request: HeartbeatRequest) -> str | None:
    """H3: RebalanceTimeoutMs > 0 on the first heartbeat."""
    if request.member_epoch != JOIN_EPOCH or request.rebalance_timeout_ms > 0:
        return None
    return f"RebalanceTimeoutMs is {request.rebalance_timeout_ms}; a join must give one larger than zero."


def rebalance_timeout_not_positive(request: HeartbeatRequest) -> str | None:
    """H3, H7: after the join -1 means unchanged, and no other number below 1 is valid."""
    if request.rebalance_timeout_ms > 0 or request.rebalance_timeout_ms == -1:
        return None
    return f"RebalanceTimeoutMs is {request.rebalance_timeout_ms}; give one above zero, or -1 for unchanged."


def join_lacks_subscription(request: HeartbeatRequest) -> str | None:
    """H3: a join has a subscription; an empty list of names is a subscription, too."""
    if request.member_epoch != JOIN_EPOCH or request.subscription is not None or request.regex:
        return None
    return "Neither SubscribedTopicNames nor SubscribedTopicRegex is given; a join needs one of them."


def text_too_long(request: HeartbeatRequest) -> str | None:
    """H3: ids, names and expressions fit into Kafka's strings, and so into records."""
    for name, text in (
        ("GroupId", request.group_id),
        ("MemberId", request.member_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
        ("SubscribedTopicRegex", request.regex),
        ("ServerAssignor", request.server_assignor),
    ):
        if text and is_too_long(text):
            return f"{name} is longer than {MAX_TEXT_BYTES} bytes; shorten it."
    return None


def is_too_long(text: str) -> bool:
    """Tell if the text is too long for Kafka's strings."""
    return len(text) > MAX_TEXT_BYTES // 4 and len(text.encode()) > MAX_TEXT_BYTES


def topic_name_invalid(request: HeartbeatRequest) -> str | None:
    """H3: topic names are names that a topic can have."""
    for name in request.topic_names:
        if not 0 < len(name) <= MAX_TOPIC_NAME:
            length = f"{len(name)} characters; a topic's has 1 to {MAX_TOPIC_NAME}"
            return f"SubscribedTopicNames has a name of {length}."
    return None


def topic_name_repeated(request: HeartbeatRequest) -> str | None:
    """H3: the request names each topic once."""
    if len(request.topic_names) == len(request.subscription or ()):
        return None
    return f"SubscribedTopicNames has {_first_repeated(request.topic_names)!r} twice; name each topic once."


def subscription_too_long(request: HeartbeatRequest) -> str | None:
    """H3, P4: the names fit into one record."""
    if sum(len(name.encode()) for name in request.topic_names) <= MAX_SUBSCRIPTION_BYTES:
        return None
    return (
        f"SubscribedTopicNames has {len(request.topic_names)} names, together more than "
        f"{MAX_SUBSCRIPTION_BYTES} bytes; subscribe with SubscribedTopicRegex."
    )


def regex_invalid(request: HeartbeatRequest) -> str | None:
    """H3, T1: the regular expression is valid in RE2."""
    problem = regex_problem(request.regex) if request.regex else None
    if problem is None:
        return None
    return f"SubscribedTopicRegex is not a regular expression of RE2 ({problem[:200]}); correct it."


def server_and_client_assignors(request: HeartbeatRequest) -> str | None:
    """H3: ServerAssignor and ClientAssignors are not used together."""
    if request.server_assignor is None or not request.client_assignors:
        return None
    return "ServerAssignor and ClientAssignors cannot be used together; leave one of them out."


def assignor_name_empty(request: HeartbeatRequest) -> str | None:
    """H3: an assignor of either side has a name."""
    if request.server_assignor == "":
        return "ServerAssignor is empty; name one, or leave it out."
    if request.client_assignors and not all(assignor.name for assignor in request.client_assignors):
        return "An entry of ClientAssignors has an empty Name; name it."
    return None


def client_assignor_repeated(request: HeartbeatRequest) -> str | None:
    """H3: the request offers each client-side assignor once."""
    if not request.client_assignors:
        return None
    names = [assignor.name for assignor in request.client_assignors]
    if len(names) == len(set(names)):
        return None
    return f"ClientAssignors has {_first_repeated(names)!r} twice; offer each assignor once."


def minimum_version_too_low(request: HeartbeatRequest) -> str | None:
    """H3: MinimumVersion >= -1."""
    for assignor in request.client_assignors or ():
        if assignor.minimum_version < -1:
            return f"MinimumVersion of {assignor.name} is {assignor.minimum_version}; the least is -1."
    return None


def maximum_version_too_low(request: HeartbeatRequest) -> str | None:
    """H3: MaximumVersion >= 0 and >= MinimumVersion."""
    for assignor in request.client_assignors or ():
        least = max(0, assignor.minimum_version)
        if assignor.maximum_version < least:
            return f"MaximumVersion of {assignor.name} is {assignor.maximum_version}; the least is {least}."
    return None


def metadata_version_outside(request: HeartbeatRequest) -> str | None:
    """H3: MetadataVersion within [MinimumVersion, MaximumVersion]."""
    for assignor in request.client_assignors or ():
        if not assignor.minimum_version <= assignor.metadata_version <= assignor.maximum_version:
            return (
                f"MetadataVersion of {assignor.name} is {assignor.metadata_version}; it must be from "
                f"{assignor.minimum_version} to {assignor.maximum_version}."
            )
    return None


def partition_negative(request: HeartbeatRequest) -> str | None:
    """H3: partitions count from 0."""
    for topic_id, index in request.topic_partitions:
        if index < 0:
            return f"TopicPartitions has partition {index} of topic {topic_id}; partitions count from 0."
    return None


def topic_id_missing(request: HeartbeatRequest) -> str | None:
    """H3, T2: a topic id is not all zeros, which stands for no topic."""
    for topic_id, _ in request.topic_partitions:
        if topic_id == NO_TOPIC_ID:
            return "TopicPartitions has a topic id of zeros; give the id of the topic."
    return None


def partition_repeated(request: HeartbeatRequest) -> str | None:
    """H3: the request reports each owned partition once."""
    if len(request.topic_partitions) == len(request.owned or ()):
        return None
    topic_id, index = _first_repeated(request.topic_partitions)
    return f"TopicPartitions has partition {index} of topic {topic_id} twice; name each partition once."


def server_assignor_unknown(request: HeartbeatRequest, assignors: Collection[str]) -> str | None:
    """H4: ServerAssignor is one that the coordinator has."""
    if request.server_assignor is None or request.server_assignor in assignors:
        return None
    known = ", ".join(assignors)
    return f"ServerAssignor {shown(request.server_assignor)} is not supported; there are {known}."


def client_assignors_unsupported(request: HeartbeatRequest, dialect: Dialect) -> str | None:
    """H4, A8: Kafka has no client-side assignors for consumer groups. Their versions are compared in
    computing/offers.py."""
    if not request.client_assignors or dialect.has_client_assignors:
        return None
    return "ClientAssignors are not supported; name a ServerAssignor, or none."


def _first_repeated(values: Iterable[T]) -> T:
    seen: set[T] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    raise ValueError("no value is repeated")


WITHOUT_CONTENT: Final[tuple[Clause, ...]] = (
    group_id_empty,
    lacks_member_id,
    epoch_too_low,
    instance_id_empty,
    join_lacks_rebalance_timeout,
    rebalance_timeout_not_positive,
    join_lacks_subscription,
    text_too_long,
)
"""H3: the clauses that a request without lists, expressions and assignors can break."""
INVALID_REQUEST: Final[tuple[Clause, ...]] = (
    *WITHOUT_CONTENT,
    topic_name_invalid,
    topic_name_repeated,
    subscription_too_long,
    regex_invalid,
    server_and_client_assignors,
    assignor_name_empty,
    client_assignor_repeated,
    minimum_version_too_low,
    maximum_version_too_low,
    metadata_version_outside,
    partition_negative,
    topic_id_missing,
    partition_repeated,
)
"""H3, in the order in which the clauses are checked."""
