"""The member's side of KIP-848: the behaviour of `KafkaConsumer`, without threads, sockets and clocks.

The package imports only the standard library, so it can be copied into a client.
"""

from coordinator.members.consumer.local import Consumer, Listener, Service
from coordinator.members.consumer.machine import Member
from coordinator.members.consumer.types import (
    Callback,
    CallbackName,
    MemberError,
    Partitions,
    Purpose,
    Request,
    Settings,
    State,
    TopicPartition,
)

__all__ = [
    "Callback",
    "CallbackName",
    "Consumer",
    "Listener",
    "Member",
    "MemberError",
    "Partitions",
    "Purpose",
    "Request",
    "Service",
    "Settings",
    "State",
    "TopicPartition",
]
