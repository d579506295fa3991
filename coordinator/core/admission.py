"""Checks before a request is read by its group: may this client do it, and is this the group's coordinator
(H5, D5)?

Rights come first, then the coordinator's state, then the request's validation. Kafka validates a heartbeat
before it checks if the group is loaded or has moved; a client that sends valid requests sees no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, get_args

from coordinator.core import fields
from coordinator.core.errors import BadInput, ErrorCode, RequestRejected
from coordinator.core.fields import Json

Operation = Literal["READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
"""Operations of a client on a group, or on the cluster."""

Authorizer = Callable[[str, Operation, str], bool]
"""The right of a principal to do an operation on the group of this id, or on CLUSTER."""

CLUSTER: Final = ""
"""The resource of rights on the whole cluster: the id of a group is never empty."""

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
"""The states that a shell may put a coordinator into -> the error that answers every request then."""


def allow_everything(principal: str, operation: Operation, group_id: str) -> bool:
    """The authorizer of a coordinator that was given none."""
    return True


def authorize(authorizer: Authorizer, principal: str, operation: Operation, group_id: str) -> None:
    """Raises RequestRejected with GROUP_AUTHORIZATION_FAILED where the principal may not."""
    if not authorizer(principal, operation, group_id):
        raise RequestRejected(
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            f"{principal or 'A client without principal'} needs the right to {operation} group {group_id}.",
        )


def may_see(authorizer: Authorizer, principal: str, group_id: str) -> bool:
    """D5: a client that may DESCRIBE the cluster sees every group in a list; others see the groups that they
    may DESCRIBE."""
    return authorizer(principal, "DESCRIBE", CLUSTER) or authorizer(principal, "DESCRIBE", group_id)


def check_state(state: str) -> None:
    """Raises RequestRejected with the error of a coordinator that is not active."""
    code, message = STATES[state]
    if code:
        raise RequestRejected(code, message)


def known_state(state: str) -> str:
    """`state` itself; BadInput for an unknown state."""
    if state not in STATES:
        raise BadInput(f"there is no coordinator state {state!r}; there are {', '.join(STATES)}")
    return state


class Admission:
    """The coordinator's state, and the rights of clients: those that `authorizer` gives, without those denied
    since."""

    def __init__(self, authorizer: Authorizer, state: str = ACTIVE, denied: Iterable[str] = ()) -> None:
        self._authorizer = authorizer
        self.state = known_state(state)
        self.denied = _known_rights(denied)

    @property
    def active(self) -> bool:
        """Tell if requests are taken and timers run out."""
        return self.state == ACTIVE

    def allows(self, principal: str, operation: Operation, group_id: str) -> bool:
        """The authorizer's answer, where the operation is not denied."""
        return operation not in self.denied and self._authorizer(principal, operation, group_id)

    def admit(self, principal: str, operation: Operation, group_id: str) -> None:
        """Raises RequestRejected where a request is refused before its group is read (H5)."""
        authorize(self.allows, principal, operation, group_id)
        check_state(self.state)

    def deny(self, operations: Iterable[str]) -> None:
        """Deny these operations, and no others. BadInput for an unknown operation."""
        self.denied = _known_rights(operations)

    def volatile(self) -> Json:
        """The state and the denied operations, for `load`; {} where both are as at the start."""
        if self.state == ACTIVE and not self.denied:
            return {}
        return {"coordinator": {"state": self.state, "denied": sorted(self.denied)}}

    def restored(self, volatile: Mapping[str, object]) -> Admission:
        """A new Admission, with the state and the denied operations of `volatile`. BadInput where the JSON is
        malformed."""
        own = fields.mapping(volatile, "coordinator", "volatile") if "coordinator" in volatile else {}
        where = "'coordinator' in volatile"
        fields.known(own, ("state", "denied"), where)
        state = fields.text(own, "state", where) if "state" in own else ACTIVE
        denied = fields.names(own, "denied", where) if "denied" in own else ()
        return Admission(self._authorizer, state, denied)


def _known_rights(operations: Iterable[str]) -> frozenset[str]:
    there, known = frozenset(operations), get_args(Operation)
    if unknown := sorted(there.difference(known)):
        raise BadInput(f"there is no right to {unknown[0]!r}; there are {', '.join(known)}")
    return there
