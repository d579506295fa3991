"""ConnectGroupHeartbeat, ConnectGroupPrepareAssignment and ConnectGroupInstallAssignment (W4), read from
JSON, and the checks that need no group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from coordinator.connect import wire
from coordinator.consumer import validation
from coordinator.consumer.model import ClientAssignor, Partition
from coordinator.consumer.request import JOIN_EPOCH, LEAVE_EPOCH, HeartbeatRequest, client_assignor, client_of
from coordinator.core import fields
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json

EVERY_CONNECTOR: Final = ".*"
"""The subscription of a worker: it takes part in all work."""


class WorkerHeartbeat(NamedTuple):
    """ConnectGroupHeartbeat, read as the heartbeat of a member that subscribes to every connector."""

    group_id: str
    principal: str
    heartbeat: HeartbeatRequest


class PrepareRequest(NamedTuple):
    """ConnectGroupPrepareAssignment."""

    group_id: str
    principal: str
    member_id: str
    member_epoch: int


class AssignorData(NamedTuple):
    """The assignor's data for one worker, beside the worker's part of the target."""

    version: int
    metadata: str


class InstallRequest(NamedTuple):
    """ConnectGroupInstallAssignment. `target` repeats a resource that is given twice, `workers` a worker;
    `assignor_data` has the assignor's data for each worker."""

    group_id: str
    principal: str
    member_id: str
    member_epoch: int
    group_epoch: int
    error: int
    target: tuple[tuple[str, Partition], ...]
    workers: tuple[str, ...]
    assignor_data: Mapping[str, AssignorData]


ConnectRequest = WorkerHeartbeat | PrepareRequest | InstallRequest

_HEARTBEAT: Final = (
    *("groupId", "memberId", "memberEpoch", "instanceId", "rebalanceTimeoutMs"),
    *("serverAssignor", "clientAssignors", "connectorsAndTasks"),
)
_CALL: Final = ("groupId", "memberId", "memberEpoch")


def _heartbeat(body: Mapping[str, Any], client: tuple[str, str, str]) -> WorkerHeartbeat:
    where = "ConnectGroupHeartbeat"
    fields.known(body, _HEARTBEAT, where)
    epoch = _int32({"memberEpoch": -1, **body}, "memberEpoch", where)
    assignors, owned = body.get("clientAssignors"), body.get("connectorsAndTasks")
    resources = [] if owned is None else wire.resources_given(owned, "connectorsAndTasks")
    heartbeat = HeartbeatRequest(
        fields.text(body, "groupId", where),
        fields.text(body, "memberId", where),
        epoch,
        fields.optional_text(body, "instanceId", where),
        None,
        _int32({"rebalanceTimeoutMs": -1, **body}, "rebalanceTimeoutMs", where),
        None,
        EVERY_CONNECTOR if epoch == JOIN_EPOCH else None,
        fields.optional_text(body, "serverAssignor", where),
        None
        if assignors is None
        else tuple(assignor_given(one) for one in fields.items(body, "clientAssignors", where)),
        None if owned is None else frozenset(resources),
        *client,
        [],
        resources,
    )
    return WorkerHeartbeat(heartbeat.group_id, heartbeat.principal, heartbeat)


def assignor_given(given: object) -> ClientAssignor:
    """A worker's offer of an assignor: the draft has other names for its version and metadata."""
    return client_assignor(given, version="version", metadata="metadata")


def _prepare(body: Mapping[str, Any], client: tuple[str, str, str]) -> PrepareRequest:
    where = "ConnectGroupPrepareAssignment"
    fields.known(body, _CALL, where)
    return PrepareRequest(*_caller(body, client, where))


def _caller(body: Mapping[str, Any], client: tuple[str, str, str], where: str) -> tuple[str, str, str, int]:
    member_id = fields.text(body, "memberId", where)
    return fields.text(body, "groupId", where), client[2], member_id, _int32(body, "memberEpoch", where)


def _install(body: Mapping[str, Any], client: tuple[str, str, str]) -> InstallRequest:
    where = "ConnectGroupInstallAssignment"
    fields.known(body, (*_CALL, "groupEpoch", "error", "members"), where)
    target: list[tuple[str, Partition]] = []
    workers: list[str] = []
    assignor_data: dict[str, AssignorData] = {}
    for entry in fields.items(body, "members", where):
        member = fields.as_object(entry, f"a member of {where}")
        fields.known(
            member, ("memberId", "connectorsAndTasks", "version", "metadata"), f"a member of {where}"
        )
        name = fields.text(member, "memberId", where)
        resources = wire.resources_given(
            member.get("connectorsAndTasks", []), f"connectorsAndTasks of {name!r}"
        )
        target += [(name, resource) for resource in resources]
        workers.append(name)
        assignor_data[name] = _assignor_data(member, f"the metadata of {name!r}")
    error = fields.integer({"error": 0, **body}, "error", where, None, 8)
    epoch = _int32(body, "groupEpoch", where)
    named = tuple(workers), assignor_data
    return InstallRequest(*_caller(body, client, where), epoch, error, tuple(target), *named)


def _assignor_data(member: Mapping[str, Any], where: str) -> AssignorData:
    version = fields.integer({"version": 0, **member}, "version", where, None)
    metadata = fields.text({"metadata": "", **member}, "metadata", where)
    return AssignorData(fields.fits(version, 16, "version", where), metadata)


def _int32(body: Mapping[str, Any], name: str, where: str) -> int:
    return fields.integer(body, name, where, None, 32)


_PARSERS: Final[dict[str, Callable[[Mapping[str, Any], tuple[str, str, str]], ConnectRequest]]] = {
    "ConnectGroupHeartbeat": _heartbeat,
    "ConnectGroupPrepareAssignment": _prepare,
    "ConnectGroupInstallAssignment": _install,
}
CONNECT_APIS: Final = {api: (0, 0) for api in _PARSERS}
"""Name of each API -> first and last version."""


def parse_connect(api: str, client: Mapping[str, Any], body: Json) -> ConnectRequest:
    """The parsed request; BadInput for what the schema cannot express."""
    return _PARSERS[api](body, client_of(client))


def validate(request: ConnectRequest, waits: bool) -> None:
    """W4, H3, H4. Raises RequestRejected with INVALID_REQUEST or UNSUPPORTED_ASSIGNOR. For a worker that
    waits for its first target, epoch 0 is not the first heartbeat: it leaves unchanged fields out (H7)."""
    if not isinstance(request, WorkerHeartbeat):
        if not request.group_id or not request.member_id or request.member_epoch < 0:
            sentence = "GroupId and MemberId must be given, and a MemberEpoch from 0 on."
            raise RequestRejected(ErrorCode.INVALID_REQUEST, sentence)
        return
    heartbeat = request.heartbeat
    for clause in _INVALID:
        if clause is validation.join_lacks_rebalance_timeout and waits:
            continue
        if (problem := clause(heartbeat)) is not None:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, problem)
    if heartbeat.server_assignor is not None:
        sentence = "A Connect group has no server side assignor; offer ClientAssignors."
        raise RequestRejected(ErrorCode.UNSUPPORTED_ASSIGNOR, sentence)


def member_id_missing(request: HeartbeatRequest) -> str | None:
    """W4: MemberId must be non-empty, also on the first join."""
    return None if request.member_id else "MemberId is empty; a worker gives its own id."


def member_epoch_too_low(request: HeartbeatRequest) -> str | None:
    """W4: MemberEpoch >= -1, with an instance id, too."""
    if request.member_epoch >= LEAVE_EPOCH:
        return None
    return f"MemberEpoch is {request.member_epoch}; send -1, 0 or the epoch of the last response."


def resource_repeated(request: HeartbeatRequest) -> str | None:
    """H3: the heartbeat names each owned connector or task once."""
    if len(request.topic_partitions) == len(request.owned or ()):
        return None
    return "ConnectorsAndTasks names a connector or task twice; name each once."


_INVALID: Final = (
    validation.group_id_empty,
    member_id_missing,
    member_epoch_too_low,
    validation.instance_id_empty,
    validation.join_lacks_rebalance_timeout,
    validation.rebalance_timeout_not_positive,
    validation.text_too_long,
    validation.server_and_client_assignors,
    validation.assignor_name_empty,
    validation.client_assignor_repeated,
    validation.minimum_version_too_low,
    validation.maximum_version_too_low,
    validation.metadata_version_outside,
    resource_repeated,
)
