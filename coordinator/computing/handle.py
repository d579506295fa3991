"""The two requests of a member that computes the target of its group, and their errors."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.computing.install import install_assignment
from coordinator.computing.model import Json
from coordinator.computing.prepare import install_error, prepare_assignment, prepare_error
from coordinator.computing.request import ComputeRequest, PrepareRequest
from coordinator.consumer.model import Group
from coordinator.core.errors import ErrorCode
from coordinator.core.step import Env, Result


def compute(env: Env, group: Group | None, request: ComputeRequest, now_ms: int) -> Result:
    """Handle one request of a computing member to one group (None where the group does not exist). Raises
    RequestRejected."""
    if isinstance(request, PrepareRequest):
        return prepare_assignment(env, group, request, now_ms)
    return install_assignment(env, group, request, now_ms)


def compute_error(request: ComputeRequest) -> Callable[[ErrorCode, str], Json]:
    """The function that makes the response of a refusal."""
    return prepare_error if isinstance(request, PrepareRequest) else install_error
