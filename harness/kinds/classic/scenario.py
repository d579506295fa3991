"""Scenarios of classic groups (spec/OpenClassic.tla): JoinGroup, SyncGroup, Heartbeat, LeaveGroup, time-outs
and fail-overs (C1, C2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.itf import Trace
from harness.kinds.classic.state import (
    Assignment,
    ClassicMember,
    ClassicReader,
    ClassicResponse,
    ClassicState,
)
from harness.kinds.literals import tla_cases, tla_list, tla_partitions, tla_ranks, tla_text, tla_texts
from harness.scenario.fields import Field
from harness.scenario.partitions import format_partitions
from harness.scenario.scripts.model import Facts, Language, Universe
from harness.scenario.scripts.verbs import event, partitions_of, timer

_PROTOCOLS: Final = ("range",)


def _request(changes: Mapping[str, str]) -> str:
    listed = ", ".join(f"!.{name} = {value}" for name, value in changes.items())
    return f"[NoClassicRequest EXCEPT {listed}]"


def _instance(fields: Mapping[str, Field]) -> str:
    return f"{{{tla_text(fields['instance'].text())}}}" if "instance" in fields else "{}"


def _join(field: Field) -> str:
    """A JoinGroup; without its member id the member gets the named id (MEMBER_ID_REQUIRED)."""
    given = field.fields(("member", "subscription"), ("withoutId", "protocols", "instance"))
    member = tla_text(given["member"].name_text())
    without = "withoutId" in given and given["withoutId"].flag()
    protocols = given["protocols"].names() if "protocols" in given else _PROTOCOLS
    request = _request(
        {
            "member": "None" if without else member,
            "instance": _instance(given),
            "type": '{"consumer"}',
            "protocols": tla_list(protocols),
            "subscription": tla_texts(given["subscription"].names()),
        }
    )
    return f"Take(JoinGroup(group, {member}, {request}))"


def _sync(field: Field) -> str:
    """A SyncGroup: a leader's has an assignment for each named member."""
    fields = field.fields(("member", "generation"), ("assignments", "instance"))
    given = fields["assignments"].mapping() if "assignments" in fields else {}
    cases = tla_cases("m", {name: f"{{{tla_partitions(one.partitions())}}}" for name, one in given.items()})
    request = _of_generation(fields, {"assignments": f"[m \\in MemberIds |-> {cases}{{}}]"})
    return f"Take(SyncGroup(group, {request}))"


def _heartbeat(field: Field) -> str:
    given = field.fields(("member", "generation"), ("instance",))
    return f"Take(ClassicHeartbeat(group, {_of_generation(given, {})}))"


def _leave(field: Field) -> str:
    given = field.fields(("member",), ("instance",))
    request = _request({"member": tla_text(given["member"].name_text()), "instance": _instance(given)})
    return f"Take(LeaveGroup(group, {request}))"


def _of_generation(given: Mapping[str, Field], others: Mapping[str, str]) -> str:
    member, generation = tla_text(given["member"].name_text()), str(given["generation"].number(0))
    fields = {"member": member, "instance": _instance(given), "generation": generation}
    return _request({**fields, **others})


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    """No group yet; or a Stable one, whose members subscribe to the topics and have assignments."""
    rest = "offsets = [p \\in Partitions |-> -1] /\\ step = NoClassicStep"
    if field is None:
        return f"group = NoClassicGroup /\\ {rest}"
    values = field.fields(("generation", "leader", "members"), ("protocol",))
    protocol = values["protocol"].name_text() if "protocol" in values else _PROTOCOLS[0]
    generation, leader = values["generation"].number(1), tla_text(values["leader"].name_text())
    fields = (
        f'!.place = "member", !.protocols = {tla_list((protocol,))}, !.subscription = {tla_texts(topics)}'
    )
    given = {name: tla_partitions(one.partitions()) for name, one in values["members"].mapping().items()}
    members = tla_cases(
        "m",
        {
            name: f"[NoClassicMember EXCEPT {fields}, !.assignment = {{{assigned}}}]"
            for name, assigned in given.items()
        },
    )
    group = (
        f'[NoClassicGroup EXCEPT !.state = "Stable", !.generation = {generation}, !.type = "consumer", '
        f"!.protocol = {tla_text(protocol)}, !.leader = {leader}, "
        f"!.members = [m \\in MemberIds |-> {members}NoClassicMember]]"
    )
    return f"group = Save({group}) /\\ {rest}"


def _definitions(universe: Universe) -> str:
    members = sorted(universe.members)
    return "\n".join(
        [
            f"GoldenMembers == {tla_texts(members)}",
            f"GoldenRank == [m \\in GoldenMembers |-> {tla_ranks('m', members)}0]",
            f"GoldenPartitions == {tla_partitions(partitions_of(universe))}",
            "Nothing == {}",
        ]
    )


_CONFIG: Final = """CONSTANTS
  MemberIds <- GoldenMembers
  MemberRank <- GoldenRank
  Partitions <- GoldenPartitions
  GenerationRecorded = TRUE
  Extensions = 1
  ProtocolLists <- Nothing
  ProtocolTypes <- Nothing
  Subscriptions <- Nothing
  InstanceIds <- Nothing
  RequestGenerations <- Nothing
  SyncProtocols <- Nothing
  Assignments <- Nothing
  OffsetValues <- Nothing
  WithFailOver = TRUE
"""


def _facts(trace: Trace) -> list[Facts]:
    return [_printed(state) for state in ClassicReader().read(trace, "The behaviour")[1:]]


def _printed(state: ClassicState) -> Facts:
    """The answer to the request, and to those that waited; the group and its members."""
    group, step = state.group, state.step
    facts: dict[str, Facts] = {}
    if step.action in ("JoinGroup", "SyncGroup", "ClassicHeartbeat", "LeaveGroup"):
        facts["response"] = _response(step.response) if step.response.error else {"waits": "true"}
    if step.completed:
        facts["answers"] = {member: _response(answer) for member, answer in sorted(step.completed)}
    facts["group"] = {"state": group.state, "generation": str(group.generation), "leader": group.leader}
    if group.pending:
        facts["group"] = {**facts["group"], "pending": tuple(sorted(group.pending))}
    facts["members"] = {name: _member(member) for name, member in sorted(group.members.items())}
    return facts


def _member(member: ClassicMember) -> Facts:
    waits = {"waits": "JoinGroup" if member.joining else "SyncGroup"} if member.waits else {}
    return {"subscription": tuple(sorted(member.subscription)), **_assigned(member.assignment), **waits}


def _assigned(assignment: Assignment) -> Facts:
    return {} if assignment is None else {"assignment": tuple(format_partitions(assignment))}


def _response(response: ClassicResponse) -> Facts:
    if response.error != "NONE":
        made = {"member": response.member} if response.error == "MEMBER_ID_REQUIRED" else {}
        return {"error": response.error, **made}
    if response.api == "JoinGroup":
        listed = tuple(sorted(one.member for one in response.members))
        leads: dict[str, str | tuple[str, ...]] = {"members": listed} if listed else {}
        if response.skip_assignment:
            leads["skipAssignment"] = "true"
        return {"generation": str(response.generation), "protocol": response.protocol, **leads}
    return _assigned(response.assignment) if response.api == "SyncGroup" else {"error": "NONE"}


CLASSIC: Final = Language(
    name="classic",
    module="OpenClassic",
    first=_first,
    verbs={
        "join": _join,
        "sync": _sync,
        "heartbeat": _heartbeat,
        "leave": _leave,
        "session timeout": timer("SessionTimeout"),
        "join timeout": event("JoinTimeout"),
        "sync timeout": event("SyncTimeout"),
        "fail-over": event("FailOver"),
        "delete group": event("DeleteGroup"),
    },
    definitions=_definitions,
    config=_CONFIG,
    facts=_facts,
    tall=frozenset({"members", "answers"}),
    optional=frozenset({"response", "answers"}),
)
