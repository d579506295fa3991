"""The compared parts of a target: all that it can show.

A target may lack operations, and fields of a description. Parts that a target cannot show are left out of the
expected state and of its answers alike, and every report names these parts; all other parts are compared as
with any target.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.kinds.registry import KINDS
from harness.replay import wire
from harness.targets.base import Answer, Capabilities, Json

MEMBER_FIELDS: Final = (
    *("memberEpoch", "previousMemberEpoch", "state", "assigned", "pendingRevocation", "target"),
    *("targetError", "acknowledged", "instanceId", "subscribedTopicNames", "subscribedTopicRegex"),
    *("serverAssignor", "clientAssignors", "rebalanceTimeoutMs", "rackId", "clientId", "clientHost"),
)
"""The fields of each member in a description, besides its id."""
GROUP_FIELDS: Final = ("state", "groupEpoch", "assignmentEpoch", "metadata", "members", "timers")
"""The fields of a group in a description, besides its id."""
CONFIGS: Final = "configs"
"""The group's own configurations, in a description if it has some (D1)."""
DELAY: Final = "delayRemainingMs"
"""The time by which a classic group's delay of the first rebalance may still be prolonged (C1)."""
STATE_ALONE: Final = {kind.name: kind.unshown for kind in KINDS if kind.unshown}
"""The kinds of groups whose description may be hidden except for its state, with the configurations that do
not show then."""
DELETED_TOPICS: Final = "members.deletedTopics"
"""Partitions of deleted topics that members have: a target may leave them out."""
_PARTITIONS: Final = ("assigned", "pendingRevocation", "target")
TIMERS: Final = ("session", "rebalance", "group")
RECORDS: Final = "records"
RECORD_TYPES: Final = ("ConsumerGroupPartitionMetadata",)
"""Records that a target may not have at all; then the offsets of its log are not compared."""
RECORD_FIELDS: Final = (
    *("commitTimestamp", "currentStateTimestamp", "groupEpoch", "assignors"),
    *("error", "metadataVersion", "metadataBytes", "assignmentEpochs"),
)
"""Fields of records that a target may not have, for every type of record."""
GROUP: Final = "group"
"""The whole description, where the target has none."""
NAMES: Final = (
    *GROUP_FIELDS,
    *(f"members.{name}" for name in MEMBER_FIELDS),
    DELETED_TOPICS,
    CONFIGS,
    DELAY,
    *STATE_ALONE,
    *(f"timers.{name}" for name in (*TIMERS, "deadlineMs")),
    RECORDS,
    *(f"records.{name}" for name in (*RECORD_TYPES, *RECORD_FIELDS)),
)
"""The names that `Capabilities.unobserved` may have."""


INTERVAL: Final = "heartbeatIntervalMs"
OWN_INTERVAL: Final = f"response.{INTERVAL} of errors, and of members that leave"
"""The interval of a target with its own configuration, in answers where the interval means nothing."""


class View:
    """The parts that one target shows. ConformError (exit 3) if it declares an unknown part as `unobserved`.

    `hidden` are the names of all parts that are not compared, also for lack of an operation; a `complete`
    view hides nothing. `observe` is the group to observe, None for no description; `ticks`, `scripts` and
    `reads` tell if the clock moves before a step, if targets are scripted and if records are read; `counts`,
    if its log has every record, so that offsets mean something; `forgets`, if deleted topics are left out;
    `unshown` are the configurations that do not show.
    """

    def __init__(self, known: Capabilities) -> None:
        if unknown := sorted(known.unobserved - set(NAMES)):
            raise ConformError(
                f"The target {known.name} says that {', '.join(unknown)} cannot be observed, but there is no "
                f"such part of what is compared; there are {', '.join(NAMES)}.",
                ENGINE_FAILED,
            )
        hidden = set(known.unobserved)
        if "describe" not in known.controls:
            hidden.add(GROUP)
        if RECORDS not in known.controls:
            hidden.add(RECORDS)
        self.ticks, self.scripts = "advance" in known.controls, "assign" in known.controls
        if not self.ticks:  # the parts that depend on the clock
            hidden |= {"timers.deadlineMs", "records.commitTimestamp"}
        hidden -= {name for name in hidden if name.partition(".")[0] in hidden and "." in name}
        if GROUP in hidden:
            hidden = {GROUP, RECORDS}
        self.hidden = tuple(sorted(hidden))
        self._given_interval = "configure" not in known.controls
        self.excused = (OWN_INTERVAL,) if self._given_interval else ()
        self.complete = not hidden and self.ticks and self.scripts and not self._given_interval
        self.observe = None if GROUP in hidden else wire.GROUP
        self.reads = RECORDS not in hidden
        self._group = frozenset(hidden)
        self.forgets = DELETED_TOPICS in hidden
        self._member = _below("members", hidden)
        self._timer = _below("timers", hidden)
        self._record = _below("records", hidden)
        self.counts = not self._record & set(RECORD_TYPES)
        self._interval_ms: int | None = None
        unshown = (STATE_ALONE[kind] for kind in STATE_ALONE if not self.shows(kind) and not self.ticks)
        self.unshown = frozenset(name for names in unshown for name in names)

    def shows(self, name: str) -> bool:
        """Tell if that compared part can be observed."""
        return not {GROUP, name, name.partition(".")[0]} & self._group

    def of(self, answer: Answer, there: Container[str] | None = None) -> Answer:
        """The compared part of an answer; prepared values are not changed. `there` are the ids of all topics,
        for a view that `forgets` the others."""
        return Answer(
            answer.body,
            None if answer.group is None or self.observe is None else self._of_group(answer.group, there),
            self._of_records(answer.records) if self.reads else (),
            answer.consumed and self.scripts,
            answer.fired,
            answer.completed,
        )

    def with_interval(self, expected: Answer, answer: Answer) -> Answer:
        """The expectation of a target with its own configuration: the heartbeat interval of its first
        response that has one is expected in later responses, too (H9). An interval that a client has set for
        the group is compared as it is. In errors and for members that leave, the interval means nothing and
        is not compared: it is `excused`."""
        wanted, body = expected.body, answer.body
        if not self._given_interval or not wanted or INTERVAL not in wanted or not isinstance(body, dict):
            return expected
        given = body.get(INTERVAL, 0)
        if wanted["errorCode"] == 0 and wanted["memberEpoch"] >= 0:
            if wanted[INTERVAL] != wire.HEARTBEAT_INTERVAL_MS:
                return expected
            if self._interval_ms is None and type(given) is int and given > 0:
                self._interval_ms = given
            given = wanted[INTERVAL] if self._interval_ms is None else self._interval_ms
        return expected._replace(body={**wanted, INTERVAL: given})

    def _of_records(self, records: Sequence[Json]) -> list[Json]:
        if self.counts:
            return [self._of_record(record) for record in records]
        kept = [one for one in records if one.get("key", {}).get("type") not in self._record]
        return [{**self._of_record(record), "offset": offset} for offset, record in enumerate(kept)]

    def _of_record(self, record: Json) -> Json:
        if not self._record or not isinstance(record.get("value"), dict):
            return record
        return {**record, "value": _without(record["value"], self._record)}

    def _of_group(self, group: Json, there: Container[str] | None) -> Json:
        if any(group.get("type") == kind for kind in STATE_ALONE.keys() & self._group):
            return {name: group.get(name) for name in ("groupId", "type", "state")}
        shown = {name: value for name, value in group.items() if name not in self._group}
        if self._member and isinstance(shown.get("members"), list):
            shown["members"] = [_without(one, self._member) for one in shown["members"]]
            if self.forgets and there is not None:
                shown["members"] = [_of_topics(one, there) for one in shown["members"]]
        if self._timer and isinstance(shown.get("timers"), list):
            kept = [one for one in shown["timers"] if not _is_one_of(one, self._timer)]
            shown["timers"] = [_without(one, self._timer) for one in kept]
        return shown


def _below(name: str, hidden: set[str]) -> frozenset[str]:
    """The names of parts of a part."""
    return frozenset(part.removeprefix(f"{name}.") for part in hidden if part.startswith(f"{name}."))


def _without(item: object, names: frozenset[str]) -> object:
    """A list item of a description without its hidden fields; an item of another form is left to the
    comparison."""
    if not isinstance(item, dict):
        return item
    return {name: value for name, value in item.items() if name not in names}


def _of_topics(member: object, there: Container[str]) -> object:
    """A member without partitions of unknown topics; an item of another form stays."""
    if not isinstance(member, dict):
        return member
    kept = {
        name: [one for one in member[name] if not isinstance(one, dict) or one.get("topicId") in there]
        for name in _PARTITIONS
        if isinstance(member.get(name), list)
    }
    return {**member, **kept}


def _is_one_of(timer: object, names: frozenset[str]) -> bool:
    return isinstance(timer, dict) and timer.get("timer") in names


EVERYTHING: Final = View(
    Capabilities("everything", "", {}, frozenset({"describe", "records", "advance", "assign", "configure"}))
)
"""The view of a target that shows all."""
