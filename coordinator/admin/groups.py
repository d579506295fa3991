"""ListGroups and DeleteGroups (D1). KIP-848 leaves both to Kafka, and they behave as in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from coordinator.admin.requests import DeleteRequest, ListRequest
from coordinator.consumer.membership import delete_group
from coordinator.consumer.model import Group, group_state
from coordinator.core.admission import STATES, Authorizer, authorize, check_state, may_see
from coordinator.core.errors import AppendFailed, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.log import with_tombstones
from coordinator.core.step import Env, Result
from coordinator.offsets.handlers import offsets_of_deleted_group
from coordinator.offsets.records import Offsets

CONSUMER: Final = "consumer"
CLASSIC: Final = "classic"
CONNECT: Final = "connect"
SHARE: Final = "share"
TYPES: Final = {CONSUMER: CONSUMER, CLASSIC: CLASSIC, CONNECT: CONNECT, SHARE: SHARE, "generic": CLASSIC}
"""The values of a types filter, and the group type that each value means; `generic` is KIP-848's word for
`classic`."""
GROUP_STATES: Final = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")
"""The states of consumer groups (E5). No group that is listed is Dead."""
STATES_OF_ALL: Final = (*GROUP_STATES, "PreparingRebalance", "CompletingRebalance")
"""The states of consumer groups and of classic groups (C1)."""


def listed_groups(groups: Mapping[str, Group], others: Sequence[Json], offsets: Offsets) -> list[Json]:
    """Every group, sorted by id; `others` are groups of other kinds, as `listed` gives them. A group that has
    committed offsets and nothing else is Kafka's simple group: classic, empty, without a protocol type."""
    every = [listed(group.id, CONSUMER, group_state(group), CONSUMER) for group in groups.values()]
    every += others
    simple = offsets.keys() - {group["groupId"] for group in every}
    every += [listed(group_id, "", "Empty", CLASSIC) for group_id in simple]
    return sorted(every, key=lambda group: str(group["groupId"]))


def listed(group_id: str, protocol: str, state: str, kind: str) -> Json:
    """A group as ListGroups has it."""
    return {"groupId": group_id, "protocolType": protocol, "groupState": state, "groupType": kind}


def list_groups(
    groups: Mapping[str, Group],
    others: Sequence[Json],
    offsets: Offsets,
    request: ListRequest,
    authorizer: Authorizer,
    coordinator_state: str,
) -> Json:
    """ListGroups: the groups that pass both filters and that the client may see (D5).

    Filters ignore case. A word that means nothing lets no group pass, and is no error. A coordinator that no
    longer serves its groups lists none.
    """
    code, _ = STATES[coordinator_state]
    if code:
        moved = code == ErrorCode.NOT_COORDINATOR
        return {"throttleTimeMs": 0, "errorCode": 0 if moved else int(code), "groups": []}
    states = {state.strip().lower() for state in request.states}
    types = {TYPES.get(kind.lower()) for kind in request.types}
    rows = [
        group
        for group in listed_groups(groups, others, offsets)
        if (not request.states or group["groupState"].lower() in states)
        and (not request.types or group["groupType"] in types)
        and may_see(authorizer, request.principal, group["groupId"])
    ]
    return {"throttleTimeMs": 0, "errorCode": 0, "groups": rows}


def deletion(
    env: Env, groups: Mapping[str, Group], offsets: Offsets, group_id: str, now_ms: int
) -> list[Result]:
    """E5 DEAD: the tombstones of an empty group and of all that it has committed.

    Raises RequestRejected where there is no such group, or it has members.
    """
    check_deletion(groups, offsets, group_id)
    group = groups.get(group_id)
    result = Result(group_id) if group is None else delete_group(env, group, now_ms)
    tombstones = offsets_of_deleted_group(offsets, group_id)
    return with_tombstones(tombstones, result, env.config.max_batch_bytes)


def check_deletion(groups: Mapping[str, Any], offsets: Offsets, group_id: str) -> None:
    """DeletionError. Raises RequestRejected where the group does not exist or has members."""
    group = groups.get(group_id)
    if group is None and group_id not in offsets:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} does not exist.")
    if group is not None and group.members:
        raise RequestRejected(ErrorCode.NON_EMPTY_GROUP, f"Group {group_id} has members; stop them first.")


def delete_groups(
    request: DeleteRequest, authorizer: Authorizer, coordinator_state: str, delete: Callable[[str], None]
) -> Json:
    """DeleteGroups: each group on its own, in the order of the request; a group that is named twice is
    deleted once.

    `delete` raises RequestRejected where the group may not be deleted, and AppendFailed where the log
    refuses. The configurations of a group stay (D1).
    """
    results = []
    for group_id in dict.fromkeys(request.group_ids):
        code = ErrorCode.NONE
        try:
            authorize(authorizer, request.principal, "DELETE", group_id)
            check_state(coordinator_state)
            delete(group_id)
        except RequestRejected as rejected:
            code = rejected.code
        except AppendFailed:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        results.append({"groupId": group_id, "errorCode": int(code)})
    return {"throttleTimeMs": 0, "results": results}
