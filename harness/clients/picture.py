"""The run behind a finding as a sequence diagram, in Mermaid text: application, client, coordinator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Final

from harness.clients.run import BrokenRule
from harness.clients.timeline import COMMIT, HEARTBEAT, NONE, OFFSET_FETCH, Event, partitions_of
from harness.report.mermaid import mermaid
from harness.report.sequence import Message, Note, Step, sequence
from harness.targets.base import Json

APPLICATION: Final = "application"
CLIENT: Final = "client"
COORDINATOR: Final = "coordinator"
SHOWN: Final = (HEARTBEAT, COMMIT, OFFSET_FETCH)
"""The requests that are drawn: those of a client to its group."""
_LINE: Final = 90
"""The number of letters in a line of the sentence under a drawing."""
QUIET: Final = "says nothing new"
_PERIODS: Final = ((1, 2), (2, 3))
"""The numbers of rows that are drawn once where they repeat: one row from two times on, two rows from three
times on."""
_Line = Message | Note


@dataclass
class _Seen:
    """The facts of the run before a row that the row needs: `names` is topic id -> topic name."""

    names: Mapping[str, str]
    apis: dict[int, str] = field(default_factory=dict)
    """The API of each drawn request, by its number."""
    member: str = ""
    """The member id of the last heartbeat."""


def picture(broken: BrokenRule, names: Mapping[str, str]) -> str:
    """The diagram of a finding up to its breach; `names` is topic id -> topic name."""
    drawn = _drawn(broken, names)
    steps = [Step(number, "") for number in range(1, len(drawn) + 1)]
    sentence = f"{broken.breach.requirement} {broken.breach.rule}: the client {broken.breach.message}"
    steps.append(Step(len(steps) + 1, f"after {broken.breach.ms} ms", failing=(sentence,)))
    return mermaid([APPLICATION, CLIENT, COORDINATOR], steps, drawn)


def drawing(client: str, broken: BrokenRule, names: Mapping[str, str]) -> str:
    """The same diagram as SVG, with the client in its title."""
    drawn = _drawn(broken, names)
    steps = [Step(number, "") for number in range(1, len(drawn) + 1)]
    lines = wrap(f"after {broken.breach.ms} ms the client {broken.breach.message}", _LINE)
    steps.append(Step(len(steps) + 1, "", failing=tuple(lines)))
    title = f"{client}: {broken.breach.requirement} {broken.breach.rule}"
    return sequence(title, [APPLICATION, CLIENT, COORDINATOR], steps, drawn)


def messages(broken: BrokenRule, names: Mapping[str, str]) -> list[Json]:
    """The rows of that diagram as `conform simulate --json` has messages, for the report."""
    return [_message(line) for line in _drawn(broken, names)]


def _message(line: _Line) -> Json:
    if isinstance(line, Note):
        return {"from": line.lane, "to": line.lane, "label": line.text, "kind": "note"}
    kind = "lost" if line.fate == "lost" else line.kind
    return {"from": line.sender, "to": line.receiver, "label": line.label, "kind": kind}


def _drawn(broken: BrokenRule, names: Mapping[str, str]) -> list[_Line]:
    """A row for each event; heartbeats without news that follow each other are one row, and so are requests
    that get the same answer again and again."""
    lines: list[_Line] = []
    seen = _Seen(names)
    for event in _until(broken):
        lines += _lines(event, len(lines) + 1, seen)
    drawn: list[_Line] = []
    while lines:
        rows, times = next(filter(None, (_repeated(lines, *one) for one in _PERIODS)), (1, 1))
        more = f" ({times} times)" if times > 1 else ""
        drawn += [
            _at(one, len(drawn) + number + 1, _text(one) + more) for number, one in enumerate(lines[:rows])
        ]
        del lines[: rows * times]
    return drawn


def _repeated(lines: Sequence[_Line], rows: int, least: int) -> tuple[int, int] | None:
    """The number of first rows and the number of their repetitions, where there are enough."""
    texts = [_text(line) for line in lines[:rows]]
    times = 1
    while [_text(line) for line in lines[times * rows : (times + 1) * rows]] == texts:
        times += 1
    return (rows, times) if times >= least else None


def _until(broken: BrokenRule) -> Iterator[Event]:
    """The events until the breach; an answer without news is drawn with its request."""
    events = [event for event in broken.timeline if event.ms <= broken.breach.ms]
    quiet = {event.number for event in events if event.kind == "answer" and _is_quiet(event.body)}
    sent_heartbeats = {event.number for event in events if event.kind == "request" and _is_keep_alive(event)}
    for event in events:
        if event.kind in ("request", "answer") and event.number in quiet & sent_heartbeats:
            if event.kind == "request":
                yield Event(event.ms, "beat", body=event.body)
        else:
            yield event


def _is_keep_alive(event: Event) -> bool:
    body = event.body or {}
    return event.api == HEARTBEAT and body.get("memberEpoch", 0) > 0 and body.get("topicPartitions") is None


def _is_quiet(body: Json | None) -> bool:
    return body is not None and body.get("errorCode") == NONE and body.get("assignment", 0) is None


def _lines(event: Event, step: int, seen: _Seen) -> Iterable[_Line]:
    match event.kind:
        case "beat":
            epoch = (event.body or {}).get("memberEpoch")
            yield Message(step, CLIENT, COORDINATOR, f"Heartbeat, epoch {epoch}, {QUIET}", "request")
        case "request" if event.api in SHOWN:
            seen.apis[event.number] = event.api
            yield Message(step, CLIENT, COORDINATOR, _request(event, seen), "request")
        case "answer" if event.number in seen.apis:
            yield _answer(event, step, seen)
        case "callback":
            partitions = " ".join(sorted(event.partitions)) or "nothing"
            yield Message(step, CLIENT, APPLICATION, f"{event.name} {partitions}", "answer")
        case "released":
            yield Message(step, APPLICATION, CLIENT, f"{event.name} returns", "request")
        case "did":
            words = " ".join(_word(value) for value in (event.body or {}).values())
            yield Note(step, APPLICATION, words)
        case "committed" | "error" | "closed" | "settled" | "stalled":
            yield Note(step, CLIENT, f"{event.kind} {event.error or event.name}".strip())


def _request(event: Event, seen: _Seen) -> str:
    body = event.body or {}
    if event.api != HEARTBEAT:
        return event.api
    parts = [f"Heartbeat, epoch {body.get('memberEpoch')}"]
    before, seen.member = seen.member, body.get("memberId") or seen.member
    if before not in ("", seen.member):
        parts.append("another member id")
    if body.get("subscribedTopicNames") is not None:
        parts.append(f"subscribes to {' '.join(body['subscribedTopicNames'])}")
    if body.get("topicPartitions") is not None:
        parts.append(f"owns {_shown(body['topicPartitions'], seen.names)}")
    return ", ".join(parts)


def _answer(event: Event, step: int, seen: _Seen) -> Message:
    body, api = event.body, seen.apis[event.number]
    if body is None:
        return Message(step, COORDINATOR, CLIENT, f"answer to {api}", "answer", "lost")
    if error := body.get("errorCode"):
        return Message(step, COORDINATOR, CLIENT, f"error {error}", "error")
    if api != HEARTBEAT:
        errors = sorted(set(_errors(body)))
        words = "".join(f", error {one}" for one in errors)
        return Message(step, COORDINATOR, CLIENT, f"answer to {api}{words}", "error" if errors else "answer")
    parts = f"epoch {body.get('memberEpoch')}"
    if (assignment := body.get("assignment")) is not None:
        topics = assignment.get("topicPartitions", assignment.get("assignedTopicPartitions", []))
        parts += f", assigned {_shown(topics, seen.names)}"
    return Message(step, COORDINATOR, CLIENT, parts, "answer")


def _errors(value: object) -> Iterator[int]:
    """The error codes of groups and partitions in an answer."""
    for name, one in value.items() if isinstance(value, dict) else ():
        if name == "errorCode" and one != NONE:
            yield one
        yield from _errors(one)
    for one in value if isinstance(value, list) else ():
        yield from _errors(one)


def _shown(topics: Any, names: Mapping[str, str]) -> str:
    return " ".join(sorted(partitions_of(topics, names))) or "nothing"


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _text(line: _Line) -> str:
    return line.text if isinstance(line, Note) else line.label


def _at(line: _Line, step: int, text: str) -> _Line:
    if isinstance(line, Note):
        return Note(step, line.lane, text)
    return Message(step, line.sender, line.receiver, text, line.kind, line.fate)
