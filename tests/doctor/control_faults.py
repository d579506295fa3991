"""Faults of the operations that control a program: clock, timers, target assignments, states, ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from faults import FAULTS, Fault, Json, instead_of, of

from coordinator.stdio import LineProtocol

if TYPE_CHECKING:
    from faulty_program import Program


@of("advance")
def advances_silently(program: Program, operation: Json, answer: Json) -> None:
    if answer["ok"]:
        answer["fired"] = []


@instead_of("advance")
def stands_still(program: Program, operation: Json) -> Json:
    if operation["ms"] > 5000:
        return {"ok": True, "fired": [{"timer": "session", "group": "g", "member": "m1"}], "completed": []}
    return program.right(operation)


@instead_of("advance")
def too_fast(program: Program, operation: Json) -> Json:
    if operation["ms"] == 1:
        return program.right({**operation, "ms": 50_000})
    return program.right(operation)


@of("fire")
def fires_silently(program: Program, operation: Json, answer: Json) -> None:
    if answer["ok"]:
        answer["fired"] = []


@instead_of("fire")
def fires_all(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    if answer["ok"]:
        program.right({**operation, "member": "m2"})
    return answer


@instead_of("fire")
def fires_nothing(program: Program, operation: Json) -> Json:
    answer = LineProtocol.answer(program.protocol, {**operation, "member": "nobody"})
    fired = [{"timer": operation["timer"], "group": "g", "member": operation["member"]}]
    return {"ok": True, "fired": fired} if "armed: session" in answer["error"] else answer


@instead_of("assign")
def script_ignored(program: Program, operation: Json) -> Json:
    return {"ok": True}


@of("request")
def consumed_unsaid(program: Program, operation: Json, answer: Json) -> None:
    answer.pop("consumed", None)


def _answered_once(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    if answer.get("consumed"):
        program.scripts.append(answer)
    if len(program.scripts) > 1:
        answer.pop("consumed", None)
    return answer


FAULTS["consumed_said_once"] = _answered_once


def _sticky(program: Program, operation: Json) -> Json:
    if operation["op"] == "assign":
        program.scripts = [operation]
    answer = program.right(operation)
    if answer.get("consumed") and len(program.scripts[0]["target"]) == 2:
        program.right(program.scripts[0])
    return answer


FAULTS["script_used_again"] = _sticky


@instead_of("restart")
def restart_forgets(program: Program, operation: Json) -> Json:
    return program.right({"op": "restart", "keep": 0})


@instead_of("restart")
def keep_ignored(program: Program, operation: Json) -> Json:
    return program.right({"op": "restart"})


@instead_of("restart")
def keep_0_ignored(program: Program, operation: Json) -> Json:
    return program.right(operation if operation.get("keep", 1) else {"op": "restart"})


def _restart_hides_log(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    if operation["op"] == "restart":
        program.scripts.append(operation)
    if operation["op"] == "records" and program.scripts:
        answer["records"] = []
    return answer


FAULTS["restart_hides_log"] = _restart_hides_log


@instead_of("load")
def load_loses_volatile(program: Program, operation: Json) -> Json:
    for group in operation["volatile"].get("groups", {}).values():
        for member in group["members"].values():
            member.pop("acknowledged", None)
    return program.right(operation)


@instead_of("load")
def load_loses_deadlines(program: Program, operation: Json) -> Json:
    for group in operation["volatile"].get("groups", {}).values():
        for member in group["members"].values():
            member["sessionDeadlineMs"] += 1
    return program.right(operation)


@instead_of("load")
def load_of_nothing_ignored(program: Program, operation: Json) -> Json:
    return program.right(operation) if operation["records"] else {"ok": True, "end": 0}


@instead_of("load")
def load_of_all_ignored(program: Program, operation: Json) -> Json:
    return program.right({**operation, "records": [], "volatile": {"clockMs": 0}})


def _says_no_end(name: str) -> Fault:
    def fault(program: Program, operation: Json) -> Json:
        answer = program.right(operation)
        if operation["op"] == name:
            answer.pop("end", None)
        return answer

    return fault


FAULTS |= {f"{name}_says_no_end": _says_no_end(name) for name in ("records", "load", "restart")}


@instead_of("load")
def load_refuses_offsets(program: Program, operation: Json) -> Json:
    if any(record["key"]["type"] == "OffsetCommit" for record in operation["records"]):
        return {"ok": False, "error": "records OffsetCommit cannot be loaded"}
    return program.right(operation)


@instead_of("load")
def load_forgets_who_is_away(program: Program, operation: Json) -> Json:
    for record in operation["records"]:
        if record["key"]["type"] == "ConsumerGroupCurrentMemberAssignment" and record["value"]:
            record["value"]["memberEpoch"] = abs(record["value"]["memberEpoch"])
    return program.right(operation)


@instead_of("load")
def load_loses_topics(program: Program, operation: Json) -> Json:
    return program.right({**operation, "topics": [] if operation["records"] else operation["topics"]})


def _fresh_ignored(program: Program, operation: Json) -> Json:
    if operation["op"] == "load":
        return {"ok": True}
    answer = program.right(operation)
    if operation["op"] == "hello":
        answer["controls"] = [*(name for name in answer["controls"] if name != "load"), "fresh"]
    return answer


FAULTS["fresh_ignored"] = _fresh_ignored


def _fresh_only(program: Program, operation: Json) -> Json:
    """A right program, but with `fresh` alone; it counts the uses of that."""
    answer = program.right(operation)
    if operation["op"] == "hello":
        answer["controls"] = [*(name for name in answer["controls"] if name != "load"), "fresh"]
    if operation["op"] == "load":
        program.scripts.append(operation)
    return answer


def _fresh_shows_group(program: Program, operation: Json) -> Json:
    answer = _fresh_only(program, operation)
    if operation["op"] == "describe" and len(program.scripts) > 1:
        answer["group"]["state"] = "Empty"
    return answer


FAULTS["fresh_shows_group"] = _fresh_shows_group


def _fresh_goes_on(program: Program, operation: Json) -> Json:
    answer = _fresh_only(program, operation)
    if answer.get("body"):
        answer["body"]["memberEpoch"] += max(0, len(program.scripts) - 1)
    return answer


FAULTS["fresh_goes_on"] = _fresh_goes_on


@instead_of("ids")
def ids_reversed(program: Program, operation: Json) -> Json:
    return program.right({**operation, "next": operation["next"][::-1]})


@instead_of("ids")
def ids_ignored(program: Program, operation: Json) -> Json:
    return {"ok": True}


@instead_of("configure")
def configure_ignored(program: Program, operation: Json) -> Json:
    return {"ok": True}


@instead_of("configure")
def configured_late(program: Program, operation: Json) -> Json:
    program.coordinator._started = False
    return program.right(operation)


@instead_of("configure")
def configured_once(program: Program, operation: Json) -> Json:
    program.asked += 1
    return program.right(operation) if program.asked == 1 else {"ok": False, "error": "it is configured"}


def _forgets_settings(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    if operation["op"] == "load" and not operation["records"]:
        program.right({"op": "configure", "group.consumer.heartbeat.interval.ms": 5000})
    return answer


FAULTS["load_forgets_settings"] = _forgets_settings


@instead_of("commit")
def commit_ignored(program: Program, operation: Json) -> Json:
    return {"ok": True, "completed": []} if operation["mode"] == "fail" else program.right(operation)


def _failure_is_seen(program: Program, operation: Json) -> Json:
    failing = program.coordinator._log.failing
    if failing and operation["op"] == "request":
        program.coordinator.fail_appends(False)
        answer = program.right(operation)
        answer["body"]["errorCode"] = 15
        program.coordinator.fail_appends(True)
        return answer
    return program.right(operation)


FAULTS["failed_but_seen"] = _failure_is_seen


@instead_of("commit")
def never_waits(program: Program, operation: Json) -> Json:
    return program.right({**operation, "mode": operation["mode"].replace("manual", "auto")})


def _waits_but_is_seen(program: Program, operation: Json) -> Json:
    if operation["op"] == "request" and program.protocol._manual:
        program.protocol._manual = False
        program.right(operation)
        program.protocol._manual = True
        return {"ok": True, "id": operation["id"], "pending": True}
    return program.right(operation)


FAULTS["waits_but_is_seen"] = _waits_but_is_seen


@instead_of("commit")
def forgets_who_waits(program: Program, operation: Json) -> Json:
    program.protocol._waiting.clear()
    return program.right(operation)


@of("background")
def never_done(program: Program, operation: Json, answer: Json) -> None:
    answer["completed"] = [{"id": 1, "body": {}}]


@instead_of("background")
def background_expires(program: Program, operation: Json) -> Json:
    program.right({"op": "advance", "ms": 30_000})
    return program.right(operation)


@of("coordinator")
def says_active(program: Program, operation: Json, answer: Json) -> None:
    program.right({"op": "coordinator", "state": "active"})


@instead_of("coordinator")
def moved_is_loading(program: Program, operation: Json) -> Json:
    return program.right({**operation, "state": operation["state"].replace("moved", "loading")})


@instead_of("coordinator")
def any_state(program: Program, operation: Json) -> Json:
    return program.right({**operation, "state": operation["state"].replace("asleep", "active")})


@instead_of("rights")
def no_rights_are_taken(program: Program, operation: Json) -> Json:
    return program.right({**operation, "denied": [one for one in operation["denied"] if one != "READ"]})


@instead_of("rights")
def any_right(program: Program, operation: Json) -> Json:
    return program.right({**operation, "denied": [one for one in operation["denied"] if one != "SHOUT"]})


def _nonsense_is_fine(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    return answer if answer["ok"] or operation["op"] != "nonsense" else {"ok": True}


FAULTS["nonsense_is_fine"] = _nonsense_is_fine


def _refusal_counts(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    if not answer["ok"]:
        program.right({"op": "topics", "upsert": [], "delete": ["foo"]})
    return answer


FAULTS["refusal_changes"] = _refusal_counts


def _no_reason(program: Program, operation: Json) -> Json:
    answer = program.right(operation)
    return answer if answer["ok"] else {"ok": False, "error": ""}


FAULTS["no_reason"] = _no_reason


@of("request")
def depends_on_the_process(program: Program, operation: Json, answer: Json) -> None:
    if "body" in answer:
        answer["body"]["heartbeatIntervalMs"] = os.getpid() + id(program)
