"""Scenarios of Connect groups (spec/OpenConnect.tla), with connectors and tasks as in the draft: AC0 is the
connector A, AT2 its second task (W3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from harness.itf import Trace
from harness.kinds.connect.state import ConnectReader, ConnectState
from harness.kinds.consumer.expect import group_state
from harness.kinds.fields import Partition
from harness.kinds.literals import tla_cases, tla_partitions, tla_ranks, tla_text, tla_texts
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Language, Universe
from harness.scenario.scripts.verbs import counts_of, event, partitions_of, timer

GONE: Final = -1
"""The member epoch of a worker in the answer to PrepareAssignment, whose work is lost (W2)."""
_RESOURCE: Final = re.compile(r"([A-Z])(?:C(0)|T([1-9]))")


def _resource(field: Field) -> Partition:
    match = _RESOURCE.fullmatch(field.text())
    if match is None:
        raise field.wrong(f"{field.text()!r} is no connector and no task: write AC0 and AT1")
    return match[1], int(match[2] or match[3])


def _resources(field: Field) -> frozenset[Partition]:
    return frozenset(map(_resource, field.items()))


def printed(resources: Iterable[Partition]) -> tuple[str, ...]:
    """Connectors and tasks in the draft's form."""
    return tuple(f"{name}{'T' if number else 'C'}{number}" for name, number in sorted(resources))


def _owners(field: Field) -> str:
    """{W1: [AC0]} as a function from resources to workers."""
    cases = "".join(
        f"IF r \\in {tla_partitions(_resources(work))} THEN {tla_text(worker)} ELSE "
        for worker, work in field.mapping().items()
    )
    return f"[r \\in Partitions |-> {cases}None]"


def _heartbeat(epoch: int | None) -> Callable[[Field], str]:
    """A ConnectGroupHeartbeat of that epoch, or of the epoch in the file."""

    def action(field: Field) -> str:
        needs = ["worker"] if epoch is not None else ["worker", "epoch"]
        given = field.fields(needs, ("owned", "reason"))
        number = given["epoch"].number(0) if epoch is None else epoch
        owned = tla_partitions(_resources(given["owned"])) if "owned" in given else "{}" if epoch == 0 else ""
        reason = given["reason"].number(0) if "reason" in given else ""
        worker = tla_text(given["worker"].name_text())
        changes = f"!.member = {worker}, !.epoch = {number}, !.owned = {{{owned}}}"
        return f"Request({worker}, [NoRequest EXCEPT {changes}], {{{reason}}})"

    return action


def _prepare(field: Field) -> str:
    given = field.fields(("worker", "epoch"), ())
    worker, epoch = tla_text(given["worker"].name_text()), given["epoch"].number()
    return f"Take(PrepareAssignment(group, work, {worker}, {epoch})) /\\ UNCHANGED topics"


def _install(field: Field) -> str:
    given = field.fields(("worker", "epoch", "groupEpoch", "target"), ())
    numbers = f"{given['epoch'].number()}, {given['groupEpoch'].number()}"
    arguments = f"{tla_text(given['worker'].name_text())}, {numbers}, {_owners(given['target'])}, {{}}"
    return f"Take(InstallAssignment(group, work, {arguments})) /\\ UNCHANGED topics"


def _connector(action: str) -> Callable[[Field], str]:
    def changed(field: Field) -> str:
        gone = action == "DeleteTopic"
        given = field.fields(("connector",) if gone else ("connector", "tasks"), ())
        resources = "" if gone else f" /\\ step'.partitions = {given['tasks'].number(0) + 1}"
        return f"{action} /\\ step'.topic = {tla_text(given['connector'].name_text())}{resources}"

    return changed


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    """No group yet; or workers at one epoch, each with all of its target."""
    counts = counts_of(topics)
    there = f"topics = [t \\in Topics |-> {counts}0] /\\ step = NoStep /\\ call = NoCall"
    if field is None:
        return f"group = NoGroup /\\ work = NoWork /\\ {there}"
    values = field.fields(("epoch", "chosen", "workers"), ())
    epoch, workers = values["epoch"].number(1), values["workers"]
    same = (
        f"epoch |-> {epoch}, previousEpoch |-> {epoch - 1}, instance |-> None, "
        'subscription |-> {}, regex |-> EveryConnector, assignor |-> ""'
    )
    given = {name: tla_partitions(_resources(work)) for name, work in workers.mapping().items()}
    members = tla_cases(
        "m",
        {
            name: f"[{same}, assigned |-> {work}, revoking |-> {{}}, acknowledged |-> TRUE]"
            for name, work in given.items()
        },
    )
    group = (
        f"[NoGroup EXCEPT !.epoch = {epoch}, !.assignmentEpoch = {epoch}, !.target = {_owners(workers)}, "
        f"!.metadata = [t \\in Topics |-> {counts}0], !.members = [m \\in MemberIds |-> {members}NoMember]]"
    )
    chosen = tla_text(values["chosen"].name_text())
    work = f"[NoWork EXCEPT !.chosen = {chosen}, !.named = {tla_texts(workers.mapping())}]"
    return f"group = {group} /\\ work = {work} /\\ {there}"


def _definitions(universe: Universe) -> str:
    members = sorted(universe.members)
    return "\n".join(
        [
            f"GoldenMembers == {tla_texts(members)}",
            "\\* @type: Str -> <<Int, Int>>;",
            "SameVersions == [m \\in GoldenMembers |-> <<0, 2>>]",
            f"GoldenRank == [m \\in GoldenMembers |-> {tla_ranks('m', members)}0]",
            f"GoldenTopics == {tla_texts(sorted(universe.topics))}",
            f"GoldenPartitions == {tla_partitions(partitions_of(universe))}",
            "GoldenNames == [t \\in GoldenTopics |-> t]",
            "Nothing == {}",
        ]
    )


_CONFIG: Final = """CONSTANTS
  MemberIds <- GoldenMembers
  MemberRank <- GoldenRank
  Versions <- SameVersions
  Topics <- GoldenTopics
  TopicName <- GoldenNames
  Regexes <- OnlyEveryConnector
  Partitions <- GoldenPartitions
  Dialect <- ConnectText
  TargetRule = "any"
  Assignors <- Nothing
  MaxGroupSize = 1000000
  RequestEpochs <- Nothing
  Reasons <- Nothing
  Owned <- Nothing
  InstallTargets <- Nothing
  CallEpochs <- Nothing
  InstallEpochs <- Nothing
  OddRequests <- Nothing
  WithFailOver = TRUE
  InitialTopics <- Nothing
"""


def _facts(trace: Trace) -> list[Facts]:
    return [_printed(state) for state in ConnectReader().read(trace, "The behaviour")[1:]]


def _printed(state: ConnectState) -> Facts:
    """W3: a state with the response, in the draft's form."""
    group, work = state.group, state.work
    facts: dict[str, Facts] = {}
    if state.step.response.error:
        facts["response"] = _response(state)
    facts["group"] = {
        "epoch": str(group.epoch),
        "assignmentEpoch": str(group.assignment_epoch),
        "state": group_state(group),
        "chosen": work.chosen,
    }
    facts["target"] = {name: printed(target) for name, target in sorted(group.targets.items()) if target}
    if work.lost:
        facts["lost"] = {name: printed(lost) for name, lost in work.lost.items()}
    facts["workers"] = {
        name: {"epoch": str(member.epoch), "work": printed(member.held)}
        for name, member in sorted(group.members.items())
    }
    return facts


def _response(state: ConnectState) -> Facts:
    response, call = state.step.response, state.call
    if response.error != "NONE":
        return {"error": response.error}
    if state.step.action == "PrepareAssignment":
        assigned: dict[str, dict[str, tuple[str, ...]]] = {"workers": {}, "lost": {}}
        for one in sorted(call.workers, key=lambda one: one.worker):
            assigned["lost" if one.epoch == GONE else "workers"][one.worker] = printed(one.resources)
        return {
            "groupEpoch": str(call.group_epoch),
            **{name: work for name, work in assigned.items() if work},
        }
    if state.step.action == "InstallAssignment":
        return {"error": "NONE"}
    facts: dict[str, str | tuple[str, ...]] = {"epoch": str(response.epoch)}
    if call.compute:
        facts["compute"] = "true"
    if response.assigned is not None:
        facts["assigned"] = printed(response.assigned)
    return facts


CONNECT: Final = Language(
    name="connect",
    module="OpenConnect",
    topics="connectors",
    whole=1,
    first=_first,
    verbs={
        "join": _heartbeat(0),
        "heartbeat": _heartbeat(None),
        "leave": _heartbeat(-1),
        "prepare": _prepare,
        "install": _install,
        "session timeout": timer("SessionTimeout", "worker"),
        "rebalance timeout": timer("RebalanceTimeout", "worker"),
        "assignment timeout": timer("AssignmentTimeout", "worker"),
        "add connector": _connector("CreateTopic"),
        "add tasks": _connector("AddPartitions"),
        "remove connector": _connector("DeleteTopic"),
        "fail-over": event("FailOver"),
        "delete group": event("DeleteGroup"),
    },
    definitions=_definitions,
    config=_CONFIG,
    facts=_facts,
    tall=frozenset({"workers"}),
)
