"""Writing scenario files: a whole one, or only the missing and different states.

Equal scenarios have equal text, with one member on a line, so that a diff shows the change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

from harness.kinds.consumer.scenario.load import EPOCHS, EVENTS
from harness.kinds.consumer.scenario.model import REQUEST, Printed, Scenario, ScriptStep, Target
from harness.kinds.consumer.scenario.transcript import Transcript
from harness.kinds.consumer.state import Group, Member, Request, Response
from harness.kinds.fields import Partition
from harness.scenario.partitions import format_partitions
from harness.scenario.scalar import quoted, scalar

_WIDTH: Final = 100


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(scalar(text) for text in texts)}]"


def _partitions(partitions: Iterable[Partition]) -> str:
    return _list(format_partitions(partitions))


def _mapping(items: Iterable[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{name}: {value}' for name, value in items)}}}"


def _target(targets: Target, members: Iterable[str] = ()) -> str:
    named = sorted({*targets, *members})
    return _mapping((scalar(name), _partitions(targets.get(name, ()))) for name in named)


def state_lines(name: str, state: Printed) -> Iterator[str]:
    """A state as the lines of a file, without the indentation of its step."""
    yield f"{name}:"
    if state.response is not None:
        yield f"  response: {_response(state.response, state.fetched)}"
    group = [("epoch", str(state.epoch)), ("assignmentEpoch", str(state.assignment_epoch))]
    yield f"  group: {_mapping([*group, ('state', state.state)])}"
    yield f"  target: {_target(state.target, state.members)}"
    if state.offsets:
        committed = ((scalar(f"{t}-{i}"), str(offset)) for (t, i), offset in sorted(state.offsets.items()))
        yield f"  offsets: {_mapping(committed)}"
    yield "  members:" if state.members else "  members: {}"
    for member, shown in sorted(state.members.items()):
        items = [("epoch", str(shown.epoch)), ("partitions", _partitions(shown.partitions))]
        yield f"    {scalar(member)}: {_mapping([*items, ('pending', _partitions(shown.pending))])}"


def _response(response: Response, fetched: int | None) -> str:
    if fetched is not None:
        return _mapping([("offset", str(fetched))])
    if response.error != "NONE" or response.epoch == 0:
        return _mapping([("error", response.error)])
    items = [("epoch", str(response.epoch))]
    if response.assigned is not None:
        items += [
            ("assigned", _partitions(response.assigned)),
            ("pending", _partitions(response.pending or ())),
        ]
    return _mapping(items)


def step_lines(step: ScriptStep) -> Iterator[str]:
    """A step as the lines of a file: the first begins with the dash of the list."""
    lines: list[str] = []
    if step.says:
        lines += [f"says: {line}" if n == 0 else f"  {line}" for n, line in enumerate(_text_lines(step.says))]
    lines.append(done_line(step))
    if step.target is not None:
        lines.append(f"target: {_target(step.target)}")
    for name, state in step.states.items():
        lines += state_lines(name, state)
    for number, line in enumerate(lines):
        yield f"{'- ' if number == 0 else '  '}{line}"


def _text_lines(text: str) -> list[str]:
    """A text over several lines; in quotes on one line where YAML would read it differently."""
    if ": " in text or " #" in text or not re.match(r"\w", text) or text.endswith(":"):
        return [quoted(text)]
    return wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def done_line(step: ScriptStep) -> str:
    """The line of a step in a file."""
    if step.does == REQUEST and step.request:
        return _request(step.member, step.request)
    verb = next(verb for verb, action in EVENTS.items() if action == step.does)
    items = [("member", scalar(step.member))] if step.member or step.partition else []
    if step.request:
        items.append(("epoch", str(step.request.epoch)))
    if step.topic and not step.partition:
        items.append(("topic", scalar(step.topic)))
        items += [("partitions", str(step.partitions))] if step.does != "DeleteTopic" else []
    if step.partition:
        items.append(("partition", scalar(f"{step.partition[0]}-{step.partition[1]}")))
        items += [("offset", str(step.offset))] if step.does == "OffsetCommit" else []
    return f"{verb}: {_mapping(items)}"


def _request(member: str, request: Request) -> str:
    verbs = {epoch: verb for verb, epoch in EPOCHS.items()}
    verb = "heartbeat" if request.epoch > 0 else verbs.get(request.epoch, "request")
    if (verb == "join" and request.owned is None) or (verb != "join" and not request.member):
        verb = "request"
    items = [("member", scalar(member))]
    items += [("epoch", str(request.epoch))] if verb in ("heartbeat", "request") else []
    items += [("withoutId", "true")] if not request.member else []
    items += [("instance", scalar(request.instance))] if request.instance is not None else []
    if request.owned is not None and (request.owned or verb != "join"):
        items.append(("owned", _partitions(request.owned)))
    if request.subscription is not None:
        items.append(("subscription", _list(sorted(request.subscription))))
    items += [("regex", scalar(request.regex))] if request.regex is not None else []
    items += [("assignor", scalar(request.assignor))] if request.assignor is not None else []
    return f"{verb}: {_mapping(items)}"


def scenario_text(scenario: Scenario) -> str:
    """A whole file, without errata: finding those is the work of a person."""
    lines = [f"name: {scalar(scenario.name)}", *_field("source", scenario.source)]
    lines += _field("link", scenario.link) if scenario.link else []
    lines += ["shows: >", *(f"  {line}" for line in wrap(scenario.shows, _WIDTH))]
    lines += [f"requirements: {_list(scenario.requirements)}"] if scenario.requirements else []
    lines += [f"caught: {_list(scenario.caught)}"] if scenario.caught else []
    topics = ((scalar(name), str(count)) for name, count in sorted(scenario.topics.items()))
    lines.append(f"topics: {_mapping(topics)}")
    if scenario.first:
        lines += ["first:", *(f"  {line}" for line in _first(scenario.first))]
    lines += ["", "steps:"]
    for step in scenario.steps:
        lines += [f"  {line}" for line in step_lines(step)]
    return "\n".join([*lines, ""])


def _field(name: str, text: str) -> list[str]:
    first, *more = _text_lines(text)
    return [f"{name}: {first}", *(f"  {line}" for line in more)]


def _first(group: Group) -> Iterator[str]:
    yield f"epoch: {group.epoch}"
    if group.assignment_epoch != group.epoch:
        yield f"assignmentEpoch: {group.assignment_epoch}"
    yield "members:" if group.members else "members: {}"
    for name, member in group.members.items():
        yield f"  {scalar(name)}: {_mapping(_first_member(group, name, member))}"


def _first_member(group: Group, name: str, member: Member) -> Iterator[tuple[str, str]]:
    """A member of the group at the start, without the fields that have their defaults."""
    yield "subscription", _list(sorted(member.subscription))
    yield "partitions", _partitions(member.assigned)
    if member.revoking:
        yield "revoking", _partitions(member.revoking)
    if group.target(name) != member.assigned:
        yield "target", _partitions(group.target(name))
    if member.epoch != group.epoch:
        yield "epoch", str(member.epoch)
    if member.previous_epoch != max(member.epoch - 1, 0):
        yield "previousEpoch", str(member.previous_epoch)
    if member.instance:
        yield "instance", scalar(member.instance)
    if member.assignor:
        yield "assignor", scalar(member.assignor)
    if not member.acknowledged:
        yield "acknowledged", "false"


def rewritten(text: str, scenario: Scenario, transcripts: Sequence[Transcript]) -> str:
    """The text of the scenario's file with the states that the specification gives.

    Only missing and different states are written anew, and only `expect` is added; every other line stays as
    it is.
    """
    lines = text.splitlines()
    for step, spec in reversed(list(zip(scenario.steps, transcripts, strict=False))):
        for first, last, name in reversed(list(_places(step, spec))):
            indent = " " * step.column
            lines[first : last + 1] = [f"{indent}{line}" for line in state_lines(name, spec[name])]
    return "\n".join(lines) + "\n"


def _places(step: ScriptStep, spec: Mapping[str, Printed]) -> Iterator[tuple[int, int, str]]:
    """First and last line of the parts to write anew, in the order of the file."""
    for name, section in sorted(step.sections.items(), key=lambda item: item[1].first_line):
        written, given = section.printed, spec.get(name)
        if given is not None and written != given:
            yield section.first_line, section.last_line, name
    if "expect" not in step.sections:
        yield step.last_line + 1, step.last_line, "expect"
