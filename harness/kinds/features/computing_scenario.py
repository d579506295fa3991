"""Scenarios of groups whose members compute the target (spec/OpenClient.tla): offers, the chosen member, its
preparation and its install (A1, A5-A10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness.itf import Trace
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import Group, SpecState, StateReader
from harness.kinds.features.computing_state import Computation
from harness.kinds.literals import tla_partitions, tla_ranks, tla_text, tla_texts
from harness.scenario.fields import Field
from harness.scenario.partitions import format_partitions
from harness.scenario.scripts.model import Facts, Language, Universe
from harness.scenario.scripts.verbs import counts_of, event, partitions_of, timer

ASSIGNORS: Final = ("x", "y", "z")
"""The names that assignors may have."""
_OFFER: Final = re.compile(rf"([{''.join(ASSIGNORS)}]) (-?\d+)-(\d+)")


def offers_of(given: Mapping[str, Field]) -> str:
    """`assignors: [x 1-5]`, with `reason` and `metadata` of all of them, as an option."""
    if "assignors" not in given:
        return "{}"
    reason = given["reason"].number(0) if "reason" in given else 0
    metadata = tla_text(given["metadata"].text()) if "metadata" in given else '""'
    offers = []
    for item in given["assignors"].items():
        match = _OFFER.fullmatch(item.text())
        if match is None:
            known = ", ".join(ASSIGNORS)
            raise item.wrong(f"{item.text()!r} is no assignor with its versions: write x 1-5, of {known}")
        name, least, most = tla_text(match[1]), int(match[2]), int(match[3])
        offers.append(
            f"[name |-> {name}, min |-> {least}, max |-> {most}, version |-> {most}, "
            f"reason |-> {reason}, metadata |-> {metadata}]"
        )
    return f"{{<<{', '.join(offers)}>>}}"


SAYS: Final = ("assignors", "reason", "metadata")
"""The fields of a heartbeat about assignors."""


def _join(field: Field) -> str:
    given = field.fields(("member", "subscription"), SAYS)
    member = tla_text(given["member"].name_text())
    names = ", ".join(map(tla_text, given["subscription"].names()))
    changes = f"!.member = {member}, !.owned = {{{{}}}}, !.subscription = {{{{{names}}}}}"
    return f"OfferingRequest({member}, [NoRequest EXCEPT {changes}], {offers_of(given)})"


def _heartbeat(field: Field) -> str:
    given = field.fields(("member", "epoch"), ("owned", *SAYS))
    member, epoch = tla_text(given["member"].name_text()), given["epoch"].number(0)
    owned = tla_partitions(given["owned"].partitions()) if "owned" in given else ""
    changes = f"!.member = {member}, !.epoch = {epoch}, !.owned = {{{owned}}}"
    return f"OfferingRequest({member}, [NoRequest EXCEPT {changes}], {offers_of(given)})"


def _leave(field: Field) -> str:
    member = tla_text(field.fields(("member",), ())["member"].name_text())
    return f"OfferingRequest({member}, [NoRequest EXCEPT !.member = {member}, !.epoch = -1], {{}})"


def _prepare(field: Field) -> str:
    given = field.fields(("member", "epoch"), ())
    return f"Prepares({tla_text(given['member'].name_text())}, {given['epoch'].number()})"


def assignment_of(owners: Mapping[str, Field]) -> str:
    """The partitions of each member."""
    pairs = [
        f"<<{tla_text(name)}, p>> : p \\in {tla_partitions(value.partitions())}"
        for name, value in owners.items()
    ]
    return " \\cup ".join(f"{{{pair}}}" for pair in pairs) or "{}"


def _install(field: Field) -> str:
    """The assignment of each member, or the error of the assignor."""
    given = field.fields(("member", "epoch", "groupEpoch"), ("target", "error", "metadata"))
    assignment = assignment_of(given["target"].mapping() if "target" in given else {})
    error = given["error"].number(1) if "error" in given else 0
    metadata = tla_text(given["metadata"].text()) if "metadata" in given else '""'
    changes = f"!.groupEpoch = {given['groupEpoch'].number()}, !.error = {error}, !.metadata = {metadata}"
    carried = f"[NoClientStep EXCEPT {changes}, !.assignment = {assignment}]"
    return f"Installing({tla_text(given['member'].name_text())}, {given['epoch'].number()}, {carried})"


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    """There is no group yet."""
    if field is not None:
        raise field.wrong("a scenario of this kind begins without a group")
    beside = "computation = NoComputation /\\ step = NoStep /\\ clientStep = NoClientStep"
    return f"group = NoGroup /\\ topics = [t \\in Topics |-> {counts_of(topics)}0] /\\ {beside}"


def definitions_of(universe: Universe) -> list[str]:
    """The members and assignors in one order, the topics with their names and partitions."""
    members = sorted(universe.members)
    named = [*members, *ASSIGNORS]
    return [
        f"GoldenMembers == {tla_texts(members)}",
        f"GoldenOrder == [n \\in {tla_texts(named)} |-> {tla_ranks('n', named)}0]",
        f"GoldenTopics == {tla_texts(sorted(universe.topics))}",
        f"GoldenPartitions == {tla_partitions(partitions_of(universe))}",
        "GoldenNames == [t \\in GoldenTopics |-> t]",
    ]


def _definitions(universe: Universe) -> str:
    return "\n".join([*definitions_of(universe), "Nothing == {}"])


_CONFIG: Final = """CONSTANTS
  MemberIds <- GoldenMembers
  Order <- GoldenOrder
  Topics <- GoldenTopics
  TopicName <- GoldenNames
  Regexes <- NoRegexes
  Partitions <- GoldenPartitions
  Dialect <- KIP848
  TargetRule = "any"
  ChoiceRule = "first"
  Assignors <- TwoAssignors
  MaxGroupSize = 1000000
  RequestEpochs <- Nothing
  Subscriptions <- Nothing
  AssignorNames <- Nothing
  InstanceIds <- Nothing
  RegexNames <- Nothing
  OddRequests <- Nothing
  OfferLists <- Nothing
  OddOfferLists <- Nothing
  Computers <- Nothing
  Installs <- Nothing
  WithFailOver = TRUE
  InitialTopics <- Nothing
"""


def _facts(trace: Trace) -> list[Facts]:
    return [_state(state) for state in StateReader().read(trace, "The behaviour")[1:]]


def _state(state: SpecState) -> Facts:
    """The answer, the group, who computes, the target, and each member with what it may use."""
    group = state.group
    facts: dict[str, Facts] = {}
    if state.step.response.error:
        facts["response"] = printed_response(state)
    facts["group"] = {
        "epoch": str(group.epoch),
        "assignmentEpoch": str(group.assignment_epoch),
        "state": group_state(group),
    }
    if group.computation.chosen:
        facts["computation"] = printed_computation(group.computation)
    facts["target"] = {name: printed(target) for name in group.members if (target := group.target(name))}
    facts["members"] = {name: _member(group, name) for name in sorted(group.members)}
    return facts


def printed(partitions: frozenset[tuple[str, int]]) -> tuple[str, ...]:
    """Partitions as a list of foo-0."""
    return tuple(format_partitions(partitions))


def _member(group: Group, name: str) -> Facts:
    member = group.members[name]
    revoking = {"revoking": printed(member.revoking)} if member.revoking else {}
    return {"epoch": str(member.epoch), "partitions": printed(member.assigned), **revoking}


def printed_computation(computation: Computation) -> Facts:
    """The member that computes, and its progress."""
    notified = {"told": "true"} if computation.notified else {}
    prepared = {"prepared": str(computation.base.epoch)} if computation.base else {}
    tried = {"tooLate": tuple(sorted(computation.tried))} if computation.tried else {}
    return {"chosen": computation.chosen, **notified, **prepared, **tried}


def printed_response(state: SpecState) -> Facts:
    """The answer of a heartbeat, or of a request of the computing member."""
    response, client, base = state.step.response, state.step.client, state.group.computation.base
    if response.error != "NONE" or state.step.action == "InstallAssignment":
        return {"error": response.error}
    if state.step.action == "PrepareAssignment":
        assert base is not None
        members = {
            name: {
                "topics": tuple(sorted(one.topics)),
                "partitions": printed(base.targets.get(name, frozenset())),
            }
            for name, one in sorted(base.members.items())
        }
        return {"groupEpoch": str(base.epoch), "assignor": base.assignor, "members": members}
    facts: dict[str, str | tuple[str, ...]] = {"epoch": str(response.epoch)}
    if client is not None and client.compute:
        facts["compute"] = "true"
    if response.assigned is not None:
        facts["assigned"] = printed(response.assigned)
    if client is not None and client.told.error:
        facts["assignorError"] = str(client.told.error)
    if client is not None and client.told.metadata:
        facts["metadata"] = client.told.metadata
    return facts


CLIENT: Final = Language(
    name="client",
    module="OpenClient",
    first=_first,
    verbs={
        "join": _join,
        "heartbeat": _heartbeat,
        "leave": _leave,
        "prepare": _prepare,
        "install": _install,
        "session timeout": timer("ClientSessionTimeout"),
        "rebalance timeout": timer("ClientRebalanceTimeout"),
        "computation timeout": timer("ComputationTimeout"),
        "fail-over": event("ClientFailOver"),
    },
    definitions=_definitions,
    config=_CONFIG,
    facts=_facts,
)
