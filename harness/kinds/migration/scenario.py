"""Scenarios of groups that migrate while consumers have client-side assignors (spec/MixedAssignors.tla):
members of the classic protocol with user data, and consumers that join, compute and install (M1, M4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer.expect import group_state
from harness.kinds.features.computing_scenario import (
    SAYS,
    assignment_of,
    definitions_of,
    offers_of,
    printed,
    printed_computation,
    printed_response,
)
from harness.kinds.literals import tla_list, tla_partitions, tla_text, tla_texts
from harness.kinds.migration.state import MigrationReader, MigrationState
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Language, Universe
from harness.scenario.scripts.verbs import counts_of, partitions_of

_USER_DATA: Final = "eA=="
"""The only user data that there is, in base64."""
_MOST: Final = 9
"""The last generation in a member's request."""


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    """A stable classic group: its members, the first of which has all partitions, their assignors, and those
    with user data."""
    if field is None:
        raise ConformError("A scenario of a group that migrates begins with a classic one: say `first:`.")
    given = field.fields(("members", "assignors"), ("userData",))
    members, protocols = tla_texts(given["members"].mapping()), tla_list(given["assignors"].names())
    have = tla_texts(given["userData"].names() if "userData" in given else ())
    return f"StartsWith({members}, {protocols}, {have}, [t \\in Topics |-> {counts_of(topics)}0])"


def _join(field: Field) -> str:
    """A consumer joins."""
    given = field.fields(("member",), SAYS)
    member = tla_text(given["member"].name_text())
    offers = offers_of(given) if "assignors" in given else "{<<>>}"
    return f"\\E offers \\in {offers} : JoinsOffering({member}, offers)"


def _prepare(field: Field) -> str:
    member = tla_text(field.fields(("member",), ())["member"].name_text())
    return f"computation.chosen = {member} /\\ PrepareAssignment"


def _install(field: Field) -> str:
    given = field.fields(("member", "target"), ())
    member = tla_text(given["member"].name_text())
    return f"computation.chosen = {member} /\\ Installs({assignment_of(given['target'].mapping())})"


def _heartbeat(field: Field) -> str:
    """The heartbeat of a member of the classic protocol."""
    given = field.fields(("member", "generation"), ())
    return f"HeartbeatWith({tla_text(given['member'].name_text())}, {given['generation'].number()})"


def _rejoin(field: Field) -> str:
    given = field.fields(("member", "generation", "owned"), ())
    member, generation = tla_text(given["member"].name_text()), given["generation"].number()
    return f"Rejoins({member}, {generation}, {tla_partitions(given['owned'].partitions())})"


def _sync(field: Field) -> str:
    given = field.fields(("member", "generation"), ())
    return f"Syncs({tla_text(given['member'].name_text())}, {given['generation'].number()})"


def _report(field: Field) -> str:
    """A consumer's heartbeat with owned partitions."""
    given = field.fields(("member", "epoch", "owned"), ())
    member, epoch = tla_text(given["member"].name_text()), given["epoch"].number(1)
    return f"Reports({member}, {epoch}, {tla_partitions(given['owned'].partitions())})"


def _definitions(universe: Universe) -> str:
    claims = "".join(
        f"IF p = <<{tla_text(name)}, {number}>> THEN {tla_text(f'owns {name} {number}')} ELSE "
        for name, number in partitions_of(universe)
    )
    generations = "".join(
        f"IF g = {number} THEN {tla_text(f'generation {number}')} ELSE " for number in range(-1, _MOST)
    )
    return "\n".join(
        [
            *definitions_of(universe),
            f'GoldenClaims == [p \\in GoldenPartitions |-> {claims}""]',
            f'GoldenGenerations == [g \\in -1..{_MOST} |-> {generations}"generation {_MOST}"]',
            "GoldenCounts == [t \\in GoldenTopics |-> 0]",
            "Nothing == {}",
        ]
    )


_CONFIG: Final = f"""CONSTANTS
  MemberIds <- GoldenMembers
  MemberRank <- GoldenOrder
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
  ClaimsCount = TRUE
  RejoinsWhenFree = TRUE
  GenerationRecorded = TRUE
  Extensions = 1
  ClaimName <- GoldenClaims
  GenerationName <- GoldenGenerations
  ClusterTopics <- GoldenCounts
  InitialMembers <- Nothing
  ProtocolLists <- Nothing
  ProtocolTypes <- Nothing
  Claims <- Nothing
  TooOld <- Nothing
  RequestGenerations <- Nothing
  StaleBy = 0
  Assignments <- Nothing
  RequestEpochs <- Nothing
  Owned <- Nothing
  InstanceIds <- Nothing
  FirstInstance = ""
  WithFailOver = FALSE
  UserData = "user data {_USER_DATA}"
  UserDataBytes = "{_USER_DATA}"
  HaveUserData <- Nothing
  OfferLists <- Nothing
"""


def _facts(trace: Trace) -> list[Facts]:
    return [_state(state) for state in MigrationReader().read(trace, "The behaviour")[1:]]


def _state(state: MigrationState) -> Facts:
    """The answer; a classic group as it is, of a consumer group its epochs, the computing member, the target,
    and each member with its partitions."""
    group, old = state.group, state.old.group
    response = {"response": _response(state)}
    if state.is_classic:
        classic = {"type": "classic", "generation": str(old.generation), "state": old.state}
        return {**response, "group": classic, "members": {name: {} for name in old.members}}
    epochs = {"epoch": str(group.epoch), "assignmentEpoch": str(group.assignment_epoch)}
    computes = {"computation": printed_computation(group.computation)} if group.computation.chosen else {}
    return {
        **response,
        "group": {**epochs, "state": group_state(group)},
        **computes,
        "target": {name: printed(target) for name in group.members if (target := group.target(name))},
        "members": {name: _member(state, name) for name in sorted(group.members)},
    }


def _response(state: MigrationState) -> Facts:
    """The response as facts; that of a preparation with each member's metadata."""
    old, base = state.old.step.response, state.group.computation.base
    if old.error == "NONE" and old.api == "JoinGroup":
        return {"generation": str(old.generation)}
    if old.error == "NONE" and old.api == "SyncGroup":
        return {"assigned": printed(old.assignment or frozenset())}
    if old.error:
        return {"error": old.error}
    if state.step.action != "PrepareAssignment" or base is None:
        return printed_response(state.shared)
    members = {
        name: {"version": str(one.offer.version), "metadata": one.offer.metadata or "none"}
        for name, one in sorted(base.members.items())
    }
    return {"groupEpoch": str(base.epoch), "assignor": base.assignor, "members": members}


def _member(state: MigrationState, name: str) -> Facts:
    member = state.group.members[name]
    classic = {"classic": member.classic.phase} if member.classic else {}
    return {"epoch": str(member.epoch), "partitions": printed(member.assigned), **classic}


MIGRATION: Final = Language(
    name="migration",
    module="MixedAssignors",
    first=_first,
    verbs={
        "join": _join,
        "prepare": _prepare,
        "install": _install,
        "heartbeat": _heartbeat,
        "rejoin": _rejoin,
        "sync": _sync,
        "report": _report,
    },
    definitions=_definitions,
    config=_CONFIG,
    facts=_facts,
)
