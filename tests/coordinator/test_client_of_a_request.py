"""The sender of a request, which is checked when the request is read, before any work."""

from __future__ import annotations

import pytest

from coordinator.apis import APIS, parse
from coordinator.core.errors import BadInput

BODIES = {
    "ConsumerGroupHeartbeat": {"groupId": "g", "memberEpoch": 0},
    "ConsumerGroupDescribe": {"groupIds": ["g"]},
    "OffsetCommit": {"groupId": "g", "memberId": "m", "generationIdOrMemberEpoch": 1, "topics": []},
    "OffsetFetch": {"groups": [{"groupId": "g", "topics": None}]},
    "ListGroups": {},
    "DeleteGroups": {"groupsNames": ["g"]},
    "IncrementalAlterConfigs": {"resources": []},
    "DescribeConfigs": {"resources": []},
    "ConsumerGroupPrepareAssignment": {"groupId": "g", "memberId": "m", "memberEpoch": 1},
    "ConsumerGroupInstallAssignment": {
        **{"groupId": "g", "memberId": "m", "memberEpoch": 1, "groupEpoch": 1, "error": 0},
        **{"members": []},
    },
}
"""A body for each API that is of no kind of group alone; others are not read before their client is."""


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", ["id", "host", "principal"])
def test_a_client_that_is_none_is_refused_when_the_request_is_read(api: str, name: str) -> None:
    """With manual commits a request is read at once and handled later; then it is too late to refuse it."""
    with pytest.raises(BadInput, match=f"'{name}' of client must be a string"):
        parse(api, APIS[api][0], {name: 7}, BODIES.get(api, {}))


@pytest.mark.parametrize("api", APIS)
def test_a_field_that_a_client_does_not_have_is_named(api: str) -> None:
    """A principal whose name is misspelt would have the rights of nobody, and no one would know why."""
    with pytest.raises(BadInput, match="client has no field 'principle'; it has host, id, principal"):
        parse(api, APIS[api][0], {"id": "c", "principle": "User:a"}, BODIES.get(api, {}))
