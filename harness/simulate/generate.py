"""A random schedule, operation by operation: the draws depend on the first target's answers so far, but the
operations are written down with their values, so that a schedule can be repeated without drawing anything.

No model limits the states of a group: members, epochs, partitions and timers are those that the first target
described. Most operations mean something there; some have the wrong member, epoch, instance id or partitions.
Before each operation that may lead to a new target assignment, a legal one is scripted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from harness.kinds.fields import Partition
from harness.replay import wire
from harness.replay.features import used
from harness.simulate import draw, offsets
from harness.simulate.left_out import TEXT, TIED_BY_CHANCE
from harness.targets.base import Answer, Json

MEMBERS: Final = ("m1", "m2", "m3", "m4", "m5")
INSTANCES: Final = ("i1", "i2")
TOPICS: Final = ("foo", "bar", "baz")
MOST_PARTITIONS: Final = 4
AWAY: Final = -2
UNLIMITED: Final = 2**31 - 1


class Generator:
    """The operations of one run, all drawn from `rng`; `settings` is the coordinators' configuration at the
    start."""

    def __init__(self, rng: random.Random, can: frozenset[str], dialects: Sequence[str]) -> None:
        self._rng, self._can = rng, can
        self._text = TEXT in dialects
        self._kafka = set(dialects) != {TEXT}
        self._assignors = ("uniform", "range")
        if TIED_BY_CHANCE in dialects:
            self._assignors = (rng.choice(self._assignors),) * 2
        self.settings = {
            **wire.CONFIGURATION,
            "group.empty.retention.ms": UNLIMITED,
            wire.MAX_SIZE: rng.choice((2, 3, UNLIMITED, UNLIMITED, UNLIMITED)),
        }
        self._topics: dict[str, int] = {}
        self._made: Counter[str] = Counter()
        self._script_due = True
        self._now_ms = 0
        self._ids = 0
        self._mid_revocation: set[str] = set()
        self._group: Json = {}
        self._members: list[Json] = []
        self._epochs: dict[str, int] = {}
        table: list[tuple[int, Callable[[], Json | None], str]] = [
            (52, self._heartbeat, ""),
            (11, self._join, ""),
            (3, self._join_without_id, "ids"),
            (4, self._rejoin, ""),
            (4, self._come_back, ""),
            (3, self._leave, ""),
            (4, self._leave_for_a_while, ""),
            (3, self._stranger, ""),
            (2, self._refused, ""),
            (18, self._commit, wire.COMMIT),
            (5, self._fetch, wire.FETCH),
            (5, self._change_topics, ""),
            (7, self._advance, "advance"),
            (3, self._fire, "fire"),
            (2, self._restart, "restart"),
        ]
        possible = [(weight, drawn) for weight, drawn, needs in table if not needs or needs in can]
        self._drawn = [drawn for _, drawn in possible]
        self._weights = [weight for weight, _ in possible]

    def begin(self) -> Json:
        """The first operation: topics."""
        made = [self._create(name) for name in TOPICS[: self._rng.choice((1, 2, 2))]]
        return {"op": "topics", "upsert": [wire.topic(one, self._topics[one]) for one in made], "delete": []}

    def next(self) -> Json:
        """The next operation, with a script for the target assignment that it may lead to."""
        while True:
            (drawn,) = self._rng.choices(self._drawn, self._weights)
            operation = drawn()
            if operation is not None and used(operation.get("body")) <= self._can:
                break
        if self._may_compute(operation):
            operation["script"] = self._script(operation)
        return operation

    def saw(self, operation: Json, answer: Answer) -> None:
        """Take in the first target's answer to an operation."""
        before, self._group = self._members, answer.group or {}
        self._members = self._group.get("members", [])
        self._epochs = {one["memberId"]: one["memberEpoch"] for one in self._members}
        if operation["op"] == "advance":
            self._now_ms += operation["ms"]
        elif operation["op"] == "request" and answer.body and not offsets.is_drawn(operation):
            self._saw_request(operation, answer.body["errorCode"] == 0, before)
        self._mid_revocation = {name for name in self._mid_revocation if self._epochs.get(name) == AWAY}

    def _saw_request(self, operation: Json, accepted: bool, before: list[Json]) -> None:
        """Only heartbeats notice changed topics. A script for a request that was refused may not be legal."""
        name, epoch = operation["body"]["memberId"], operation["body"]["memberEpoch"]
        if accepted and epoch >= 0:
            self._script_due = False
        elif not accepted and "script" in operation:
            self._script_due = True
        revoking = {one["memberId"] for one in before if one["pendingRevocation"]}
        if accepted and epoch == AWAY and name in revoking:
            self._mid_revocation.add(name)

    # Requests of members

    def _heartbeat(self) -> Json | None:
        member = self._any_member()
        if member is None:
            return None
        rng = self._rng
        epoch = draw.epoch(rng, member)
        owned = draw.owned(rng, member, self._topics)
        fields: Json = {"topicPartitions": owned, "instanceId": self._own_instance(member)}
        kind = rng.random()
        if kind < 0.06:  # a full request
            fields["subscribedTopicNames"] = list(member["subscribedTopicNames"])
        elif kind < 0.14:
            fields["subscribedTopicNames"] = self._names()
        elif kind < 0.18:
            fields["serverAssignor"] = rng.choice(self._assignors)
        elif kind < 0.20:
            fields["rebalanceTimeoutMs"] = draw.timeout_ms(rng)
        elif kind < 0.22:
            fields["rackId"] = rng.choice(("r1", "r2"))
        elif kind < 0.24:
            fields["instanceId"] = self._wrong_instance(member)
        if owned is not None and fields.get("subscribedTopicNames") is not None:
            fields["rebalanceTimeoutMs"] = member["rebalanceTimeoutMs"]
        return self._request(member["memberId"], epoch, **fields)

    def _join(self) -> Json | None:
        """A join with a member id that the group does not have; perhaps to a full group, or with an instance
        id in use."""
        free = [name for name in MEMBERS if name not in self._epochs]
        if not free or self._rng.random() < len(self._members) / 6:
            return None
        instance = self._rng.choice((None, None, None, *INSTANCES))
        return self._joining(self._rng.choice(free), instance)

    def _join_without_id(self) -> Json | None:
        """A join that cannot be refused, as it would not be given its id then."""
        if len(self._members) >= min(self.settings[wire.MAX_SIZE], 4):
            return None
        self._ids += 1
        return {**self._joining("", None), "newId": f"x{self._ids}"}

    def _rejoin(self) -> Json | None:
        member = self._any_member()
        if member is None or member["memberEpoch"] == AWAY:
            return None
        return self._joining(member["memberId"], member["instanceId"])

    def _come_back(self) -> Json | None:
        away = [member for member in self._members if member["memberEpoch"] == AWAY]
        if not away:
            return None
        member = self._rng.choice(away)
        free = [name for name in MEMBERS if name not in self._epochs]
        name = self._rng.choice((member["memberId"], *free[:1]))
        body = self._joining(name, member["instanceId"])
        if self._rng.random() < 0.6:
            body["body"]["subscribedTopicNames"] = list(member["subscribedTopicNames"])
        return body

    def _leave(self) -> Json | None:
        member = self._any_member()
        if member is None:
            return None
        instance = self._own_instance(member) if self._rng.random() < 0.9 else self._wrong_instance(member)
        return self._request(member["memberId"], -1, instanceId=instance)

    def _leave_for_a_while(self) -> Json | None:
        static = [member for member in self._members if member["instanceId"] is not None]
        if not static:
            return None
        member = self._rng.choice(static)
        right = self._rng.random() < 0.9
        instance = member["instanceId"] if right else self._wrong_instance(member)
        return self._request(member["memberId"], AWAY, instanceId=instance)

    def _stranger(self) -> Json:
        """A request of an unknown member, or to an unknown group."""
        rng = self._rng
        free = [name for name in (*MEMBERS, "nobody") if name not in self._epochs]
        epoch = rng.choice((-2, -1, 1, 2, 5))
        instance = rng.choice(INSTANCES) if epoch == AWAY else rng.choice((None, None, *INSTANCES))
        request = self._request(rng.choice(free), epoch, instanceId=instance)
        if rng.random() < 0.3:
            request["body"]["groupId"] = "no-group"
        return request

    def _refused(self) -> Json:
        """A request that is invalid, or names an unknown assignor."""
        member = self._any_member() or {"memberId": "m1", "memberEpoch": 1}
        change = self._rng.choice(draw.INVALID)
        epoch = self._rng.choice((0, max(member["memberEpoch"], 1)))
        request = self._joining(member["memberId"], None) if not epoch else None
        request = request or self._request(member["memberId"], epoch)
        request["body"].update(change)
        return request

    # Requests of offsets, which leave the group as it is

    def _commit(self) -> Json | None:
        sender, instance = self._sender()
        below = sender[1] < 0 and not self._members
        if self._kafka and below and (sender != offsets.NO_MEMBER or not self._exists()):
            return None
        chosen = self._partitions(sender)
        return offsets.commit(self._rng, sender, instance, chosen) if chosen else None

    def _fetch(self) -> Json | None:
        sender, _ = self._sender()
        if self._kafka and sender != offsets.NO_MEMBER and not self._exists():
            return None
        chosen = self._partitions(sender)
        return offsets.fetch(sender, chosen) if chosen else None

    def _sender(self) -> tuple[offsets.Sender, str | None]:
        """A member at some epoch and its instance id, or another sender, or none."""
        rng, member = self._rng, self._any_member()
        kind = rng.random()
        if kind < 0.06:
            return offsets.NO_MEMBER, None
        if member is None or kind < 0.12:
            free = [name for name in (*MEMBERS, "nobody") if name not in self._epochs]
            return (rng.choice(free), rng.choice((-1, 0, 1, 3))), rng.choice((None, *INSTANCES))
        epoch = offsets.epoch(rng, member, self._group["groupEpoch"])
        return (member["memberId"], epoch), self._own_instance(member)

    def _partitions(self, sender: offsets.Sender) -> list[Partition]:
        held = [
            part
            for one in self._members
            if one["memberId"] == sender[0]
            for part in (*one["assigned"], *one["pendingRevocation"])
        ]
        return offsets.partitions(self._rng, held, self._topics)

    def _exists(self) -> bool:
        return bool(self._group.get("state", "Dead") != "Dead")

    # Operations that are no requests

    def _change_topics(self) -> Json | None:
        """A topic is created, grows, is deleted or is recreated (T2)."""
        self._script_due = True
        name = self._rng.choice(TOPICS)
        live = next((topic for topic in self._topics if wire.topic_name(topic) == name), None)
        if live is None:
            return self._upsert(self._create(name))
        kind = self._rng.random()
        if kind < 0.45:
            if self._topics[live] >= MOST_PARTITIONS:
                return None
            self._topics[live] += 1
            return self._upsert(live)
        del self._topics[live]
        if kind < 0.75:
            return {"op": "topics", "upsert": [], "delete": [name]}
        return self._upsert(self._create(name))

    def _create(self, name: str) -> str:
        self._made[name] += 1
        topic = name if self._made[name] == 1 else f"{name}#{self._made[name]}"
        self._topics[topic] = self._rng.randint(1, 3)
        return topic

    def _upsert(self, topic: str) -> Json:
        return {"op": "topics", "upsert": [wire.topic(topic, self._topics[topic])], "delete": []}

    def _advance(self) -> Json:
        """A moment, or until a timer is due, or until just before or after that.

        The time at which two timers of one member are due in the same millisecond is avoided: no rule decides
        which of them removes it.
        """
        timers = [one for one in self._timers() if one["timer"] != "group" and "deadlineMs" in one]
        due = [timer["deadlineMs"] - self._now_ms for timer in timers]
        ms = self._rng.choice((1, 500, 3_000, 9_000, 20_000))
        if due and self._rng.random() < 0.3:
            ms = self._rng.choice(due) + self._rng.choice((-1, 0, 0, 1))
        both = Counter((timer["member"], timer["deadlineMs"]) for timer in timers)
        latest = [at_ms - self._now_ms - 1 for (_, at_ms), count in both.items() if count > 1]
        if self._text and len(due) > 1:  # KIP-848's text computes a target for each, and there is one script
            latest.append(sorted(due)[1] - 1)
        return {"op": "advance", "ms": max(min([ms, *latest]), 0)}

    def _fire(self) -> Json | None:
        timers = self._timers()
        if not timers:
            return None
        rare = [timer for timer in timers if timer["timer"] == "rebalance"]
        timer = self._rng.choice(rare if rare and self._rng.random() < 0.5 else timers)
        return {"op": "fire", "timer": timer["timer"], "member": timer["member"]}

    def _restart(self) -> Json | None:
        return None if self._mid_revocation else {"op": "restart"}

    # Target assignments

    def _may_compute(self, operation: Json) -> bool:
        """Tell if the operation may lead to a new target, by the visible state."""
        if operation["op"] == "request" and offsets.is_drawn(operation):
            return False
        if self._script_due or self._group.get("groupEpoch") != self._group.get("assignmentEpoch"):
            return True
        if operation["op"] != "request" or operation["body"]["memberEpoch"] <= 0:
            return True
        body = operation["body"]
        if body["subscribedTopicNames"] is not None or body["serverAssignor"] is not None:
            return True
        return bool(body["memberEpoch"] != self._epochs.get(body["memberId"]))  # may be fenced and removed

    def _script(self, operation: Json) -> Json | str:
        """A legal target of the members after the operation (A4), or now and then an assignor that fails."""
        if not self._kafka and "newId" not in operation and self._rng.random() < 0.03:
            return "the assignor fails"
        members = {one["memberId"]: one["subscribedTopicNames"] for one in self._members}
        if operation["op"] == "request":
            body = operation["body"]
            name = body["memberId"] or operation.get("newId")
            if body["memberEpoch"] == -1:
                members.pop(name, None)
            elif body["subscribedTopicNames"] is not None and (name in members or not body["memberEpoch"]):
                members[name] = body["subscribedTopicNames"]
        elif operation["op"] == "fire":
            members.pop(operation["member"], None)
        held = {one["memberId"]: one["target"] for one in self._members}
        return draw.target(self._rng, members, held, self._topics)

    # Known facts

    def _timers(self) -> list[Json]:
        timers: list[Json] = self._group.get("timers", [])
        return timers

    def _any_member(self) -> Json | None:
        return self._rng.choice(self._members) if self._members else None

    def _own_instance(self, member: Json) -> str | None:
        """A static member need not repeat its instance id."""
        return member["instanceId"] if self._rng.random() < 0.7 else None

    def _wrong_instance(self, member: Json) -> str:
        return self._rng.choice([name for name in (*INSTANCES, "i9") if name != member["instanceId"]])

    def _names(self) -> list[str]:
        names = self._rng.sample(TOPICS, self._rng.choice((0, 1, 1, 2, 2, 3)))
        return sorted(names)

    def _joining(self, name: str, instance: str | None) -> Json:
        rng = self._rng
        assignor = rng.choice((None, None, None, *self._assignors))
        return self._request(
            name,
            0,
            instanceId=instance,
            rebalanceTimeoutMs=draw.timeout_ms(rng),
            subscribedTopicNames=self._names(),
            serverAssignor=assignor,
            topicPartitions=[],
        )

    def _request(self, name: str, epoch: int, **fields: Any) -> Json:
        return {
            "op": "request",
            "api": wire.HEARTBEAT,
            "client": wire.client(name or "x"),
            "body": {**draw.NOTHING_REPORTED, "memberId": name, "memberEpoch": epoch, **fields},
        }
