"""Scenarios of share groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.graph.card import named
from harness.kinds.features import plain_scenario as plain
from harness.kinds.literals import tla_texts
from harness.kinds.share.state import ShareReader, ShareState
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Language


def _request(epoch: int, given: Mapping[str, Field]) -> str:
    names = f"{{{tla_texts(given['topics'].names())}}}" if "topics" in given else "{}"
    return f"[epoch |-> {epoch}, subscription |-> {names}]"


def _printed(state: ShareState) -> Facts:
    group, answer, facts = state.group, state.step.response, dict[str, Facts]()
    if answer.error:
        facts["response"] = {"error": answer.error, "epoch": str(answer.epoch)}
        if answer.assigned is not None:
            facts["response"] = {**facts["response"], "assigned": named(answer.assigned)}
    epochs = {"epoch": str(group.epoch), "assignmentEpoch": str(group.assignment_epoch)}
    facts["group"] = {"state": group.title, **epochs}
    facts["members"] = {
        name: {"epoch": str(one.epoch), "assigned": named(one.assigned)} for name, one in group.named.items()
    }
    return facts


SHARE: Final = Language(
    name="share",
    module="OpenShare",
    first=plain.first_of("share", "NoShare"),
    verbs={
        "join": plain.request_of(0, ("topics",), _request),
        "heartbeat": plain.request_of(None, ("topics",), _request),
        "leave": plain.request_of(-1, ("topics",), _request),
        **plain.events_of("Share"),
    },
    definitions=plain.definitions,
    config=f"{plain.CONFIG}  RequestEpochs <- Nothing\n  Subscriptions <- Nothing\n  MaxPartitions = 0\n",
    facts=plain.facts_of(ShareReader, _printed),
)
