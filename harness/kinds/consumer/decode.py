"""From a trace of a consumer group to prepared steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.classic.subscription_data import Classic
from harness.kinds.consumer import expect
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.members import member_steps
from harness.kinds.consumer.records import created, still_untargeted, whole, written
from harness.kinds.consumer.state import Admin, Member, Request, SpecState, StateReader
from harness.kinds.consumer.steps import HANDLERS, OTHER_ACTIONS
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.kinds.features import computing as client
from harness.kinds.features.computing_state import ClientStep
from harness.kinds.features.log import check_log
from harness.kinds.fields import Partition
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.replay.contents import Contents
from harness.replay.dialects import forms_in
from harness.replay.members import MemberStep
from harness.targets.base import Json

_Input: TypeAlias = tuple[
    tuple[int, int, int],
    str,
    str,
    Request,
    str,
    int,
    Partition | None,
    int,
    Admin | None,
    ClientStep | None,
]
"""A target-calling step's state and input."""
_VOLATILE: Final = record_of(Member).only("previous_epoch", "revoking", "acknowledged")
_Descriptions: TypeAlias = dict[int, Json]
"""By the number of a group."""


class ConsumerLoad(KindLoad[SpecState]):
    """A whole state."""

    def whole(self) -> list[Json]:
        """The group's records."""
        return whole(self.state, self.forms)

    @property
    def title(self) -> str:
        """The group's state (E5)."""
        return expect.group_state(self.state.group)

    @property
    def description(self) -> Json:
        """The answer to `describe`, with the group's own configurations if it has any (D1)."""
        configs = self.state.configs
        own = {"configs": dict(configs)} if configs else {}
        return {**self.described, "timers": self.timers, **own}

    @property
    def volatile(self) -> Json:
        """The part of the state that records do not hold."""
        group = self.state.group
        deadlines = {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in self.timers}
        members = {
            name: {
                **_VOLATILE.described(member, wire.GIVEN),
                "sessionDeadlineMs": deadlines["session", name],
                "rebalanceDeadlineMs": deadlines.get(("rebalance", name)),
                **_of_classic(deadlines, name, member.classic),
            }
            for name, member in group.members.items()
        }
        known = {
            "emptyDeadlineMs": deadlines.get(("group", "")),
            "members": members,
            **client.volatile(group.computation, self.timers),
        }
        configs = {"configs": {wire.GROUP: dict(self.state.configs)}} if self.state.configs else {}
        return {
            "clockMs": self.now_ms,
            "groups": {wire.GROUP: known} if group.exists else {},
            **configs,
            **self.state.admission.volatile,
        }


def _of_classic(deadlines: Mapping[tuple[str, str], int], name: str, classic: Classic | None) -> Json:
    """The deadlines of a member of the classic protocol: to rejoin, or to send its SyncGroup (M2)."""
    if classic is None:
        return {}
    return {f"{timer}DeadlineMs": deadlines.get((timer, name)) for timer in ("join", "sync")}


def consumer_decoder(inputs: Contents) -> KindDecoder[SpecState]:
    """Decodes traces of consumer groups."""
    known: _Descriptions = {}
    return KindDecoder(StateReader(), lambda meta, name: ConsumerDecoding(meta, name, known), inputs)


class ConsumerDecoding(Decoding[SpecState]):
    """A trace of a consumer group."""

    calls = HANDLERS
    handlers = frozenset(calls)
    others = OTHER_ACTIONS
    api = ""
    kind = CONSUMER.name

    def __init__(self, meta: Mapping[str, Any], name: str, descriptions: _Descriptions) -> None:
        self._meta, self._name = meta, name
        self._descriptions = descriptions
        self._forms = forms_in(meta, name)
        self._timers = expect.Timers(self._forms)
        self._untargeted = frozenset[str]()

    def configuration(self, states: Sequence[SpecState]) -> Json:
        """The configuration: the largest size of a group (H5), from the model's constants in #meta, which
        `conform generate` writes, if the group reaches that size."""
        constants = self._meta.get("constants", {})
        size = constants.get("MaxGroupSize") if isinstance(constants, dict) else None
        if size is None:
            return wire.DEFAULTS
        if type(size) is not int or size < 1:
            raise ConformError(
                f"The trace {self._name}: MaxGroupSize in #meta must be a number from 1, not {size!r}."
            )
        reached = any(len(state.group.members) >= size for state in states)
        return {wire.MAX_SIZE: size} if reached else wire.DEFAULTS

    def members(self, trace: Trace, states: Sequence[SpecState], name: str) -> list[MemberStep]:
        """The steps of the client processes of a closed model."""
        return member_steps(trace, states, name)

    def start(self, state: SpecState) -> ConsumerLoad:
        """At time 0."""
        self._timers = expect.Timers.started(state, self._forms)
        return self._load(state, self._timers.armed(state.group.members), 0)

    def follow(self, before: SpecState, after: SpecState, now_ms: int) -> ConsumerLoad:
        """After a step."""
        return self._load(after, self._timers.follow(before.group, after, now_ms), now_ms)

    def _load(self, state: SpecState, timers: list[Json], now_ms: int) -> ConsumerLoad:
        described = self._descriptions.get(state.key[0])
        if described is None:
            described = self._descriptions[state.key[0]] = expect.description(state.group)
        return ConsumerLoad(state, timers, now_ms, described, self._forms)

    def expected(self, before: SpecState, after: SpecState, now_ms: int) -> Expected:
        """The values of its step."""
        spec = after.step
        made = created(before.group, self._forms)
        records = written(before, after, now_ms, self._forms, self._untargeted)
        self._untargeted = still_untargeted(self._untargeted, made, after)
        joins = spec.action in ("Join", "Return") and spec.response.error == "NONE"
        topic, partition = (spec.topic, spec.partitions), (spec.partition, spec.offset)
        before_and_after = after.admin, spec.client
        given: _Input = (
            before.key,
            spec.action,
            spec.member,
            spec.request,
            *topic,
            *partition,
            *before_and_after,
        )
        return Expected(
            branch=spec.branch,
            error=spec.response.error,
            given=given,
            body=expect.response(after, self._forms) if spec.response.error else None,
            records=records,
            new_id=spec.member if joins and not spec.request.member else "",
            script=expect.new_target(made, after.group, spec.action == "InstallAssignment"),
        )

    def check(self, before: SpecState, after: SpecState, records: Sequence[Json]) -> None:
        """P1, P3."""
        check_log(before, after, records)
