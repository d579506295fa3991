"""Reading scenario files. Every mistake is an error that names the file, the line and the right form."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.kinds.consumer.scenario.model import (
    REQUEST,
    SECTIONS,
    Erratum,
    Printed,
    PrintedMember,
    Scenario,
    ScriptStep,
    Section,
    Target,
)
from harness.kinds.consumer.state import Group, Member, Request, Response
from harness.kinds.fields import Partition
from harness.replay import wire
from harness.scenario.fields import Field, read_fields, verb_of
from harness.scenario.partitions import parse_partition

_STEP_FIELDS: Final = ("says", "target", *SECTIONS)
_SAID: Final = ("subscription", "regex", "assignor", "instance", "owned")
EVENTS: Final = {
    "session timeout": "SessionTimeout",
    "rebalance timeout": "RebalanceTimeout",
    "create topic": "CreateTopic",
    "add partitions": "AddPartitions",
    "delete topic": "DeleteTopic",
    "delete group": "DeleteGroup",
    "delete groups": "DeleteGroups",
    "fail-over": "FailOver",
    "offset commit": "OffsetCommit",
    "offset fetch": "OffsetFetch",
}
"""The events that a step may be besides a request, and the action of the specification for each."""
EPOCHS: Final = {"join": 0, "leave": -1, "leave temporarily": -2}
"""The requests whose kind follows from their member epoch (H1, H2)."""
_EVENT_FIELDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "session timeout": (("member",), ()),
    "rebalance timeout": (("member",), ()),
    "create topic": (("topic", "partitions"), ()),
    "add partitions": (("topic", "partitions"), ()),
    "delete topic": (("topic",), ()),
    "delete group": ((), ()),
    "delete groups": ((), ()),
    "fail-over": ((), ("topic", "partitions")),
    "offset commit": (("member", "epoch", "partition", "offset"), ()),
    "offset fetch": (("member", "epoch", "partition"), ()),
}
STATES: Final = ("Dead", "Empty", "Assigning", "Reconciling", "Stable")
VERBS: Final = ("heartbeat", *EPOCHS, "request", *EVENTS)


def load_scenario(path: Path, text: str | None = None) -> Scenario:
    """The scenario in a file, or in `text` as if that were the file. ConformError (exit 2) for the first
    mistake."""
    whole = read_fields(path, text)
    fields = whole.fields(
        ("name", "source", "shows", "topics", "steps"), ("link", "requirements", "caught", "first", "errata")
    )
    topics = {name: field.number(1) for name, field in fields["topics"].mapping().items()}
    steps = fields["steps"].items()
    if not steps:
        raise fields["steps"].wrong("a scenario has at least one step")
    script = tuple(_step(step) for step in steps)
    errata = fields["errata"].items() if "errata" in fields else []
    return Scenario(
        file=str(path),
        name=fields["name"].prose(),
        source=fields["source"].prose(),
        shows=fields["shows"].prose(),
        requirements=fields["requirements"].names() if "requirements" in fields else (),
        topics=topics,
        first=_first_group(fields["first"], topics) if "first" in fields else None,
        steps=script,
        errata=tuple(_erratum(erratum, script) for erratum in errata),
        link=fields["link"].text() if "link" in fields else "",
        caught=fields["caught"].names() if "caught" in fields else (),
    )


def _step(step: Field) -> ScriptStep:
    fields = step.mapping()
    verb = verb_of(step, VERBS, _STEP_FIELDS)
    make = _event if verb in EVENTS else _request
    sections: dict[str, Section] = {name: _section(fields[name]) for name in SECTIONS if name in fields}
    for name, section in sections.items():
        if name != "expect" and section.printed and (section.printed.response or section.printed.offsets):
            raise fields[name].wrong(f"response and offsets belong to expect, not to {name}")
    done = make(verb, fields[verb])
    return ScriptStep(
        does=done.does,
        member=done.member,
        request=done.request,
        topic=done.topic,
        partitions=done.partitions,
        partition=done.partition,
        offset=done.offset,
        target=_target(fields["target"]) if "target" in fields else None,
        says=fields["says"].prose() if "says" in fields else "",
        sections=sections,
        first_line=step.first_line,
        last_line=step.last_line,
        column=step.column,
    )


def _request(verb: str, field: Field) -> ScriptStep:
    """A ConsumerGroupHeartbeat; a field that is left out is absent (H7), but a join reports that it owns
    nothing."""
    needs = ("member", "epoch") if verb in ("heartbeat", "request") else ("member",)
    given = field.fields(needs, ("withoutId", *_SAID))
    member = given["member"].name_text()
    if "withoutId" in given and given["withoutId"].flag() and verb not in ("join", "request"):
        raise given["withoutId"].wrong("only a join may leave its member id out (H1)")
    epoch = EPOCHS[verb] if verb in EPOCHS else given["epoch"].number(1 if verb == "heartbeat" else -(10**9))
    owned = given["owned"].partitions() if "owned" in given else None
    request = Request(
        member="" if "withoutId" in given and given["withoutId"].flag() else member,
        epoch=epoch,
        instance=given["instance"].text() if "instance" in given else None,
        owned=frozenset() if owned is None and verb == "join" else owned,
        subscription=frozenset(given["subscription"].names()) if "subscription" in given else None,
        regex=given["regex"].text() if "regex" in given else None,
        assignor=given["assignor"].text() if "assignor" in given else None,
    )
    return ScriptStep(REQUEST, member, request)


def _event(verb: str, field: Field) -> ScriptStep:
    given = field.fields(*_EVENT_FIELDS[verb])
    request = None
    member = given["member"].text() if "member" in given else ""
    if "epoch" in given:
        request = Request(member, given["epoch"].number(), None, None, None, None, None)
    elif "member" in given:
        given["member"].name_text()
    partition = given["partition"].partition() if "partition" in given else None
    topic = given["topic"].name_text() if "topic" in given else ""
    return ScriptStep(
        does=EVENTS[verb],
        member=member,
        request=request,
        topic=partition[0] if partition else topic,
        partitions=_count(verb, given),
        partition=partition,
        offset=given["offset"].number(0) if "offset" in given else 0,
    )


def _count(verb: str, given: dict[str, Field]) -> int:
    """The number of partitions of the topic after the change; -1 means that it is deleted."""
    if verb == "delete topic":
        return -1
    if verb == "fail-over" and ("topic" in given) != ("partitions" in given):
        some = next(iter(given.values()))
        raise some.wrong("a topic that changes in a fail-over has partitions, too: -1 where it is deleted")
    return given["partitions"].number(-1) if "partitions" in given else 0


def _target(field: Field) -> Target:
    targets = {name: value.partitions() for name, value in field.mapping().items()}
    owner: dict[Partition, str] = {}
    for name, partitions in targets.items():
        for partition in sorted(partitions):
            if partition in owner:
                both = f"{owner[partition]} and to {name}"
                raise field.wrong(f"{partition[0]}-{partition[1]} is given to {both}")
            owner[partition] = name
    return {name: partitions for name, partitions in targets.items() if partitions}


def _section(field: Field) -> Section:
    """A state; a state without text after its colon is for --rewrite to write."""
    if not field.mapping():
        return Section(None, field.first_line, field.last_line)
    given = field.fields(("group", "target", "members"), ("response", "offsets"))
    group = given["group"].fields(("epoch", "assignmentEpoch", "state"), ())
    response, fetched = _response(given["response"]) if "response" in given else (None, None)
    printed = Printed(
        group["epoch"].number(0),
        group["assignmentEpoch"].number(0),
        _choice(group["state"], STATES),
        _target(given["target"]),
        {name: _printed_member(member) for name, member in given["members"].mapping().items()},
        response,
        fetched,
        _offsets(given["offsets"]) if "offsets" in given else {},
    )
    return Section(printed, field.first_line, field.last_line)


def _printed_member(field: Field) -> PrintedMember:
    given = field.fields(("epoch", "partitions", "pending"), ())
    return PrintedMember(
        given["epoch"].number(-2), given["partitions"].partitions(), given["pending"].partitions()
    )


def _response(field: Field) -> tuple[Response, int | None]:
    """The response and the fetched offset, if there is one.

    The member is filled in for the comparison: that of the step, or none for an error.
    """
    given = field.fields((), ("error", "epoch", "assigned", "pending", "offset"))
    if "error" in given or "offset" in given:
        if len(given) > 1:
            raise field.wrong("an error comes with nothing else, and neither does an offset")
        error = _choice(given["error"], tuple(wire.ERROR_CODES)) if "error" in given else "NONE"
        offset = given["offset"].number(-1) if "offset" in given else None
        return Response(error, "", 0, None, None), offset
    if "epoch" not in given:
        raise field.wrong("a response has an error, an epoch, or an offset that was fetched")
    if ("assigned" in given) != ("pending" in given):
        raise field.wrong("assigned and pending come together, or not at all: then no assignment is sent")
    assignment = [given[name].partitions() if name in given else None for name in ("assigned", "pending")]
    return Response("NONE", "", given["epoch"].number(), assignment[0], assignment[1]), None


def _offsets(field: Field) -> dict[Partition, int]:
    try:
        return {parse_partition(name): offset.number(0) for name, offset in field.mapping().items()}
    except ValueError as error:
        raise field.wrong(str(error)) from None


def _choice(field: Field, choices: tuple[str, ...]) -> str:
    text = field.text()
    if text not in choices:
        raise field.wrong(f"{field.name} must be one of {', '.join(choices)}, not {text!r}")
    return text


def _first_group(field: Field, topics: dict[str, int]) -> Group:
    """The group at the start: by default converged, each member with its target, epochs as the group's."""
    given = field.fields(("epoch", "members"), ("assignmentEpoch",))
    epoch = given["epoch"].number(1)
    assignment_epoch = given["assignmentEpoch"].number(0) if "assignmentEpoch" in given else epoch
    members, targets = {}, {}
    for name, raw in sorted(given["members"].mapping().items()):
        members[name], target = _first_member(raw, epoch)
        if target:
            targets[name] = target
    names = set().union(*(member.subscription for member in members.values())) if members else set()
    metadata = {topic: count for topic, count in topics.items() if wire.topic_name(topic) in names}
    return Group(epoch, assignment_epoch, targets, metadata, members)


def _first_member(field: Field, group_epoch: int) -> tuple[Member, frozenset[Partition]]:
    fields = ("epoch", "previousEpoch", "instance", "assignor", "revoking", "target", "acknowledged")
    given = field.fields(("subscription", "partitions"), fields)
    epoch = given["epoch"].number(-2) if "epoch" in given else group_epoch
    assigned = given["partitions"].partitions()
    member = Member(
        epoch=epoch,
        previous_epoch=given["previousEpoch"].number(0) if "previousEpoch" in given else max(epoch - 1, 0),
        instance=given["instance"].text() if "instance" in given else "",
        subscription=frozenset(given["subscription"].names()),
        regex="",
        assignor=given["assignor"].text() if "assignor" in given else "",
        assigned=assigned,
        revoking=given["revoking"].partitions() if "revoking" in given else frozenset(),
        acknowledged=given["acknowledged"].flag() if "acknowledged" in given else True,
    )
    return member, given["target"].partitions() if "target" in given else assigned


def _erratum(field: Field, steps: tuple[ScriptStep, ...]) -> Erratum:
    given = field.fields(("step", "where", "says", "holds", "uncorrected"), ("state",))
    number = given["step"].number(1)
    if number > len(steps):
        raise given["step"].wrong(f"there is no step {number}: the scenario has {len(steps)}")
    name = _choice(given["state"], SECTIONS) if "state" in given else "expect"
    corrected = steps[number - 1].states.get(name)
    return Erratum(
        step=number,
        where=given["where"].prose(),
        says=given["says"].prose(),
        holds=given["holds"].prose(),
        section=name,
        printed=_uncorrected(given["uncorrected"], corrected) if corrected else None,
        line=field.first_line,
    )


def _uncorrected(field: Field, corrected: Printed) -> Printed:
    """The corrected state with the wrong values of the document in their place."""
    given = field.fields((), ("group", "target", "members"))
    group = given["group"].fields((), ("epoch", "assignmentEpoch", "state")) if "group" in given else {}
    members = dict(corrected.members)
    for name, raw in (given["members"].mapping() if "members" in given else {}).items():
        values = raw.fields((), ("epoch", "partitions", "pending"))
        old = members.get(name, PrintedMember(-1, frozenset(), frozenset()))
        members[name] = PrintedMember(
            values["epoch"].number(-2) if "epoch" in values else old.epoch,
            values["partitions"].partitions() if "partitions" in values else old.partitions,
            values["pending"].partitions() if "pending" in values else old.pending,
        )
    return Printed(
        group["epoch"].number(0) if "epoch" in group else corrected.epoch,
        group["assignmentEpoch"].number(0) if "assignmentEpoch" in group else corrected.assignment_epoch,
        _choice(group["state"], STATES) if "state" in group else corrected.state,
        _target(given["target"]) if "target" in given else corrected.target,
        members,
        corrected.response,
        corrected.fetched,
        corrected.offsets,
    )
