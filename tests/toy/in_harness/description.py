"""Groups of the toy protocol, described."""

from typing import Final

from harness.kinds.description import Kind

TOY: Final = Kind(
    name="toy",
    adjective="toy",
    variables=("toy", "step"),
    kept=("toy",),
    api="ToyGroupHeartbeat",
    apis={"ToyGroupHeartbeat": 0},
    traces=("toy",),
)
