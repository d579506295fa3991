"""The answer to one request: admitted, handled, durable, and only then sent (P3)."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.apis import Refusal
from coordinator.core.errors import AppendFailed, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Result


def answered(
    admit: Callable[[], None],
    error: Refusal,
    handle: Callable[[], Result],
    commit: Callable[[Result], None],
) -> Json:
    """The response; `error` where the request is rejected, or the log refuses its records (P3, P4)."""
    try:
        admit()
        result = handle()
        commit(result)
    except RequestRejected as rejected:
        return error(rejected.code, rejected.message)
    except AppendFailed as refused:
        return error(refused.code, refused.sentence)
    if result.response is None:
        raise AssertionError(f"a request to group {result.group_id} has no response")
    return result.response
