"""The operations by which a target is controlled: clock, timers, target assignments, states, ids.

A check takes a conversation with a new target, raises `Wrong`, and reports its observation in a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from harness.doctor import committed
from harness.doctor.shape import as_json
from harness.doctor.talk import FOO, Talk, Wrong, ends, never, partitions, same
from harness.kinds.stable import EPOCH, OWNED, stable_group
from harness.replay import wire
from harness.targets.base import Answer, Json, Refused

SESSION: Final = {"timer": "session", "group": wire.GROUP, "member": "m1"}
HEARTBEAT_MS: Final = 6_000
AGAIN_MS: Final = 7_000
INTERVAL: Final = "group.consumer.heartbeat.interval.ms"
METADATA: Final = "ConsumerGroupPartitionMetadata"
VOLATILE: Final = ("previousMemberEpoch", "acknowledged")
"""The fields of a member that a new coordinator need not know (P2)."""


def advance(talk: Talk) -> str:
    """Check that the clock moves, and that due timers run."""
    talk.begin("m1")
    same("advance by 1 ms", list(talk.target.advance(1).fired), [], "nothing is due yet (H8)")
    ms = wire.SESSION_TIMEOUT_MS
    fired = list(talk.target.advance(ms).fired)
    if SESSION not in fired:
        raise Wrong(f"advance by {ms} ms", fired, f"fired has the session of m1: {as_json(SESSION)}")
    _gone(talk, f"advance by {ms} ms", "m1")
    return f"After {ms} ms without heartbeats the session of the member ends, and is said to."


def _gone(talk: Talk, sent: str, member: str) -> None:
    talk.forget(member)
    if talk.is_member(member):
        raise Wrong(sent, f"{member} is still in the group", f"{member}, whose session ended, is removed")


def fire(talk: Talk) -> str:
    """Check that one timer runs out, and no other."""
    talk.begin("m1", "m2")
    fired = list(talk.target.fire("session", wire.GROUP, "m1").fired)
    same("fire of the session of m1", fired, [SESSION], "fired has that timer, and no other")
    _gone(talk, "fire of the session of m1", "m1")
    if not talk.is_member("m2"):
        never("fire of the session of m1", "m2 is gone, too", "only this timer runs out")
    talk.refuses("fire of the session of m1 again", lambda: talk.target.fire("session", wire.GROUP, "m1"))
    talk.settle(lambda: talk.shared("m2"), "heartbeats of m2, which is alone")
    return "The session of one of two members ends; the other goes on."


def assign(talk: Talk) -> str:
    """Check that a scripted target assignment is the next one, once; before the first join, too."""
    talk.begin()
    owned = {"m1": [0], "m2": [1]}
    if not talk.can("topics"):
        return "It is taken; without topics nothing shows whether it is used."
    talk.target.assign(wire.GROUP, {"m1": partitions(0)})
    sent = "assign of foo-0 to m1 before the group exists, then its join"
    if not (talk.join("m1").consumed or _consumed(talk)):
        never(sent, "no answer said consumed", "the answer of the step that used it says so")
    talk.settle(lambda: talk.owned("m1") == [0], sent, "it is the target assignment")
    talk.target.assign(wire.GROUP, {name: partitions(*indices) for name, indices in owned.items()})
    sent = f"assign of {as_json(owned)}, then the join of m2"
    if not (talk.join("m2").consumed or _consumed(talk)):
        never(sent, "no answer said consumed", "the answer of the step that used it says so")
    talk.settle(
        lambda: {name: talk.owned(name) for name in owned} == owned, sent, "it is the target assignment"
    )
    leaving = talk.heartbeat("m2", {"memberEpoch": -1, "topicPartitions": None})
    talk.forget("m2")
    if leaving.consumed or _consumed(talk, rounds=3):
        never("the leave of m2", "an answer said consumed", "a script is used once")
    talk.settle(lambda: talk.shared("m1"), "the leave of m2, after which no script is left")
    return "Two scripts were used, each once, and said to be; then the assignor decided again."


def _consumed(talk: Talk, rounds: int = 10) -> bool:
    """Tell if an answer reports the use of the script, also for a target that computes its target assignment
    later."""
    for _ in range(rounds):
        talk.pause()
        if any(talk.beat(member).consumed for member in talk.members()):
            return True
    return False


def load(talk: Talk) -> str:
    """Check that a loaded state is the described one, and goes on in the same way; also for states of
    traces."""
    ends(talk, "load", {"records": [], "topics": [], "volatile": {"clockMs": 0}})
    return _load(talk) + committed.load(talk)


def _load(talk: Talk) -> str:
    topics: Sequence[Json] = [FOO] if talk.can("topics") else []
    talk.target.load([], topics, {"clockMs": 0})
    talk.begin("m1", "m2")
    talk.rest()
    if not (talk.can("records") and talk.view.reads and talk.can("describe")):
        return _as_traces_do(talk)
    group, log = talk.shown(), talk.records()
    volatile = volatile_of(talk.describe(), talk.now_ms)
    resume = talk.remember()
    following = _goes_on(talk)
    talk.target.load([], topics, {"clockMs": 0})
    if talk.view.shows("state"):
        same("load of nothing", talk.describe()["state"], "Dead", "there is no group")
    talk.target.load(_whole(log, group), topics, volatile)
    sent = "load of the records and the volatile state of a group with two members"
    for name, value in group.items():
        same(
            f"{sent}, describe", {name: talk.shown().get(name)}, {name: value}, f"{name} is {as_json(value)}"
        )
    resume()
    says = f"the answers are {as_json(following)}"
    same(f"{sent}, then m2 leaves and m1 is given the rest", _goes_on(talk), following, says)
    return "A group with two members is described as before, and goes on as it did."


def _as_traces_do(talk: Talk) -> str:
    """Check a state whose records the target has not shown: its description, and its members' next
    answers."""
    state = stable_group(talk.known.dialect, talk.can("topics"))
    talk.target.load(state.records, state.topics, state.volatile)
    sent = f"load of the records and the volatile state of a group with two members at epoch {EPOCH}"
    if talk.can("describe"):
        shown = talk.shown()
        for name, value in (talk.view.of(Answer(group=state.description)).group or {}).items():
            same(f"{sent}, describe", {name: shown.get(name)}, {name: value}, f"{name} is {as_json(value)}")
    for member, owned in OWNED.items():
        says = {"memberEpoch": EPOCH, "topicPartitions": wire.topic_partitions(owned if state.topics else ())}
        body = talk.body(f"{sent}, then a heartbeat of {member}", talk.heartbeat(member, says))
        got = {name: body.get(name, 0) for name in ("errorCode", "memberEpoch")}
        wanted = {"errorCode": 0, "memberEpoch": EPOCH}
        same(f"{sent}, then a heartbeat of {member}", got, wanted, f"the answer has {as_json(wanted)}")
    old = {"memberEpoch": EPOCH - 3, "topicPartitions": None, "subscribedTopicNames": None}
    body = talk.body(f"{sent}, then a heartbeat of m1 with an old epoch", talk.heartbeat("m1", old))
    if not body.get("errorCode", 0):
        raise Wrong(f"{sent}, then a heartbeat of m1 with an old epoch", body, "m1 is fenced (H5)")
    seen = "is described as it should be, and" if talk.can("describe") else "is there, as far as one sees:"
    return f"A group with two members {seen} its members go on."


def _whole(log: list[Json], group: Json) -> list[Json]:
    """The log in the form of a trace: with the metadata, of which some targets keep only a hash (P1)."""
    kept = any(record["key"]["type"] == METADATA for record in log)
    if kept or not group.get("metadata"):
        return log
    key = {"type": METADATA, "groupId": wire.GROUP}
    value = {"epoch": group.get("groupEpoch"), "topics": group["metadata"]}
    return [*log, {"offset": len(log), "key": key, "value": value}]


def _goes_on(talk: Talk) -> list[Any]:
    """Let one of two members leave; the answers to both."""
    left = talk.heartbeat("m2", {"memberEpoch": -1, "topicPartitions": None}).body
    return [left, *(talk.beat("m1").body for _ in range(3))]


def volatile_of(group: Json, now_ms: int) -> Json:
    """The part of a described group that records do not hold, as far as the target shows it."""
    deadlines = {
        (timer["timer"], timer["member"]): timer["deadlineMs"]
        for timer in group.get("timers", [])
        if "deadlineMs" in timer
    }
    members: Json = {}
    for one in group.get("members", []):
        name = one["memberId"]
        known = {part: one[part] for part in (*VOLATILE, "pendingRevocation") if part in one}
        for timer, part in (("session", "sessionDeadlineMs"), ("rebalance", "rebalanceDeadlineMs")):
            if (timer, name) in deadlines:
                known[part] = deadlines[timer, name]
        members[name] = known
    return {"clockMs": now_ms, "groups": {wire.GROUP: {"members": members}}}


def fresh(talk: Talk) -> str:
    """Check that a load of topics alone makes a new coordinator."""
    topics: Sequence[Json] = [FOO] if talk.can("topics") else []
    first = []
    for _ in range(2):
        talk.target.load([], topics, {"clockMs": 0})
        same("load of topics alone, records", talk.records(), [], "a new coordinator's log is empty")
        group = talk.describe()
        if talk.view.shows("state"):
            same("load of topics alone, describe", group["state"], "Dead", "there is no group")
        first.append(talk.join("m1").body)
    sent = "load of topics alone after a join, then the same join"
    same(sent, first[1], first[0], "the answer is that of a new coordinator")
    return "A load of topics alone is a new coordinator: a join is answered as the first time."


def restart(talk: Talk) -> str:
    """Check that a new coordinator knows only the kept records, and that its answers have the end of the
    log."""
    outcome = _restart(talk)
    ends(talk, "restart", {})
    return outcome


def _restart(talk: Talk) -> str:
    talk.begin("m1")
    kept = len(talk.records())
    talk.begin("m2")
    talk.rest()
    before, log = _durable(talk.shown()), talk.records()
    talk.target.restart()
    same("restart, describe", _durable(talk.shown()), before, "the group is as its records say (P2)")
    if not log:
        for member in ("m1", "m2"):
            talk.beat(member)
        return "After a restart both members go on. Without records no more can be seen."
    same("restart, records", talk.records()[: len(log)], log, "the log is kept")
    talk.target.restart(kept)
    if not talk.is_member("m1") or talk.is_member("m2"):
        never(f"restart that keeps {kept} records", talk.shown(), "it has what was in them: m1, but not m2")
    talk.target.restart(0)
    if talk.is_member("m1"):
        never("restart that keeps no record", talk.shown(), "there is no group")
    return "All records, some or none are kept, and the group is as they say."


def _durable(group: Json) -> Json:
    """A description without the fields that a new coordinator does not know (P2)."""
    members = [
        {name: value for name, value in one.items() if name not in VOLATILE}
        for one in group.get("members", [])
    ]
    return {**{name: value for name, value in group.items() if name != "timers"}, "members": members}


def ids(talk: Talk) -> str:
    """Check that members that join without an id get these ids, in order."""
    talk.begin()
    wanted = ["doctor-2", "doctor-1"]
    talk.target.ids(wanted)
    given = [talk.body("a join", talk.heartbeat("", {"memberEpoch": 0})).get("memberId") for _ in wanted]
    same(f"ids {as_json(wanted)}, then two joins without member id", given, wanted, "they are used in order")
    return "Two members that join without id are given the ids, in order."


def configure(talk: Talk) -> str:
    """Check that a setting is used, and only before the first request; a new coordinator keeps it, and takes
    others."""
    settings = {**wire.CONFIGURATION, INTERVAL: HEARTBEAT_MS}
    sent = f"configure {INTERVAL} {HEARTBEAT_MS}"
    talk.target.configure(settings)
    talk.begin()
    body = talk.join("m1").body or {}
    same(sent, body.get("heartbeatIntervalMs"), HEARTBEAT_MS, "answers have it as heartbeatIntervalMs")
    talk.refuses("configure after a request", lambda: talk.target.configure(settings))
    sentence = "A setting counts; after the first request it is refused"
    return f"{sentence}. {_configured_again(talk, settings)}" if talk.can("load") else f"{sentence}."


def _configured_again(talk: Talk, settings: Json) -> str:
    """Check that a load without records at 0 makes a new coordinator, to which configure is sent again for
    traces that need it."""
    topics: Sequence[Json] = [FOO] if talk.can("topics") else []
    talk.target.load([], topics, {"clockMs": 0})
    sent = "load of topics alone after configure, then a join"
    says = "settings stay until the next configure"
    same(sent, (talk.join("m1").body or {}).get("heartbeatIntervalMs"), settings[INTERVAL], says)
    talk.target.load([], topics, {"clockMs": 0})
    try:
        talk.target.configure({**settings, INTERVAL: AGAIN_MS})
    except Refused as refusal:
        says = "a load without records at 0 is a new coordinator, which may be configured"
        raise Wrong("load of topics alone, then configure", f"refused: {refusal.reason}", says) from None
    sent = f"load of topics alone, then configure {INTERVAL} {AGAIN_MS}, then a join"
    body = talk.join("m1").body or {}
    same(sent, body.get("heartbeatIntervalMs"), AGAIN_MS, "answers have it as heartbeatIntervalMs")
    return "A load without records keeps it, and then it may be set again."


def commit(talk: Talk) -> str:
    """Check a log that takes no records: nothing that is not durable is answered or visible."""
    talk.begin("m1")
    talk.rest()
    before = talk.state()
    talk.target.commit("fail")
    answer = talk.body("a join while appends fail", talk.heartbeat("m2", {"memberEpoch": 0}))
    if not answer.get("errorCode", 0):
        never("commit mode fail, then a join", answer, "it is answered with an error (P3)")
    same("commit mode fail, then a join", talk.state(), before, "nothing of it is visible (P3)")
    waits = _waits(talk, before)
    talk.target.commit("auto")
    talk.join("m3")
    return f"A join that cannot be recorded is an error, and nothing of it is seen{waits}."


def _waits(talk: Talk, before: Any) -> str:
    try:
        talk.target.commit("manual")
    except Refused:
        return "; there is no mode manual"
    answer = talk.heartbeat("m2", {"memberEpoch": 0})
    same("commit mode manual, then a join", answer.body, None, "it is pending until a commit (P3)")
    same("commit mode manual, then a join", talk.state(), before, "nothing of it is visible (P3)")
    talk.target.commit("auto")
    if not talk.is_member("m2"):
        never("commit mode auto after a join that waited", talk.shown(), "the join is handled then")
    return "; one may wait"


def background(talk: Talk) -> str:
    """Check that queued work runs on request, and that none is left then."""
    talk.begin("m1")
    talk.rest()
    talk.target.background()
    before = talk.state()
    answer: Answer = talk.target.background()
    same("background, twice", list(answer.completed), [], "nothing is queued any more")
    same("background, twice", talk.state(), before, "a group that has all it should stays as it is")
    return "Queued work was run, and none is left."


CONSUMERS: Final = ("m1", "m2")


def determinism(talk: Talk, again: Talk) -> str:
    """Check that the same conversation with two new targets gives the same answers."""
    first, second = _transcript(talk), _transcript(again)
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        sent = f"the same conversation with a second target, answer {index + 1}"
        same(sent, other, one, f"the same inputs give the same answers: {as_json(one)}")
    return f"{len(first)} answers of a conversation are the same with a second target."


def _transcript(talk: Talk) -> list[Any]:
    talk.begin()
    heard: list[Any] = []
    for _ in range(3):
        for member in CONSUMERS:
            answer = talk.beat(member) if member in talk.members() else talk.join(member)
            heard += [answer.body, talk.shown()]
        talk.pause()
    heard.append(talk.heartbeat("m1", {"memberEpoch": -1, "topicPartitions": None}).body)
    shown = talk.view.of(Answer(records=talk.records()))
    return [*heard, talk.shown(), list(shown.records)]
