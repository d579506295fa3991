"""Client-side assignors (A5-A10) on the wire: handlers of their actions, and the expected responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from harness.kinds.consumer.state import SpecState
from harness.kinds.features.admin import Handler
from harness.kinds.features.computing_state import NOBODY, Base, ClientStep, Computation, Offer
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, SendRequest
from harness.targets.base import Json


def _of(state: SpecState) -> ClientStep:
    if state.step.client is None:
        raise ValueError(f"a step {state.step.action} is in a trace without the variable clientStep")
    return state.step.client


def _prepare(before: SpecState, after: SpecState) -> Call:
    """A5, A9: the member requests the input of its assignor."""
    computation = after.group.computation
    if after.step.response.error == "NONE" and (
        computation.base is None or computation.chosen != after.step.member
    ):
        raise ValueError(f"{after.step.member} prepares, but nothing is prepared for it")
    return SendRequest(wire.PREPARE, wire.client(after.step.member), _head(after))


def _install(before: SpecState, after: SpecState) -> Call:
    """A6, A7: the assignment, with metadata for each member; for all members that were prepared, and for
    further named ones."""
    carried, base = _of(after), before.group.computation.base
    if after.step.response.error == "NONE" and base is None:
        raise ValueError(f"{after.step.member} installs, but nothing was prepared for it")
    named = {name for name, _ in carried.assignment}
    known = set() if base is None or carried.error else set(base.members)
    members = [
        {
            "memberId": name,
            "partitions": wire.topic_partitions(p for owner, p in carried.assignment if owner == name),
            "metadataVersion": int(bool(carried.metadata)),
            "metadataBytes": carried.metadata,
        }
        for name in sorted(named | known)
    ]
    carries = {"groupEpoch": carried.group_epoch, "error": carried.error, "members": members}
    return SendRequest(wire.INSTALL, wire.client(after.step.member), {**_head(after), **carries})


def _head(after: SpecState) -> Json:
    request = after.step.request
    return {"groupId": wire.GROUP, "memberId": request.member, "memberEpoch": request.epoch}


def _timeout(before: SpecState, after: SpecState) -> Call:
    """A5: no assignment was installed in time."""
    computation = before.group.computation
    if not computation.notified or computation.chosen != after.step.member:
        raise ValueError(f"the computation of {after.step.member} runs out, but it was not told to compute")
    return FireTimer("computation", after.step.member)


HANDLERS: Final[Mapping[str, Handler]] = {
    "PrepareAssignment": _prepare,
    "InstallAssignment": _install,
    "ComputationTimeout": _timeout,
}


def _error(after: SpecState) -> Json:
    code = wire.ERROR_CODES[after.step.response.error]
    return {"throttleTimeMs": 0, "errorCode": code, "errorMessage": None}


def _prepared(after: SpecState) -> Json:
    base = after.group.computation.base
    if after.step.response.error != "NONE" or base is None:
        nothing: Json = {"groupEpoch": 0, "assignorName": "", "members": [], "topics": []}
        return {**_error(after), **nothing}
    return prepared_body(base)


def prepared_body(base: Base) -> Json:
    """The answer of PrepareAssignment (A10)."""
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "groupEpoch": base.epoch,
        "assignorName": base.assignor,
        "members": [
            {
                "memberId": name,
                "memberEpoch": member.epoch,
                "instanceId": member.instance or None,
                "rackId": None,
                "subscribedTopicIds": sorted(map(wire.topic_id, member.topics)),
                "assignor": {
                    "reason": member.offer.reason,
                    "metadataVersion": member.offer.version,
                    "metadataBytes": member.offer.metadata,
                },
                "topicPartitions": wire.topic_partitions(base.targets.get(name, ())),
            }
            for name, member in base.members.items()
        ],
        "topics": wire.metadata(base.metadata),
    }


RESPONSES: Final[Mapping[str, Callable[[SpecState], Json]]] = {
    "PrepareAssignment": _prepared,
    "InstallAssignment": _error,
}
"""The body of the response of each action."""


def shown(computation: Computation) -> Json:
    """The computation in the form of a description of the group."""
    if computation == NOBODY:
        return {}
    of = {"notified": computation.notified, **_common(computation)}
    return {"computation": of}


def volatile(computation: Computation, timers: Iterable[Json]) -> Json:
    """The computation in the form of `load`, with its deadline among the armed `timers`."""
    if computation == NOBODY:
        return {}
    deadlines = [timer["deadlineMs"] for timer in timers if timer["timer"] == "computation"]
    return {"computation": {"deadlineMs": next(iter(deadlines), None), **_common(computation)}}


def _common(computation: Computation) -> Json:
    return {
        "chosen": computation.chosen,
        "tried": sorted(computation.tried),
        "prepared": None if computation.base is None else prepared_body(computation.base),
    }


def offered(offer: Offer) -> Json:
    """A client-side assignor in a request (H10)."""
    return {
        "name": offer.name,
        "minimumVersion": offer.least,
        "maximumVersion": offer.most,
        "reason": offer.reason,
        "metadataVersion": offer.version,
        "metadataBytes": offer.metadata,
    }


def recorded(offer: Offer) -> Json:
    """An offer in the form of its member's record (P1): the schema of records has other names."""
    request = offered(offer)
    version, metadata = request.pop("metadataVersion"), request.pop("metadataBytes")
    return {**request, "version": version, "metadata": metadata}
