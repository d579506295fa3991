"""From rows of `steps` to rows of `verdicts`: one target for each executor process, which keeps it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from harness.errors import ConformError
from harness.pipeline.parts import Batches, Row, batch_of, rows_of
from harness.pipeline.tables import VERDICTS, text
from harness.replay import wire
from harness.replay.calls import Call, ChangeTopics, Restart, call_of
from harness.replay.compare import Difference, differences
from harness.replay.features import offered, used_in
from harness.replay.judge import judge, refused
from harness.replay.view import EVERYTHING, View
from harness.targets import open_target
from harness.targets.base import Answer, Assignments, Json, Refused, Target

NEEDED: Final = frozenset({"topics", "advance", "fire", "assign", "ids"})
"""Operations without which no step can be judged."""
PASS: Final = "pass"
FAIL: Final = "fail"
NOT_JUDGED: Final = "not judged"
LEFT_OUT: Final = "left out"
"""The verdict of a step that needs a feature that the target declares it lacks."""
TARGET_FAILED: Final = "target failed"
"""The verdict of a step in which the target died, stayed silent or sent what is no answer. As in a replay
that is no difference: another run may judge the step."""
WITHOUT: Final = (NOT_JUDGED, TARGET_FAILED, LEFT_OUT)
"""The verdicts of steps that were not compared."""
COPIED: Final = (
    *("part", "step", "trace", "index", "source", "input", "depth"),
    *("action", "branch", "error"),
)
USED: Final = (
    *COPIED,  # the part, too: verdicts are written beside their steps
    *("configuration", "load", "before", "tick_ms", "lost", "new_id", "script", "operation"),
    *("response", "group", "records", "fired", "completed", "start"),
)
"""The columns of `steps` that judging reads."""
_UNKNOWN: Final[tuple[tuple[str, str], list[Difference]]] = (("", ""), [])
_json: Final = msgspec.json.Decoder().decode
_LEFT_OUT: Final[Row] = {
    **{"verdict": LEFT_OUT, "reached": "", "ended": ""},
    **{"differences": [], "not_loaded": []},
}
_SHOWN: Final = 2000
"""The number of characters of a value in a difference."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A row in the form of `judge`."""

    tick_ms: int
    lost: Call | None
    new_id: str
    script: Assignments | None
    call: Call
    expected: Answer
    start: int
    load: str

    @property
    def there(self) -> frozenset[str]:
        """The ids of the topics that exist after the step."""
        topics = {topic["name"]: topic["id"] for topic in _json(self.load)["topics"]}
        change = self.call.change if isinstance(self.call, Restart) else self.call
        if isinstance(change, ChangeTopics):
            kept = {name: id_ for name, id_ in topics.items() if name not in change.delete}
            topics = {**kept, **{topic["name"]: topic["id"] for topic in change.upsert}}
        return frozenset(topics.values())


def prepared(row: Row) -> _Prepared:
    """A row's step; it shares no object with another step."""
    script = row["script"] and _json(row["script"])
    expected = Answer(
        body=row["response"] and _json(row["response"]),
        group=_json(row["group"]),
        records=_json(row["records"]),
        consumed=script is not None,
        fired=_json(row["fired"]),
        completed=_json(row["completed"]),
    )
    lost = call_of(_json(row["lost"])) if row["lost"] else None
    call = call_of(_json(row["operation"]))
    return _Prepared(row["tick_ms"], lost, row["new_id"], script, call, expected, row["start"], row["load"])


@dataclass
class Judge:
    """A judge of rows on one target, which is started when it is needed and again after it died."""

    name: str
    dialect: str
    _target: Target | None = None
    _configuration: str = ""
    _loaded: tuple[tuple[str, str], list[Difference]] = _UNKNOWN
    _load_text: str = ""
    _load_json: Json = field(default_factory=dict)
    _trace: str = ""
    _shift: int = 0
    _can_load: bool = True
    _lacks: frozenset[str] = frozenset()
    _ended: tuple[str, str] = ("", "")
    _view: View = EVERYTHING
    _lost_track: bool = False

    def begin(self) -> None:
        """Begin anew: the next step does not go on from the target's state."""
        self._trace, self._ended = "", ("", "")

    def judge(self, row: Row) -> Row:
        """The verdict of a row. Rows of a trace must come one after another, in its order."""
        verdict = {name: row[name] for name in COPIED}
        verdict |= {"target": self.name, "dialect": self.dialect, "lacks": ""}
        lacking: list[Difference] = []
        try:
            if feature := self._lacking(row):
                return {**verdict, **_LEFT_OUT, "lacks": feature}
            reached, lacking = self._reach(row)
            different = judge(self._opened(), prepared(row), self._shift, self._view) if reached else []
        except ConformError as error:
            self.close()
            verdict["verdict"], reached = TARGET_FAILED, ""
            different = [Difference("target", "an answer", error.message)]
        self._lost_track = bool(different)
        outcome = NOT_JUDGED if not reached else FAIL if different else PASS
        return {
            "verdict": outcome,
            **verdict,
            "reached": reached,
            "differences": [_shown(one) for one in different],
            "not_loaded": [_shown(one) for one in lacking],
            "ended": "",
        }

    def _lacking(self, row: Row) -> str:
        """The feature that the target lacks for a step, or for the state before; "" if it has all. After such
        a step of a trace no later step is judged on a target that cannot load the state after it."""
        self._configured(row["configuration"])
        if not self._lacks:
            return ""
        trace, before = self._ended
        needs = call_of(_json(row["operation"])).needs() | used_in(self._read(row["load"])["records"])
        feature = max(needs & self._lacks, default=before if trace == row["trace"] else "")
        if feature:
            self._trace = ""
            ends = row["trace"] and not self._can_load
            self._ended = (row["trace"], feature) if ends else ("", "")
        return feature

    def _reach(self, row: Row) -> tuple[str, list[Difference]]:
        """Bring the target into the state before the step; the way, or "" if that is impossible, and then the
        differences from the state to load."""
        if row["trace"] and row["trace"] == self._trace and not self._lost_track:
            return "trace", []
        self._trace = ""
        if lacking := self._load(row):
            return "", lacking
        self._trace = row["trace"]
        return "trace" if row["trace"] else "load", []

    def _load(self, row: Row) -> list[Difference]:
        """Load the state before; the differences of the description that the target then gives, or its
        refusal."""
        target = self._configured(row["configuration"])
        load, state = self._read(row["load"]), (row["before"], row["load"])
        self._shift = len(load["records"]) - row["start"]
        try:
            self._begin(target, load)
            if self._loaded[0] != state:
                described = Answer(group=self._opened().describe(wire.GROUP))
                there = frozenset(topic["id"] for topic in load["topics"])
                before = self._view.of(Answer(group=_json(row["before"])), there)
                self._loaded = state, differences(before, self._view.of(described, there))
        except Refused as refusal:
            self._loaded = state, [refused(refusal)]
        return self._loaded[1]

    def _read(self, text: str) -> Json:
        """Read the state to load. All steps from one state share the value: no caller may change it."""
        if text != self._load_text:
            load = _json(text)
            self._load_text, self._load_json = text, {**load, "records": tuple(load["records"])}
        return self._load_json

    def _begin(self, target: Target, load: Json) -> None:
        """Load a state, or begin anew where the target cannot and the state has no group yet."""
        if self._can_load:
            target.load(load["records"], load["topics"], load["volatile"])
        elif load["records"]:
            raise Refused(self.name, "load", "it has no such operation")
        else:
            self.close()
            self._configured(self._configuration).topics(load["topics"], [])

    def _configured(self, configuration: str) -> Target:
        """The target, new where it must be configured otherwise."""
        if configuration != self._configuration:
            self.close()
        if self._target is None:
            self._target = open_target(self.name, self.dialect)
            known = self._target.hello()
            self._can_load, self._lacks = "load" in known.controls, known.lacks
            self._view = View(known)
            if "configure" in known.controls:
                self._target.configure({**wire.CONFIGURATION, **_json(configuration)})
            self._configuration = configuration
        return self._target

    def _opened(self) -> Target:
        assert self._target is not None
        return self._target

    def close(self) -> None:
        """End the target, which the next step starts again."""
        target, self._target = self._target, None
        self._trace, self._loaded = "", _UNKNOWN
        if target is not None:
            with suppress(ConformError):  # the target is dead already, which is what is reported
                target.close()


def _shown(difference: Difference) -> Row:
    return {
        "path": difference.path,
        "expected": text(difference.expected)[:_SHOWN],
        "got": text(difference.got)[:_SHOWN],
    }


_JUDGES: dict[tuple[str, str], tuple[str, Judge]] = {}
"""One judge for each target and dialect, with the key of its program, for the life of an executor's
process."""


def judge_of(name: str, dialect: str, program: str) -> Judge:
    """This process's judge, for a new task, which may be a repetition of the last one; `program` is the key
    of the target and of the run, as the program may change under its name: then the old one is ended."""
    known, judge = _JUDGES.get((name, dialect), ("", None))
    if judge is None or known != program:
        if judge is not None:
            judge.close()
        judge = Judge(name, dialect)
        _JUDGES[name, dialect] = program, judge
    judge.begin()
    return judge


def judging(name: str, dialect: str, program: str) -> Callable[[Batches], Batches]:
    """From batches of `steps` to batches of `verdicts`."""

    def judged(batches: Batches) -> Batches:
        judge = judge_of(name, dialect, program)
        for batch in batches:
            yield batch_of([judge.judge(row) for row in rows_of(batch)], VERDICTS)

    return judged


def check_target(name: str, dialect: str) -> tuple[str, ...]:
    """Start the target once, so that an error has a clear sentence before the work; the names of the fields
    that it does not show.

    ConformError (exit 2 or 3) if there is no such target, if it lacks an operation that judging needs, or if
    it declares that it lacks an unknown feature.
    """
    target = open_target(name, dialect)
    try:
        known = target.hello()
    finally:
        target.close()
    if missing := sorted(NEEDED - known.controls):
        raise ConformError(
            f"The target {name} cannot be judged: it has no operation {', '.join(missing)}.", 3
        )
    offered(known)
    return View(known).hidden
