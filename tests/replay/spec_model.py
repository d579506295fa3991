"""A small hand-written stand-in for the specification: random behaviours to test the replay with.

It computes the states that spec/OpenGroup.tla would have, in plain Python, so that the tests of the harness
need neither an engine nor the coordinator. Real traces come from the engines.
"""

from __future__ import annotations

import random
from typing import Any

from frozendict import frozendict

from harness.itf import Trace

MEMBERS = ("m1", "m2", "m3")
TOPICS = {"foo": 3, "bar": 2, "bar#2": 2}
"""Topic ids and their greatest numbers of partitions; bar#2 is the second topic named bar (T2)."""
REGEXES = {"fo+": {"foo"}, ".*": {"foo", "bar"}}
INSTANCES = ("i1", "i2")
PARTITIONS = [(topic, index) for topic, most in TOPICS.items() for index in range(most)]
NOTHING: frozenset[Any] = frozenset()
NO_MEMBER = frozendict(
    epoch=-1,
    previousEpoch=0,
    instance="",
    subscription=NOTHING,
    regex="",
    assignor="",
    assigned=NOTHING,
    revoking=NOTHING,
    acknowledged=False,
)
NO_GROUP = frozendict(
    epoch=0,
    assignmentEpoch=0,
    target=frozendict({partition: "" for partition in PARTITIONS}),
    metadata=frozendict({topic: 0 for topic in TOPICS}),
    members=frozendict({member: NO_MEMBER for member in MEMBERS}),
)
OPTIONS = ("instance", "owned", "subscription", "regex", "assignor")
NO_REQUEST = frozendict(member="", epoch=0, **dict.fromkeys(OPTIONS, NOTHING))
NO_RESPONSE = frozendict(error="", member="", epoch=0, assignment=NOTHING)
NO_STEP = frozendict(
    action="Init",
    branch="",
    member="",
    request=NO_REQUEST,
    response=NO_RESPONSE,
    topic="",
    partitions=0,
    partition=NOTHING,
    offset=0,
)


def some(*values: Any) -> frozenset[Any]:
    """An option: absent without an argument, else given."""
    return frozenset(values)


def request(member: str, epoch: int, **given: Any) -> Any:
    """A request record; None is absent."""
    options = {name: some(it) for name, it in given.items() if it is not None}
    return NO_REQUEST | {"member": member, "epoch": epoch, **options}


def topic_name(topic: str) -> str:
    """The name of a topic id."""
    return topic.split("#")[0]


class Model:
    """One behaviour in the making; every method that acts appends a state to `states`."""

    def __init__(self, seed: int = 0, topics: dict[str, int] | None = None, max_size: int = 99) -> None:
        self.random = random.Random(seed)
        self.max_size = max_size
        self.offsets: Any = frozendict({partition: -1 for partition in PARTITIONS})
        self.group: Any = NO_GROUP
        self.topics: Any = frozendict({topic: (topics or {}).get(topic, 0) for topic in TOPICS})
        self.states: list[Any] = []
        self._state(NO_STEP)

    def trace(self) -> Trace:
        """The behaviour so far."""
        meta = {"constants": {"MaxGroupSize": self.max_size}}
        return Trace(meta, ("group", "topics", "offsets", "step"), list(self.states))

    def walk(self, steps: int) -> Trace:
        """Add random steps."""
        until = len(self.states) + steps
        while len(self.states) < until:
            self._any()
        return self.trace()

    # Reading

    def members(self) -> list[str]:
        return [name for name in MEMBERS if self.group["members"][name]["epoch"] != -1]

    def target(self, name: str) -> frozenset[Any]:
        return frozenset(partition for partition, owner in self.group["target"].items() if owner == name)

    def held(self, name: str) -> frozenset[Any]:
        member = self.group["members"][name]
        held: frozenset[Any] = member["assigned"] | member["revoking"]
        return held

    def holder(self, instance: str) -> str:
        """The member with that instance id, or ""."""
        of = {self.group["members"][name]["instance"]: name for name in self.members()}
        return of.get(instance, "") if instance else ""

    # Acting

    def heartbeat(self, name: str, epoch: int, sent_as: str | None = None, **given: Any) -> None:
        """A join, return, rejoin, heartbeat or leave, by its epoch; `given` are the options sent."""
        body = request(name if sent_as is None else sent_as, epoch, **given)
        known, member = name in self.members(), self.group["members"][name]
        holder = self.holder(given.get("instance") or "")
        returns = epoch == 0 and holder != "" and self.group["members"][holder]["epoch"] == -2
        joins = "Return" if returns else "Rejoin" if known else "Join"
        action = {0: joins, -1: "Leave", -2: "LeaveTemporarily"}.get(epoch, "Heartbeat")
        if holder not in ("", name) and not returns:
            self.refuse(action, "unreleased", name, body, "UNRELEASED_INSTANCE_ID")
        elif action == "Join" and len(self.members()) >= self.max_size:
            self.refuse(action, "full", name, body, "GROUP_MAX_SIZE_REACHED")
        elif returns:
            self._return(name, holder, body)
        elif epoch == 0:
            self._set(name, NO_MEMBER.set("epoch", 0))
            self._update(name, body, bump=True)
            self._accept(action, name, body, "join", acknowledges=False)
        elif not known or (epoch == -2 and holder != name):
            self.refuse(action, "unknown", name, body, "UNKNOWN_MEMBER_ID")
        elif epoch == -1:
            self._remove(name)
            self._answer(action, "leave", name, body, member=name, epoch=-1)
        elif epoch == -2:
            left = {"epoch": -2, "previousEpoch": 0, "revoking": NOTHING, "acknowledged": False}
            self._set(name, member | left)
            self._answer(action, "away", name, body, member=name, epoch=-2)
        elif epoch == member["epoch"]:
            acknowledges = any(not owned & member["revoking"] for owned in body["owned"])
            self._update(name, body, bump=False)
            self._accept(action, name, body, "current", acknowledges)
        elif epoch == member["previousEpoch"] and all(owned <= self.target(name) for owned in body["owned"]):
            self._update(name, body, bump=False)
            self._accept(action, name, body, "retry", acknowledges=False)
        else:
            self._remove(name)
            self.refuse(action, "fenced", name, body, "FENCED_MEMBER_EPOCH")

    def refuse(self, action: str, branch: str, name: str, body: Any, error: str) -> None:
        """Any request that is answered with an error."""
        self._answer(action, branch, name, body, error=error)

    def commit(self, name: str, epoch: int, partition: Any, offset: int) -> None:
        """OffsetCommit, of a member or (epoch -1) of an administrator; any error but NONE changes nothing."""
        error = self._fence(name, epoch, partition, bool(self.members()))
        if error == "NONE":
            self.offsets = self.offsets.set(partition, offset)
        self._offset("OffsetCommit", name, epoch, partition, offset, error)

    def fetch(self, name: str, epoch: int, partition: Any) -> None:
        """OffsetFetch, fenced only for a member."""
        error = self._fence(name, epoch, partition, bool(name))
        offset = self.offsets[partition] if error == "NONE" else -1
        self._offset("OffsetFetch", name, epoch, partition, offset, error)

    def fail_over(self, topic: str = "", partitions: int = 0) -> None:
        """FailOver, perhaps with a change of a topic that the old coordinator took along."""
        members = self.group["members"]
        for name in self.members():
            held = self.held(name)
            fresh = {"previousEpoch": 0, "acknowledged": False, "assigned": held, "revoking": NOTHING}
            self._set(name, members[name] | fresh)
        if topic:
            self._change(topic, partitions)
        for name in self.members():
            member, target = self.group["members"][name], self.target(name)
            if member["epoch"] != -2:
                held = member["assigned"]
                self._set(name, member | {"assigned": held & target, "revoking": held - target})
        self._state(NO_STEP | {"action": "FailOver", "topic": topic, "partitions": partitions})

    def expire(self, action: str, name: str) -> None:
        """SessionTimeout or RebalanceTimeout."""
        self._remove(name)
        self._state(NO_STEP | {"action": action, "member": name})

    def change_topic(self, action: str, topic: str, partitions: int) -> None:
        """CreateTopic, AddPartitions or DeleteTopic (-1)."""
        self._change(topic, partitions)
        self._state(NO_STEP | {"action": action, "topic": topic, "partitions": partitions})

    def delete_group(self) -> None:
        self.group = NO_GROUP
        self.offsets = frozendict(dict.fromkeys(self.offsets, -1))
        self._state(NO_STEP | {"action": "DeleteGroup"})

    # Rules

    def _any(self) -> None:
        pick, name = self.random, self.random.choice(MEMBERS)
        topic, member, kind = pick.choice(list(TOPICS)), self.group["members"][name], pick.random()
        if kind < 0.07:
            self._random_topic(topic, pick.random(), self.change_topic)
        elif kind < 0.10 and member["revoking"]:
            self.expire("RebalanceTimeout", name)
        elif kind < 0.12 and member["epoch"] != -1:
            self.expire("SessionTimeout", name)
        elif kind < 0.14 and self.group["epoch"]:
            self._random_topic(topic, pick.random(), lambda _, *change: self.fail_over(*change))
        elif kind < 0.15 and self.group["epoch"]:
            self.fail_over()
        elif self.group["epoch"] and not self.members() and kind < 0.3:
            self.delete_group()
        elif kind < 0.5 and (away := [n for n in MEMBERS if self.group["members"][n]["epoch"] == -2]):
            instance = self.group["members"][pick.choice(away)]["instance"]
            subscription = self._subscription()
            self.heartbeat(name, 0, owned=NOTHING, subscription=subscription, instance=instance)
        elif kind < 0.18:
            self.heartbeat(name, -1)
        elif kind < 0.24 or (member["epoch"] == -1 and kind < 0.9):
            absent = member["epoch"] == -1 and pick.random() < 0.3
            given = {"subscription": self._subscription(), "instance": self._maybe(0.4, INSTANCES)}
            self.heartbeat(name, 0, "" if absent else None, owned=NOTHING, regex=self._maybe(0.2), **given)
        elif kind < 0.28:
            self.heartbeat(name, -2, instance=member["instance"] or "i1")
        elif kind < 0.36:
            self._random_offset(name, member["epoch"], pick.choice(PARTITIONS))
        else:
            epochs = [member["epoch"]] * 8 + [member["previousEpoch"], self.group["epoch"] + 1]
            self._random_heartbeat(name, max(1, pick.choice(epochs)))

    def _random_topic(self, topic: str, kind: float, change: Any) -> None:
        count = self.topics[topic]
        names = [other for other in TOPICS if topic_name(other) == topic_name(topic) and other != topic]
        if count > 0 and kind < 0.2:
            change("DeleteTopic", topic, -1)
        elif 0 <= count < TOPICS[topic] and all(self.topics[other] <= 0 for other in names):
            change(
                "AddPartitions" if count else "CreateTopic",
                topic,
                self.random.randint(count + 1, TOPICS[topic]),
            )

    def _random_offset(self, name: str, epoch: int, partition: Any) -> None:
        sent_as = self.random.choice([name, name, name, ""])
        epoch = -1 if not sent_as else epoch if self.random.random() < 0.7 else epoch + 1
        if self.random.random() < 0.6:
            self.commit(sent_as, epoch, partition, self.random.randint(0, 9))
        else:
            self.fetch(sent_as, epoch, partition)

    def _random_heartbeat(self, name: str, epoch: int) -> None:
        pick, assigned = self.random, self.group["members"][name]["assigned"]
        reported = frozenset(pick.sample(PARTITIONS, 2))
        owned = pick.choice([None, assigned, assigned, self.held(name), reported, NOTHING])
        self.heartbeat(
            name,
            epoch,
            owned=owned,
            subscription=self._subscription() if pick.random() < 0.2 else None,
            regex=self._maybe(0.1),
            assignor=self._maybe(0.05, ("uniform", "range")),
            instance=self._maybe(0.05, INSTANCES),
        )

    def _subscription(self) -> frozenset[str]:
        return frozenset(name for name in ("foo", "bar") if self.random.random() < 0.7)

    def _maybe(self, likelihood: float, values: Any = ("", *REGEXES)) -> Any:
        return self.random.choice(values) if self.random.random() < likelihood else None

    def _topics_of(self, member: Any) -> set[str]:
        names = member["subscription"] | REGEXES.get(member["regex"], set())
        return {topic for topic in TOPICS if topic_name(topic) in names}

    def _change(self, topic: str, partitions: int) -> None:
        """E1; T2: the offsets of a deleted topic go with it."""
        self.topics = self.topics.set(topic, partitions)
        if partitions < 0:
            gone = {partition: -1 for partition in PARTITIONS if partition[0] == topic}
            self.offsets = self.offsets | gone
        if self.group["epoch"]:
            self._refresh(bump=False)

    def _fence(self, name: str, epoch: int, partition: Any, fences: bool) -> str:
        """O2 first; then the check that the partition exists."""
        if fences and name not in self.members():
            return "UNKNOWN_MEMBER_ID"
        if name and name not in self.members():
            return "UNKNOWN_MEMBER_ID"
        if name and epoch != self.group["members"][name]["epoch"]:
            return "STALE_MEMBER_EPOCH"
        if self.topics[partition[0]] <= 0:
            return "UNKNOWN_TOPIC_ID"
        return "NONE" if partition[1] < self.topics[partition[0]] else "UNKNOWN_TOPIC_OR_PARTITION"

    def _offset(self, action: str, name: str, epoch: int, partition: Any, offset: int, error: str) -> None:
        answer = {"request": request(name, epoch), "response": NO_RESPONSE | {"error": error}}
        of = {"partition": some(partition), "offset": offset}
        self._state(NO_STEP | {"action": action, "member": name, **answer, **of})

    def _return(self, name: str, holder: str, body: Any) -> None:
        """S1: `name` takes the place of `holder`, who is away."""
        place, target = self.group["members"][holder], self.group["target"]
        names = ("subscription", "regex", "assignor")
        owners = {holder: name, name: ""} if holder != name else {}
        replaced = name != holder and name in self.members()
        self._set(holder, NO_MEMBER)
        self._set(name, NO_MEMBER.set("epoch", 0))
        self.group = self.group.set(
            "target", frozendict({p: owners.get(owner, owner) for p, owner in target.items()})
        )
        self._say(name, body)
        new = self.group["members"][name]
        self._refresh(replaced or any(new[field] != place[field] for field in names))
        self._accept("Return", name, body, "join", acknowledges=False, branch="return")

    def _set(self, name: str, member: Any) -> None:
        self.group = self.group.set("members", self.group["members"].set(name, member))

    def _say(self, name: str, body: Any) -> None:
        """H7: the fields of the request replace the known values."""
        names = ("instance", "subscription", "regex", "assignor")
        given = {field: value for field in names for value in body[field]}
        self._set(name, self.group["members"][name] | given)

    def _update(self, name: str, body: Any, bump: bool) -> None:
        old = self.group["members"][name]
        self._say(name, body)
        new = self.group["members"][name]
        self._refresh(bump or new.set("instance", "") != old.set("instance", ""))

    def _remove(self, name: str) -> None:
        self._set(name, NO_MEMBER)
        self._refresh(bump=True)

    def _refresh(self, bump: bool) -> None:
        """E1, then E2: any legal target (A4)."""
        members = self.group["members"]
        subscribed = {topic for name in self.members() for topic in self._topics_of(members[name])}
        metadata = frozendict({t: max(n, 0) if t in subscribed else 0 for t, n in self.topics.items()})
        if not bump and metadata == self.group["metadata"]:
            return
        target = {}
        for topic, index in PARTITIONS:
            able = [name for name in self.members() if topic in self._topics_of(members[name])]
            target[topic, index] = self.random.choice(able) if index < metadata[topic] else ""
        epoch = self.group["epoch"] + 1
        self.group = self.group | {
            "epoch": epoch,
            "assignmentEpoch": epoch,
            "metadata": metadata,
            "target": frozendict(target),
        }

    def _accept(
        self, action: str, name: str, body: Any, kind: str, acknowledges: bool, branch: str | None = None
    ) -> None:
        """R1-R3, R5: reconcile the member and answer."""
        old, target = self.group["members"][name], self.target(name)
        assigned, revoking, epoch = old["assigned"], old["revoking"], old["epoch"]
        others = frozenset().union(*(self.held(other) for other in MEMBERS if other != name))
        if revoking and not acknowledges:
            assigned, revoking = assigned & target, revoking | (assigned - target)
        elif assigned - target:
            assigned, revoking = assigned & target, assigned - target
        else:
            assigned, revoking, epoch = target - others, NOTHING, self.group["assignmentEpoch"]
        acknowledged = old["acknowledged"]
        if assigned != old["assigned"] or kind == "join":
            acknowledged = False
        elif kind == "current" and body["owned"]:
            acknowledged = body["owned"] == some(assigned)
        new = old | {"assigned": assigned, "revoking": revoking, "epoch": epoch, "acknowledged": acknowledged}
        if epoch != old["epoch"]:
            new = new.set("previousEpoch", old["epoch"])
        self._set(name, new)
        there = epoch == self.group["assignmentEpoch"] and not revoking
        answer = NOTHING
        if not (acknowledged and there and assigned == target):
            answer = some(frozendict(assigned=assigned, pending=target - assigned if there else NOTHING))
        self._answer(action, branch or kind, name, body, member=name, epoch=epoch, assignment=answer)

    def _answer(
        self, action: str, branch: str, name: str, body: Any, error: str = "NONE", **answer: Any
    ) -> None:
        response = NO_RESPONSE | {"error": error, **answer}
        self._state(
            NO_STEP
            | {"action": action, "branch": branch, "member": name, "request": body, "response": response}
        )

    def _state(self, step: Any) -> None:
        self.states.append(frozendict(group=self.group, topics=self.topics, offsets=self.offsets, step=step))
