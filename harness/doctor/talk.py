"""A small conversation with a target: members that join and heartbeat, and the answers that must come
back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NoReturn

from harness.doctor import shape
from harness.replay import wire
from harness.replay.compare import same as same_json
from harness.replay.view import View
from harness.targets.base import Answer, Capabilities, Died, Json, Refused, Target
from harness.targets.stdio import StdioTarget

FOO: Final[Json] = {"name": "foo", "id": "f0f0f0f0-0000-4000-8000-000000000001", "partitions": 2}
"""The topic to which all members subscribe."""
ALL: Final = frozenset({0, 1})
"""The partitions of the topic foo."""
CLIENT: Final = {"id": "doctor", "host": wire.CLIENT_HOST, "principal": "User:doctor"}
_ROUNDS: Final = 30
"""The most rounds of heartbeats until the members have their partitions."""
_ROUND_MS: Final = 1000
_PAUSE_S: Final = 0.1
_REST_S: Final = 0.4
_QUIET: Final = 3
"""Rounds without a change: longer than a target assignment may be late."""
_SHOWN: Final = 160


class Wrong(Exception):
    """A fault by the line protocol: the request, the answer, and the right answer."""

    def __init__(self, sent: str, got: object, says: str) -> None:
        text = got if isinstance(got, str) else shape.as_json(got)
        short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
        super().__init__(f"Sent: {sent}. Came back: {short}. The protocol says: {says}.")


class Several(Wrong):
    """Several faults, each in its sentences."""

    def __init__(self, wrong: Sequence[str]) -> None:
        Exception.__init__(self, " ".join(wrong))


@dataclass
class _Member:
    epoch: int = 0
    owned: list[Json] = field(default_factory=list)


class Talk:
    """One conversation with one new target. `broken` are operations that earlier checks found to be wrong:
    the conversation does without them."""

    def __init__(
        self,
        target: Target,
        known: Capabilities,
        view: View,
        broken: Collection[str],
        sleep: Callable[[float], None],
    ) -> None:
        self.target, self.known, self.view = target, known, view
        self._broken = broken
        self._sleep = sleep
        self._members: dict[str, _Member] = {}
        self._silent: dict[str, _Member] = {}
        self.now_ms = 0

    def members(self) -> list[str]:
        """The members that send heartbeats."""
        return list(self._members)

    def can(self, operation: str) -> bool:
        """Tell if an operation is there, and not known to be wrong."""
        return operation in self.known.controls and operation not in self._broken

    def begin(self, *members: str) -> None:
        """Make the topic, and let members join until each partition has an owner that has reported it."""
        if self.can("topics"):
            self.target.topics([FOO], [])
        for member in members:
            self.join(member)
            self.settle(lambda: self.shared(*self._members), f"heartbeats of {', '.join(self._members)}")

    def shared(self, *members: str) -> bool:
        """Tell if these members own all partitions, each partition once (if there are topics)."""
        owned = sorted(index for name in members for index in self.owned(name))
        return owned == (sorted(ALL) if self.can("topics") else [])

    def owned(self, member: str) -> list[int]:
        """The partitions of the topic in the member's last assignment."""
        return [index for one in self._members[member].owned for index in one["partitions"]]

    def settle(self, reached: Callable[[], bool], sent: str, says: str = "") -> None:
        """Let all members heartbeat until the condition holds, for a while."""
        for _ in range(_ROUNDS):
            for member in list(self._members):
                self.beat(member)
            if reached():
                return
            self.pause()
        owned = {name: self.owned(name) for name in self._members}
        raise Wrong(
            sent,
            f"after {_ROUNDS} rounds of heartbeats the members own {json.dumps(owned)}",
            says or f"every partition of {FOO['name']} has one owner in the end (A4)",
        )

    def pause(self, seconds: float = _PAUSE_S) -> None:
        """Let time pass: a target may compute a target assignment or notice a topic later."""
        if self.can("advance"):
            self.target.advance(_ROUND_MS)
            self.now_ms += _ROUND_MS
        else:
            self._sleep(seconds)

    def rest(self) -> None:
        """Let all members heartbeat until nothing changes any more."""
        quiet, known = 0, ""
        for _ in range(_ROUNDS):
            for member in self.members():
                self.beat(member)
            now = shape.as_json({name: asdict(one) for name, one in self._members.items()})
            quiet, known = (quiet + 1 if known == now else 0), now
            if quiet == _QUIET:
                return
            self.pause(_REST_S)
        raise Wrong("heartbeats that say nothing new", known, "a group comes to rest (R8)")

    def join(self, member: str, observe: str | None = None) -> Answer:
        """A first heartbeat, which must be answered without error."""
        self._members[member] = _Member()
        answer = self.heartbeat(member, {}, observe)
        self._follow(member, f"the join of {member}", answer)
        return answer

    def beat(self, member: str) -> Answer:
        """A heartbeat of a member with all fields, which must be answered without error."""
        answer = self.heartbeat(member)
        self._follow(member, f"a heartbeat of {member} with its epoch", answer)
        return answer

    def _follow(self, member: str, sent: str, answer: Answer) -> None:
        body = self.body(sent, answer)
        if body.get("errorCode", 0):
            raise Wrong(sent, body, "it is answered without error (H1)")
        known = self._members[member]
        named = (member,) if known.epoch == 0 else (member, None)  # MemberIdAnswered
        if body.get("memberId") not in named or body.get("memberEpoch", 0) < 1:
            raise Wrong(sent, body, "a join is told the member's id, and each an epoch above 0 (H9)")
        known.epoch = body["memberEpoch"]
        if body.get("assignment") is not None:
            known.owned = body["assignment"].get("assignedTopicPartitions", [])

    def body(self, sent: str, answer: Answer) -> Json:
        """The body of an answer to a heartbeat, which must have the right form."""
        if problem := shape.of_heartbeat(answer.body):
            raise Wrong(sent, answer.body, problem)
        return answer.body or {}

    def heartbeat(self, member: str, changed: Json | None = None, observe: str | None = None) -> Answer:
        """A heartbeat with all that the member knows, except for the `changed` fields; any answer is
        accepted."""
        known = self._members.get(member) or self._silent.get(member) or _Member()
        body = {
            "groupId": wire.GROUP,
            "memberId": member,
            "memberEpoch": known.epoch,
            "instanceId": None,
            "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
            "subscribedTopicNames": [FOO["name"]],
            "subscribedTopicRegex": None,
            "serverAssignor": None,
            "topicPartitions": known.owned,
            **(changed or {}),
        }
        version = wire.VERSIONS[wire.HEARTBEAT]
        return self.target.request(wire.HEARTBEAT, version, CLIENT, body, observe)

    def remember(self) -> Callable[[], None]:
        """Save the members' knowledge; the returned function restores it."""
        known = deepcopy(self._members)

        def resume() -> None:
            self._members = known

        return resume

    def forget(self, member: str) -> None:
        """Forget the member, which sends no more."""
        self._silent[member] = self._members.pop(member)

    def is_member(self, member: str) -> bool:
        """Tell if the group has the member: by its description, or because its heartbeat is accepted."""
        if self.can("describe"):
            return any(one["memberId"] == member for one in self.describe()["members"])
        return not (self.heartbeat(member).body or {}).get("errorCode", 0)

    def describe(self, sent: str = "describe") -> Json:
        """The description, which must have the right form, if the target can describe; else {}."""
        if not self.can("describe"):
            return {}
        group = self.target.describe(wire.GROUP)
        if problem := shape.of_group(group, self.view):
            raise Wrong(sent, problem, "a description has exactly the fields that the target can show")
        return group

    def shown(self) -> Json:
        """The description of the group, without the fields that the target does not show."""
        return self.view.of(Answer(group=self.describe())).group or {}

    def records(self) -> list[Json]:
        """All records, if the target can give them; else []."""
        return self.target.records(0) if self.can("records") and self.view.reads else []

    def state(self) -> Any:
        """All visible state of the target."""
        return [self.shown(), self.records()]

    def refuses(self, sent: str, operation: Callable[[], object], unchanged: bool = True) -> None:
        """Check that a senseless operation is refused, and changes nothing."""
        before = self.state() if unchanged else None
        try:
            done = operation()
        except Died:
            raise
        except Refused as refusal:
            if not refusal.reason.strip():
                raise Wrong(sent, "ok false without a reason", "a refusal says why") from None
        else:
            # Some implementations answer a request of another version with an error of the protocol.
            if not (isinstance(done, Answer) and done.body and done.body.get("errorCode")):
                raise Wrong(
                    sent,
                    f"no refusal, but {shape.as_json(_line(done))}",
                    'bad input gets {"ok":false,"error":…}',
                )
        if unchanged and (after := self.state()) != before:
            raise Wrong(sent, after, "bad input changes nothing")


def _line(done: object) -> Json:
    """The answer to an operation as a line has it, without the fields that are empty."""
    given = done._asdict() if isinstance(done, Answer) else done if isinstance(done, dict) else {}
    return {"ok": True, **{name: value for name, value in given.items() if value or value == 0}}


def same(sent: str, got: object, wanted: object, says: str) -> None:
    """Raise Wrong unless both are equal, and the same JSON."""
    if got != wanted or not same_json(shape.plain(got), shape.plain(wanted)):
        raise Wrong(sent, got, says)


def ends(talk: Talk, operation: str, given: Json) -> None:
    """Raise Wrong if the answer to a program's operation lacks the number of records in the log."""
    if not isinstance(talk.target, StdioTarget):
        return
    answer = talk.target.line(json.dumps({"op": operation, **given}))
    if type(answer.get("end")) is not int:
        raise Wrong(operation, answer, "the answer has end, the number of records in the log")


def never(sent: str, got: object, says: str) -> NoReturn:
    """Fail: the program answered where it must not."""
    raise Wrong(sent, got, says)


def partitions(*indices: int) -> Sequence[Json]:
    """Partitions of the topic in the normal form."""
    return [{"topicId": FOO["id"], "partitions": list(indices)}] if indices else []
