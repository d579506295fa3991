"""The steps of a model, in a form in which those of two versions can be compared.

A step takes a state and an input to an outcome. The *state* has all variables except `step` and those beside
it (`BESIDE`). The *input* is the action with its parameters: all fields that are no answer (for a request its
kind, not its meaning in this state: `ONE_REQUEST`). The *outcome* is the response and the state after it;
`branch`, the way through the specification's text, is no behaviour. In a specification without `step` the
input is TLC's name of the action, and there is no response.

Values are numbered, the same in both versions: equal numbers are equal values, in whatever order TLC printed
their parts.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import networkx as nx
from frozendict import frozendict

from harness.engines.base import Limits, Model, Progress, silent
from harness.errors import ENGINE_FAILED, ConformError
from harness.generate import dump_graph
from harness.modules import declared_variables
from harness.stategraph import unescape
from harness.tlaparse import Reader
from harness.transitions import dump
from harness.values import State, Value

STEP: Final = "step"
OUTCOME: Final = ("response", "branch")
"""The fields of `step` that belong to the outcome."""
BESIDE: Final = {
    "admin": ("listed", "shown", "own"),
    "clientStep": ("compute", "told"),
}
"""Variables with facts about the last step for which `step` has no field; for each, the fields that are
answers."""
ONE_REQUEST: Final = {
    action: "heartbeat" for action in ("Join", "Rejoin", "Return", "Heartbeat", "Leave", "LeaveTemporarily")
}
"""Actions that are one request; the state that the request meets decides which action it is."""
FETCH: Final = "OffsetFetch"
"""The action whose `offset` is the answer (O1)."""

_NODE = re.compile(r'(-?\d+) \[label="((?:[^"\\]|\\.)*)"(,style = filled)?')
_EDGE = re.compile(r"(-?\d+) -> (-?\d+)[ ;]")
_CONJUNCT: Final = r"\n/\\ "
_LEAF, _DEPTH = "conformLeaf", "conformDepth"

Number: TypeAlias = int
Outcome: TypeAlias = tuple[Number, Number]
"""A response and the compared part of the state after it, by their numbers."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step by numbers: the value of `step` (or the name of the action), the state after it, and the
    compared part of both."""

    label: Number
    after: Number
    outcome: Outcome


class Numbers:
    """Numbers for values and for tuples of numbers; equal values have the same number."""

    def __init__(self) -> None:
        self._number: dict[Any, Number] = {}
        self._of: list[Any] = []

    def __call__(self, value: Any) -> Number:
        number = self._number.setdefault(value, len(self._of))
        if number == len(self._of):
            self._of.append(value)
        return number

    def value(self, number: Number) -> Any:
        return self._of[number]


class Space:
    """The variables by which both versions are compared, without the fields that are left out. `left_out`
    names everything that is not compared.

    The versions are read in two threads, each holding `lock`. `without` are paths like
    `group.members.*.sent`; a `*` stands for every argument of a function.
    """

    def __init__(self, a: Collection[str], b: Collection[str], without: Sequence[str] = ()) -> None:
        self._without = [path.split(".") for path in without]
        self._compared = sorted(
            set(a) & set(b) - {STEP, *BESIDE} - {path[0] for path in self._without if len(path) == 1}
        )
        if not self._compared:
            raise ConformError(
                "The two versions have no variable in common, so no state of both is the same."
            )
        self._beside = set(a) & set(b) & BESIDE.keys()
        self.left_out = [*(f"{name} (A)" for name in sorted(set(a) - set(b)))]
        self.left_out += [*(f"{name} (B)" for name in sorted(set(b) - set(a))), *without]
        self.lock = threading.Lock()
        self.values = Numbers()
        self._states = Numbers()
        self._parts: dict[Number, Number] = {}
        self._inputs: dict[Number, Number] = {}
        self._responses: dict[Number, Number] = {}
        self._stripped: dict[tuple[str, Number], Number] = {}
        self._nowhere = {path for path in without if "." in path or not {path} & {*a, *b}}

    def check_left_out(self) -> None:
        """Check, when all values have been read, that each path that is left out is somewhere: ConformError
        (exit 2) if not, as a misspelt one leaves nothing out."""
        if self._nowhere:
            raise ConformError(
                f"--leave-out: neither version has {', '.join(sorted(self._nowhere))}. A path begins with a "
                "variable, as group.members.*.field or step.request.field."
            )

    def state(self, values: dict[str, Number]) -> Number:
        """The number of a state, given by those of its values."""
        return self._states(tuple(sorted(values.items())))

    def compared(self, state: Number) -> Number:
        """The number of the compared part of a state."""
        if state not in self._parts:
            values = dict(self._states.value(state))
            part = tuple((name, self._strip(name, values[name])) for name in self._compared)
            self._parts[state] = self._states(part)
        return self._parts[state]

    def read(self, state: Number) -> State:
        """A state without its step, or the compared part of a state."""
        return frozendict({name: self.values.value(value) for name, value in self._states.value(state)})

    def input(self, number: Number) -> Number:
        """The number of the input in a step."""
        if number not in self._inputs:
            self._inputs[number] = self.values(
                _input(self.values.value(self._strip(STEP, number)), self._beside)
            )
        return self._inputs[number]

    def action(self, number: Number) -> str:
        """The name of the action in a value of `step`."""
        step = self.values.value(number)
        return str(step.get("action", "")) if isinstance(step, frozendict) else str(step)

    def response(self, number: Number) -> Number:
        """The number of the answer in a step."""
        if number not in self._responses:
            answer = _answer(self.values.value(self._strip(STEP, number)), self._beside)
            self._responses[number] = self.values(answer)
        return self._responses[number]

    def whole_step(self, step: Number, beside: dict[str, Number]) -> Number:
        """The number of a value of `step` with those of the variables beside it."""
        if not beside:
            return step
        whole: dict[Value, Value] = dict(self.values.value(step))
        whole.update((name, self.values.value(value)) for name, value in beside.items())
        return self.values(frozendict(whole))

    def _strip(self, name: str, value: Number) -> Number:
        paths = [(path, path[1:]) for path in self._without if path[0] == name and len(path) > 1]
        if name == STEP:
            paths += [(path, path) for path in self._without if path[0] in BESIDE]
        if not paths:
            return value
        if (name, value) not in self._stripped:
            stripped = self.values.value(value)
            for path, inside in paths:
                whole, stripped = stripped, _without(stripped, inside)
                if stripped != whole:
                    self._nowhere.discard(".".join(path))
            self._stripped[name, value] = self.values(stripped)
        return self._stripped[name, value]


@dataclass
class Behaviours:
    """The state graph of one version within its bounds: its states with their steps by input.

    Keys of `steps` are the states within the bounds, whose steps are all known. The state after a step may be
    one step beyond them. `has_step` tells if the specification records its last step.
    """

    model: Model
    space: Space
    initial: list[Number] = field(default_factory=list)
    steps: dict[Number, dict[Number, list[Step]]] = field(default_factory=dict)
    first_step: Number = 0
    has_step: bool = True

    def add(self, source: Number, step: Number, after: Number) -> None:
        """Note a step from a state within the bounds."""
        outcome = self.space.response(step), self.space.compared(after)
        steps = self.steps[source].setdefault(self.space.input(step), [])
        steps.append(Step(step, after, outcome))

    def count(self) -> int:
        """Number of steps."""
        return sum(len(steps) for inputs in self.steps.values() for steps in inputs.values())

    def whole(self, state: Number, number: Number | None) -> State:
        """A state in the form of an engine's trace, with the step that led to it."""
        plain = self.space.read(state)
        if not self.has_step:
            return plain
        step = self.space.values.value(self.first_step if number is None else number)
        if not isinstance(step, frozendict):
            return plain.set(STEP, step)
        beside = {str(name): value for name, value in step.items() if name in BESIDE}
        own = {name: value for name, value in step.items() if name not in BESIDE}
        return frozendict({**plain, **beside, STEP: frozendict(own)})


def parted(state: State) -> tuple[State, Value]:
    """A whole state, parted into the state and the step that led to it with the variables beside that."""
    beside = {name: state[name] for name in BESIDE if name in state}
    plain = frozendict({name: value for name, value in state.items() if name not in (STEP, *beside)})
    step = state.get(STEP, "")
    return plain, frozendict([*step.items(), *beside.items()]) if isinstance(step, frozendict) else step


def behaviours(
    model: Model, space: Space, *, limits: Limits, log: Path, progress: Progress = silent
) -> Behaviours:
    """The state graph of a model, by TLC. ConformError for a model that does not record its steps."""
    result = Behaviours(model, space, has_step=STEP in declared_variables(model.module))
    if not result.has_step:
        _read_labels(result, limits, log, progress)
        return result
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        dot = Path(folder) / "graph.dot"
        nodes = dump(model, dot, limits=limits, log=log, progress=progress, beyond_bounds=True)
        progress("reading the state graph")
        with space.lock:
            read = _read_dump(result, dot)
        if read != nodes:
            raise ConformError(
                f"TLC wrote {read:,} of {nodes:,} nodes of the graph of {model.name}: is the disk full?",
                ENGINE_FAILED,
            )
    known = {step.label for inputs in result.steps.values() for steps in inputs.values() for step in steps}
    if known == {result.first_step}:
        raise ConformError(
            f"The model {model.name} does not record its steps, so they cannot be compared; "
            f"name it with --check for its properties alone."
        )
    return result


def _read_dump(read: Behaviours, dot: Path) -> int:
    """Read the output of `harness.transitions.dump`; the number of its nodes."""
    text = _Text(read.space)
    states: dict[int, Number] = {}
    leaves: dict[int, tuple[Number, Number]] = {}
    edges: list[tuple[int, int]] = []
    with dot.open(encoding="utf-8") as lines:
        for line in lines:
            if edge := _EDGE.match(line):
                edges.append((int(edge[1]), int(edge[2])))
            elif node := _NODE.match(line):
                state, step, leaf = text.read(node[2])
                name = int(node[1])
                if leaf:
                    leaves[name] = state, step
                elif name not in states:
                    states[name] = state
                if node[3]:
                    read.initial.append(state)
                    read.first_step = step
    read.initial = list(dict.fromkeys(read.initial))
    read.steps = {state: {} for state in states.values()}
    for source, target in dict.fromkeys(edges):
        if target in leaves:
            state, step = leaves[target]
            read.add(states[source], step, state)
    return len(states) + len(leaves)


class _Text:
    """A reader of node labels, which remembers each variable's value by its text."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._reader = Reader()
        self._known: dict[str, tuple[str, Number]] = {}

    def read(self, label: str) -> tuple[Number, Number, bool]:
        """The number of the state without its step, that of the step, and True if the node is a leaf."""
        values: dict[str, Number] = {}
        leaf = False
        for chunk in label.removeprefix(r"/\\ ").split(_CONJUNCT):
            if chunk.startswith((_LEAF, _DEPTH)):
                leaf = leaf or chunk.startswith(f"{_LEAF} = TRUE")
                continue
            if chunk not in self._known:
                ((name, value),) = self._reader.state(unescape(chunk)).items()
                self._known[chunk] = name, self._space.values(value)
            name, number = self._known[chunk]
            values[name] = number
        step = self._space.whole_step(values.pop(STEP), {n: values.pop(n) for n in BESIDE if n in values})
        return self._space.state(values), step, leaf


def _read_labels(read: Behaviours, limits: Limits, log: Path, progress: Progress) -> None:
    """Fill in the state graph of a specification without `step`: its steps are named by TLC's labels."""
    graph = dump_graph(read.model, limits=limits, log=log, progress=progress)
    with read.space.lock:
        _take_labels(read, graph)


def _take_labels(read: Behaviours, graph: nx.MultiDiGraph) -> None:
    space = read.space
    number: dict[int, Number] = {
        node: space.state({name: space.values(value) for name, value in state.items()})
        for node, state in graph.nodes(data="state")
    }
    read.initial = [number[node] for node in graph.graph["initial"]]
    read.steps = {state: {} for state in number.values()}
    for source, target, action in graph.edges(keys=True):
        read.add(number[source], space.values(action), number[target])


def _input(step: Value, beside: Collection[str]) -> Value:
    if not isinstance(step, frozendict):
        return step
    action = step.get("action", "")
    dropped = {*OUTCOME, *BESIDE, *(("offset",) if action == FETCH else ())}
    kept = {name: value for name, value in step.items() if name not in dropped}
    kept |= {name: input_part(name, step[name]) for name in beside if name in step}
    if "request" in kept and action in ONE_REQUEST:
        kept["action"] = ONE_REQUEST[str(action)]
    return frozendict(kept)


def _answer(step: Value, beside: Collection[str]) -> Value:
    if not isinstance(step, frozendict):
        return ""
    answers = [step.get("response", "")]
    if step.get("action") == FETCH:
        answers.append(step["offset"])
    answers += [answered(name, step[name]) for name in sorted(beside) if name in step]
    return tuple(answers)


def input_part(name: str, value: Value) -> Value:
    """The part of a variable beside `step` that belongs to the input."""
    assert isinstance(value, frozendict)
    return frozendict({field: item for field, item in value.items() if field not in BESIDE[name]})


def answered(name: str, value: Value) -> Value:
    """The part of that variable that belongs to the answer."""
    assert isinstance(value, frozendict)
    return frozendict({field: item for field, item in value.items() if field in BESIDE[name]})


def _without(value: Value, path: Sequence[str]) -> Value:
    """A value without the field at a path; unchanged where there is no such field."""
    if not isinstance(value, frozendict):
        return value
    name, *rest = path
    if not rest:
        return frozendict({key: item for key, item in value.items() if name not in ("*", key)})
    take: Callable[[Any], bool] = (lambda _: True) if name == "*" else (lambda key: key == name)
    return frozendict({key: _without(item, rest) if take(key) else item for key, item in value.items()})
