"""Handlers and actions belong together: every action of the spec has one meaning, every handler an action."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from spec_model import Model

from harness.errors import ConformError
from harness.itf import read_trace
from harness.kinds.actions import INITIAL, UNTRACED, actions_of_spec
from harness.kinds.classic.steps import CLASSIC_HANDLERS, CLASSIC_OTHERS
from harness.kinds.connect.steps import CONNECT_HANDLERS, CONNECT_OTHERS
from harness.kinds.consumer.steps import HANDLERS, OTHER_ACTIONS
from harness.kinds.migration.steps import MIGRATION_ACTIONS, MIGRATION_OTHERS
from harness.kinds.share.decode import HANDLERS as SHARE_HANDLERS
from harness.replay.decode import Decoder

SPEC = Path(__file__).parents[2] / "spec"
CORPUS = SPEC.parent / "traces" / "corpus"
CLIENT = CORPUS.parent / "client"
ADMISSION = CORPUS.parent / "admission"


def test_every_action_of_the_spec_has_a_handler_or_is_declared_and_no_name_is_left_over() -> None:
    known = {*HANDLERS, *OTHER_ACTIONS, *CLASSIC_HANDLERS, *CLASSIC_OTHERS}
    known |= {*CONNECT_HANDLERS, *CONNECT_OTHERS, *SHARE_HANDLERS, *MIGRATION_OTHERS}
    assert actions_of_spec(SPEC) == {INITIAL, *known, *UNTRACED}


def test_no_action_is_both() -> None:
    assert not set(HANDLERS) & OTHER_ACTIONS
    assert not set(CLASSIC_HANDLERS) & CLASSIC_OTHERS
    assert not set(CONNECT_HANDLERS) & CONNECT_OTHERS
    assert not MIGRATION_ACTIONS & MIGRATION_OTHERS
    assert INITIAL not in {*HANDLERS, *CLASSIC_HANDLERS}


def test_every_handler_makes_a_call_of_its_own() -> None:
    """No handler has an empty body: each sends a request, and no two handlers of different actions send the
    same."""
    sent: dict[str, set[str]] = {action: set() for action in HANDLERS}
    walks = [Model(seed, {"foo": 1}).walk(80) for seed in range(30)]
    files = (
        *CORPUS.glob("MCAdministration-*.itf.json"),
        *CLIENT.glob("*.itf.json"),
        *ADMISSION.glob("*.itf.json"),
    )
    for trace in (*walks, *map(read_trace, files)):
        for step in Decoder().decode(trace, "a trace").steps:
            operation = step.call.operation()
            epoch = operation.get("body", {}).get("memberEpoch")
            what = operation.get("timer") or operation.get("api") or operation.get("state", "")
            sent[step.action].add(f"{operation['op']} {what} {epoch if epoch in (0, -1, -2) else ''}")
    assert all(sent.values()), [action for action, calls in sent.items() if not calls]
    assert sent["SessionTimeout"] == {"fire session "}
    assert sent["RebalanceTimeout"] == {"fire rebalance "}
    assert sent["DeleteGroup"] == {"fire group "}
    assert sent["FailOver"] == {"restart  "}
    assert sent["Deactivate"] == {f"coordinator {state} " for state in ("loading", "moved", "unavailable")}
    assert sent["Activate"] == {"coordinator active "}
    assert sent["ChangeRights"] == {"rights  "}
    assert sent["Leave"] == {"request ConsumerGroupHeartbeat -1"}
    assert sent["LeaveTemporarily"] == {"request ConsumerGroupHeartbeat -2"}
    assert sent["Heartbeat"] == {"request ConsumerGroupHeartbeat "}
    assert sent["Join"] == sent["Rejoin"] == sent["Return"] == {"request ConsumerGroupHeartbeat 0"}
    assert sent["OffsetCommit"] == {"request OffsetCommit "}
    assert sent["OffsetFetch"] == {"request OffsetFetch "}
    assert sent["ListGroups"] == {"request ListGroups "}
    assert sent["DeleteGroups"] == {"request DeleteGroups "}
    assert sent["AlterConfigs"] == {"request IncrementalAlterConfigs "}
    assert sent["DescribeConfigs"] == {"request DescribeConfigs "}


@pytest.mark.parametrize(
    "handler", [*HANDLERS.values(), *CLASSIC_HANDLERS.values(), *CONNECT_HANDLERS.values()]
)
def test_handlers_say_which_requirement_they_stand_for(handler: object) -> None:
    assert inspect.getdoc(handler)


def test_actions_are_read_from_literals_and_not_from_comments(tmp_path: Path) -> None:
    (tmp_path / "A.tla").write_text(
        """---- MODULE A ----
(* EventStep("InAComment", m) *)
\\* ClientStep("AlsoInOne", m)
ActionOf(g, m) ==
  IF m THEN "Leave" ELSE "Join"
Other == "NotAnAction"
S == [action |-> "Begin", member |-> "m"]
N == ClientStep(
       "Crash", m) \\/ ChangeTopic("CreateTopic", t)
====
""",
        encoding="utf-8",
    )
    assert actions_of_spec(tmp_path) == {"Leave", "Join", "Begin", "Crash", "CreateTopic"}


def test_a_folder_without_modules(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="no TLA"):
        actions_of_spec(tmp_path)
