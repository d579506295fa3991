"""The requests of administration (D1): ListGroups, DeleteGroups, IncrementalAlterConfigs, DescribeConfigs.

Each request is read in the last version that KIP-848 or today's Kafka has; BadInput for a value that no
schema can express.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from coordinator.consumer.request import client_of
from coordinator.core import fields


class ListRequest(NamedTuple):
    """ListGroups, version 5; an empty filter lets every group pass."""

    states: list[str]
    types: list[str]
    principal: str


class DeleteRequest(NamedTuple):
    """DeleteGroups, version 2."""

    group_ids: list[str]
    principal: str


class ConfigChange(NamedTuple):
    """One change of a configuration; `operation` is one of OPERATIONS, or a number that Kafka does not
    know."""

    name: str
    operation: int
    value: str | None


class AlteredResource(NamedTuple):
    """A resource and the changes of its configurations; GROUP is the type that can be changed."""

    type: int
    name: str
    changes: list[ConfigChange]


class AlterRequest(NamedTuple):
    """IncrementalAlterConfigs, version 1."""

    resources: list[AlteredResource]
    validate_only: bool
    principal: str


class DescribedResource(NamedTuple):
    """A resource whose configurations are requested; without names all configurations are."""

    type: int
    name: str
    names: list[str] | None


class DescribeConfigsRequest(NamedTuple):
    """DescribeConfigs, version 4."""

    resources: list[DescribedResource]
    synonyms: bool
    documentation: bool
    principal: str


AdminRequest = ListRequest | DeleteRequest | AlterRequest | DescribeConfigsRequest

SET: Final = 0
DELETE: Final = 1
OPERATIONS: Final = {SET: "SET", DELETE: "DELETE", 2: "APPEND", 3: "SUBTRACT"}
"""Kafka's number of each operation on a configuration."""


def parse_list_groups(client: Mapping[str, Any], body: Mapping[str, Any]) -> ListRequest:
    """The request of a body of ListGroups."""
    where = "ListGroups"
    fields.known(body, ("statesFilter", "typesFilter"), where)
    states = fields.names(body, "statesFilter", where) if "statesFilter" in body else []
    types = fields.names(body, "typesFilter", where) if "typesFilter" in body else []
    return ListRequest(states, types, client_of(client)[2])


def parse_delete_groups(client: Mapping[str, Any], body: Mapping[str, Any]) -> DeleteRequest:
    """The request of a body of DeleteGroups."""
    where = "DeleteGroups"
    fields.known(body, ("groupsNames",), where)
    return DeleteRequest(fields.names(body, "groupsNames", where), client_of(client)[2])


def parse_alter_configs(client: Mapping[str, Any], body: Mapping[str, Any]) -> AlterRequest:
    """The request of a body of IncrementalAlterConfigs."""
    where = "IncrementalAlterConfigs"
    fields.known(body, ("resources", "validateOnly"), where)
    return AlterRequest(
        [_altered(resource) for resource in fields.items(body, "resources", where)],
        "validateOnly" in body and fields.boolean(body, "validateOnly", where),
        client_of(client)[2],
    )


def _altered(value: object) -> AlteredResource:
    where = "a resource of IncrementalAlterConfigs"
    resource = fields.as_object(value, where)
    fields.known(resource, ("resourceType", "resourceName", "configs"), where)
    return AlteredResource(
        _int8(resource, "resourceType", where),
        fields.text(resource, "resourceName", where),
        [_change(change) for change in fields.items(resource, "configs", where)],
    )


def _change(value: object) -> ConfigChange:
    where = "a configuration of IncrementalAlterConfigs"
    change = fields.as_object(value, where)
    fields.known(change, ("name", "configOperation", "value"), where)
    return ConfigChange(
        fields.text(change, "name", where),
        _int8(change, "configOperation", where),
        fields.optional_text(change, "value", where),
    )


def parse_describe_configs(client: Mapping[str, Any], body: Mapping[str, Any]) -> DescribeConfigsRequest:
    """The request of a body of DescribeConfigs."""
    where = "DescribeConfigs"
    fields.known(body, ("resources", "includeSynonyms", "includeDocumentation"), where)
    return DescribeConfigsRequest(
        [_described(resource) for resource in fields.items(body, "resources", where)],
        "includeSynonyms" in body and fields.boolean(body, "includeSynonyms", where),
        "includeDocumentation" in body and fields.boolean(body, "includeDocumentation", where),
        client_of(client)[2],
    )


def _described(value: object) -> DescribedResource:
    where = "a resource of DescribeConfigs"
    resource = fields.as_object(value, where)
    fields.known(resource, ("resourceType", "resourceName", "configurationKeys"), where)
    all_names = resource.get("configurationKeys") is None
    return DescribedResource(
        _int8(resource, "resourceType", where),
        fields.text(resource, "resourceName", where),
        None if all_names else fields.names(resource, "configurationKeys", where),
    )


def _int8(source: Mapping[str, object], name: str, where: str) -> int:
    return fields.integer(source, name, where, None, 8)
