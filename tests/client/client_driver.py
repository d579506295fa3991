"""A driver of one group of a coordinator whose members compute its targets."""

from __future__ import annotations

from typing import Any

from coordinator import Coordinator, SimulatedClock

FOO = "00000000-0000-4000-8000-0000000000f0"
BAR = "00000000-0000-4000-8000-0000000000ba"
HEARTBEAT = "ConsumerGroupHeartbeat"
PREPARE = "ConsumerGroupPrepareAssignment"
INSTALL = "ConsumerGroupInstallAssignment"

Json = dict[str, Any]


def offer(name: str = "x", least: int = 0, most: int = 2, **change: Any) -> Json:
    """A client-side assignor as in a request."""
    given = {"name": name, "minimumVersion": least, "maximumVersion": most, "metadataVersion": most}
    return {**given, "reason": 0, "metadataBytes": "", **change}


def part(member: str, *partitions: int, topic: str = FOO, **change: Any) -> Json:
    """One member's part of an assignment."""
    given = [{"topicId": topic, "partitions": list(partitions)}] if partitions else []
    return {"memberId": member, "partitions": given, **change}


class ClientGroup:
    """A coordinator with the topic foo of two partitions, and the group "g"."""

    def __init__(self, **options: Any) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(**{"clock": self.clock, **options})
        self.coordinator.upsert_topic("foo", FOO, 2)

    def request(self, api: str, **body: Any) -> Json:
        return self.coordinator.request(api, 0, {}, {"groupId": "g", **body})

    def join(self, member: str, *offers: Json, topics: tuple[str, ...] = ("foo",), **body: Any) -> Json:
        full = {"rebalanceTimeoutMs": 300_000, "subscribedTopicNames": list(topics), "topicPartitions": []}
        given = {"clientAssignors": list(offers)} if offers else {}
        return self.request(HEARTBEAT, memberId=member, memberEpoch=0, **full, **given, **body)

    def beat(self, member: str, epoch: int, **body: Any) -> Json:
        return self.request(HEARTBEAT, memberId=member, memberEpoch=epoch, **body)

    def prepare(self, member: str, epoch: int = 1) -> Json:
        return self.request(PREPARE, memberId=member, memberEpoch=epoch)

    def install(self, member: str, group_epoch: int, *members: Json, epoch: int = 1, error: int = 0) -> Json:
        carried = {"groupEpoch": group_epoch, "error": error, "members": list(members)}
        return self.request(INSTALL, memberId=member, memberEpoch=epoch, **carried)

    def group(self) -> Json:
        return self.coordinator.describe("g")

    def chosen(self) -> str:
        """The member that computes the target; "" for none."""
        return str(self.group().get("computation", {}).get("chosen", ""))

    def prepared(self, *members: str) -> ClientGroup:
        """The members have joined, and the first, which was chosen, has prepared."""
        for member in members:
            self.join(member, offer())
        assert self.prepare(members[0])["errorCode"] == 0
        return self

    def target(self, member: str) -> list[Any]:
        """A member's part of the target."""
        return next(one["target"] for one in self.group()["members"] if one["memberId"] == member)
