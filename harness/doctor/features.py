"""Features that a target says it lacks: a request that uses such a feature must get an error."""

from __future__ import annotations

from typing import Final

from harness.doctor.talk import FOO, Talk, Wrong
from harness.errors import ConformError
from harness.replay import wire
from harness.replay.features import CLIENT_SIDE, FEATURES, REGEXES, SERVER_SIDE, STATIC, offered
from harness.targets.base import Died, Json, Refused

_OFFER: Final[Json] = {
    "name": "doctor",
    "minimumVersion": 0,
    "maximumVersion": 0,
    "reason": 0,
    "metadataVersion": 0,
    "metadataBytes": "",
}
_USES: Final[dict[str, Json]] = {
    STATIC: {"instanceId": "doctor-i"},
    REGEXES: {"subscribedTopicNames": None, "subscribedTopicRegex": "fo+"},
    CLIENT_SIDE: {"clientAssignors": [_OFFER]},
}


def _join(feature: str) -> Json:
    """The fields of a join that use a feature."""
    return _USES.get(feature) or {"serverAssignor": feature.removeprefix(SERVER_SIDE)}


def lacking(talk: Talk) -> None:
    """Raise Wrong for an unknown feature, and for a feature that the target has although it declares the lack
    of it."""
    try:
        offered(talk.known)
    except ConformError:
        says = f"lacks has names of features: {', '.join(FEATURES)}"
        raise Wrong("hello", sorted(talk.known.lacks), says) from None
    if wire.HEARTBEAT not in wire.served(talk.known):
        return
    if talk.can("topics"):
        talk.target.topics([FOO], [])
    for name in sorted(talk.known.lacks):
        if not refuses(talk, name):
            sent = f"a join that uses {name}, which hello says it lacks"
            raise Wrong(sent, "errorCode 0", "a request that uses what the program lacks gets an error")


def refuses(talk: Talk, feature: str) -> bool:
    """Tell if a join that uses a feature is answered with an error, or refused."""
    try:
        answer = talk.heartbeat("doctor-1", {"memberEpoch": 0, **_join(feature)})
    except Died:
        raise
    except Refused:
        return True
    return bool((answer.body or {}).get("errorCode", 0))
