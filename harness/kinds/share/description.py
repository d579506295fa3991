"""Share groups, described."""

from typing import Final

from harness.kinds.description import Kind

_REQUIREMENTS: Final = {
    "ShareJoin": ("Q1", "Q4"),
    "ShareHeartbeat": ("Q2", "Q5"),
    "ShareLeave": ("Q6",),
    "ShareTimeout": ("Q6",),
    "ShareTopic": ("Q3",),
    "ShareFailOver": ("Q8",),
    "ShareDelete": ("Q8",),
}
"""The requirements of a step, by its action; a request that is refused also exercises Q7."""


def _exercised(action: str, branch: str, error: str) -> tuple[str, ...]:
    names = _REQUIREMENTS.get(action, ())
    return ("Q7", *names[:1]) if names and branch == "refused" else names


SHARE: Final = Kind(
    name="share",
    adjective="share",
    variables=("share", "topics", "step"),
    kept=("share",),
    api="ShareGroupHeartbeat",
    apis={"ShareGroupHeartbeat": 1},
    traces=("share",),
    exercised=_exercised,
)
