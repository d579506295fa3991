"""Checks of the operations that every target must have: hello, request, topics, describe, records, observe.

A check takes a conversation with a new target, raises `Wrong`, and reports its observation in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from harness.doctor import features, shape
from harness.doctor.talk import ALL, CLIENT, FOO, Several, Talk, Wrong, ends, same
from harness.errors import ConformError
from harness.kinds.conversations import TALKING, only_kind
from harness.replay import wire
from harness.replay.view import View
from harness.targets.base import Answer, Capabilities, Json, Target
from harness.targets.stdio import Operations, StdioTarget


def hello(talk: Talk) -> str:
    """Twice the same answer, of the right form."""
    known = talk.target.hello()
    if problem := bad_unobserved(talk):
        raise Wrong("hello", problem, "unobserved has names of parts of a description, or records")
    same(
        "hello, twice",
        _capabilities_json(talk.target.hello()),
        _capabilities_json(known),
        "both answers are the same",
    )
    for api, versions in known.apis.items():
        if versions[0] > versions[1]:
            raise Wrong("hello", {api: list(versions)}, "apis has [first, last] version of each API")
    if wire.HEARTBEAT not in wire.served(known) and only_kind(known) is None:
        others = " or ".join(_versions(kind.apis) for kind in TALKING)
        raise Wrong("hello", dict(known.apis), f"version 0 of {wire.HEARTBEAT} is there, or {others}")
    features.lacking(talk)
    hidden = f"; not shown: {', '.join(sorted(known.unobserved))}" if known.unobserved else ""
    lacking = f"; lacks: {', '.join(sorted(known.lacks))}" if known.lacks else ""
    return f"{known.name}, dialect {known.dialect}, APIs {', '.join(known.apis)}{hidden}{lacking}."


def _capabilities_json(known: Capabilities) -> Json:
    return {
        "name": known.name,
        "dialect": known.dialect,
        "apis": dict(known.apis),
        "controls": sorted(known.controls),
        "unobserved": sorted(known.unobserved),
        "lacks": sorted(known.lacks),
    }


def _versions(apis: Mapping[str, int]) -> str:
    return ", ".join(f"{api} {version}" for api, version in apis.items())


def bad_unobserved(talk: Talk) -> str:
    """The fault in the names of what the target cannot show; "" for none."""
    try:
        View(talk.target.hello())
    except ConformError as error:
        return error.message
    return ""


_UNANSWERABLE: Final[dict[str, Json]] = {
    "a heartbeat of a member that the group has not": {"memberId": "nobody", "memberEpoch": 7},
    "a heartbeat without group id": {"groupId": ""},
    "a heartbeat of epoch 1 without member id": {"memberId": "", "memberEpoch": 1},
    "a heartbeat of epoch -5": {"memberEpoch": -5},
}
"""Requests that a coordinator answers with an error (H3, H5)."""


def errors(talk: Talk) -> str:
    """Requests that get an error, which is a response."""
    talk.begin("m1")
    for sent, changed in _UNANSWERABLE.items():
        body = talk.body(sent, talk.heartbeat("m1", changed))
        if not body.get("errorCode", 0):
            raise Wrong(sent, body, "the response has an error code; an error of the protocol is a response")
    talk.beat("m1")
    return f"{len(_UNANSWERABLE)} invalid requests are answered with errors, and the member goes on."


def request(talk: Talk) -> str:
    """A join, heartbeats and a leave."""
    talk.begin("m1")
    talk.beat("m1")
    answer = talk.body("a leave", talk.heartbeat("m1", {"memberEpoch": -1, "topicPartitions": None}))
    if answer.get("errorCode", 0) or answer.get("memberEpoch") != -1:
        raise Wrong("a heartbeat of epoch -1", answer, "the member leaves, and its epoch is -1 (H2)")
    return "A join, heartbeats and a leave are answered."


def topics(talk: Talk) -> str:
    """Partitions of a topic that is created, grows and is deleted."""
    talk.begin("m1")
    talk.target.topics([{**FOO, "partitions": 3}], [])
    talk.settle(
        lambda: sorted(talk.owned("m1")) == [0, 1, 2],
        "topics with 3 partitions of foo instead of 2",
        "the only member is given partitions that are added (E1)",
    )
    talk.target.topics([], [FOO["name"]])
    talk.settle(
        lambda: not talk.owned("m1"),
        "topics with foo deleted",
        "partitions of a topic that is deleted are taken back (T2)",
    )
    return "A topic is created, gets a partition more, and is deleted; the member is told."


def describe(talk: Talk) -> str:
    """The description of no group, and of one with a member."""
    dead = talk.describe("describe, of a group that there is not")
    if talk.view.shows("state") and (dead["state"], dead["members"]) != ("Dead", []):
        raise Wrong("describe, of a group that there is not", dead, "its state is Dead, it has no members")
    talk.begin("m1")
    epoch = talk.beat("m1").body
    group = talk.describe("describe, of a group with one member")
    members = group["members"]
    sent = "describe, of a group with the member m1"
    same(sent, [one.get("memberId") for one in members], ["m1"], "members has the one member")
    if talk.view.shows("state") and group["state"] != "Stable":
        raise Wrong(sent, group["state"], "a group whose members have all they should is Stable (E5)")
    facts: Json = {"memberEpoch": (epoch or {}).get("memberEpoch"), "subscribedTopicNames": [FOO["name"]]}
    if talk.can("topics"):
        every = [{"topicId": FOO["id"], "partitions": sorted(ALL)}]
        facts |= {"assigned": every, "target": every, "pendingRevocation": []}
    for name, value in facts.items():
        if talk.view.shows(f"members.{name}") and members[0][name] != value:
            raise Wrong(sent, {name: members[0][name]}, f"{name} of m1 is {shape.as_json(value)}")
    if talk.view.shows("timers.session") and not any(
        (one["timer"], one["member"]) == ("session", "m1") for one in group["timers"]
    ):
        raise Wrong(sent, group["timers"], "the timers have the member's session (H8)")
    timers = ", the timers" if talk.view.shows("timers") else ""
    seen = f"The group's state, {len(members[0])} fields of a member{timers}"
    return f"{seen}; Dead where there is no group."


def records(talk: Talk) -> str:
    """Records by offset, all and from one on."""
    if not talk.view.reads:
        return "It says that they are not to be compared."
    ends(talk, "records", {"since": 0})
    same("records, before any request", talk.target.records(0), [], "a new coordinator's log is empty")
    talk.begin("m1")
    log = talk.target.records(0)
    if problem := shape.of_records(log, 0):
        raise Wrong("records since 0", problem, "offsets follow one another, each record has key and value")
    kinds = {record["key"]["type"] for record in log}
    for kind in ("ConsumerGroupMetadata", "ConsumerGroupMemberMetadata"):
        if kind not in kinds:
            raise Wrong("records since 0, after a join", sorted(kinds), f"there is a {kind} (P1)")
    for since in (1, len(log)):
        sent = f"records since {since} of {len(log)}"
        same(sent, talk.target.records(since), log[since:], "the records from that offset on come back")
    return f"A join and its heartbeats wrote {len(log)} records; offsets follow one another."


def observe(talk: Talk) -> str:
    """Check that `observe` returns the same as a separate `describe` and `records`."""
    talk.begin()
    since = len(talk.records())
    answer = talk.join("m1", observe=wire.GROUP)
    sent = 'a join with "observe"'
    same(sent, answer.group, talk.target.describe(wire.GROUP), "group is what describe gives then")
    if talk.can("records") and talk.view.reads:
        says = "records are those that the request wrote"
        same(sent, list(answer.records), talk.target.records(since), says)
        return "A join that is observed gives the description, and the records that it wrote."
    return "A join that is observed gives the description."


_LINES: Final = ("no JSON", "[]", "{}", '{"op":1}', '{"op":"nonsense"}')


class _Written(Operations):
    """A target that answers nothing: it raises the operation in the form of the line protocol."""

    def _ask(self, operation: Json) -> Json:
        raise _Operation(shape.as_json(operation))

    def _part(self, operation: Json, name: str, kind: type) -> Any:
        return self._ask(operation)

    def _perform(self, operation: Json, observe: str | None) -> Answer:
        raise _Operation(shape.as_json(operation))


class _Operation(Exception):
    """The text of an operation."""


def _line_of(call: Callable[[], object]) -> str:
    try:
        call()
    except _Operation as operation:
        return str(operation)
    raise AssertionError("an operation of the line protocol has a line")


def _senseless(target: Operations | Target) -> list[tuple[str, str, Callable[[], object]]]:
    """Operations that make no sense: the operation, words for its fault, and the call."""
    version, client = wire.VERSIONS[wire.HEARTBEAT], dict(CLIENT)
    return [
        ("request", "a request of the API Nonsense", lambda: target.request("Nonsense", 0, client, {})),
        ("request", "version 99", lambda: target.request(wire.HEARTBEAT, 99, client, {"groupId": "g"})),
        ("request", "an unknown field", lambda: target.request(wire.HEARTBEAT, version, client, {"x": 1})),
        ("topics", "topics without id", lambda: target.topics([{"name": "bar"}], [])),
        ("advance", "advance by -1", lambda: target.advance(-1)),
        ("fire", "fire of the timer nonsense", lambda: target.fire("nonsense", wire.GROUP, "m1")),
        ("fire", "fire of a timer that is not armed", lambda: target.fire("session", wire.GROUP, "m9")),
        ("assign", "assign of a number", lambda: target.assign(wire.GROUP, {"m1": 1})),  # type: ignore[dict-item]
        ("records", "records since -1", lambda: target.records(-1)),
        ("load", "load of a record without key", lambda: target.load([{}], [], {})),
        ("restart", "restart that keeps 1,000,000 records", lambda: target.restart(1_000_000)),
        ("commit", "the commit mode nonsense", lambda: target.commit("nonsense")),
    ]


def bad_input(talk: Talk) -> str:
    """Check that a senseless operation is refused, and changes nothing."""
    talk.begin("m1")
    talk.rest()
    tries = [
        (f"{sent}: {_line_of(written)}", call)
        for (operation, sent, call), (*_, written) in zip(
            _senseless(talk.target), _senseless(_Written()), strict=True
        )
        if operation == "request" or talk.can(operation)
    ]
    if isinstance(target := talk.target, StdioTarget):
        tries += [(f"the line {line}", partial(target.line, line)) for line in _LINES]
    wrong = []
    for sent, call in tries:
        try:
            talk.refuses(sent, call)
        except Wrong as error:
            wrong.append(str(error))
    if wrong:
        raise Several(wrong)
    talk.beat("m1")
    return f"{len(tries)} senseless operations are refused and change nothing."
