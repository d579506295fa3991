"""All checks on one target, and the level that it has."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.doctor import admission, answers, controls
from harness.doctor.talk import Talk, Wrong
from harness.errors import ConformError
from harness.kinds.conversations import CONVERSATIONS, only_kind
from harness.replay.view import EVERYTHING, View
from harness.targets.base import Capabilities, Died, Refused, Target
from harness.targets.heard import MALFORMED, KitFault, listen, malformed

Check = Callable[[Talk], str]


class Verdict(StrEnum):
    """Results of a check. Undeclared operations are not checked."""

    OK = "ok"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One operation: its observation; or the test that is missed without it; or the request, the answer and
    the right answer."""

    operation: str
    verdict: Verdict
    message: str


class Level(StrEnum):
    """Levels of a target, which decide what can be tested on it."""

    NONE = "none"
    BLACK_BOX = "black box"
    OBSERVABLE = "observable"
    LOADABLE = "loadable"


NEEDS: Final[dict[Level, tuple[str, ...]]] = {
    Level.BLACK_BOX: ("hello", "request"),
    Level.OBSERVABLE: ("topics", "describe"),
    Level.LOADABLE: ("records", "advance", "fire", "assign", "restart", "load"),
}
"""The operations of each level, besides those of the levels below it."""

BUYS: Final = {
    Level.BLACK_BOX: "conform replay compares responses, on traces that begin without a group, each as far "
    "as the target can follow it. Begin with traces/corpus: no other folder has as many steps for a "
    "target without topics. With topics the folder has four times as many, and traces/golden has some.",
    Level.OBSERVABLE: "conform replay compares the group and every member, too, so that a wrong state is "
    "found where it arises.",
    Level.LOADABLE: "conform replay judges every trace to its end, with timers, fail-overs and target "
    "assignments as in the model, and goes on after a difference. conform exhaust judges every step of a "
    "model's state graph. conform compare gives two targets the same random schedules.",
}
"""The tests that a level makes possible, besides those of the levels below it."""

MISSED: Final = {
    "topics": "Traces that have topics cannot be replayed.",
    "describe": "Only responses are compared.",
    "records": "Records are not compared, and fail-overs that lose some not replayed.",
    "observe": "It needs describe.",
    "advance": "Deadlines are not compared.",
    "fire": "A trace ends where a timer runs out.",
    "assign": "A trace ends where the target chooses another target assignment.",
    "load": "A trace ends after a difference; one that begins with a group is not replayed.",
    "fresh": "It needs neither with load.",
    "restart": "A trace ends where the coordinator fails over.",
    "ids": "Ids that the target makes are bound to those of traces as they are learned.",
    "configure": "Traces of models with a largest group are not replayed.",
    "commit": "Nothing that replays needs it: what happens when a log takes no records is not tested.",
    "background": "Nothing that replays needs it: work that is queued runs when it does.",
    "coordinator": "A trace ends where the coordinator is no longer active.",
    "rights": "A trace ends where clients lose a right.",
}
"""The test that is missed without an operation."""

CHECKS: Final[dict[str, Check]] = {
    "hello": answers.hello,
    "request": answers.request,
    "errors": answers.errors,
    "topics": answers.topics,
    "describe": answers.describe,
    "records": answers.records,
    "observe": answers.observe,
    "advance": controls.advance,
    "fire": controls.fire,
    "assign": controls.assign,
    "restart": controls.restart,
    "load": controls.load,
    "fresh": controls.fresh,
    "ids": controls.ids,
    "configure": controls.configure,
    "commit": controls.commit,
    "background": controls.background,
    "coordinator": admission.coordinator,
    "rights": admission.rights,
    "bad input": answers.bad_input,
}
"""The checks in their order: a broken operation is not used by the checks after its own."""
NO_CONSUMERS: Final = (
    "Not examined: this check sends ConsumerGroupHeartbeat, which the target does not have. "
    "conform replay traces/{folder} uses the operation on {adjective} groups."
)
"""The finding for a target that has only groups of another kind."""
ALWAYS: Final = ("hello", "request", "errors", "bad input")
DETERMINISM: Final = "determinism"


@dataclass(frozen=True)
class Examined:
    """All findings on a target; `died` tells that the target failed and did not answer."""

    target: str
    dialect: str
    findings: list[Finding]
    died: bool

    @property
    def wrong(self) -> list[str]:
        """The operations that are wrong."""
        return [one.operation for one in self.findings if one.verdict is Verdict.WRONG]

    @property
    def level(self) -> Level:
        """The highest level all of whose operations work."""
        reached = Level.NONE
        for level in NEEDS:
            if self.lacking(level):
                break
            reached = level
        return reached

    def lacking(self, level: Level) -> list[str]:
        """The operations of a level that do not work."""
        works = {one.operation for one in self.findings if one.verdict is Verdict.OK}
        return [name for name in NEEDS[level] if name not in works]


class Doctor:
    """The examination of one target, which `start` starts anew for each check, so that no check affects
    another.

    `sleep` takes the seconds that a target without `advance` gets.
    """

    def __init__(
        self,
        name: str,
        dialect: str,
        start: Callable[[], Target],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name, self._dialect, self._start, self._sleep = name, dialect, start, sleep
        self._findings: list[Finding] = []
        self._died = False

    def examine(self, progress: Callable[[str], None]) -> Examined:
        """Make all checks. ConformError (exit 2 or 3) for a target that does not even start, KitFault for an
        answer that the kit cannot read although it has the right form."""
        target = self._start()
        try:
            known = target.hello()
        finally:
            target.close()
        for name, check in CHECKS.items():
            progress(name)
            self._findings.append(self._finding(name, known, check))
        progress(DETERMINISM)
        self._findings.append(self._finding(DETERMINISM, known, self._twice))
        return Examined(self._name, self._dialect, self._findings, self._died)

    def _finding(self, name: str, known: Capabilities, check: Check) -> Finding:
        examined = name != "hello" and "hello" not in self._wrong()
        if examined and (kind := only_kind(known)) is not None:
            if name != "request":
                why = NO_CONSUMERS.format(folder=kind.traces[0], adjective=kind.adjective)
                return Finding(name, Verdict.MISSING, why)
            check = CONVERSATIONS[kind.name]
        needed = "describe" if name == "observe" else name
        if name == "observe" and needed in self._wrong():
            return Finding(name, Verdict.MISSING, "It needs describe, which is wrong.")
        if name not in (*ALWAYS, DETERMINISM) and needed not in known.controls:
            advice = "With load it is not needed." if name == "fresh" and "load" in known.controls else ""
            return Finding(name, Verdict.MISSING, advice or MISSED[name])
        try:
            with self._talk() as talk:
                try:
                    return Finding(name, Verdict.OK, check(talk))
                except MALFORMED as error:
                    return Finding(name, Verdict.WRONG, malformed(talk.target, known, error))
        except Wrong as wrong:
            return Finding(name, Verdict.WRONG, str(wrong))
        except Died as death:
            return self._dead(name, death)
        except Refused as refusal:
            says = f"The protocol says: what is declared is done. Refused {refusal.operation}"
            return Finding(name, Verdict.WRONG, f"{says}: {refusal.reason}")
        except KitFault:
            raise
        except ConformError as error:
            return self._dead(name, error)

    def _dead(self, name: str, error: ConformError) -> Finding:
        self._died = True
        sentence = error.message.replace(f"The target {self._name}", "It")
        return Finding(name, Verdict.WRONG, " ".join(sentence.split()))

    def _wrong(self) -> list[str]:
        return [one.operation for one in self._findings if one.verdict is Verdict.WRONG]

    def _twice(self, talk: Talk) -> str:
        with self._talk() as again:
            return controls.determinism(talk, again)

    @contextmanager
    def _talk(self) -> Iterator[Talk]:
        target = self._start()
        listen(target)
        try:
            known = target.hello()
            broken = self._wrong()
            view = EVERYTHING if "hello" in broken else _view(known)
            yield Talk(target, known, view, broken, self._sleep)
        finally:
            with suppress(ConformError):  # the target is dead already, and that is what is reported
                target.close()


def _view(known: Capabilities) -> View:
    try:
        return View(known)
    except ConformError:  # the check of hello reports it
        return EVERYTHING
