"""The table of a classic member's phases, compared with random runs of a member (C1, C3, S1)."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from scripted_member import (
    COOPERATIVE,
    EAGER,
    ILLEGAL_GENERATION,
    INCONSISTENT,
    MEMBER_ID_REQUIRED,
    REBALANCE,
    UNKNOWN,
    ScriptedMember,
)

from coordinator.members.classic import ClassicMember, Phase
from coordinator.members.classic.types import TRANSITIONS

ERRORS = (ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE)
OVER = (Phase.LEAVING, Phase.FAILED)


def walk(seed: int) -> None:
    """Forty random events of one member: calls of its application, responses, errors, lost responses."""
    draw = Random(seed)
    script = ScriptedMember(draw.choice([EAGER, COOPERATIVE]), instance_id=draw.choice([None, "i"]))
    member = script.member
    for _ in range(40):
        match draw.randrange(8):
            case 0 if member.phase not in OVER:
                member.subscribe({draw.choice(["foo", "bar"])}, script.now_ms)
            case 1 if member.phase not in (*OVER, Phase.UNSUBSCRIBED):
                member.enforce_rebalance(script.now_ms)
            case 2 if draw.random() < 0.3:
                member.close()
            case 3:
                script.now_ms += draw.choice([100, 3_000])
            case _ if script.sent is None:
                script.run()
            case _:
                respond(script, draw)


def respond(script: ScriptedMember, draw: Random) -> None:
    """Answer what the member has sent, or let the response be lost."""
    sent, chance = script.sent, draw.random()
    assert sent is not None
    if chance < 0.1:
        script.member.failed(sent.correlation, script.now_ms)
        script.sent = None
    elif chance < 0.25 and sent.api in ("JoinGroup", "SyncGroup", "Heartbeat"):
        required = sent.api == "JoinGroup" and not sent.body["memberId"]
        script.reply(errorCode=MEMBER_ID_REQUIRED if required else draw.choice(ERRORS), memberId="m")
    elif sent.api == "JoinGroup":
        script.joined(leader=draw.random() < 0.5)
    elif sent.api == "SyncGroup":
        script.synced(draw.choice(["", "foo-0", "foo-0 bar-1"]))
    else:
        script.reply(members=[{"errorCode": 0}], topics=[])


def test_members_change_as_the_table_says_and_make_each_of_its_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes: set[tuple[Phase, Phase]] = set()

    def note(self: ClassicMember, name: str, value: Any) -> None:
        before = self.__dict__.get(name, value)
        if name == "phase" and before is not value:
            changes.add((before, value))
        object.__setattr__(self, name, value)

    monkeypatch.setattr(ClassicMember, "__setattr__", note, raising=False)
    for seed in range(1_000):
        walk(seed)
    assert changes == {(before, row.after) for row in TRANSITIONS for before in row.before}
