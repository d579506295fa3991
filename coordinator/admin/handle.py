"""Dispatch of administrative requests to their handlers (D1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from coordinator.admin.configs import alter_configs, describe_configs
from coordinator.admin.groups import delete_groups, list_groups
from coordinator.admin.requests import AdminRequest, AlterRequest, DeleteRequest, ListRequest
from coordinator.consumer.model import Group
from coordinator.core.admission import Authorizer
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.offsets.records import Offsets


def administer(
    request: AdminRequest,
    env: Env,
    every: tuple[Mapping[str, Group], Sequence[Json], Offsets],
    authorizer: Authorizer,
    state: str,
    delete: Callable[[str], None],
    set_configs: Callable[[Json], None],
) -> Json:
    """The response. `every` has the consumer groups, the listed groups of other kinds, and the offsets;
    `state` is the coordinator's state."""
    if isinstance(request, ListRequest):
        return list_groups(*every, request, authorizer, state)
    if isinstance(request, DeleteRequest):
        return delete_groups(request, authorizer, state, delete)
    if isinstance(request, AlterRequest):
        return alter_configs(env, request, authorizer, set_configs)
    return describe_configs(env, request, authorizer)
