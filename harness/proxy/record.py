"""The record: requests of groups with their answers, as a log that `conform validate` judges.

Beside each heartbeat stands the group as ConsumerGroupDescribe shows it right after. An injected fault is a
line {"op": "fault"} before its request. The line has the request, too, as a client is judged by its sent
requests, and not by those that arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from coordinator.serve.frames import Head
from coordinator.serve.group_apis import GROUP_APIS
from harness.proxy.faults import Fault
from harness.proxy.messages import RECORDED
from harness.targets.base import Json
from harness.targets.broker.forms import Form, from_kafka
from harness.targets.broker.names import Names
from harness.targets.broker.target import CONTROLS, UNOBSERVED, description

Note: TypeAlias = Callable[[Json, Json], None]
"""Takes an operation and its answer."""

GROUP_ID_NOT_FOUND: Final = 69
_AS_IT_IS: Final = Names("")


class Record:
    """The writer of the record: lines go out by `note`, in the order in which the broker did the requests."""

    def __init__(self, note: Note, dialect: str) -> None:
        self._note = note
        self._topics: dict[str, Json] | None = None
        self._fresh: dict[str, bool] = {}
        self._waits = 0
        self._connections = 0
        self.requests = self.faults = 0
        known = {"controls": sorted(CONTROLS), "unobserved": sorted(UNOBSERVED)}
        note({"op": "hello"}, {"name": "conform proxy", "dialect": dialect, "apis": {}, **known})

    @property
    def has_topics(self) -> bool:
        """Tell if the topics are known, which stand before the first request."""
        return self._topics is not None

    def topics(self, metadata: Json) -> None:
        """Note the topics of Metadata: first all of them, then changes."""
        topics = {topic["name"]: _topic(topic) for topic in metadata["topics"] if _is_there(topic)}
        before, self._topics = self._topics, topics
        if before is None:
            self._note({"op": "load", "records": [], "topics": list(topics.values()), "volatile": {}}, {})
            return
        upsert = [topic for name, topic in topics.items() if before.get(name) != topic]
        delete = [name for name in before if name not in topics]
        if upsert or delete:
            self._note({"op": "topics", "upsert": upsert, "delete": delete}, {})

    def is_fresh(self, group: str, before: Json) -> bool:
        """Tell if a group began with this record; its first request decides for good. A group that existed
        before has a state with which no behaviour begins: a line notes that it is left out."""
        if group not in self._fresh:
            self._fresh[group] = before["errorCode"] != 0 or not before["groupEpoch"]
            if not self._fresh[group]:
                says = "there was such a group before: its requests are left out"
                self._note({"op": "fault", "fault": "not recorded", "group": group, "says": says}, {})
        return self._fresh[group]

    def is_known(self, group: str) -> bool:
        """Tell if requests of a group are recorded already."""
        return self._fresh.get(group, False)

    def connection(self) -> int:
        """The number of a further connection of a client."""
        self._connections += 1
        return self._connections

    def request(
        self,
        head: Head,
        by: Json,
        client: Json,
        body: Json,
        answer: Json | None,
        seen: Json | None = None,
    ) -> None:
        """Note a request, in KIP-848's form, and its answer; None where the broker gave none. `seen` is the
        group right after a heartbeat, where that is known."""
        group = {} if seen is None else {"group": description(body["groupId"], seen)}
        requests = GROUP_APIS[head.key].requests(head.version, body)
        for one, part in zip(requests, _answers(head, requests, answer), strict=False):
            self._request(head, by, client, one, group if part is None else {"body": part, **group})

    def waits(self, head: Head, by: Json, client: Json, body: Json) -> str:
        """Note a request that is not answered yet; the id of its answer."""
        self._waits += 1
        self._request(head, by, client, body, {}, id=f"w{self._waits}")
        return f"w{self._waits}"

    def completed(self, waited: str, answer: Json) -> None:
        """Note the answer to a request that waited."""
        self._note({"op": "advance", "ms": 0}, {"completed": [{"id": waited, "body": answer}]})

    def fault(self, head: Head, by: Json, nth: int, body: Json, fault: Fault) -> None:
        """Note a fault of a request. A request to several groups is not repeated in its line."""
        self.faults += 1
        named = {"group": body["groupId"]} if "groupId" in body else {}
        place = {"client": by["listener"], "api": RECORDED[head.key], "nth": nth}
        requests = GROUP_APIS[head.key].requests(head.version, body)
        sent = {"connection": by["connection"], "body": requests[0]} if len(requests) == 1 else {}
        self._note({"op": "fault", **place, **fault.shown(), **named, **sent}, {})

    def _request(
        self, head: Head, by: Json, client: Json, body: Json, answered: Json, id: str | None = None
    ) -> None:
        """The operation of a request: `by` has the listener and the connection; `delivered` is false there if
        the answer is not sent, and `late` is true for a request whose connection is gone."""
        self.requests += 1
        operation: Json = {"op": "request", "api": RECORDED[head.key], "version": head.version}
        operation |= {**by, "client": client, "body": body}
        self._note(operation if id is None else {**operation, "id": id}, answered)


def seen_after(request: Json, before: Json, after: Json) -> Json | None:
    """The group after a heartbeat, from the descriptions before and after it.

    None where it shows more than the heartbeat's effect: a time-out in between removed another member.
    """
    if before["errorCode"] not in (0, GROUP_ID_NOT_FOUND) or after["errorCode"] not in (
        0,
        GROUP_ID_NOT_FOUND,
    ):
        return None
    instance = request.get("instanceId")
    expected = {
        member["memberId"]
        for member in before["members"]
        if member["memberId"] != request["memberId"]
        and (instance is None or member["instanceId"] != instance)
    }
    there = {member["memberId"] for member in after["members"]}
    return after if expected <= there else None


def _answers(head: Head, requests: list[Json], answer: Json | None) -> list[Json | None]:
    """The answers in KIP-848's form, one for each of its requests."""
    api = RECORDED[head.key]
    if answer is None:
        return [None for _ in requests]
    if api == "OffsetFetch":
        groups = answer["groups"] if head.version >= 8 else [{"errorCode": 0, **answer}]
        named = [
            {"groupId": one["groups"][0]["groupId"], **group}
            for one, group in zip(requests, groups, strict=False)
        ]
        return [
            from_kafka(Form(api, head.version, {}, {}), {"groups": [group]}, _AS_IT_IS) for group in named
        ]
    if api == "LeaveGroup" and head.version < 3:
        return [{**answer, "members": [{**requests[0]["members"][0], "errorCode": 0}]}]
    return [from_kafka(Form(api, head.version, {}, {}), answer, _AS_IT_IS)]


def _topic(topic: Json) -> Json:
    return {"name": topic["name"], "id": topic["topicId"], "partitions": len(topic["partitions"])}


def _is_there(topic: Json) -> bool:
    return not topic["errorCode"] and not topic["isInternal"]
