"""Takes the coordinator along a behaviour of spec/ClosedMigration.tla, and compares after every step (M1-M3).

What happened in a step is seen in the states: which process sent what, whose answer was lost, who came or
went. The answers are delivered in the specification; here the coordinator gives them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixed_driver import FOO, MixedDriver, assigned, numbers, said

Json = dict[str, Any]
State = Mapping[str, Any]


def indexes(partitions: Any) -> set[int]:
    """Partition numbers of a set of the specification."""
    return {index for _, index in partitions}


def started(first: State, partitions: int) -> MixedDriver:
    """The stable classic group that a behaviour starts from."""
    driver = MixedDriver(partitions)
    members = [
        {
            "memberId": name,
            "groupInstanceId": None,
            "clientId": name,
            "clientHost": "/h",
            "rebalanceTimeout": 60_000,
            "sessionTimeout": 10_000,
            "subscription": said(),
            "assignment": assigned(indexes(process["owned"])),
        }
        for name, process in sorted(first["processes"].items())
    ]
    value = {"protocolType": "consumer", "generation": 1, "protocol": "range", "leader": "a"}
    value |= {"currentStateTimestamp": 0, "members": members}
    record = {"offset": 0, "key": {"type": "GroupMetadata", "group": "g"}, "value": value}
    driver.coordinator.load([record], [{"name": "foo", "id": FOO, "partitions": partitions}], {})
    return driver


class Follower:
    """The coordinator beside a behaviour; `done` are the steps that called it."""

    def __init__(self, first: State, partitions: int) -> None:
        self.driver = started(first, partitions)
        self.done: list[str] = []

    def follow(self, before: State, after: State) -> None:
        """Do what happened, and compare."""
        self._script(after)
        if before["mixed"] != after["mixed"] or before["replies"] != after["replies"]:
            self._do(before, after)
        self._open(before, after)
        self._compare(after)

    def _script(self, after: State) -> None:
        """The target that the behaviour chooses, should one be due."""
        target = after["mixed"]["group"]["target"]
        given: dict[str, set[int]] = {}
        for (_, index), owner in target.items():
            given.setdefault(owner, set()).add(index)
        self.driver.target(**{name: owned for name, owned in given.items() if name})

    def _do(self, before: State, after: State) -> None:
        for name, now in after["processes"].items():
            was = before["processes"][name]
            owned, epoch = indexes(was["owned"]), was["epoch"]
            if was["protocol"] != now["protocol"] and was["up"]:
                self.done.append("Bounce")
                consumer = was["protocol"] == "consumer"
                assert (
                    self.driver.heartbeat(name, -1)["errorCode"] == 0 if consumer else self.driver.leave(name)
                )
                return
            if (was["stage"], now["stage"]) == ("rejoin", "waiting"):
                return self._join(name, owned, epoch, after["replies"][name])
            if (was["stage"], now["stage"]) == ("sync", "syncing"):
                return self._sync(name, epoch, after["replies"][name])
        self._others(before, after)

    def _others(self, before: State, after: State) -> None:
        """A heartbeat of the consumer protocol, a time-out, a fail-over; all else happens elsewhere."""
        answered = [name for name, reply in after["replies"].items() if reply and not before["replies"][name]]
        beat = [name for name in answered if after["processes"][name]["protocol"] == "consumer"]
        members = before["mixed"]["group"]["members"]
        gone = [
            name
            for name, one in members.items()
            if one["epoch"] != -1 and after["mixed"]["group"]["members"][name]["epoch"] == -1
        ]
        if beat:
            self.done.append("Heartbeat")
            process = before["processes"][beat[0]]
            owned = indexes(process["owned"]) if process["report"] else None
            answer = self.driver.heartbeat(beat[0], process["epoch"], owned)
            (reply,) = after["replies"][beat[0]]
            assert (answer["errorCode"] == 0) == (reply["error"] == "NONE")
            assert answer["memberEpoch"] == reply["epoch"]
        elif gone:
            self.done.append("Expire")
            assert self.driver.coordinator.fire("session", "g", gone[0])
        elif before["mixed"] != after["mixed"]:
            self.done.append("FailOver")
            self.driver.coordinator.restart()

    def _join(self, name: str, owned: set[int], generation: int, replies: Any) -> None:
        self.done.append("JoinGroup")
        answer = self.driver.join(name, owned, generation)
        if answer is not None and answer["errorCode"] == 25 and generation == -1:
            self.driver.coordinator.use_ids([name])
            self.driver.join("", client=name)
            answer = self.driver.join(name, owned, generation)
        expected = [reply for reply in replies if reply["assigned"] == frozenset()]
        if expected:
            assert answer is not None
            assert (answer["errorCode"] == 0) == (expected[0]["error"] == "NONE")
            assert answer["errorCode"] or answer["generationId"] == expected[0]["epoch"]

    def _sync(self, name: str, generation: int, replies: Any) -> None:
        self.done.append("SyncGroup")
        (reply,) = replies
        if reply["error"] == "NONE":
            (owned,) = reply["assigned"]
            assert self.driver.synced(name, generation) == indexes(owned)
        else:
            assert (self.driver.sync(name, generation) or {})["errorCode"] in (22, 25, 27)

    def _open(self, before: State, after: State) -> None:
        """The barrier of a classic group has opened: the leader assigns, and everyone gets it."""
        if after["mixed"]["kind"] != "classic" or "type" not in self.driver.group:
            return
        if before["mixed"]["group"]["epoch"] == after["mixed"]["group"]["epoch"]:
            return
        if not any(one["epoch"] != -1 for one in after["mixed"]["group"]["members"].values()):
            return
        self.driver.open_barrier()
        self.done.append("Opens")
        group, members = self.driver.group, after["mixed"]["group"]["members"]
        gives = {name: indexes(one["assigned"]) for name, one in members.items() if one["epoch"] != -1}
        for name in sorted(gives, key=lambda one: one == group["leader"]):
            self.driver.sync(name, group["generation"], gives if name == group["leader"] else None)

    def _compare(self, after: State) -> None:
        group, mixed = self.driver.group, after["mixed"]
        there = {name: one for name, one in mixed["group"]["members"].items() if one["epoch"] != -1}
        if mixed["kind"] == "classic":
            assert group["type"] == "classic"
            assert group["generation"] == mixed["group"]["epoch"]
            assert {one["memberId"] for one in group["members"]} == there.keys()
            return
        assert "type" not in group
        assert group["groupEpoch"] == mixed["group"]["epoch"]
        assert group["assignmentEpoch"] == mixed["group"]["assignmentEpoch"]
        for name, one in there.items():
            found = self.driver.member(name)
            assert found["memberEpoch"] == one["epoch"], name
            assert numbers(found["assigned"]) == indexes(one["assigned"]), name
            assert numbers(found["pendingRevocation"]) == indexes(one["revoking"]), name
        names = {"prepare": "PreparingRebalance", "complete": "CompletingRebalance", "stable": "Stable"}
        phases = {name: names[mixed["phase"][name]] for name in there if mixed["phase"][name]}
        assert self.driver.phases() == phases
