"""Faults of programs that speak the line protocol: of `hello`, requests, topics, descriptions and records.

Each takes the program and an operation, and gives the answer. Those of controls are in `control_faults.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coordinator import Coordinator
from coordinator.stdio import LineProtocol

if TYPE_CHECKING:
    from faulty_program import Program

Json = dict[str, Any]
Fault = Callable[["Program", Json], Json]
FAULTS: dict[str, Fault] = {}


def of(name: str) -> Callable[[Callable[[Program, Json, Json], None]], None]:
    """Register a function that changes the right answer to an operation."""

    def register(change: Callable[[Program, Json, Json], None]) -> None:
        def fault(program: Program, operation: Json) -> Json:
            answer = program.right(operation)
            if operation["op"] == name:
                change(program, operation, answer)
            return answer

        FAULTS[change.__name__] = fault

    return register


def instead_of(name: str) -> Callable[[Fault], None]:
    """Register a function that answers an operation in place of the program."""

    def register(fault: Fault) -> None:
        FAULTS[fault.__name__] = lambda program, operation: (
            fault(program, operation) if operation["op"] == name else program.right(operation)
        )

    return register


@of("hello")
def unobserved_unknown(program: Program, operation: Json, answer: Json) -> None:
    answer["unobserved"] = ["members.shoeSize"]


@of("hello")
def hello_changes(program: Program, operation: Json, answer: Json) -> None:
    program.asked += 1
    answer["name"] = f"hello number {program.asked}"


@of("hello")
def no_heartbeat(program: Program, operation: Json, answer: Json) -> None:
    for api in ("ConsumerGroupHeartbeat", "SyncGroup"):
        del answer["apis"][api]


@of("hello")
def versions_are_turned(program: Program, operation: Json, answer: Json) -> None:
    answer["apis"]["OffsetCommit"] = [9, 8]


def _body(answer: Json) -> Json:
    body: Json = answer.get("body") or {}
    return body


@of("request")
def join_refused(program: Program, operation: Json, answer: Json) -> None:
    if operation["body"].get("memberEpoch") == 0:
        answer["body"] = {**answer["body"], "errorCode": 15}


@of("request")
def other_member_id(program: Program, operation: Json, answer: Json) -> None:
    _body(answer)["memberId"] = "another"


@of("request")
def unknown_field(program: Program, operation: Json, answer: Json) -> None:
    if answer["ok"]:
        answer["body"]["shoeSize"] = 43


@of("request")
def epoch_is_text(program: Program, operation: Json, answer: Json) -> None:
    if answer["ok"]:
        answer["body"]["memberEpoch"] = str(answer["body"]["memberEpoch"])


@of("request")
def partitions_unsorted(program: Program, operation: Json, answer: Json) -> None:
    for one in (_body(answer).get("assignment") or {}).get("assignedTopicPartitions", []):
        one["partitions"].reverse()


@of("request")
def topic_id_in_capitals(program: Program, operation: Json, answer: Json) -> None:
    for one in (_body(answer).get("assignment") or {}).get("assignedTopicPartitions", []):
        one["topicId"] = one["topicId"].upper()


@of("request")
def invalid_is_fine(program: Program, operation: Json, answer: Json) -> None:
    if _body(answer).get("errorCode") == 42:
        answer["body"]["errorCode"] = 0


@of("request")
def error_is_a_refusal(program: Program, operation: Json, answer: Json) -> None:
    if _body(answer).get("errorCode"):
        answer.clear()
        answer |= {"ok": False, "error": "this member is unknown"}


@instead_of("request")
def dies_of_epoch(program: Program, operation: Json) -> Json:
    if operation["body"].get("memberEpoch") == -5:
        sys.exit("this was too much")
    return program.right(operation)


@of("request")
def leaves_with_epoch_0(program: Program, operation: Json, answer: Json) -> None:
    if operation["body"].get("memberEpoch") == -1:
        answer["body"]["memberEpoch"] = 0


@instead_of("request")
def never_rests(program: Program, operation: Json) -> Json:
    program.asked += 1
    if program.asked > 5:
        topics = program.coordinator._env.topics.items()
        grown = [{"name": name, "id": one.id, "partitions": one.partitions + 1} for name, one in topics]
        program.right({"op": "topics", "upsert": grown})
    return program.right(operation)


@instead_of("topics")
def never_grows(program: Program, operation: Json) -> Json:
    known = program.coordinator._env.topics
    operation["upsert"] = [one for one in operation["upsert"] if one["name"] not in known]
    return program.right(operation)


@instead_of("topics")
def never_deletes(program: Program, operation: Json) -> Json:
    return program.right({**operation, "delete": []})


@instead_of("describe")
def hangs(program: Program, operation: Json) -> Json:
    time.sleep(600)
    return {}


@of("describe")
def field_missing(program: Program, operation: Json, answer: Json) -> None:
    for member in answer["group"]["members"]:
        del member["acknowledged"]


@of("describe")
def field_too_many(program: Program, operation: Json, answer: Json) -> None:
    answer["group"]["shoeSize"] = 43


@of("describe")
def epoch_as_text(program: Program, operation: Json, answer: Json) -> None:
    answer["group"]["groupEpoch"] = str(answer["group"]["groupEpoch"])


@of("describe")
def acknowledged_as_number(program: Program, operation: Json, answer: Json) -> None:
    for member in answer["group"]["members"]:
        member["acknowledged"] = int(member["acknowledged"])


@of("describe")
def unknown_state(program: Program, operation: Json, answer: Json) -> None:
    answer["group"]["state"] = answer["group"]["state"].upper()


@of("describe")
def dead_is_empty(program: Program, operation: Json, answer: Json) -> None:
    if answer["group"]["state"] == "Dead":
        answer["group"]["state"] = "Empty"


@of("describe")
def never_stable(program: Program, operation: Json, answer: Json) -> None:
    if answer["group"]["state"] == "Stable":
        answer["group"]["state"] = "Reconciling"


@of("describe")
def no_timers(program: Program, operation: Json, answer: Json) -> None:
    answer["group"]["timers"] = []


@of("describe")
def unknown_timer(program: Program, operation: Json, answer: Json) -> None:
    for timer in answer["group"]["timers"]:
        timer["timer"] = "egg"


@of("describe")
def no_members(program: Program, operation: Json, answer: Json) -> None:
    answer["group"]["members"] = []


@of("describe")
def other_target(program: Program, operation: Json, answer: Json) -> None:
    for member in answer["group"]["members"]:
        member["target"] = []


@of("describe")
def other_epoch(program: Program, operation: Json, answer: Json) -> None:
    for member in answer["group"]["members"]:
        member["memberEpoch"] += 1


@of("records")
def offsets_from_1(program: Program, operation: Json, answer: Json) -> None:
    for record in answer.get("records", []):
        record["offset"] += 1


@of("records")
def log_never_empty(program: Program, operation: Json, answer: Json) -> None:
    if answer.get("records") == [] and operation["since"] == 0:
        answer["records"] = [{"offset": 0, "key": {"type": "ConsumerGroupMetadata"}, "value": {"epoch": 1}}]


@instead_of("records")
def since_ignored(program: Program, operation: Json) -> Json:
    return program.right({"op": "records"}) if operation["since"] >= 0 else program.right(operation)


@of("records")
def unknown_key(program: Program, operation: Json, answer: Json) -> None:
    for record in answer.get("records", []):
        record["key"]["type"] = "Shoe"


@of("records")
def no_values(program: Program, operation: Json, answer: Json) -> None:
    for record in answer.get("records", []):
        del record["value"]


@of("records")
def no_group_record(program: Program, operation: Json, answer: Json) -> None:
    for record in answer.get("records", []):
        if record["key"]["type"] == "ConsumerGroupMetadata":
            record["key"]["type"] = "OffsetCommit"


@of("request")
def observes_too_early(program: Program, operation: Json, answer: Json) -> None:
    if "observe" in operation:
        answer["group"] = LineProtocol(Coordinator()).answer({"op": "describe", "group": "g"})["group"]


@of("request")
def observes_no_records(program: Program, operation: Json, answer: Json) -> None:
    if "observe" in operation:
        answer["records"] = []
