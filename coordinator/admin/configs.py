"""The configurations of groups (D1, D3): IncrementalAlterConfigs and DescribeConfigs of the resource GROUP.

The configurations belong to the cluster, not to the group: they may exist before the group, and stay when the
group is deleted, so they are no records of the group. In the log they stand beside changes of topics
(log.py). A change takes effect with the next use: the next response has the new heartbeat interval, the next
heartbeat arms the session with its new time-out.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from coordinator.admin.requests import (
    DELETE,
    OPERATIONS,
    SET,
    AlteredResource,
    AlterRequest,
    ConfigChange,
    DescribeConfigsRequest,
    DescribedResource,
)
from coordinator.consumer.validation import MAX_TEXT_BYTES, is_too_long
from coordinator.core import fields
from coordinator.core.admission import CLUSTER, Authorizer, authorize
from coordinator.core.config import (
    ASSIGNORS,
    CONFIG_NAMES,
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    Config,
    out_of_bounds,
)
from coordinator.core.errors import AppendFailed, BadInput, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, GroupConfigs

BROKER: Final = 4
GROUP: Final = 16
"""Kafka's numbers of resource types."""
MOST_CONFIGURED: Final = 10_000
"""The most groups that have configurations of their own: a group need not exist for that, and a client could
otherwise grow the coordinator."""
MOST_DESCRIBED: Final = 1_000
"""The most resources that one DescribeConfigs describes: a frame may name a hundred times as many, and each
answer is a hundred times as long as its name."""

GROUP_CONFIG: Final = 8
STATIC_BROKER_CONFIG: Final = 4
DEFAULT_CONFIG: Final = 5
"""Kafka's numbers of the sources of a value."""
_INT: Final = 3
_LIST: Final = 7
"""Kafka's numbers of types of values."""

NAMES: Final = {SESSION_TIMEOUT: "session_timeout_ms", HEARTBEAT_INTERVAL: "heartbeat_interval_ms"}
"""Name of each configuration that a group may have -> field of Config."""
BROKER_NAMES: Final = (
    "group.coordinator.threads",
    SESSION_TIMEOUT,
    "group.consumer.min.session.timeout.ms",
    "group.consumer.max.session.timeout.ms",
    HEARTBEAT_INTERVAL,
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.max.heartbeat.interval.ms",
    "group.consumer.max.size",
    ASSIGNORS,
)
"""The configurations of the broker that KIP-848 has (D3)."""

_DOCUMENTATION: Final = {
    "group.coordinator.threads": "The number of threads that run the coordinator.",
    SESSION_TIMEOUT: "How long a member may be silent before it is removed, in milliseconds.",
    "group.consumer.min.session.timeout.ms": "The least session timeout.",
    "group.consumer.max.session.timeout.ms": "The largest session timeout.",
    HEARTBEAT_INTERVAL: "How often members are told to send heartbeats, in milliseconds.",
    "group.consumer.min.heartbeat.interval.ms": "The least heartbeat interval.",
    "group.consumer.max.heartbeat.interval.ms": "The largest heartbeat interval.",
    "group.consumer.max.size": "The most members that a group may have.",
    ASSIGNORS: "The server side assignors, the default first.",
}


def known_name(name: str) -> str:
    """The configuration of a group by KIP-848's name. Kafka's own name leaves `group.` out and means the
    same."""
    return f"group.{name}" if f"group.{name}" in NAMES else name


def changed_configs(configs: GroupConfigs, change: object) -> GroupConfigs:
    """The configurations after an entry of the log, {"group": id, "values": {name: number}}: all values that
    the group has from then on. A list has several of them, of several groups."""
    where = "a change of configurations"
    after = dict(configs)
    for one in change if isinstance(change, list) else [change]:
        source = fields.as_object(one, where)
        fields.known(source, ("group", "values"), where)
        group_id, values = fields.text(source, "group", where), fields.mapping(source, "values", where)
        fields.known(values, NAMES, where)
        if not group_id:
            raise BadInput(f"{where} has an empty 'group', which is no group")
        after.pop(group_id, None)
        if values:
            after[group_id] = {name: fields.integer(values, name, where, 1, 32) for name in values}
    return after


def alter_configs(
    env: Env, request: AlterRequest, authorizer: Authorizer, take: Callable[[Json], None]
) -> Json:
    """IncrementalAlterConfigs: each resource on its own, with all of its changes or none.

    `take` makes the changes of all groups durable at once, and raises AppendFailed where the log refuses
    them. Groups that stay as they are are not among them: the log would grow with each.
    """
    times = Counter((resource.type, resource.name) for resource in request.resources)
    changed: dict[str, Mapping[str, int]] = {}
    responses, number = [], len(env.group_configs)
    for resource in request.resources:
        code, message = ErrorCode.NONE, None
        try:
            if times[resource.type, resource.name] > 1:
                raise _invalid("Each resource must be given once.")
            values = _altered(env, resource, request.principal, authorizer)
            if values != env.group_configs.get(resource.name, {}):
                if resource.name not in env.group_configs:
                    _check_number(number + 1)
                    number += 1
                changed[resource.name] = values
        except RequestRejected as rejected:
            code, message = rejected.code, rejected.message
        responses.append(
            {
                "errorCode": int(code),
                "errorMessage": message,
                "resourceType": resource.type,
                "resourceName": resource.name,
            }
        )
    if changed and not request.validate_only:
        try:
            take({"configs": _change_of(changed)})
        except AppendFailed as refused:
            unknown = int(ErrorCode.UNKNOWN_SERVER_ERROR)
            error: Json = {"errorCode": unknown, "errorMessage": refused.sentence}
            for response in responses:
                if not response["errorCode"] and response["resourceName"] in changed:
                    response |= error
    return {"throttleTimeMs": 0, "responses": responses}


def _change_of(changed: Mapping[str, Mapping[str, int]]) -> Json | list[Json]:
    """The entry of the log: a list only where there are several groups."""
    changes = [{"group": group_id, "values": dict(values)} for group_id, values in changed.items()]
    return changes[0] if len(changes) == 1 else changes


def _check_number(number: int) -> None:
    """Raises RequestRejected where so many groups would have configurations of their own, which outlive
    them."""
    if number > MOST_CONFIGURED:
        raise _wrong(
            f"At most {MOST_CONFIGURED} groups have configurations of their own; delete those of others."
        )


def _altered(
    env: Env, resource: AlteredResource, principal: str, authorizer: Authorizer
) -> Mapping[str, int]:
    """The configurations of the group after the changes. Raises RequestRejected."""
    if resource.type != GROUP:
        raise _invalid("Only configurations of groups can be changed here; name the resource type GROUP.")
    authorize(authorizer, principal, "ALTER_CONFIGS", resource.name)
    _check_group_id(resource.name)
    names = [known_name(change.name) for change in resource.changes]
    times = Counter(names)
    values = dict(env.group_configs.get(resource.name, {}))
    for name, change in zip(names, resource.changes, strict=True):
        if times[name] > 1:
            raise _invalid(f"Configuration {name} is given twice.")
        if change.operation == SET:
            values[name] = _value(name, change)
        elif change.operation == DELETE:
            values.pop(name, None)
        elif change.operation in OPERATIONS:
            raise _wrong(f"{OPERATIONS[change.operation]} is for lists, which {name} is not; use SET.")
        else:
            raise _invalid(f"There is no configuration operation {change.operation}.")
    problem = out_of_bounds(overridden(env.config, values))
    if problem is not None:
        raise _wrong(f"{problem}.")
    return values


def _value(name: str, change: ConfigChange) -> int:
    if change.value is None:
        raise _invalid(f"The value of {name} is null; DELETE it to have the broker's.")
    if name not in NAMES:
        raise _wrong(f"A group has no configuration {name}; it has {', '.join(NAMES)}.")
    text = change.value.strip()
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
    if not 1 <= value < 2**31:
        raise _wrong(f"{name} is a number of milliseconds from 1, not {fields.shown(change.value)}.")
    return value


def overridden(config: Config, values: Mapping[str, int]) -> Config:
    """The broker's configuration with the values that the group has of its own in their place."""
    return dataclasses.replace(config, **{NAMES[name]: value for name, value in values.items()})


def describe_configs(env: Env, request: DescribeConfigsRequest, authorizer: Authorizer) -> Json:
    """DescribeConfigs of groups, whether or not they exist, and of the broker (D3). A resource that is given
    several times is answered once."""
    results = []
    for number, resource in enumerate(_merged(request.resources)):
        code, message, configs = ErrorCode.NONE, None, []
        try:
            if number >= MOST_DESCRIBED:
                raise _invalid(f"At most {MOST_DESCRIBED} resources are described at once.")
            configs = list(_described(env, request, resource, authorizer))
        except RequestRejected as rejected:
            code, message = rejected.code, rejected.message
        results.append(
            {
                "errorCode": int(code),
                "errorMessage": message,
                "resourceType": resource.type,
                "resourceName": resource.name,
                "configs": configs,
            }
        )
    return {"throttleTimeMs": 0, "results": results}


def _merged(resources: Iterable[DescribedResource]) -> list[DescribedResource]:
    """Each resource once, with all names of configurations that it is given with."""
    merged: dict[tuple[int, str], dict[str, None] | None] = {}
    for one in resources:
        key, names = (one.type, one.name), one.names or None
        known = merged.setdefault(key, {})
        if names is None or known is None:  # all configurations
            merged[key] = None
        else:
            known.update(dict.fromkeys(names))
    return [DescribedResource(*key, None if names is None else list(names)) for key, names in merged.items()]


def _described(
    env: Env, request: DescribeConfigsRequest, resource: DescribedResource, authorizer: Authorizer
) -> Iterator[Json]:
    wanted = None if not resource.names else {known_name(name) for name in resource.names}
    if resource.type == GROUP:
        authorize(authorizer, request.principal, "DESCRIBE_CONFIGS", resource.name)
        _check_group_id(resource.name)
        own = env.group_configs.get(resource.name, {})
        for name, field in NAMES.items():
            if wanted is None or name in wanted:
                broker = _broker_value(env, name, field)
                values = [(GROUP_CONFIG, str(own[name]))] if name in own else []
                yield {**_entry(request, name, [*values, broker]), "readOnly": False}
    elif resource.type == BROKER:
        if not authorizer(request.principal, "DESCRIBE_CONFIGS", CLUSTER):
            raise RequestRejected(
                ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
                f"{request.principal or 'A client without principal'} may not see the configuration.",
            )
        for name in BROKER_NAMES:
            if wanted is None or name in wanted:
                value = _broker_value(env, name, CONFIG_NAMES.get(name))
                yield {**_entry(request, name, [value]), "readOnly": True}
    else:
        raise _invalid("Such a resource is not here; name the resource type GROUP or BROKER.")


def _broker_value(env: Env, name: str, field: str | None) -> tuple[int, str]:
    """Where the broker's value comes from, and the value."""
    if field is None:
        value, default = ",".join(env.assignors), "uniform,range"
    else:
        value, default = str(getattr(env.config, field)), str(getattr(Config(), field))
    return (DEFAULT_CONFIG if value == default else STATIC_BROKER_CONFIG), value


def _entry(request: DescribeConfigsRequest, name: str, values: list[tuple[int, str]]) -> Json:
    """A configuration with its sources and values in the order of precedence: the first value is used, the
    next would be used without the first."""
    synonyms = [{"name": name, "value": value, "source": source} for source, value in values]
    return {
        "name": name,
        "value": values[0][1],
        "configSource": values[0][0],
        "isSensitive": False,
        "synonyms": synonyms if request.synonyms else [],
        "configType": _LIST if name == ASSIGNORS else _INT,
        "documentation": _DOCUMENTATION[name] if request.documentation else None,
    }


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise _invalid("The name of the group is empty; there are no configurations of all groups.")
    if is_too_long(group_id):
        raise _invalid(f"The name of the group is longer than {MAX_TEXT_BYTES} bytes; shorten it.")


def _invalid(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.INVALID_REQUEST, message)


def _wrong(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.INVALID_CONFIG, message)
