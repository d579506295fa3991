"""Bodies of requests, one builder for each API: well-formed, about a few groups, members and topics, so that
many of them have a meaning for their coordinator."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from coordinator import Coordinator
from coordinator.classic.embedded import Assignment, Subscription, write_assignment, write_subscription
from coordinator.core import wire

Json = dict[str, Any]

GROUPS: Final = ("g0", "g1", "g2")
INSTANCES: Final = ("i0", "i1")
TOPICS: Final = ("foo", "bar", "baz")
TOPIC_IDS: Final = tuple(f"00000000-0000-4000-8000-00000000000{digit}" for digit in "abcd")
ASSIGNORS: Final = ("range", "uniform", "own")
PROTOCOLS: Final = ("range", "roundrobin", "sticky")
REGEXES: Final = ("foo|bar", "ba.", ".*", "^$", "[", "(a*)*b", "x" * 40)
METADATA: Final = ("", "eA==", "eQ==", "x", "for m")
TIMES_MS: Final = (-1, 0, 1, 1_000, 6_000, 10_000, 45_000, 60_000, 300_000)
POSITIVE_MS: Final = (1_000, 5_000, 10_000, 60_000)


class Known:
    """The knowledge of a client, read from the coordinator, so that draws depend only on its state."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def kind(self, group: str) -> str:
        """consumer, classic, connect, share or "" for a missing group."""
        others = self._coordinator.others
        if group in self._coordinator._groups:
            return "consumer"
        if group in others.classic.groups:
            return "classic"
        if group in others._of["share"].groups:
            return "share"
        return "connect" if group in others.connect.groups else ""

    def members(self, group: str) -> dict[str, int]:
        """The epoch or generation of each member; 0 of a member id that was made and has not joined."""
        live = self._coordinator
        if (consumers := live._groups.get(group) or live.others.connect.groups.get(group)) is not None:
            return {name: member.epoch for name, member in consumers.members.items()}
        if (classic := live.others.classic.groups.get(group)) is not None:
            return dict.fromkeys(classic.pending, 0) | dict.fromkeys(classic.members, classic.generation)
        if (share := live.others._of["share"].groups.get(group)) is not None:
            return {name: member.epoch for name, member in share.members.items()}
        return {}

    def member(self, rng: Random, group: str) -> tuple[str, int]:
        """A member and its epoch, most often one of the group."""
        members = self.members(group)
        if members and rng.random() < 0.85:
            name = rng.choice(tuple(members))
            return name, members[name]
        return f"m{rng.randrange(4)}", 0

    def owned(self, group: str, member: str) -> frozenset[tuple[str, int]]:
        """The partitions that a member owns after it has followed its last answer."""
        live = self._coordinator
        consumers = live._groups.get(group) or live.others.connect.groups.get(group)
        known = None if consumers is None else consumers.members.get(member)
        return frozenset() if known is None else known.assigned

    def chosen(self, rng: Random, group: str) -> tuple[str, int]:
        """The member that computes the target, and its epoch."""
        live = self._coordinator
        work = live.others.connect._work.get(group)
        there = live._groups.get(group)
        name = work.chosen if work is not None else there.computation.chosen if there is not None else ""
        members = self.members(group)
        return (name, members[name]) if name in members and rng.random() < 0.9 else self.member(rng, group)

    def prepared(self, group: str) -> Json:
        """The answer that the chosen member got to PrepareAssignment."""
        live = self._coordinator
        if (work := live.others.connect._work.get(group)) is not None and (made := work.prepared) is not None:
            tasks = [{"connectorId": name, "numTasks": count - 1} for name, count in made.metadata.items()]
            return {"groupEpoch": made.epoch, "members": sorted(made.workers), "connectors": tasks}
        there = live._groups.get(group)
        base = None if there is None else there.computation.base
        return {} if base is None else base.body


def partitions(rng: Random) -> list[Json]:
    """Partitions of some topics, as requests name them."""
    chosen = rng.sample(TOPIC_IDS[:3], rng.choice((0, 0, 1, 1, 2)))
    return [
        {"topicId": one, "partitions": sorted(rng.sample(range(4), rng.randrange(1, 4)))} for one in chosen
    ]


def offers(rng: Random, *names: str) -> list[Json]:
    """Assignors that a member offers."""
    chosen = rng.sample(names or ASSIGNORS, rng.choice((1, 1, 2)))
    made = []
    for name in chosen:
        least = rng.choice((-1, -1, -1, 0))
        most = max(0, least) + rng.randrange(3)
        version = rng.randint(least, most)
        made.append(
            {
                **{"name": name, "minimumVersion": least, "maximumVersion": most, "reason": rng.randrange(2)},
                **{"metadataVersion": version, "metadataBytes": rng.choice(METADATA)},
            }
        )
    return made


def _epoch(rng: Random, epoch: int) -> int:
    return epoch if rng.random() < 0.75 else rng.choice((0, 0, -1, -2, epoch + 1, epoch - 1, 3))


def heartbeat(rng: Random, known: Known, group: str) -> Json:
    """ConsumerGroupHeartbeat: a join, with all its fields, or a later one."""
    member, epoch = known.member(rng, group)
    body: Json = {"groupId": group, "memberId": member, "memberEpoch": _epoch(rng, epoch)}
    if rng.random() < 0.3:
        body["instanceId"] = rng.choice(INSTANCES)
    joins = body["memberEpoch"] == 0
    if joins or rng.random() < 0.2:
        body["rebalanceTimeoutMs"] = rng.choice(POSITIVE_MS)
        if rng.random() < 0.3:
            body["subscribedTopicRegex"] = rng.choice(REGEXES)
        if "subscribedTopicRegex" not in body or rng.random() < 0.3:
            body["subscribedTopicNames"] = rng.sample(TOPICS, rng.randrange(4))
        if rng.random() < 0.3:
            body["clientAssignors"] = offers(rng)
        elif rng.random() < 0.3:
            body["serverAssignor"] = rng.choice(ASSIGNORS)
        if rng.random() < 0.2:
            body["rackId"] = rng.choice(("r1", "r2"))
    if rng.random() < 0.7:
        way = rng.random()
        told = wire.to_wire(known.owned(group, member)) if way < 0.6 else partitions(rng)
        body["topicPartitions"] = [] if way < (0.9 if joins else 0.1) else told
    if joins and rng.random() < 0.3:
        body["memberId"] = rng.choice(("", f"m{rng.randrange(4)}"))
    return body


def subscription(rng: Random, generation: int, owned: frozenset[tuple[str, int]]) -> str:
    """The embedded consumer protocol's subscription."""
    if rng.random() < 0.5:
        owned = frozenset((rng.choice(TOPICS), rng.randrange(-1, 4)) for _ in range(rng.choice((0, 0, 2))))
    generation = min(generation, 2**31 - 1)
    said = Subscription(
        frozenset(rng.sample(TOPICS, rng.randrange(1, 3))),
        rng.choice((None, None, b"", b"x")),
        owned,
        generation,
        rng.choice((None, None, "r1")),
    )
    return b64encode(write_subscription(said, 3 if rng.random() < 0.9 else rng.randrange(3))).decode()


def assignment(rng: Random) -> str:
    """The embedded consumer protocol's assignment."""
    given = frozenset((rng.choice(TOPICS), rng.randrange(-1, 4)) for _ in range(rng.randrange(4)))
    return b64encode(write_assignment(Assignment(given, rng.choice((None, b"x"))))).decode()


def join_group(rng: Random, known: Known, group: str) -> Json:
    """JoinGroup."""
    member, epoch = known.member(rng, group)
    fresh = rng.random() < 0.35
    generation = -1 if fresh or rng.random() < 0.3 else epoch
    names = rng.sample(PROTOCOLS, rng.choice((1, 1, 2)))
    owned = frozenset((rng.choice(TOPICS), index) for _, index in known.owned(group, member))
    content = subscription(rng, generation, owned) if rng.random() < 0.9 else rng.choice(("", "eA==", "AAM="))
    return {
        "groupId": group,
        "memberId": "" if fresh else member,
        "groupInstanceId": rng.choice(INSTANCES) if rng.random() < 0.4 else None,
        "sessionTimeoutMs": rng.choice((6_000, 10_000, 45_000, 1_800_000)) if rng.random() < 0.97 else 5,
        "rebalanceTimeoutMs": rng.choice(TIMES_MS),
        "protocolType": "consumer" if rng.random() < 0.95 else rng.choice(("", "connect")),
        "protocols": [{"name": name, "metadata": content} for name in names],
    }


def sync_group(rng: Random, known: Known, group: str) -> Json:
    """SyncGroup, as the leader or not."""
    member, epoch = known.member(rng, group)
    members = known.members(group)
    names = rng.sample(tuple(members), min(len(members), rng.randrange(4)))
    return {
        "groupId": group,
        "generationId": _epoch(rng, epoch),
        "memberId": member,
        "groupInstanceId": rng.choice(INSTANCES) if rng.random() < 0.1 else None,
        "protocolType": rng.choice((None, "consumer")),
        "protocolName": rng.choice((None, None, "range")),
        "assignments": [{"memberId": name, "assignment": assignment(rng)} for name in names],
    }


def classic_heartbeat(rng: Random, known: Known, group: str) -> Json:
    """Heartbeat."""
    member, epoch = known.member(rng, group)
    instance = rng.choice(INSTANCES) if rng.random() < 0.1 else None
    generation = _epoch(rng, epoch)
    return {"groupId": group, "memberId": member, "groupInstanceId": instance, "generationId": generation}


def leave_group(rng: Random, known: Known, group: str) -> Json:
    """LeaveGroup."""
    leaving: list[Json] = []
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        if rng.random() < 0.7:
            leaving.append({"memberId": known.member(rng, group)[0]})
        else:
            leaving.append({"memberId": "", "groupInstanceId": rng.choice(INSTANCES), "reason": "done"})
    return {"groupId": group, "members": leaving}


def _installed_members(rng: Random, prepared: Json) -> list[Json]:
    members = prepared.get("members") or []
    names = [one["memberId"] if isinstance(one, dict) else one for one in members]
    given: dict[str, list[Json]] = {name: [] for name in names}
    for topic in prepared.get("topics") or []:
        for index in range(min(topic["numPartitions"], 8)):
            subscribed = [one["memberId"] for one in members if topic["topicId"] in one["subscribedTopicIds"]]
            if subscribed:
                name = rng.choice(subscribed)
                given[name].append({"topicId": topic["topicId"], "partitions": [index]})
    if given and rng.random() < 0.1:
        given.pop(rng.choice(tuple(given)))
    return [
        {
            **{"memberId": name, "partitions": owned},
            **{"metadataVersion": rng.choice((-1, 0, 1)), "metadataBytes": rng.choice(METADATA)},
        }
        for name, owned in given.items()
    ]


def prepare(rng: Random, known: Known, group: str) -> Json:
    """ConsumerGroupPrepareAssignment, ConnectGroupPrepareAssignment."""
    member, epoch = known.chosen(rng, group)
    return {"groupId": group, "memberId": member, "memberEpoch": _epoch(rng, epoch)}


def install(rng: Random, known: Known, group: str) -> Json:
    """ConsumerGroupInstallAssignment."""
    prepared = known.prepared(group)
    return {
        **prepare(rng, known, group),
        "groupEpoch": _epoch(rng, prepared.get("groupEpoch", 1)),
        "error": rng.choice((0, 0, 0, 0, 1)),
        "members": _installed_members(rng, prepared) if "topics" in prepared else [],
    }


def resources(rng: Random) -> list[Json]:
    """Connectors and tasks."""
    tasks = [{"connectorId": rng.choice(TOPICS), "taskId": 1}] if rng.random() < 0.5 else []
    return [{"connectors": rng.sample(TOPICS, rng.randrange(3)), "tasks": tasks}]


_DRAFTED: Final = {"metadataVersion": "version", "metadataBytes": "metadata"}
"""The different names in the draft of Connect groups."""


def worker_heartbeat(rng: Random, known: Known, group: str) -> Json:
    """ConnectGroupHeartbeat."""
    member, epoch = known.member(rng, group)
    body: Json = {"groupId": group, "memberId": member, "memberEpoch": _epoch(rng, epoch)}
    if body["memberEpoch"] == 0 or rng.random() < 0.1:
        body["rebalanceTimeoutMs"] = rng.choice(POSITIVE_MS)
        body["clientAssignors"] = [
            {_DRAFTED.get(name, name): content for name, content in offer.items()}
            for offer in offers(rng, "sessioned", "eager")
        ]
    if rng.random() < 0.6:
        body["connectorsAndTasks"] = [] if rng.random() < 0.5 else resources(rng)
    return body


def share_heartbeat(rng: Random, known: Known, group: str) -> Json:
    """ShareGroupHeartbeat."""
    member, epoch = known.member(rng, group)
    body: Json = {"groupId": group, "memberId": member, "memberEpoch": _epoch(rng, epoch)}
    if body["memberEpoch"] == 0 or rng.random() < 0.2:
        body["subscribedTopicNames"] = rng.sample(TOPICS, rng.choice((0, 1, 1, 2)))
    return body


def install_work(rng: Random, known: Known, group: str) -> Json:
    """ConnectGroupInstallAssignment: every prepared connector and task, for some worker."""
    prepared = known.prepared(group)
    names = [one["memberId"] if isinstance(one, dict) else one for one in prepared.get("members") or []]
    given: dict[str, Json] = {name: {"connectors": [], "tasks": []} for name in names}
    for one in (prepared.get("connectors") or []) if names else []:
        given[rng.choice(names)]["connectors"].append(one["connectorId"])
        for task in range(1, one["numTasks"] + 1):
            given[rng.choice(names)]["tasks"].append({"connectorId": one["connectorId"], "taskId": task})
    return {
        **prepare(rng, known, group),
        "groupEpoch": _epoch(rng, prepared.get("groupEpoch", 1)),
        "error": rng.choice((0, 0, 0, 0, 1)),
        "members": [{"memberId": name, "connectorsAndTasks": [work]} for name, work in given.items()],
    }


def _topic(rng: Random) -> Json:
    if rng.random() < 0.5:
        return {"name": rng.choice(TOPICS)}
    return {"topicId": rng.choice(TOPIC_IDS)}


def offset_commit(rng: Random, known: Known, group: str) -> Json:
    """OffsetCommit, of a member or without one."""
    member, epoch = known.member(rng, group)
    body: Json = {"groupId": group, "topics": []}
    if rng.random() < 0.7:
        body |= {"memberId": member, "generationIdOrMemberEpoch": _epoch(rng, epoch)}
    if rng.random() < 0.1:
        body["groupInstanceId"] = rng.choice(INSTANCES)
    for _ in range(rng.choice((0, 1, 1, 2))):
        one: Json = {"partitionIndex": rng.randrange(4), "committedOffset": rng.choice((0, 1, 2**62, -1))}
        one["committedMetadata"] = rng.choice(METADATA)
        body["topics"].append({**_topic(rng), "partitions": [one]})
    return body


def offset_fetch(rng: Random, known: Known, group: str) -> Json:
    """OffsetFetch."""
    body: Json = {"groups": [{"groupId": group, "topics": None}]}
    if rng.random() < 0.4:
        member, epoch = known.member(rng, group)
        body |= {"memberId": member, "generationIdOrMemberEpoch": _epoch(rng, epoch)}
    if rng.random() < 0.5:
        body["groups"][0]["topics"] = [{**_topic(rng), "partitionIndexes": [0, 1]}]
    if rng.random() < 0.2:
        body["groups"].append({"groupId": rng.choice(GROUPS), "topics": []})
    return body


def describe_groups(rng: Random, _: Known, group: str) -> Json:
    """ConsumerGroupDescribe."""
    body: Json = {"groupIds": [group, *rng.sample(GROUPS, rng.randrange(2))]}
    if rng.random() < 0.3:
        body["includeAuthorizedOperations"] = True
    return body


def list_groups(rng: Random, *_: object) -> Json:
    """ListGroups."""
    states = ("Stable", "Empty", "Dead", "PreparingRebalance")
    return {
        "statesFilter": rng.sample(states, rng.choice((0, 0, 1))),
        "typesFilter": rng.sample(("consumer", "classic", "connect"), rng.choice((0, 0, 1))),
    }


def delete_groups(rng: Random, _: Known, group: str) -> Json:
    """DeleteGroups."""
    return {"groupsNames": [group, *rng.sample(GROUPS, rng.choice((0, 0, 1)))]}


CONFIGS: Final = (
    *("group.consumer.session.timeout.ms", "consumer.session.timeout.ms"),
    *("group.consumer.heartbeat.interval.ms", "consumer.heartbeat.interval.ms", "group.consumer.max.size"),
)
VALUES: Final = ("45000", "50000", "60000", "5000", "6000", "15000", "1", "-1", "", "many", None)


def alter_configs(rng: Random, _: Known, group: str) -> Json:
    """IncrementalAlterConfigs."""
    changes: list[Json] = []
    for _ in range(rng.choice((1, 1, 2))):
        how = {"configOperation": rng.choice((0, 0, 0, 1, 2)), "value": rng.choice(VALUES)}
        changes.append({"name": rng.choice(CONFIGS), **how})
    kind = 16 if rng.random() < 0.9 else rng.choice((2, 4, 0))
    body: Json = {"resources": [{"resourceType": kind, "resourceName": group, "configs": changes}]}
    if rng.random() < 0.1:
        body["validateOnly"] = True
    return body


def describe_configs(rng: Random, _: Known, group: str) -> Json:
    """DescribeConfigs."""
    kind, name = rng.choice(((16, group), (16, group), (4, "0"), (4, ""), (2, "foo")))
    names = None if rng.random() < 0.7 else rng.sample(CONFIGS, 2)
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": names}
    return {"resources": [resource], "includeSynonyms": rng.random() < 0.3, "includeDocumentation": True}


Builder = Callable[[Random, Known, str], Json]
BUILDERS: Final[dict[str, tuple[Builder, int]]] = {
    "ConsumerGroupHeartbeat": (heartbeat, 26),
    "JoinGroup": (join_group, 14),
    "SyncGroup": (sync_group, 8),
    "Heartbeat": (classic_heartbeat, 4),
    "LeaveGroup": (leave_group, 3),
    "ConnectGroupHeartbeat": (worker_heartbeat, 12),
    "ShareGroupHeartbeat": (share_heartbeat, 5),
    "ConnectGroupPrepareAssignment": (prepare, 3),
    "ConnectGroupInstallAssignment": (install_work, 3),
    "ConsumerGroupPrepareAssignment": (prepare, 4),
    "ConsumerGroupInstallAssignment": (install, 4),
    "OffsetCommit": (offset_commit, 6),
    "OffsetFetch": (offset_fetch, 3),
    "ConsumerGroupDescribe": (describe_groups, 2),
    "ListGroups": (list_groups, 1),
    "DeleteGroups": (delete_groups, 2),
    "IncrementalAlterConfigs": (alter_configs, 2),
    "DescribeConfigs": (describe_configs, 1),
}
"""The function that makes the body for each API, and the weight of that API."""
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "consumer": (
        *("ConsumerGroupHeartbeat", "ConsumerGroupPrepareAssignment", "ConsumerGroupInstallAssignment"),
        *("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit"),
    ),
    "classic": ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit"),
    "connect": tuple(api for api in BUILDERS if api.startswith("Connect")),
    "share": ("ShareGroupHeartbeat",),
    "": ("ConsumerGroupHeartbeat", "JoinGroup", "ConnectGroupHeartbeat", "ShareGroupHeartbeat"),
}
"""The requests that a group of each kind gets most often."""


def weighted(choices: Sequence[tuple[str, int]]) -> tuple[list[str], list[int]]:
    """Names, and the running sums of their weights, as `Random.choices` takes them."""
    names, sums, total = [], [], 0
    for name, weight in choices:
        total += weight
        names.append(name)
        sums.append(total)
    return names, sums
