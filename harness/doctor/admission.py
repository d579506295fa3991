"""Operations by which a coordinator refuses all requests: its state, and the rights of clients (H5, D5)."""

from __future__ import annotations

from typing import Final

from harness.doctor.talk import Talk, never, same
from harness.replay import wire
from harness.targets.base import refusing

STATES: Final = {
    "loading": "COORDINATOR_LOAD_IN_PROGRESS",
    "moved": "NOT_COORDINATOR",
    "unavailable": "COORDINATOR_NOT_AVAILABLE",
}


def coordinator(talk: Talk) -> str:
    """A coordinator that is not active refuses heartbeats, and changes nothing; then the group goes on."""
    talk.begin("m1")
    talk.rest()
    before = talk.state()
    target = refusing(talk.target, "coordinator")
    for state, error in STATES.items():
        target.coordinator(state)
        _refused(talk, f"coordinator {state}", error, before)
    target.coordinator("active")
    if not talk.is_member("m1"):
        never("coordinator active", talk.shown(), "the group is as its records say (P2)")
    talk.beat("m1")
    talk.refuses("coordinator asleep", lambda: target.coordinator("asleep"))
    return "In each state heartbeats are refused with its error; active again, the member goes on."


def rights(talk: Talk) -> str:
    """A client that may not READ the group is refused, and changes nothing; with the right it goes on."""
    talk.begin("m1")
    talk.rest()
    before = talk.state()
    target = refusing(talk.target, "rights")
    target.rights(["READ"])
    _refused(talk, "rights without READ", "GROUP_AUTHORIZATION_FAILED", before)
    target.rights([])
    talk.beat("m1")
    talk.refuses("rights without the operation SHOUT", lambda: target.rights(["SHOUT"]))
    return "Without the right to READ heartbeats are refused; with that right the member goes on."


def _refused(talk: Talk, request: str, error: str, before: object) -> None:
    """Check that a good heartbeat and one with a wrong epoch get this error, and that all visible state is as
    before."""
    for wrong in ({}, {"memberEpoch": 77}):
        sent = f"{request}, then a heartbeat" + (" with the epoch 77" if wrong else "")
        body = talk.body(sent, talk.heartbeat("m1", wrong))
        same(sent, body.get("errorCode"), wire.ERROR_CODES[error], f"it is answered with {error} (H5)")
        same(sent, talk.state(), before, "a refused request changes nothing (H5)")
