"""One group seen from three sides in one form: its description, the reference, and the log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from line_protocol import Json, Partition, Partitions, partitions_of
from reference_group import AWAY, NOTHING, Member, State

View = dict[str, Any]
Log = dict[str, Json]
"""The last record of each key, in the order of the log; the key as JSON."""

_SAYS: Final = (
    "subscribedTopicNames",
    "subscribedTopicRegex",
    "serverAssignor",
    "instanceId",
    "rebalanceTimeoutMs",
)


def described_view(described: Json) -> View:
    """The view of the answer to `describe`."""
    return {
        "state": described["state"],
        "epochs": (described["groupEpoch"], described["assignmentEpoch"]),
        "topics": topics_of(described["metadata"]),
        "members": {member["memberId"]: _described_member(member) for member in described["members"]},
        "timers": {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in described["timers"]},
    }


def _described_member(member: Json) -> View:
    return {
        **{name: member[name] for name in _SAYS},
        "epoch": member["memberEpoch"],
        "previous epoch": member["previousMemberEpoch"],
        "assigned": partitions_of(member["assigned"]),
        "revoking": partitions_of(member["pendingRevocation"]),
        "target": partitions_of(member["target"]),
        "acknowledged": member["acknowledged"],
    }


def reference_view(state: State, timers: Mapping[tuple[str, str], int]) -> View:
    """The view of the reference. The target is never behind the group epoch (E2)."""
    return {
        "state": _state(state),
        "epochs": (state.epoch, state.epoch),
        "topics": state.metadata,
        "members": {
            member_id: _reference_member(member, state.targets.get(member_id, NOTHING))
            for member_id, member in state.members.items()
        },
        "timers": dict(timers),
    }


def _reference_member(member: Member, target: Partitions) -> View:
    return {
        "subscribedTopicNames": sorted(member.names),
        "subscribedTopicRegex": member.regex,
        "serverAssignor": member.assignor,
        "instanceId": member.instance,
        "rebalanceTimeoutMs": member.rebalance_ms,
        "epoch": member.epoch,
        "previous epoch": member.previous_epoch,
        "assigned": member.assigned,
        "revoking": member.revoking,
        "target": target,
        "acknowledged": member.acknowledged,
    }


def _state(state: State) -> str:
    """E5."""
    if not state.epoch:
        return "Dead"
    if not state.members:
        return "Empty"
    converged = all(
        (member.epoch, member.assigned, member.revoking)
        == (state.epoch, state.targets.get(member_id, NOTHING), NOTHING)
        for member_id, member in state.members.items()
    )
    return "Stable" if converged else "Reconciling"


def topics_of(wire: Iterable[Json]) -> dict[str, tuple[str, int]]:
    """Topic name -> id and number of partitions."""
    return {topic["topicName"]: (topic["topicId"], topic["numPartitions"]) for topic in wire}


def durable(view: View) -> View:
    """The part of a view that records must hold (P1): all but the timers, the split of a member's partitions,
    and the answers that members got."""
    return {
        "epochs": view["epochs"],
        "topics": view["topics"],
        "members": {
            member_id: {
                **{name: member[name] for name in (*_SAYS, "epoch", "target")},
                "held": member["assigned"] | member["revoking"],
            }
            for member_id, member in view["members"].items()
        },
    }


def add_records(log: Log, records: Iterable[Json]) -> None:
    """Compact as records come."""
    for record in records:
        key = json.dumps(record["key"])
        log.pop(key, None)
        log[key] = record


def compacted(records: Sequence[Json], first: int, last: int, tombstones: bool) -> list[Json]:
    """The log, of whose records first..last only the last of each key is kept; of the tombstones among them
    only those that delete something before `first`, unless all `tombstones` are kept."""
    kept = {str(record["key"]): record["offset"] for record in records[first : last + 1]}
    before = {str(record["key"]) for record in records[:first]}
    return [
        record
        for record in records
        if not first <= record["offset"] <= last
        or (
            kept[str(record["key"])] == record["offset"]
            and (tombstones or record["value"] is not None or str(record["key"]) in before)
        )
    ]


def log_view(log: Log) -> View:
    """The durable state that the last records of all keys stand for. A record of a member or topic that is
    gone is an error."""
    values: dict[str, dict[str, Json]] = {}
    for record in log.values():
        if record["value"] is not None and record["key"]["type"] != "OffsetCommit":
            of_type = values.setdefault(record["key"]["type"].removeprefix("ConsumerGroup"), {})
            of_type[record["key"].get("memberId", "")] = record["value"]
    says = values.get("MemberMetadata", {})
    current = values.get("CurrentMemberAssignment", {})
    targets = values.get("TargetAssignmentMember", {})
    assert says.keys() == current.keys() and targets.keys() <= says.keys(), "records of who is no member"
    return {
        "epochs": (
            values.get("Metadata", {}).get("", {"epoch": 0})["epoch"],
            values.get("TargetAssignmentMetadata", {}).get("", {"assignmentEpoch": 0})["assignmentEpoch"],
        ),
        "topics": topics_of(values.get("PartitionMetadata", {}).get("", {"topics": []})["topics"]),
        "members": {
            member_id: {
                **{name: says[member_id][name] for name in _SAYS},
                "epoch": current[member_id]["memberEpoch"],
                "target": partitions_of(targets.get(member_id, {"topicPartitions": []})["topicPartitions"]),
                "held": partitions_of(current[member_id]["topicPartitions"]),
            }
            for member_id in says
        },
    }


def log_offsets(log: Log) -> dict[Partition, int]:
    """Committed offsets by topic id and partition (O1, T2)."""
    return {
        (record["value"]["topicId"], record["key"]["partition"]): record["value"]["offset"]
        for record in log.values()
        if record["value"] is not None and record["key"]["type"] == "OffsetCommit"
    }


def check_disjoint(view: View) -> None:
    """R7, the coordinator's view; R5's other half: what is assigned is not being revoked."""
    held: set[Partition] = set()
    for member_id, member in view["members"].items():
        assert not member["assigned"] & member["revoking"], f"R7: {member_id} is to keep and to revoke"
        own = member["assigned"] | member["revoking"]
        assert not held & own, f"R7: {sorted(held & own)} of {member_id} is another's too"
        held |= own


def check_epochs(view: View) -> None:
    """E4, the order of the epochs."""
    group, assignment = view["epochs"]
    assert assignment <= group, "E4: the assignment epoch is ahead of the group epoch"
    for member_id, member in view["members"].items():
        assert member["epoch"] == AWAY or 0 < member["epoch"] <= assignment, f"E4: epoch of {member_id}"
        assert member["previous epoch"] <= max(member["epoch"], 0), f"E4: previous epoch of {member_id}"


def check_never_decreases(before: View, after: View, reborn: Iterable[str]) -> None:
    """E4: no epoch decreases while the group lives, and while an incarnation lives (the members `reborn` have
    a new one)."""
    if "Dead" in (before["state"], after["state"]):
        return
    for earlier, later in zip(before["epochs"], after["epochs"], strict=True):
        assert earlier <= later, "E4: an epoch of the group decreases"
    for member_id, member in after["members"].items():
        known = before["members"].get(member_id)
        if known is not None and member_id not in reborn and member["epoch"] != AWAY:
            assert known["epoch"] <= member["epoch"], f"E4: the epoch of {member_id} decreases"
