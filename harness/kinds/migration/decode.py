"""From a trace of a group that migrates to prepared steps."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from harness.kinds.classic.decode import delay_of
from harness.kinds.classic.expect import ClassicTimers, completed
from harness.kinds.classic.wire import DELAY
from harness.kinds.consumer import expect as consumer
from harness.kinds.consumer.decode import ConsumerLoad
from harness.kinds.consumer.expect import Timers
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.kinds.migration import expect
from harness.kinds.migration.description import DOWNGRADE, MIGRATION, UPGRADE
from harness.kinds.migration.records import whole, written
from harness.kinds.migration.state import MigrationReader, MigrationState
from harness.kinds.migration.steps import (
    INSTALL,
    MIGRATION_ACTIONS,
    MIGRATION_OTHERS,
    TRANSLATED,
    call_of,
)
from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.contents import Contents
from harness.replay.dialects import Forms, forms_in
from harness.targets.base import Json


class MigrationLoad(KindLoad[MigrationState]):
    """A whole state."""

    def whole(self) -> list[Json]:
        """The group, of either kind."""
        return whole(self.state, self.forms)

    @property
    def volatile(self) -> Json:
        """The state that records do not hold: a classic group is given in the form of its description."""
        if not self.state.is_classic:
            return self._consumer.volatile
        return {"clockMs": self.now_ms, "classic": {wire.GROUP: deepcopy(self.description)}}

    @property
    def title(self) -> str:
        """The group's state."""
        old = self.state.old.group
        return old.state if self.state.is_classic else consumer.group_state(self.state.group)

    @property
    def _consumer(self) -> ConsumerLoad:
        return ConsumerLoad(self.state.shared, self.timers, self.now_ms, {}, self.forms)


def migration_decoder(inputs: Contents) -> KindDecoder[MigrationState]:
    """Decodes traces of groups that migrate."""
    return KindDecoder(
        MigrationReader(),
        lambda meta, name: MigrationDecoding(delay_of(meta, name), forms_in(meta, name)),
        inputs,
    )


class MigrationDecoding(Decoding[MigrationState]):
    """A trace of a group that migrates."""

    handlers = MIGRATION_ACTIONS
    others = MIGRATION_OTHERS
    api = "JoinGroup"
    kind = MIGRATION.name

    def __init__(self, delay_ms: int, forms: Forms) -> None:
        self._delay_ms = delay_ms
        self._forms = forms
        self._timers = expect.MigrationTimers(ClassicTimers(delay_ms, forms.renews_waiting), Timers(forms))

    def configuration(self, states: Sequence[MigrationState]) -> Json:
        """The defaults, with the initial delay."""
        return {**wire.DEFAULTS, DELAY: self._delay_ms}

    def start(self, state: MigrationState) -> MigrationLoad:
        """At time 0."""
        return self._load(state, self._timers.start(state, 0), 0)

    def follow(self, before: MigrationState, after: MigrationState, now_ms: int) -> MigrationLoad:
        """After a step."""
        return self._load(after, self._timers.follow(before, after, now_ms), now_ms)

    def _load(self, state: MigrationState, timers: list[Json], now_ms: int) -> MigrationLoad:
        return MigrationLoad(state, timers, now_ms, expect.description(state, self._delay_ms), self._forms)

    def call(self, before: MigrationState, after: MigrationState) -> Call:
        """The call that the present kind of group has for the action."""
        return call_of(before, after)

    def expected(self, before: MigrationState, after: MigrationState, now_ms: int) -> Expected:
        """The expectation of the classic step for a classic request, of `step` for all others."""
        old, step = after.old.step, after.step
        translated = step.action in TRANSLATED
        drawn = step.action == "JoinGroup" and not old.request.member and old.branch != "refused"
        made = after.group if after.group.exists else before.group
        given = ("migration", before.key, step.action, step.member, step.request, old.request)
        more = step.partition, step.offset, step.client
        return Expected(
            branch=_branch(before, after) or (old.branch if translated else step.branch),
            error=old.response.error if translated else step.response.error,
            given=(*given, *more, tuple(sorted(old.request.assignments.items()))),
            body=expect.response(before, after, self._forms),
            records=written(before, after, now_ms, self._forms),
            new_id=step.member if drawn else "",
            script=consumer.new_target(before.group_of_step(after), made, step.action == INSTALL),
            completed=completed(old),
        )


def _branch(before: MigrationState, after: MigrationState) -> str:
    """Tell if the step converts the group."""
    if before.is_classic and after.group.exists:
        return UPGRADE
    return DOWNGRADE if before.group.exists and after.is_classic else ""
