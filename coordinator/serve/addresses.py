"""Answers of a broker that name brokers or versions, rewritten for a client behind a proxy: with the proxy's
own listeners, and without versions that the proxy could not follow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from coordinator.core.fields import Json
from coordinator.serve.frames import NUMBERS, Head, Malformed, answer_frame, read_answer

Listener: TypeAlias = Callable[[str, int], Awaitable[tuple[str, int]]]
"""Gives the address at which this client reaches the broker of a host and port."""

API_VERSIONS: Final = NUMBERS["ApiVersions"]
REWRITTEN: Final = {
    NUMBERS[name] for name in ("ApiVersions", "Metadata", "FindCoordinator", "DescribeCluster")
}
FOLLOWED: Final = {
    NUMBERS["ApiVersions"]: (0, 4),
    NUMBERS["Metadata"]: (0, 13),
    NUMBERS["FindCoordinator"]: (0, 6),
    NUMBERS["DescribeCluster"]: (0, 2),
    NUMBERS["Produce"]: (0, 9),
    NUMBERS["Fetch"]: (0, 15),
}
"""The versions of an API that are let through. Answers of newer versions of Produce and Fetch name brokers,
and are passed on unread."""
HIDDEN: Final = frozenset({NUMBERS["ShareFetch"], NUMBERS["ShareAcknowledge"]})
"""APIs whose answers name brokers in every version."""
UNSUPPORTED_VERSION: Final = 35


def read_versions(version: int, answer: bytes) -> Json:
    """The body of an answer to ApiVersions, which is of version 0 where the broker has no such version."""
    if int.from_bytes(answer[4:6], "big") == UNSUPPORTED_VERSION:
        version = 0
    return read_answer(API_VERSIONS, version, answer)


async def rewritten(
    head: Head, answer: bytes, listener: Listener, followed: Mapping[int, tuple[int, int]]
) -> bytes:
    """The answer for the client; `followed` has the versions of more APIs that are let through. Malformed for
    an answer that cannot be read."""
    if head.key == API_VERSIONS:
        body = read_versions(head.version, answer)
        version = 0 if body["errorCode"] == UNSUPPORTED_VERSION else head.version
        keys = [lowered for one in body["apiKeys"] if (lowered := _lowered(one, followed)) is not None]
        return answer_frame(Head(head.key, version, head.correlation_id), {**body, "apiKeys": keys})
    first, last = FOLLOWED[head.key]
    if not first <= head.version <= last:
        raise Malformed(f"API {head.key} has the versions {first} to {last} here, not {head.version}")
    body = read_answer(head.key, head.version, answer)
    for name in ("brokers", "coordinators"):
        if name in body:
            body[name] = [await _at_listener(one, listener) for one in body[name]]
    return answer_frame(head, await _at_listener(body, listener))


def _lowered(offered: Json, followed: Mapping[int, tuple[int, int]]) -> Json | None:
    known = {**FOLLOWED, **followed}
    first, last = known.get(offered["apiKey"], (0, offered["maxVersion"]))
    first, last = max(first, offered["minVersion"]), min(last, offered["maxVersion"])
    if offered["apiKey"] in HIDDEN or first > last:
        return None
    return {**offered, "minVersion": first, "maxVersion": last}


async def _at_listener(named: Json, listener: Listener) -> Json:
    """An object with host and port; a broker that is not there has neither, and stays as it is."""
    if not named.get("host") or not 0 < named.get("port", 0) < 1 << 16:
        return named
    host, port = await listener(named["host"], named["port"])
    return {**named, "host": host, "port": port}
