"""Scenarios of classic groups (spec/OpenClassic.tla): JoinGroup, SyncGroup, Heartbeat, LeaveGroup, time-outs
and fail-overs (C1, C2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.itf import Trace
from harness.kinds.classic.state import (
    Assignment,
    ClassicMember,
    ClassicReader,
    ClassicResponse,
    ClassicState,
)
from harness.kinds.literals import tla_partitions, tla_text
from harness.scenario.fields import Field
from harness.scenario.partitions import format_partitions
from harness.scenario.scripts.model import Facts, Kind, Universe

_PROTOCOLS: Final = ("range",)


def _request(changes: Mapping[str, str]) -> str:
    listed = ", ".join(f"!.{name} = {value}" for name, value in changes.items())
    return f"[NoClassicRequest EXCEPT {listed}]"


def _texts(names: tuple[str, ...]) -> str:
    return f"{{{', '.join(map(tla_text, names))}}}"


def _sequence(names: tuple[str, ...]) -> str:
    return f"<<{', '.join(map(tla_text, names))}>>"


def _instance(found: Mapping[str, Field]) -> str:
    return f"{{{tla_text(found['instance'].text())}}}" if "instance" in found else "{}"


def _join(field: Field) -> str:
    """A JoinGroup; without its member id it is given the one that is said (MEMBER_ID_REQUIRED)."""
    found = field.fields(("member", "subscription"), ("withoutId", "protocols", "instance"))
    member = tla_text(found["member"].name_text())
    without = "withoutId" in found and found["withoutId"].flag()
    protocols = found["protocols"].names() if "protocols" in found else _PROTOCOLS
    request = _request(
        {
            "member": "None" if without else member,
            "instance": _instance(found),
            "type": '{"consumer"}',
            "protocols": _sequence(protocols),
            "subscription": _texts(found["subscription"].names()),
        }
    )
    return f"Take(JoinGroup(group, {member}, {request}))"


def _sync(field: Field) -> str:
    """A SyncGroup: a leader's has an assignment for each member that is named."""
    found = field.fields(("member", "generation"), ("assignments", "instance"))
    given = found["assignments"].mapping() if "assignments" in found else {}
    cases = "".join(
        f"IF m = {tla_text(name)} THEN {{{tla_partitions(value.partitions())}}} ELSE "
        for name, value in given.items()
    )
    request = _of_generation(found, {"assignments": f"[m \\in MemberIds |-> {cases}{{}}]"})
    return f"Take(SyncGroup(group, {request}))"


def _heartbeat(field: Field) -> str:
    found = field.fields(("member", "generation"), ("instance",))
    return f"Take(ClassicHeartbeat(group, {_of_generation(found, {})}))"


def _leave(field: Field) -> str:
    found = field.fields(("member",), ("instance",))
    request = _request({"member": tla_text(found["member"].name_text()), "instance": _instance(found)})
    return f"Take(LeaveGroup(group, {request}))"


def _of_generation(found: Mapping[str, Field], others: Mapping[str, str]) -> str:
    member, generation = tla_text(found["member"].name_text()), str(found["generation"].number(0))
    said = {"member": member, "instance": _instance(found), "generation": generation}
    return _request({**said, **others})


def _session(field: Field) -> str:
    member = field.fields(("member",), ())["member"].name_text()
    return f"SessionTimeout /\\ step'.member = {tla_text(member)}"


def _event(action: str) -> Callable[[Field], str]:
    def happens(field: Field) -> str:
        field.fields((), ())
        return action

    return happens


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    """No group yet; or a Stable one, whose members subscribe to the topics and are assigned some."""
    rest = "offsets = [p \\in Partitions |-> -1] /\\ step = NoClassicStep"
    if field is None:
        return f"group = NoClassicGroup /\\ {rest}"
    found = field.fields(("generation", "leader", "members"), ("protocol",))
    protocol = found["protocol"].name_text() if "protocol" in found else _PROTOCOLS[0]
    generation, leader = found["generation"].number(1), tla_text(found["leader"].name_text())
    members = "".join(
        f'IF m = {tla_text(name)} THEN [NoClassicMember EXCEPT !.place = "member", '
        f"!.protocols = {_sequence((protocol,))}, !.subscription = {_texts(tuple(topics))}, "
        f"!.assignment = {{{tla_partitions(value.partitions())}}}] ELSE "
        for name, value in found["members"].mapping().items()
    )
    group = (
        f'[NoClassicGroup EXCEPT !.state = "Stable", !.generation = {generation}, !.type = "consumer", '
        f"!.protocol = {tla_text(protocol)}, !.leader = {leader}, "
        f"!.members = [m \\in MemberIds |-> {members}NoClassicMember]]"
    )
    return f"group = Save({group}) /\\ {rest}"


def _definitions(universe: Universe) -> str:
    members = sorted(universe.members)
    ranks = "".join(f"IF m = {tla_text(name)} THEN {n} ELSE " for n, name in enumerate(members, start=1))
    partitions = [(name, number) for name, most in sorted(universe.topics.items()) for number in range(most)]
    return "\n".join(
        [
            f"GoldenMembers == {{{', '.join(map(tla_text, members))}}}",
            f"GoldenRank == [m \\in GoldenMembers |-> {ranks}0]",
            f"GoldenPartitions == {tla_partitions(partitions)}",
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
    found: dict[str, Facts] = {}
    if step.action in ("JoinGroup", "SyncGroup", "ClassicHeartbeat", "LeaveGroup"):
        found["response"] = _response(step.response) if step.response.error else {"waits": "true"}
    if step.completed:
        found["answers"] = {member: _response(answer) for member, answer in sorted(step.completed)}
    found["group"] = {"state": group.state, "generation": str(group.generation), "leader": group.leader}
    if group.pending:
        found["group"] = {**found["group"], "pending": tuple(sorted(group.pending))}
    found["members"] = {name: _member(member) for name, member in sorted(group.members.items())}
    return found


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
        told = tuple(sorted(one.member for one in response.members))
        leads: dict[str, str | tuple[str, ...]] = {"members": told} if told else {}
        if response.skip_assignment:
            leads["skipAssignment"] = "true"
        return {"generation": str(response.generation), "protocol": response.protocol, **leads}
    return _assigned(response.assignment) if response.api == "SyncGroup" else {"error": "NONE"}


CLASSIC: Final = Kind(
    name="classic",
    module="OpenClassic",
    topics="topics",
    whole=0,
    first=_first,
    verbs={
        "join": _join,
        "sync": _sync,
        "heartbeat": _heartbeat,
        "leave": _leave,
        "session timeout": _session,
        "join timeout": _event("JoinTimeout"),
        "sync timeout": _event("SyncTimeout"),
        "fail-over": _event("FailOver"),
        "delete group": _event("DeleteGroup"),
    },
    definitions=_definitions,
    config=_CONFIG,
    facts=_facts,
    tall=frozenset({"members", "answers"}),
    optional=frozenset({"response", "answers"}),
)
