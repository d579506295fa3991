"""From a trace of the toy protocol to prepared steps: what is sent, and what must come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from harness.kinds.toy.description import TOY
from harness.kinds.toy.state import ToyGroup, ToyReader, ToyState

from harness.kinds.actions import registering
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, Restart, SendRequest
from harness.replay.contents import Contents
from harness.targets.base import Json

HANDLERS: Final[dict[str, Callable[[ToyState, ToyState], Call]]] = {}
action: Final = registering(HANDLERS)


def _request(before: ToyState, after: ToyState) -> Call:
    step = after.step
    body = {"groupId": wire.GROUP, "memberId": step.member, "memberEpoch": step.epoch}
    return SendRequest(TOY.api, wire.client(step.member), body)


HANDLERS |= dict.fromkeys(("ToyJoin", "ToyBeat", "ToyLeave"), _request)


@action
def toy_timeout(before: ToyState, after: ToyState) -> Call:
    """A session ends."""
    return FireTimer("session", after.step.member)


@action
def toy_fail_over(before: ToyState, after: ToyState) -> Call:
    """A new coordinator loads the log."""
    return Restart(None)


def _record(kind: str, member: str, value: Json | None) -> Json:
    key = {"type": kind, "groupId": wire.GROUP, **({"memberId": member} if member else {})}
    return {"key": key, "value": value}


def written(before: ToyGroup, after: ToyGroup) -> Iterator[Json]:
    """The records of a step: members that changed, then the epoch."""
    for name in sorted({*before.members, *after.members}):
        if before.members.get(name) != (epoch := after.members.get(name)):
            yield _record("ToyGroupMember", name, None if epoch is None else {"memberEpoch": epoch})
    if before.epoch != after.epoch:
        yield _record("ToyGroupMetadata", "", {"epoch": after.epoch})


class ToyLoad(KindLoad[ToyState]):
    """A whole state."""

    def whole(self) -> list[Json]:
        """The group's records."""
        return list(written(ToyGroup(0, {}), self.state.group))

    @property
    def volatile(self) -> Json:
        """The sessions."""
        sessions = {timer["member"]: timer["deadlineMs"] for timer in self.timers}
        return {"clockMs": self.now_ms, "toy": {wire.GROUP: sessions} if sessions else {}}

    @property
    def title(self) -> str:
        """The group's state."""
        return self.state.group.title


def description(group: ToyGroup) -> Json:
    """The answer to `describe`, without its timers."""
    if not group.epoch:
        none: Json = {"groupEpoch": 0, "assignmentEpoch": 0, "metadata": [], "members": []}
        return {"groupId": wire.GROUP, "state": "Dead", **none}
    members = [{"memberId": name, "memberEpoch": epoch} for name, epoch in group.members.items()]
    shown = {"state": group.title, "groupEpoch": group.epoch, "members": members}
    return {"groupId": wire.GROUP, "type": "toy", **shown}


class ToyDecoding(Decoding[ToyState]):
    """A trace of the toy protocol."""

    handlers = frozenset(HANDLERS)
    others = frozenset[str]()
    api = TOY.api
    kind = TOY.name

    def __init__(self) -> None:
        self._session_ms: dict[str, int] = {}

    def configuration(self, states: Sequence[ToyState]) -> Json:
        """The defaults."""
        return wire.DEFAULTS

    def start(self, state: ToyState) -> ToyLoad:
        """At time 0."""
        self._session_ms = dict.fromkeys(state.group.members, wire.SESSION_TIMEOUT_MS)
        return self._load(state, 0)

    def follow(self, before: ToyState, after: ToyState, now_ms: int) -> ToyLoad:
        """After a step: an answer without an error renews the session, a fail-over those of all."""
        anew = [after.step.member] if after.step.error == "NONE" else []
        anew = list(after.group.members) if after.step.action == "ToyFailOver" else anew
        self._session_ms |= dict.fromkeys(anew, now_ms + wire.SESSION_TIMEOUT_MS)
        return self._load(after, now_ms)

    def _load(self, state: ToyState, now_ms: int) -> ToyLoad:
        timers = [
            {
                "timer": "session",
                "group": wire.GROUP,
                "member": name,
                "deadlineMs": self._session_ms[name],
            }
            for name in state.group.members
        ]
        return ToyLoad(state, timers, now_ms, description(state.group))

    def call(self, before: ToyState, after: ToyState) -> Call:
        """By its action's handler."""
        return HANDLERS[after.step.action](before, after)

    def expected(self, before: ToyState, after: ToyState, now_ms: int) -> Expected:
        """The response and the records."""
        step = after.step
        body = None
        if step.error:
            common = {"throttleTimeMs": 0, "errorMessage": None}
            body = {**common, "errorCode": wire.ERROR_CODES[step.error], "memberEpoch": step.answer}
        given = ("toy", before.key, step.action, step.member, step.epoch)
        return Expected(step.branch, step.error, given, body, list(written(before.group, after.group)))


def toy_decoder(inputs: Contents) -> KindDecoder[ToyState]:
    """Decodes traces of the toy protocol."""
    return KindDecoder(ToyReader(), lambda meta, name: ToyDecoding(), inputs)
