"""The member's side of KIP-848: what `KafkaConsumer` does, without threads, sockets and clocks.

It imports nothing but the standard library, so it can be taken out and put into a client.
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
