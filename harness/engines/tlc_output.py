"""TLC's output in `-tool` mode: messages with codes, the states of a counterexample."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.engines.base import EngineError, Failure, Outcome
from harness.tlaparse import Reader
from harness.values import State

_START = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@")
_END = re.compile(r"@!@!@ENDMSG (\d+) @!@!@")
_STATE = re.compile(r"(\d+): <?(\w+)")
_BACK = re.compile(r"(\d+): Back to state: <(\w+)")
_DISTINCT = re.compile(r"([\d,]+) states generated.*?([\d,]+) distinct states found")
_DEPTH = re.compile(r"depth of the complete state graph search is ([\d,]+)")
_BEHAVIOUR = re.compile(r"^STATE_\d+ == *$", re.MULTILINE)
_RULE = re.compile(r"^(?:-{4,}|={4,}).*$", re.MULTILINE)
_VIOLATED = re.compile(r"(?:Invariant|Action property|Property) (\S+) is violated", re.ASCII)
_MEMORY = re.compile(
    r"OutOfMemoryError|Java heap space|GC overhead limit exceeded|out of memory", re.IGNORECASE
)
_NOISE = ("Parsing file ", "Semantic processing of module ")

# Codes of messages (TLC's class EC) and exit codes.
OUTSIDE: Final = 0
_STATS: Final = 2199
_DEPTH_CODE: Final = 2194
PROGRESS: Final = frozenset({2200, 2209})
_STATE_CODE: Final = 2217
_TRACE_FOLLOWS: Final = 2121
_STUTTERING: Final = 2218
_BACK_CODE: Final = 2122
_PROPERTY_VIOLATED: Final = frozenset({2107, 2108, 2110, 2112})
_INITIAL_STATE_VIOLATES: Final = frozenset({2107, 2108})
_TEMPORAL: Final = 2116
_DEADLOCK: Final = 2114
_ASSERT: Final = 2132
_ASSUMPTION: Final = 2104
_EXCEPTION: Final = 1000
_CONFIG_ERRORS: Final = range(5000, 5100)
_FINISHED: Final = 2186
_NO_ERROR: Final = 2193
_ERROR: Final = 1
"""The severity of an error."""

_FAILURES: Final = {
    75: Failure.EVALUATION,
    76: Failure.EVALUATION,
    77: Failure.EVALUATION,
    150: Failure.PARSE,
    151: Failure.CONFIGURATION,
}
"""TLC's exit codes for specifications that it cannot check."""


@dataclass
class Message:
    """One message. Text outside of all messages is one, too: the parser's complaints, what PrintT prints."""

    code: int
    severity: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


@dataclass
class Report:
    """What TLC said. `loop` is the index of the state that the last one leads back to."""

    messages: list[Message]
    states: list[State] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    loop: int | None = None
    violated: str | None = None
    outcome: Outcome = Outcome.HOLDS
    generated_states: int | None = None
    distinct_states: int | None = None
    depth: int | None = None


def read_messages(lines: list[str]) -> list[Message]:
    """Split output into messages, in its order. One inside an error follows it and is an error, too."""
    messages: list[Message] = []
    open_messages: list[Message] = []
    for line in lines:
        if start := _START.search(line):
            inside_error = open_messages and open_messages[-1].severity == _ERROR
            open_messages.append(Message(int(start[1]), _ERROR if inside_error else int(start[2])))
            messages.append(open_messages[-1])
        elif _END.search(line):
            del open_messages[-1:]
        elif open_messages:
            open_messages[-1].lines.append(line)
        elif line and not line.startswith(_NOISE):
            if not messages or messages[-1].code != OUTSIDE:
                messages.append(Message(OUTSIDE, _ERROR))
            messages[-1].lines.append(line)
    return messages


def read_report(lines: list[str]) -> Report:
    """Read the output of a run that gave an answer."""
    return _report(read_messages(lines))


def _report(messages: list[Message]) -> Report:
    report = Report(messages)
    reader = Reader()
    for message in report.messages:
        if message.code == _STATE_CODE:
            header, _, text = message.text.partition("\n")
            _add_state(report, header, reader.state(text))
        elif message.code in _INITIAL_STATE_VIOLATES:
            _add_state(report, "1: Initial", reader.state(message.text.partition("\n")[2]))
        elif message.code == _STUTTERING:
            report.loop = len(report.states) - 1
        elif message.code == _BACK_CODE and (back := _BACK.match(message.text)):
            report.loop = int(back[1]) - 1
        elif message.code == _STATS and (counts := _DISTINCT.search(message.text)):
            report.generated_states, report.distinct_states = (_number(count) for count in counts.groups())
        elif message.code == _DEPTH_CODE and (depth := _DEPTH.search(message.text)):
            report.depth = _number(depth[1])
        _judge(report, message)
    return report


def is_whole(lines: list[str], *, simulated: bool) -> bool:
    """Does the output end as that of a run with an answer: TLC finished, and of an exhaustive run without an
    error it said so?"""
    messages = read_messages(lines)
    codes = {message.code for message in messages}
    failed = any(message.severity == _ERROR and message.code != OUTSIDE for message in messages)
    return _FINISHED in codes and (failed or simulated or _NO_ERROR in codes)


def trimmed(lines: list[str]) -> list[str]:
    """The output without what says only how far the run is, and where it read modules from."""
    kept: list[str] = []
    inside = False
    for line in lines:
        start = _START.search(line)
        inside = inside or bool(start and int(start[1]) in PROGRESS)
        if not inside and not line.startswith(_NOISE):
            kept.append(line)
        inside = inside and not _END.search(line)
    return kept


def read_behaviour(text: str, reader: Reader) -> list[State]:
    """Read the file of one simulated behaviour. TlaSyntaxError if it is none."""
    return [reader.state(state) for state in _BEHAVIOUR.split(_RULE.sub("", text))[1:]]


def counterexamples(lines: list[str]) -> Iterator[tuple[str, Report]]:
    """The output of a run with `-continue`: what was printed before each counterexample, and that one."""
    printed = ""
    group: list[Message] = []
    for message in [*read_messages(lines), Message(OUTSIDE, _ERROR)]:
        if message.code in (_STATE_CODE, _TRACE_FOLLOWS):
            group.append(message)
        elif group and message.code not in PROGRESS:
            yield printed, _report(group)
            group = []
        if message.code == OUTSIDE:
            printed = message.text


def _add_state(report: Report, header: str, state: State) -> None:
    match = _STATE.match(header)
    report.states.append(state)
    report.actions.append("Init" if len(report.states) == 1 else match[2] if match else "Next")


def _judge(report: Report, message: Message) -> None:
    if message.code in _PROPERTY_VIOLATED and (name := _VIOLATED.match(message.text)):
        report.outcome, report.violated = Outcome.VIOLATED, name[1]
    elif message.code == _TEMPORAL:
        report.outcome = Outcome.VIOLATED
    elif message.code == _DEADLOCK:
        report.outcome = Outcome.DEADLOCK
    elif message.code == _ASSERT:
        report.outcome, report.violated = Outcome.VIOLATED, "Assert"
    elif message.code == _ASSUMPTION:
        report.outcome, report.violated = Outcome.VIOLATED, "ASSUME"


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def failure(lines: list[str], exit_code: int, name: str, log: object, memory: str) -> EngineError:
    """What to tell the user about a run without an answer, TLC's own words included."""
    messages = read_messages(lines)
    words = "\n".join(lines)
    errors = [message for message in messages if message.severity == _ERROR]
    if len(errors) > 1:  # then the others say what the exception was
        errors = [message for message in errors if message.code not in (_EXCEPTION, _TRACE_FOLLOWS)]
    last_state = [message for message in messages if message.code == _STATE_CODE][-1:]
    detail = "\n".join(message.text for message in errors + last_state if message.text) or "\n".join(
        lines[-20:]
    )
    if _MEMORY.search(words):
        return EngineError(
            Failure.MEMORY, f"TLC ran out of memory ({memory}) on {name}; allow more with --memory.\n{detail}"
        )
    if any(message.code in _CONFIG_ERRORS for message in messages):
        kind = Failure.CONFIGURATION
    else:
        kind = _FAILURES.get(exit_code, Failure.CRASH)
    sentences = {
        Failure.PARSE: f"TLC cannot parse {name}.",
        Failure.CONFIGURATION: f"The configuration of {name} is wrong.",
        Failure.EVALUATION: f"TLC cannot evaluate {name}.",
        Failure.CRASH: f"TLC failed on {name} with exit code {exit_code}; its log is {log}.",
    }
    return EngineError(kind, f"{sentences[kind]}\n{detail}")
