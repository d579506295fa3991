"""Checks before a request itself: may this client do it, and is this the group's coordinator (H5, D5)?

Rights come first, then the coordinator's state, then the request's validation, as brokers do it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal, get_args

from coordinator.core.errors import BadInput, ErrorCode, RequestRejected

Operation = Literal["READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
"""Operations of a client on a group, or on the cluster."""

Authorizer = Callable[[str, Operation, str], bool]
"""May this principal do this operation on the group of this id, or on CLUSTER?"""

CLUSTER: Final = ""
"""The resource that is no group: the id of a group is never empty."""

ACTIVE: Final = "active"

STATES: Final[dict[str, tuple[ErrorCode, str]]] = {
    ACTIVE: (ErrorCode.NONE, ""),
    "loading": (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        "This coordinator still loads its groups; send the request again in a moment.",
    ),
    "moved": (
        ErrorCode.NOT_COORDINATOR,
        "This is not the coordinator of the group any more; look it up and send the request there.",
    ),
    "unavailable": (
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        "This coordinator is not available; look the group's coordinator up and try again.",
    ),
}
"""The states that a shell may put a coordinator into, and what it answers to every request then."""


def allow_everything(principal: str, operation: Operation, group_id: str) -> bool:
    """The authorizer of a coordinator that was given none."""
    return True


def denying(authorizer: Authorizer, operations: Collection[str]) -> Authorizer:
    """An authorizer that denies every client these operations, and asks the other one for the rest.

    BadInput for an operation that there is not.
    """
    known = get_args(Operation)
    for operation in operations:
        if operation not in known:
            raise BadInput(f"there is no right to {operation!r}; there are {', '.join(known)}")
    denied = frozenset(operations)
    return lambda principal, operation, group_id: (
        operation not in denied and authorizer(principal, operation, group_id)
    )


def authorize(authorizer: Authorizer, principal: str, operation: Operation, group_id: str) -> None:
    """Raises RequestRejected with GROUP_AUTHORIZATION_FAILED where the principal may not."""
    if not authorizer(principal, operation, group_id):
        raise RequestRejected(
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            f"{principal or 'A client without principal'} needs the right to {operation} group {group_id}.",
        )


def may_see(authorizer: Authorizer, principal: str, group_id: str) -> bool:
    """D5: who may DESCRIBE the cluster sees every group in a list, others those that they may DESCRIBE."""
    return authorizer(principal, "DESCRIBE", CLUSTER) or authorizer(principal, "DESCRIBE", group_id)


def check_state(state: str) -> None:
    """Raises RequestRejected with the error of a coordinator that is not active."""
    code, message = STATES[state]
    if code:
        raise RequestRejected(code, message)


def known_state(state: str) -> str:
    """`state` itself; BadInput for one that there is not."""
    if state not in STATES:
        raise BadInput(f"there is no coordinator state {state!r}; there are {', '.join(STATES)}")
    return state
