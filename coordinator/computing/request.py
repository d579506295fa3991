"""ConsumerGroupPrepareAssignment and ConsumerGroupInstallAssignment (A10), read from JSON.

A value that the schema cannot express is BadInput; a request that a client can send is judged by the
handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from coordinator.consumer.model import Partition
from coordinator.consumer.request import client_of
from coordinator.core import fields, wire

PREPARE: Final = "ConsumerGroupPrepareAssignment"
INSTALL: Final = "ConsumerGroupInstallAssignment"


class PrepareRequest(NamedTuple):
    """The request of the member that was chosen to compute."""

    group_id: str
    member_id: str
    member_epoch: int
    principal: str


class MemberAssignment(NamedTuple):
    """One member's part of an assignment, as the request has it."""

    member_id: str
    partitions: list[Partition]
    metadata_version: int
    metadata_bytes: str


class InstallRequest(NamedTuple):
    """The assignment that the member computed; `error` is not 0 where its assignor failed."""

    group_id: str
    member_id: str
    member_epoch: int
    group_epoch: int
    error: int
    members: list[MemberAssignment]
    principal: str


ComputeRequest = PrepareRequest | InstallRequest


def parse_prepare(client: Mapping[str, Any], body: Mapping[str, Any]) -> PrepareRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    fields.known(body, ("groupId", "memberId", "memberEpoch"), PREPARE)
    return PrepareRequest(*_head(body, PREPARE), client_of(client)[2])


def parse_install(client: Mapping[str, Any], body: Mapping[str, Any]) -> InstallRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    names = ("groupId", "memberId", "memberEpoch", "groupEpoch", "error", "members")
    fields.known(body, names, INSTALL)
    members = [_member(entry) for entry in fields.items({"members": [], **body}, "members", INSTALL)]
    epoch = fields.integer(body, "groupEpoch", INSTALL, None, 32)
    error = fields.integer({"error": 0, **body}, "error", INSTALL, None, 8)
    return InstallRequest(*_head(body, INSTALL), epoch, error, members, client_of(client)[2])


def _head(body: Mapping[str, Any], where: str) -> tuple[str, str, int]:
    epoch = fields.integer(body, "memberEpoch", where, None, 32)
    return fields.text(body, "groupId", where), fields.text(body, "memberId", where), epoch


def _member(value: object) -> MemberAssignment:
    where = f"a member of {INSTALL}"
    source = fields.as_object(value, where)
    fields.known(source, ("memberId", "partitions", "metadataVersion", "metadataBytes"), where)
    version = fields.integer({"metadataVersion": 0, **source}, "metadataVersion", where, None)
    return MemberAssignment(
        fields.text(source, "memberId", where),
        wire.partitions_given(fields.items(source, "partitions", where), f"the partitions of {where}"),
        fields.fits(version, 16, "metadataVersion", where),
        fields.text({"metadataBytes": "", **source}, "metadataBytes", where),
    )


PARSERS: Final[dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], ComputeRequest]]] = {
    PREPARE: parse_prepare,
    INSTALL: parse_install,
}
