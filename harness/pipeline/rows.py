"""From states of the specification to rows of the tables `steps` and `states`.

A transition of a state graph is decoded as a trace of two states, so that it means the same as this step in
any trace: `harness.replay.decode` computes the request and the expected answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.itf import Trace
from harness.kinds.description import COMMON
from harness.kinds.registry import KINDS
from harness.pipeline.tables import key, optional, text
from harness.replay.contents import Uncounted
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace, Loadable, Step
from harness.stategraph import HIDDEN
from harness.tlaparse import Reader, print_value
from harness.values import State

Row = dict[str, Any]
_OTHERS: Final = tuple(variable for kind in reversed(KINDS) for variable in kind.kept)
"""The variables beside COMMON that make a state of the coordinator, in the models that have them."""
_LEAF: Final = ("conformLeaf", "conformDepth")
_MEMORY: Final = 50_000
"""The number of distinct states whose keys and forms are remembered."""


class StepRows:
    """A maker of rows; common parts of equal states are computed once."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._constants = dict(configuration)
        self._reader = Reader()
        self._decoder = Decoder(Uncounted())
        self._nodes: dict[str, State] = {}
        self._keys: dict[tuple[int, ...], tuple[tuple[Any, ...], str]] = {}
        self._loads: dict[str, tuple[str, str]] = {}
        self._contents: dict[tuple[str, str], tuple[str, str]] = {}
        self._last: tuple[Any, str] = None, ""

    @property
    def full(self) -> bool:
        """Tell if so much is remembered that a new maker should take over."""
        return len(self._keys) > _MEMORY

    def transition(self, source: str, leaf: str, depth: int) -> Row | None:
        """The row of one transition, from its nodes in the dump; None if the transition does not call the
        target. ConformError or TlaSyntaxError if they are not of the group protocol."""
        printed = spec_state(leaf)
        before, after = self._state(source), self._reader.state(printed)
        trace = Trace({"constants": self._constants}, tuple(before), [before, after])
        decoded = self._decoder.decode(trace, "the state graph")
        if not decoded.steps:
            return None
        row = self._row(decoded, decoded.steps[0], decoded.start, decoded.initial, before, after)
        return {**row, "trace": "", "index": 0, "depth": depth, "state_after": printed}

    def trace(self, name: str, trace: Trace, identity: str) -> Iterator[Row]:
        """The rows of a trace's steps that call the target. ConformError for a trace of another
        specification."""
        decoded = self._decoder.decode(trace, name)
        load, description = decoded.start, decoded.initial
        for step in decoded.steps:
            states = trace.states[step.index - 1], trace.states[step.index]
            row = self._row(decoded, step, load, description, *states)
            yield {**row, "trace": identity, "index": step.index, "depth": step.index - 1, "state_after": ""}
            load, description = step.load, step.expected.group or {}

    def state(self, node: str, depth: int) -> Row:
        """The row of a state of a state graph, from its node in the dump. Only the text of an initial state
        has the step into it: of other states the dump has any of the steps."""
        state = self._reader.state(spec_state(node))
        load, description = self._decoder.start(state, "the state graph", {"constants": self._constants})
        return {
            "state": self._key(state),
            "title": load.title,
            "depth": depth,
            "members": len(load.state.group.members),
            "description": text(description),
            "text": spec_state(node, HIDDEN if depth else ()),
        }

    def _row(
        self, decoded: DecodedTrace, step: Step, load: Loadable, description: Any, before: State, after: State
    ) -> Row:
        source, following = self._key(before), self._key(after)
        operation, lost = text(step.call.operation()), step.lost and step.lost.operation()
        configuration = text(decoded.configuration)
        given = key(source, configuration, operation, text([lost, step.new_id]))
        script, response = optional(step.script), optional(step.expected.body)
        loaded, described = self._form(source, load, description)
        return {
            "step": key(given, script or "", response or "", following),
            "source": source,
            "input": given,
            "after": following,
            "action": step.action,
            "branch": step.branch,
            "member": step.load.state.step.member,
            "error": step.error,
            "configuration": configuration,
            "load": loaded,
            "before": described,
            "tick_ms": step.tick_ms,
            "lost": optional(lost),
            "new_id": step.new_id,
            "script": script,
            "operation": operation,
            "response": response,
            "group": self._described(step.expected.group),
            "records": text(list(step.expected.records)),
            "fired": text(list(step.expected.fired)),
            "completed": text(list(step.expected.completed)),
            "start": step.start,
        }

    def _form(self, source: str, load: Loadable, description: Any) -> tuple[str, str]:
        """The form in which a target loads a state, and that in which it must describe the state; at time 0
        both depend only on the state."""
        known = self._loads.get(source) if load.now_ms == 0 else None
        if known is None:
            known = self._load(source, load), self._described(description)
            if load.now_ms == 0:
                self._loads[source] = known
        return known

    def _load(self, source: str, load: Loadable) -> str:
        """The text of records, topics and volatile state; only the latter depends on the time."""
        content = self._contents.get(place := (source, load.forms.name))
        if content is None:
            content = self._contents[place] = text(load.records), text(load.topics)
        records, topics = content
        return f'{{"records":{records},"topics":{topics},"volatile":{text(load.volatile)}}}'

    def _described(self, description: Any) -> str:
        """The text of a description; after a step it is mostly the same as before the next one."""
        if self._last[0] is not description:
            self._last = description, text(description)
        return self._last[1]

    def _state(self, node: str) -> State:
        """The state of a node that has many steps."""
        known = self._nodes.get(node)
        if known is None:
            known = self._nodes[node] = self._reader.state(spec_state(node))
        return known

    def _key(self, state: State) -> str:
        values = tuple([state.get(name, ()) for name in COMMON])
        values += tuple([state[name] for name in _OTHERS if name in state])
        # readers nearly always give equal values as one object, and an object is found sooner than a value
        known = self._keys.get(objects := tuple(map(id, values)))
        if known is None:  # the values are kept, so that their ids are not used again
            known = self._keys[objects] = values, key(*(print_value(value) for value in values))
        return known[1]


def spec_state(printed: str, hidden: tuple[str, ...] = ()) -> str:
    """A node of the dump without the parts that only the dump has, and without `hidden` variables."""
    conjuncts = printed.strip().removeprefix("/\\ ").split("\n/\\ ")
    kept = [conjunct for conjunct in conjuncts if conjunct.partition(" =")[0] not in (*_LEAF, *hidden)]
    return "\n".join(f"/\\ {conjunct}" for conjunct in kept)
