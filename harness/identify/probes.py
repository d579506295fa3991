"""The committed probes, and a target's answers to one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.files import read_json
from harness.replay import wire
from harness.replay.compare import differences, normal_response
from harness.replay.features import used
from harness.replay.view import INTERVAL, View
from harness.simulate.pair import INTERVAL as TARGET_INTERVAL
from harness.simulate.schedule import perform
from harness.targets.base import Answer, Capabilities, Json, Refused, Target
from harness.targets.heard import MALFORMED as UNREADABLE
from harness.targets.heard import listen, malformed

FILE: Final = Path(__file__).with_name("probes.json")
MALFORMED: Final = "malformed"
"""An answer of another form than the protocol's."""
REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True)
class Probe:
    """A schedule on which two values of a departure differ, in the dialect `base` otherwise."""

    number: int
    departure: str
    values: tuple[str, str]
    base: str
    settings: Json
    operations: tuple[Json, ...]

    def lacks(self, known: Capabilities) -> str:
        """The first operation, API or feature that the probe needs and a target does not have; "" if it has
        all."""
        served = wire.served(known)
        if not known.controls & {"load", "fresh"}:
            return "load"
        if (
            self.settings.get(wire.MAX_SIZE) != wire.DEFAULTS[wire.MAX_SIZE]
            and "configure" not in known.controls
        ):
            return "configure"
        for operation in self.operations:
            name = operation["op"]
            if name == "request":
                if operation["api"] not in served:
                    return str(operation["api"])
                if lacking := used(operation["body"]) & known.lacks:
                    return max(lacking)
            elif name not in known.controls:
                return str(name)
            if "script" in operation and "assign" not in known.controls:
                return "assign"
        return ""


def read_probes(path: Path = FILE) -> list[Probe]:
    """The probes in the order of the file."""
    return [
        Probe(
            number,
            one["departure"],
            (one["values"][0], one["values"][1]),
            one["base"],
            one["settings"],
            tuple(one["operations"]),
        )
        for number, one in enumerate(read_json(path, "The probes"))
    ]


def differ(expected: Answer | str, got: Answer | str) -> bool:
    """Tell if two answers to one operation differ in meaning; a refusal differs from every answer."""
    if isinstance(expected, str) or isinstance(got, str):
        return expected != got
    left = expected._replace(body=normal_response(expected.body, expected.body))
    return bool(differences(left, got._replace(body=normal_response(expected.body, got.body))))


class ProbedTarget:
    """A target for probes, with its answer to hello. `view` selects the compared part."""

    def __init__(self, target: Target, known: Capabilities, view: View, configures: bool) -> None:
        self._target, self._known, self._view, self._configures = target, known, view, configures
        self._knows_interval = configures and self._takes_interval()

    def answers(self, probe: Probe) -> list[Answer | str]:
        """The answers of a new coordinator to the operations of a probe, in the compared form.

        KitFault if a program's answer has the protocol's form, and the kit cannot read it.
        """
        listen(self._target)
        self._target.load([], [], {"clockMs": 0})
        if self._configures:
            interval = {TARGET_INTERVAL: 0} if self._knows_interval else {}
            self._target.configure({**probe.settings, **interval})
        given: list[Answer | str] = []
        end = 0
        for operation in probe.operations:
            try:
                answer = perform(self._target, operation, end)
                if answer.records:
                    end = int(answer.records[-1]["offset"]) + 1
                given.append(self._compared(answer))
            except Refused:
                given.append(REFUSED)
            except UNREADABLE as error:
                malformed(self._target, self._known, error)
                given.append(MALFORMED)
        return given

    def _compared(self, answer: Answer) -> Answer:
        seen = self._view.of(answer)
        body = seen.body
        if not self._configures and body is not None:
            body = {name: value for name, value in body.items() if name != INTERVAL}
        fired = sorted(seen.fired, key=lambda one: (one["timer"], one.get("member", "")))
        records = [{**one, "offset": 0} for one in seen.records]
        if len(fired) > 1:  # no rule decides which timer of a millisecond comes first
            records.sort(key=lambda one: str(one["key"]))
        return seen._replace(body=body, fired=fired, records=records)

    def _takes_interval(self) -> bool:
        try:
            self._target.load([], [], {"clockMs": 0})
            self._target.configure({TARGET_INTERVAL: 0})
        except Refused:
            return False
        return True
