"""This repository's coordinator behind the line protocol, of which only a part can be seen or done.

    python partial_target.py '{"controls": ["describe"], "hidden": ["metadata"], "lie": "epoch"}'

Operations that are not among `controls` are refused, and what is `hidden` is not in any description (or
records are not given). `chooses` lets it have target assignments of its own: every partition to the "last"
member that may have it ("lossy": but for the first partition, where there are two such members), or to
"none". `hashes` leaves records of partition metadata out of the log that it shows, as Kafka has none.
`refuses` is an operation that it declares and refuses. `without` are features that it does not have: it
answers their requests with INVALID_REQUEST and refuses to load who uses them; hello says so if `admits`.
`dies` is a part of an operation at which it ends. `lie` falsifies answers: see `falsified`.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
METADATA = "ConsumerGroupPartitionMetadata"
USE = {
    "static members": ('"instanceId": "', '"groupInstanceId": "'),
    "regular expressions": ('"subscribedTopicRegex": "',),
    "client-side assignors": ('"clientAssignors": [', '"assignors": [{'),
    **{f"server-side assignor {name}": (f'"serverAssignor": "{name}"',) for name in ("uniform", "range")},
}
"""Feature -> what the line of a request or a load has that uses it."""
EVERYTHING = (
    *("topics", "advance", "describe", "fire", "assign", "records", "load", "restart", "commit"),
    *("background", "ids", "configure"),
)


def target(**options: Any) -> str:
    """The name of such a target."""
    return f"stdio:{shlex.quote(sys.executable)} {shlex.quote(__file__)} {shlex.quote(json.dumps(options))}"


def without(*controls: str) -> list[str]:
    """All operations but these."""
    return [control for control in EVERYTHING if control not in controls]


class Partial:
    """Answers line by line."""

    def __init__(self, options: Json) -> None:
        self.coordinator = Coordinator(clock=SimulatedClock())
        self.protocol = LineProtocol(self.coordinator)
        self.controls = {"hello", "request", *options.get("controls", EVERYTHING)}
        self.hidden, self.lie = options.get("hidden", []), options.get("lie", "")
        self.declared = options.get("declared", self.hidden)
        self.chooses = options.get("chooses", "")
        self.hashes = options.get("hashes", False)
        self.refuses = options.get("refuses", "")
        self.dies = options.get("dies", "")
        self.without, self.admits = options.get("without", []), options.get("admits", False)

    def answer(self, operation: Json) -> Json:
        """The answer to one operation."""
        if self.dies and self.dies in text(operation):
            sys.exit(1)
        fresh = "fresh" in self.controls and operation["op"] == "load" and not operation["records"]
        if operation["op"] == self.refuses or (operation["op"] not in self.controls and not fresh):
            return {"ok": False, "error": f"there is no operation {operation['op']}"}
        if "observe" in operation and "describe" not in self.controls:
            return {"ok": False, "error": "nothing can be observed"}
        if any(field in text(operation) for feature in self.without for field in USE.get(feature, ())):
            if operation["op"] == "load":
                return {"ok": False, "error": f"there are no {' and no '.join(self.without)} here"}
            return self.protocol.answer({**operation, "body": {**operation["body"], "groupId": ""}})
        if self.chooses and operation["op"] == "request":
            self.choose(operation["body"])
        before = len(self.log())
        if self.hashes and "keep" in operation:
            operation["keep"] = self.whole(operation["keep"])
        answer = falsified(self.protocol.answer(operation), operation, self.lie)
        if self.hashes and "records" in answer:
            answer["records"] = self.log()[operation.get("since", before) :]
        if self.chooses:
            answer.pop("consumed", None)
            self.coordinator._scripts.clear()
        if operation["op"] == "hello":
            answer["controls"] = sorted(self.controls - {"hello", "request"})
            answer["unobserved"] = self.declared
            answer |= {"lacks": self.without} if self.admits else {}
        if "records" in self.hidden or "records" not in self.controls:
            answer.pop("records", None)
        if isinstance(answer.get("group"), dict):
            answer["group"] = shown(answer["group"], self.hidden)
            if "members.deletedTopics" in self.hidden:
                self.forget(answer["group"])
        return answer

    def forget(self, group: Json) -> None:
        """Leave out partitions of topics that were deleted."""
        there = {image.id for image in self.coordinator._env.topics.values()}
        for member in group["members"]:
            for name in ("assigned", "pendingRevocation", "target"):
                member[name] = [one for one in member[name] if one["topicId"] in there]

    def log(self) -> list[Json]:
        """The records that are shown where some are not."""
        kept = [one for one in self.coordinator.records(0) if one["key"]["type"] != METADATA]
        return [{**record, "offset": offset} for offset, record in enumerate(kept)]

    def whole(self, keep: int) -> int:
        """The number of records that the log has with the first so many that are shown."""
        shown = [one["offset"] for one in self.coordinator.records(0) if one["key"]["type"] != METADATA]
        return shown[keep] if keep < len(shown) else self.coordinator.end

    def choose(self, body: Json) -> None:
        """Script a target assignment that no assignor makes."""
        group = self.coordinator.describe("g")
        known = {one["memberId"]: one["memberEpoch"] for one in group["members"]}
        named = body.get("memberId") and not body.get("subscribedTopicRegex")
        if not named or body.get("memberEpoch", -1) not in (0, known.get(body["memberId"])):
            return
        if any(one["subscribedTopicRegex"] for one in group["members"]):
            return
        subscribed = {one["memberId"]: one["subscribedTopicNames"] for one in group["members"]}
        if body.get("subscribedTopicNames") is not None:
            subscribed[body["memberId"]] = body["subscribedTopicNames"]
        target: dict[str, list[Any]] = {name: [] for name in subscribed}
        for name, image in self.coordinator._env.topics.items():
            owners = [member for member, names in sorted(subscribed.items()) if name in names]
            if owners and self.chooses != "none":
                lost = 1 if self.chooses == "lossy" and len(owners) > 1 else 0
                every = {"topicId": image.id, "partitions": list(range(lost, image.partitions))}
                target[owners[-1]].append(every)
        self.protocol.answer({"op": "assign", "group": "g", "target": target})


def text(operation: Json) -> str:
    """A request or a load as its line has it."""
    return json.dumps(operation) if operation["op"] in ("request", "load") else ""


def shown(group: Json, hidden: list[str]) -> Json:
    """The description without what is hidden."""
    kept = {name: value for name, value in group.items() if name not in hidden}
    for name in ("members", "timers"):
        inside = [part.partition(".")[2] for part in hidden if part.startswith(f"{name}.")]
        kept[name] = [
            {key: value for key, value in one.items() if key not in inside}
            for one in kept.get(name, [])
            if one.get("timer") not in inside
        ]
    return {name: value for name, value in kept.items() if name not in hidden}


def falsified(answer: Json, operation: Json, lie: str) -> Json:
    """An answer with a lie in it: a response, a description or the records are wrong.

    `error`: a member that leaves is unknown. `greedy`: a member is given what it waits for at once.
    `forgetful`: only joins are given anything.
    `state`: a group that reconciles is called empty. `group epoch`, `acknowledged`, `deadline`, `metadata`,
    `late metadata` (only after requests): the description is wrong. `records`: they are.
    `half a pair`: a member id in answers is no text of UTF-8.
    """
    body, group = answer.get("body"), answer.get("group")
    if lie == "error" and body and operation["body"].get("memberEpoch") == -1:
        body["errorCode"] = 25
    if lie == "half a pair" and body and body.get("memberId"):
        body["memberId"] = "\ud800"
    if lie.startswith("interval") and body and "heartbeatIntervalMs" in body:
        # "interval": 3000 always; "intervals": 1000 ms more for each member epoch.
        body["heartbeatIntervalMs"] = 3000 + 1000 * body["memberEpoch"] * (lie == "intervals")
    if lie == "greedy" and body and body.get("assignment"):
        given = body["assignment"]
        both = [*given["assignedTopicPartitions"], *given["pendingTopicPartitions"]]
        body["assignment"] = {**given, "assignedTopicPartitions": both, "pendingTopicPartitions": []}
    if lie == "forgetful" and body and body.get("assignment") and operation["body"]["memberEpoch"] > 0:
        nothing: dict[str, list[Json]] = {"assignedTopicPartitions": [], "pendingTopicPartitions": []}
        body["assignment"] = {**body["assignment"], **nothing}
    if lie == "group epoch" and group and group["groupEpoch"] > 1:
        group["groupEpoch"] += 1
    late = lie == "late metadata" and operation["op"] == "request"
    if group and (late or lie == "metadata"):
        group["metadata"] = [{"topicName": "another"}]
    if lie == "state" and group and group["state"] == "Reconciling":
        group["state"] = "Empty"
    if lie == "no Reconciling" and group and group["state"] == "Reconciling":
        group["state"] = "Stable"
    if lie == "acknowledged" and group:
        for member in group["members"]:
            member["acknowledged"] = not member["acknowledged"]
    if lie == "deadline" and group:
        for timer in group["timers"]:
            timer["deadlineMs"] += 1
    if lie == "records" and answer.get("records"):
        answer["records"] = answer["records"][1:]
    return answer


def main(options: Json) -> None:
    """Serve standard input."""
    partial = Partial(options)
    for line in sys.stdin:
        try:
            answer = json.dumps(partial.answer(json.loads(line)))
        except (ValueError, TypeError, KeyError):
            answer = partial.protocol.handle(line)
        print(answer, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
