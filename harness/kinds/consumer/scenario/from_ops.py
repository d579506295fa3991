"""Operations of the line protocol as a scenario: those of a failing test, to be read, rewritten and kept.

Facts that the operations do not have (made member ids, timers that run out, the targets of assignors) come
from doing the operations again on a new coordinator. Its answers are not kept as the transcript, as they may
be wrong; `conform scenario FILE --rewrite` writes the answers of the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from harness.errors import ConformError
from harness.kinds.consumer.scenario.model import REQUEST, Scenario, ScriptStep, Target
from harness.kinds.consumer.scenario.write import scenario_text
from harness.kinds.consumer.state import Request
from harness.kinds.fields import Partition
from harness.replay import wire
from harness.targets import open_target
from harness.targets.base import Answer, Json
from harness.targets.base import Target as Coordinator

_NO_SETTINGS: Final = ("op", "observe")
_TIMERS: Final = {"session": "SessionTimeout", "rebalance": "RebalanceTimeout", "group": "DeleteGroup"}


def scenario_from_ops(
    ops: Sequence[Json], name: str = "a failing test", target: str = "python", dialect: str = "kip-848"
) -> str:
    """The text of a scenario file for operations as they are sent to a target ({"op": "request", …}).

    The scenario has only the first group that a request names. An operation that a scenario cannot express,
    or in which the coordinator fails, is a comment at the end of the text.
    """
    with closing(open_target(target, dialect)) as coordinator:
        reader = _Reader(coordinator)
        try:
            for op in ops:
                reader.read(op)
        except ConformError as error:
            reader.left_out.append(f"the coordinator failed: {error.message}")
    scenario = Scenario(
        file="",
        name=name,
        source="a failing test",
        shows="what the test did; conform scenario FILE --rewrite writes the transcript",
        requirements=(),
        topics=reader.first_topics,
        first=None,
        steps=tuple(reader.steps),
    )
    return scenario_text(scenario) + "".join(f"# left out: {line}\n" for line in reader.left_out)


class _Reader:
    """A reader that does operations, and notes them as steps."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._ids: dict[str, str] = {}  # topic id on the wire -> topic of the scenario
        self._topics: dict[str, int] = {}
        self._group = ""
        self._now_ms = 0
        self._epoch = 0
        self.first_topics: dict[str, int] = {}
        self.steps: list[ScriptStep] = []
        self.left_out: list[str] = []

    def read(self, op: Json) -> None:
        """Do one operation."""
        does: dict[str, Callable[[Json], None]] = {
            "topics": self._change_topics,
            "request": self._request,
            "advance": lambda op: self._advance(op["ms"]),
            "fire": lambda op: self._fire(op["timer"], op.get("member", "")),
            "restart": self._restart,
            "ids": lambda op: self._coordinator.ids(op["next"]),
            "assign": lambda op: self._coordinator.assign(op["group"], op.get("target"), op.get("error")),
            "configure": self._configure,
        }
        if op["op"] in does:
            does[op["op"]](op)
        elif op["op"] not in ("hello", "describe", "records", "background"):
            self.left_out.append(f"the operation {op['op']}")

    def _configure(self, op: Json) -> None:
        self._coordinator.configure({name: value for name, value in op.items() if name not in _NO_SETTINGS})

    def _change_topics(self, op: Json) -> None:
        for name in op.get("delete", ()):
            self._topic("DeleteTopic", self._live(name), -1, self._coordinator.topics((), [name]))
        for given in op.get("upsert", ()):
            answer = self._coordinator.topics([given], ())
            known = self._ids.get(given["id"])
            topic = known or self._new_topic(given["name"])
            self._ids[given["id"]] = topic
            if self._topics.get(topic) != given["partitions"]:
                self._topic("AddPartitions" if known else "CreateTopic", topic, given["partitions"], answer)

    def _live(self, name: str) -> str:
        named = [topic for topic in self._topics if wire.topic_name(topic) == name]
        return named[-1] if named else name

    def _new_topic(self, name: str) -> str:
        """Create a topic (T2): the second topic of a name is another one."""
        earlier = sum(wire.topic_name(topic) == name for topic in self._ids.values())
        return f"{name}#{earlier + 1}" if earlier else name

    def _topic(self, action: str, topic: str, partitions: int, answer: Answer) -> None:
        if action == "DeleteTopic" and topic not in self._topics:
            return
        self._topics[topic] = partitions
        if self.steps:
            self._add(ScriptStep(action, topic=topic, partitions=partitions))
        else:
            self.first_topics = {name: count for name, count in self._topics.items() if count > 0}

    def _request(self, op: Json) -> None:
        body, api = op["body"], op["api"]
        group = body.get("groupId")
        if api == wire.FETCH:
            group = next((one.get("groupId") for one in body["groups"]), None)
        if not isinstance(group, str) or (self._group and group != self._group):
            self.left_out.append(f"{api} of group {group!r}")
            self._coordinator.request(api, op["version"], op["client"], body)
            return
        self._group = group
        answer = self._coordinator.request(api, op["version"], op["client"], body, group)
        made = (answer.body or {}).get("memberId")
        if api in (wire.COMMIT, wire.FETCH):
            self._offsets(api, body)
            return
        if api != wire.HEARTBEAT:
            self.left_out.append(f"{api}, which a scenario of consumer groups has no step for")
            return
        try:
            request = self._heartbeat(body)
        except (KeyError, TypeError, ValueError) as error:
            self.left_out.append(f"a request that the specification has no words for: {error}")
            return
        self._add(ScriptStep(REQUEST, request.member or made or "nobody", request))

    def _offsets(self, api: str, body: Mapping[str, Any]) -> None:
        """Note a commit or fetch (O1): each partition is judged alone, so each is a step."""
        member = body.get("memberId") or ""
        request = Request(member, body["generationIdOrMemberEpoch"], None, None, None, None, None)
        commits = api == wire.COMMIT
        topics = body["topics"] if commits else body["groups"][0]["topics"]
        for topic in topics:
            name = self._ids.get(topic.get("topicId") or "") or self._live(topic.get("name") or "")
            for one in topic["partitions" if commits else "partitionIndexes"]:
                partition = (name, one["partitionIndex"] if commits else one)
                offset = one["committedOffset"] if commits else 0
                if not name or partition[1] < 0 or offset < 0:
                    self.left_out.append(f"{api} of {offset} to partition {partition[1]} of {name!r}")
                    continue
                action = "OffsetCommit" if commits else "OffsetFetch"
                self._add(ScriptStep(action, member, request, name, partition=partition, offset=offset))

    def _heartbeat(self, body: Mapping[str, Any]) -> Request:
        owned, names = body.get("topicPartitions"), body.get("subscribedTopicNames")
        for topic in owned or ():
            if topic["topicId"] not in self._ids or min(topic["partitions"], default=0) < 0:
                raise ValueError(f"{topic} is not there")
        return Request(
            member=body["memberId"],
            epoch=body["memberEpoch"],
            instance=body.get("instanceId"),
            owned=None if owned is None else self._partitions(owned),
            subscription=None if names is None else frozenset(names),
            regex=body.get("subscribedTopicRegex"),
            assignor=body.get("serverAssignor"),
        )

    def _partitions(self, topics: Sequence[Mapping[str, Any]]) -> frozenset[Partition]:
        return frozenset(
            (self._ids.get(topic["topicId"], topic["topicId"]), index)
            for topic in topics
            for index in topic["partitions"]
        )

    def _advance(self, ms: int) -> None:
        """Let every timer run out by itself, the earliest first, so that the target of each step is known."""
        end = self._now_ms + ms
        while due := [timer for timer in self._timers() if timer["deadlineMs"] <= end]:
            first = min(due, key=lambda timer: (timer["deadlineMs"], timer["timer"], timer["member"]))
            self._wait_until(first["deadlineMs"] - 1)
            self._fire(first["timer"], first["member"])
        self._wait_until(end)

    def _timers(self) -> Sequence[Json]:
        return self._coordinator.describe(self._group)["timers"] if self._group else ()

    def _wait_until(self, ms: int) -> None:
        if ms > self._now_ms:
            self._coordinator.advance(ms - self._now_ms)
            self._now_ms = ms

    def _fire(self, timer: str, member: str) -> None:
        if self._coordinator.fire(timer, self._group, member, self._group).fired:
            self._add(ScriptStep(_TIMERS[timer], member))

    def _restart(self, op: Json) -> None:
        if op.get("keep") is not None:
            self.left_out.append("a restart from a part of the log")
        self._coordinator.restart(op.get("keep"))
        if self._group and self._epoch:
            self._add(ScriptStep("FailOver"))

    def _add(self, step: ScriptStep) -> None:
        """Note a step, and the target that it installed."""
        group = self._coordinator.describe(self._group) if self._group else {}
        epoch, members = group.get("assignmentEpoch", 0), group.get("members", [])
        target: Target | None = None
        if epoch != self._epoch and members:
            target = {member["memberId"]: self._partitions(member["target"]) for member in members}
        self._epoch = epoch
        self.steps.append(replace(step, target=target))
