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
TOPICS = {"foo": 3, "bar": 2}
PARTITIONS = [(topic, index) for topic, most in TOPICS.items() for index in range(most)]
NOTHING: frozenset[Any] = frozenset()
NO_MEMBER = frozendict(
    epoch=-1,
    previousEpoch=0,
    subscription=NOTHING,
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
NO_REQUEST = frozendict(member="", epoch=0, owned=NOTHING, subscription=NOTHING, assignor=NOTHING)
NO_RESPONSE = frozendict(error="", member="", epoch=0, assignment=NOTHING)
NO_STEP = frozendict(
    action="Init", branch="", member="", request=NO_REQUEST, response=NO_RESPONSE, topic="", partitions=0
)


def some(*values: Any) -> frozenset[Any]:
    """An option: absent without an argument, else given."""
    return frozenset(values)


def request(
    member: str, epoch: int, owned: Any = None, subscription: Any = None, assignor: Any = None
) -> Any:
    """A request record; None is absent."""
    options = {"owned": owned, "subscription": subscription, "assignor": assignor}
    return frozendict(
        member=member,
        epoch=epoch,
        **{name: NOTHING if it is None else some(it) for name, it in options.items()},
    )


class Model:
    """One behaviour in the making; every method that acts appends a state to `states`."""

    def __init__(self, seed: int = 0, topics: dict[str, int] | None = None) -> None:
        self.random = random.Random(seed)
        self.group: Any = NO_GROUP
        self.topics: Any = frozendict({topic: (topics or {}).get(topic, 0) for topic in TOPICS})
        self.states: list[Any] = []
        self._state(NO_STEP)

    def trace(self) -> Trace:
        """The behaviour so far."""
        return Trace({}, ("group", "topics", "step"), list(self.states))

    def walk(self, steps: int) -> Trace:
        """Add random steps."""
        for _ in range(steps):
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

    # Acting

    def heartbeat(self, name: str, epoch: int, sent_as: str | None = None, **given: Any) -> None:
        """A join, rejoin, heartbeat or leave, by its epoch; `given` are owned, subscription and assignor."""
        body = request(name if sent_as is None else sent_as, epoch, **given)
        known = name in self.members()
        action = {0: "Rejoin" if known else "Join", -1: "Leave"}.get(epoch, "Heartbeat")
        member = self.group["members"][name]
        if epoch == 0:
            self._set(name, NO_MEMBER.set("epoch", 0))
            self._update(name, body, bump=True)
            self._accept(action, name, body, "join", acknowledges=False)
        elif not known:
            self._answer(action, "unknown", name, body, error="UNKNOWN_MEMBER_ID")
        elif epoch == -1:
            self._remove(name)
            self._answer(action, "leave", name, body, member=name, epoch=-1)
        elif epoch == member["epoch"]:
            acknowledges = any(not owned & member["revoking"] for owned in body["owned"])
            self._update(name, body, bump=False)
            self._accept(action, name, body, "current", acknowledges)
        elif epoch == member["previousEpoch"] and all(owned <= self.target(name) for owned in body["owned"]):
            self._update(name, body, bump=False)
            self._accept(action, name, body, "retry", acknowledges=False)
        else:
            self._remove(name)
            self._answer(action, "fenced", name, body, error="FENCED_MEMBER_EPOCH")

    def expire(self, action: str, name: str) -> None:
        """SessionTimeout or RebalanceTimeout."""
        self._remove(name)
        self._state(NO_STEP | {"action": action, "member": name})

    def change_topic(self, action: str, topic: str, partitions: int) -> None:
        """CreateTopic, AddPartitions or DeleteTopic (-1)."""
        self.topics = self.topics.set(topic, partitions)
        if self.group["epoch"]:
            self._refresh(bump=False)
        self._state(NO_STEP | {"action": action, "topic": topic, "partitions": partitions})

    def delete_group(self) -> None:
        self.group = NO_GROUP
        self._state(NO_STEP | {"action": "DeleteGroup"})

    # Rules

    def _any(self) -> None:
        pick, name = self.random, self.random.choice(MEMBERS)
        topic = pick.choice(list(TOPICS))
        count, member, kind = self.topics[topic], self.group["members"][name], pick.random()
        if kind < 0.06 and 0 <= count < TOPICS[topic]:
            self.change_topic(
                "AddPartitions" if count else "CreateTopic", topic, pick.randint(count + 1, TOPICS[topic])
            )
        elif kind < 0.07 and count > 0:
            self.change_topic("DeleteTopic", topic, -1)
        elif kind < 0.10 and member["revoking"]:
            self.expire("RebalanceTimeout", name)
        elif kind < 0.13 and member["epoch"] != -1:
            self.expire("SessionTimeout", name)
        elif self.group["epoch"] and not self.members() and kind < 0.3:
            self.delete_group()
        elif kind < 0.18:
            self.heartbeat(name, -1)
        elif kind < 0.24 or (member["epoch"] == -1 and kind < 0.9):
            absent = member["epoch"] == -1 and pick.random() < 0.3
            self.heartbeat(name, 0, "" if absent else None, owned=NOTHING, subscription=self._subscription())
        else:
            epochs = [member["epoch"]] * 8 + [member["previousEpoch"], self.group["epoch"] + 1]
            self._random_heartbeat(name, max(1, pick.choice(epochs)))

    def _random_heartbeat(self, name: str, epoch: int) -> None:
        pick, assigned = self.random, self.group["members"][name]["assigned"]
        owned = pick.choice(
            [
                None,
                assigned,
                assigned,
                self.held(name),
                frozenset(pick.sample(PARTITIONS, min(2, len(PARTITIONS)))),
                NOTHING,
            ]
        )
        subscription = self._subscription() if pick.random() < 0.2 else None
        assignor = pick.choice(["uniform", "range"]) if pick.random() < 0.05 else None
        self.heartbeat(name, epoch, owned=owned, subscription=subscription, assignor=assignor)

    def _subscription(self) -> frozenset[str]:
        return frozenset(topic for topic in TOPICS if self.random.random() < 0.7)

    def _set(self, name: str, member: Any) -> None:
        self.group = self.group.set("members", self.group["members"].set(name, member))

    def _update(self, name: str, body: Any, bump: bool) -> None:
        old = self.group["members"][name]
        new = old
        for subscription in body["subscription"]:
            new = new.set("subscription", subscription)
        for assignor in body["assignor"]:
            new = new.set("assignor", assignor)
        self._set(name, new)
        self._refresh(bump or new != old)

    def _remove(self, name: str) -> None:
        self._set(name, NO_MEMBER)
        self._refresh(bump=True)

    def _refresh(self, bump: bool) -> None:
        """E1, then E2: any legal target (A4)."""
        members = self.group["members"]
        subscribed = {topic for name in self.members() for topic in members[name]["subscription"]}
        metadata = frozendict({t: max(n, 0) if t in subscribed else 0 for t, n in self.topics.items()})
        if not bump and metadata == self.group["metadata"]:
            return
        target = {}
        for topic, index in PARTITIONS:
            able = [name for name in self.members() if topic in members[name]["subscription"]]
            target[topic, index] = self.random.choice(able) if index < metadata[topic] else ""
        epoch = self.group["epoch"] + 1
        self.group = self.group | {
            "epoch": epoch,
            "assignmentEpoch": epoch,
            "metadata": metadata,
            "target": frozendict(target),
        }

    def _accept(self, action: str, name: str, body: Any, kind: str, acknowledges: bool) -> None:
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
        self._answer(action, kind, name, body, member=name, epoch=epoch, assignment=answer)

    def _answer(
        self, action: str, branch: str, name: str, body: Any, error: str = "NONE", **answer: Any
    ) -> None:
        response = NO_RESPONSE | {"error": error, **answer}
        self._state(
            NO_STEP
            | {"action": action, "branch": branch, "member": name, "request": body, "response": response}
        )

    def _state(self, step: Any) -> None:
        self.states.append(frozendict(group=self.group, topics=self.topics, step=step))
