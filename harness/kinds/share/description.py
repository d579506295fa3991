"""Share groups, described."""

from typing import Final

from harness.kinds.description import Kind

SHARE: Final = Kind(
    name="share",
    adjective="share",
    variables=("share", "topics", "step"),
    kept=("share",),
    api="ShareGroupHeartbeat",
    apis={"ShareGroupHeartbeat": 1},
    traces=("share",),
)
