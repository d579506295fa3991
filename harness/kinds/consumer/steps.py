"""One handler for each action of the specification: the operation that it sends to a target.

A handler turns a step into a `Call`, once, when a trace is decoded; a replay sends prepared calls. Actions of
members and the network in closed models do not reach the coordinator and are listed apart. A name in neither
list is an error: for a new action of the specification the harness needs an entry.
"""

from __future__ import annotations

from typing import Final

from harness.kinds.actions import registering
from harness.kinds.consumer.state import AWAY, SpecState
from harness.kinds.consumer.wire import heartbeat as body_of
from harness.kinds.features import admin, admission, commits
from harness.kinds.features import computing as client
from harness.replay import wire
from harness.replay.calls import Call, ChangeTopics, FireTimer, Restart, SendRequest

HANDLERS: Final[dict[str, admin.Handler]] = {
    **admin.HANDLERS,
    **admission.HANDLERS,
    **client.HANDLERS,
}
"""The actions that call the target."""

OTHER_ACTIONS: Final = frozenset(
    {
        "ReceiveResponse",
        "FinishRevocation",
        "ChangeSubscription",
        "Consume",  # members
        "Crash",
        "CrashSending",
        "Start",  # client processes
        "LoseRequest",
        "LoseResponse",
        "LoseCommit",  # the network
        "Compact",  # the log, which an implementation compacts at any time
    }
)
"""Actions that the coordinator never sees; the group and the topics must not change."""

action: Final = registering(HANDLERS)


def _checked(after: SpecState) -> None:
    """Check the conditions of every request. ValueError, in words, where one does not hold."""
    request = after.step.request
    if request.member not in ("", after.step.member):
        raise ValueError(f"the step is of {after.step.member!r}, its request of {request.member!r}")
    if after.step.response.error not in wire.ERROR_CODES:
        raise ValueError(f"the response has the error {after.step.response.error!r}, which has no code")


def _heartbeat(after: SpecState, expected: bool, epoch: str) -> Call:
    """A ConsumerGroupHeartbeat; an invalid one (H3), or one that is refused unread (H5), may have any
    epoch."""
    request, error = after.step.request, after.step.response.error
    if not expected and error != "INVALID_REQUEST" and error not in wire.NOT_ADMITTED:
        raise ValueError(f"the member epoch of a {after.step.action} is {epoch}, not {request.epoch}")
    _checked(after)
    return SendRequest(wire.HEARTBEAT, wire.client(after.step.member), body_of(request))


@action
def join(before: SpecState, after: SpecState) -> Call:
    """H1: epoch 0, of a member that the group does not have; S2 or the group's size (H5) may refuse it."""
    if after.step.member in before.group.members:
        raise ValueError(f"{after.step.member} joins, but is in the group already")
    return _heartbeat(after, after.step.request.epoch == 0, "0")


@action
def rejoin(before: SpecState, after: SpecState) -> Call:
    """H1: epoch 0, of a member that the group has."""
    if after.step.member not in before.group.members:
        raise ValueError(f"{after.step.member} rejoins, but is not in the group")
    return _heartbeat(after, after.step.request.epoch == 0, "0")


@action
def return_(before: SpecState, after: SpecState) -> Call:
    """S1: epoch 0 with the instance id of a member that is away; its place is taken over."""
    holder = before.group.holder(after.step.request.instance)
    if holder is None or before.group.members[holder].epoch != AWAY:
        raise ValueError(f"{after.step.member} returns, but no member with its instance id is away")
    return _heartbeat(after, after.step.request.epoch == 0, "0")


@action
def heartbeat(before: SpecState, after: SpecState) -> Call:
    """A heartbeat of any epoch, from a member of the group or not."""
    return _heartbeat(after, after.step.request.epoch > 0, "above 0")


@action
def leave(before: SpecState, after: SpecState) -> Call:
    """H2: epoch -1."""
    return _heartbeat(after, after.step.request.epoch == -1, "-1")


@action
def leave_temporarily(before: SpecState, after: SpecState) -> Call:
    """H2, S1: epoch -2, of a static member that intends to return."""
    return _heartbeat(after, after.step.request.epoch == AWAY, str(AWAY))


@action
def offset_commit(before: SpecState, after: SpecState) -> Call:
    """O1, O2: a member, or an administrator without member id, commits the offset of a partition."""
    _checked(after)
    return SendRequest(wire.COMMIT, wire.client(after.step.member), commits.offset_commit(after.step))


@action
def offset_fetch(before: SpecState, after: SpecState) -> Call:
    """O1, O4: a request for the committed offset of a partition; the step has the offset."""
    _checked(after)
    committed = before.offsets.get(commits.partition_of(after.step), -1)
    if after.step.response.error == "NONE" and after.step.offset != committed:
        raise ValueError(f"the offset {committed} is committed, but {after.step.offset} is fetched")
    return SendRequest(wire.FETCH, wire.client(after.step.member), commits.offset_fetch(after.step))


@action
def fail_over(before: SpecState, after: SpecState) -> Call:
    """P2: a new coordinator; if a topic changed, the old one's records about it are lost."""
    topic = after.step.topic
    if not topic:
        if before.key[1] != after.key[1]:
            raise ValueError("the topics change in a fail-over that names no topic")
        return Restart(None)
    if after.step.partitions < 0:
        return Restart(delete_topic(before, after))
    return Restart((add_partitions if before.topics.get(topic, 0) > 0 else create_topic)(before, after))


@action
def session_timeout(before: SpecState, after: SpecState) -> Call:
    """H8: no heartbeat for the session time-out."""
    if after.step.member not in before.group.members:
        raise ValueError(f"the session of {after.step.member} runs out, but it is not in the group")
    return FireTimer("session", after.step.member)


@action
def rebalance_timeout(before: SpecState, after: SpecState) -> Call:
    """R4: the revocation was not acknowledged in time."""
    member = before.group.members.get(after.step.member)
    if member is None or not member.revoking:
        raise ValueError(f"the revocation of {after.step.member} runs out, but it revokes nothing")
    return FireTimer("rebalance", after.step.member)


@action
def delete_group(before: SpecState, after: SpecState) -> Call:
    """E5: the group has been empty for the configured time."""
    if not before.group.exists or before.group.members:
        raise ValueError("the group is deleted, but it is not empty")
    return FireTimer("group", "")


def _upsert(after: SpecState, right: bool, rule: str) -> ChangeTopics:
    name, partitions = after.step.topic, after.step.partitions
    if not right or after.topics.get(name) != partitions:
        raise ValueError(f"{rule}, but {name!r} has {after.topics.get(name, 0)} partitions after the step")
    return ChangeTopics((wire.topic(name, partitions),), ())


@action
def create_topic(before: SpecState, after: SpecState) -> ChangeTopics:
    """E1: a topic appears; a recreated one is another topic with the same name (T2)."""
    if same := [topic for topic in before.topics if _live_namesake(before, topic, after.step.topic)]:
        raise ValueError(f"topic {after.step.topic!r} is created, but {same[0]!r} has its name")
    right = before.topics.get(after.step.topic, 0) == 0 < after.step.partitions
    return _upsert(after, right, f"a topic with {after.step.partitions} partitions is created")


@action
def add_partitions(before: SpecState, after: SpecState) -> ChangeTopics:
    """E1: a topic grows; `partitions` is its number of partitions afterwards."""
    right = 0 < before.topics.get(after.step.topic, 0) < after.step.partitions
    return _upsert(after, right, f"a topic grows to {after.step.partitions} partitions")


@action
def delete_topic(before: SpecState, after: SpecState) -> ChangeTopics:
    """E1: a topic is deleted, for good: another topic may have its name later (T2)."""
    if before.topics.get(after.step.topic, 0) <= 0 or after.topics.get(after.step.topic, 0) > 0:
        raise ValueError(f"topic {after.step.topic!r} is deleted, but was not there or is still there")
    return ChangeTopics((), (wire.topic_name(after.step.topic),))


def _live_namesake(state: SpecState, topic: str, other: str) -> bool:
    return state.topics[topic] > 0 and topic != other and wire.topic_name(topic) == wire.topic_name(other)
