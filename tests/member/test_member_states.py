"""The table of a consumer's states, compared with random runs of a member (K1 to K4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from member_driver import (
    FENCED,
    HEARTBEAT,
    LEAVE,
    LOAD_IN_PROGRESS,
    NOT_COORDINATOR,
    STALE_EPOCH,
    Driver,
    answer,
)

from coordinator.members.consumer import State
from coordinator.members.consumer.lifecycle import Lifecycle
from coordinator.members.consumer.types import TRANSITIONS

INVALID_REGEX = 128
Changes = set[tuple[State, State]]
TABLE: Changes = {(before, row.after) for row in TRANSITIONS for before in row.before}


@contextmanager
def stored_states(changes: Changes, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Note each change of a member's stored state: a call may make several."""

    def note(self: Lifecycle, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "_state" and hasattr(self, "_completed"):
            seen(self, changes)

    with monkeypatch.context() as patch:
        patch.setattr(Lifecycle, "__setattr__", note)
        yield


def seen(member: Lifecycle, changes: Changes) -> None:
    """Note the change of a member's state since the last call, if there is one."""
    before = member.__dict__.get("seen", State.UNSUBSCRIBED)
    if member.state is not before:
        changes.add((before, member.state))
    member.__dict__["seen"] = member.state


def walk(seed: int, changes: Changes) -> None:
    """Forty random events of one consumer: calls of its application, responses, errors, lost responses."""
    draw = Random(seed)
    driver = Driver(member_id=draw.choice(["", "m"]), instance_id=draw.choice([None, "i"]))
    member, epoch = driver.member, 0
    for _ in range(40):
        match draw.randrange(12):
            case 0 if not member.closed and member.state is not State.FATAL:
                member.subscribe([draw.choice(["foo", "bar"])], now_ms=driver.now_ms)
            case 1 if draw.random() < 0.2 and not member.closed and member.state is not State.FATAL:
                member.unsubscribe(driver.now_ms)
            case 2 if draw.random() < 0.2:
                member.close(driver.now_ms)
            case 3:
                member.poll(driver.now_ms)
            case 4:
                driver.now_ms += draw.choice([100, 5_000, 5_000, 400_000])
            case 5 | 6:
                driver.run_callbacks()
            case _:
                epoch = request(driver, draw, epoch)
        seen(member, changes)


def request(driver: Driver, draw: Random, epoch: int) -> int:
    """Send what is due, or answer what was sent; the epoch after it."""
    if driver.sent is None:
        driver.take()
        return epoch
    sent, error = (
        driver.sent,
        draw.choice([FENCED, STALE_EPOCH, LOAD_IN_PROGRESS, NOT_COORDINATOR, INVALID_REGEX]),
    )
    if draw.random() < 0.1:
        driver.lose()
    elif sent.purpose is LEAVE:
        driver.reply(answer(-1))
    elif sent.purpose is not HEARTBEAT:
        driver.offsets(sent)
    elif draw.random() < 0.2:
        driver.error(error)
    else:
        epoch += 1
        driver.reply(answer(epoch, draw.choice([None, (), ("foo-0",), ("foo-0", "foo-1")]), member="m"))
    driver.sent = None
    return epoch


def test_members_change_as_the_table_says_and_make_each_of_its_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes: Changes = set()
    with stored_states(changes, monkeypatch):
        for seed in range(3_000):
            walk(seed, changes)
    assert changes == TABLE
