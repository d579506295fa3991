"""Scenarios of share groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harness.graph.card import named
from harness.kinds.features.plain_scenario import CONFIG, definitions, events_of, facts_of, first_of
from harness.kinds.literals import tla_text, tla_texts
from harness.kinds.share.state import ShareReader, ShareState
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Language


def _request(epoch: int | None) -> Callable[[Field], str]:
    """A request of that epoch, or of the one that is said."""

    def action(field: Field) -> str:
        found = field.fields(["member"] if epoch is not None else ["member", "epoch"], ("topics",))
        said = found["epoch"].number() if epoch is None else epoch
        names = f"{{{tla_texts(found['topics'].names())}}}" if "topics" in found else "{}"
        member = tla_text(found["member"].name_text())
        return f"Request({member}, [epoch |-> {said}, subscription |-> {names}])"

    return action


def _printed(state: ShareState) -> Facts:
    group, answer, found = state.group, state.step.response, dict[str, Facts]()
    if answer.error:
        found["response"] = {"error": answer.error, "epoch": str(answer.epoch)}
        if answer.assigned is not None:
            found["response"] = {**found["response"], "assigned": named(answer.assigned)}
    epochs = {"epoch": str(group.epoch), "assignmentEpoch": str(group.assignment_epoch)}
    found["group"] = {"state": group.title, **epochs}
    found["members"] = {
        name: {"epoch": str(one.epoch), "assigned": named(one.assigned)} for name, one in group.named.items()
    }
    return found


SHARE: Final = Language(
    name="share",
    module="OpenShare",
    topics="topics",
    whole=0,
    first=first_of("share", "NoShare"),
    verbs={
        "join": _request(0),
        "heartbeat": _request(None),
        "leave": _request(-1),
        **events_of("Share"),
    },
    definitions=definitions,
    config=f"{CONFIG}  RequestEpochs <- Nothing\n  Subscriptions <- Nothing\n  MaxPartitions = 0\n",
    facts=facts_of(ShareReader, _printed),
    tall=frozenset({"members"}),
    optional=frozenset({"response"}),
)
