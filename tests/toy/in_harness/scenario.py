"""Scenarios of the toy protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.kinds.toy.state import ToyReader, ToyState

from harness.itf import Trace
from harness.kinds.literals import tla_text, tla_texts
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Language, Universe
from harness.scenario.scripts.verbs import event, timer


def _request(epoch: int | None) -> Callable[[Field], str]:
    """A request of that epoch, or of the epoch that the scenario names."""

    def action(field: Field) -> str:
        results = field.fields(["member"] if epoch is not None else ["member", "epoch"], ())
        given = results["epoch"].number(1) if epoch is None else epoch
        return f"Request({tla_text(results['member'].name_text())}, {given})"

    return action


def _first(field: Field | None, topics: Mapping[str, int]) -> str:
    if field is not None:
        raise field.wrong("a toy group begins with nothing")
    return "toy = NoToy /\\ step = NoStep"


def _definitions(universe: Universe) -> str:
    return f"GoldenMembers == {tla_texts(sorted(universe.members))}\nNothing == {{}}"


def _facts(trace: Trace) -> list[Facts]:
    return [_printed(state) for state in ToyReader().read(trace, "The behaviour")[1:]]


def _printed(state: ToyState) -> Facts:
    results: dict[str, Facts] = {}
    if state.step.error:
        results["response"] = {"error": state.step.error, "epoch": str(state.step.answer)}
    results["group"] = {"state": state.group.title, "epoch": str(state.group.epoch)}
    results["members"] = {name: str(epoch) for name, epoch in state.group.members.items()}
    return results


TOY: Final = Language(
    name="toy",
    module="Toy",
    topics="topics",
    whole=0,
    first=_first,
    verbs={
        "join": _request(0),
        "heartbeat": _request(None),
        "leave": _request(-1),
        "session timeout": timer("ToyTimeout"),
        "fail-over": event("ToyFailOver"),
    },
    definitions=_definitions,
    config="CONSTANTS\n  MemberIds <- GoldenMembers\n  RequestEpochs <- Nothing\n",
    facts=_facts,
    tall=frozenset(),
    optional=frozenset({"response"}),
)
