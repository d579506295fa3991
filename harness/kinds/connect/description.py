"""Connect groups, described."""

from typing import Final

from harness.kinds.description import Kind

CONNECT: Final = Kind(
    name="connect",
    adjective="Connect",
    variables=("work", "call"),
    kept=("work",),
    api="ConnectGroupHeartbeat",
    apis={
        "ConnectGroupHeartbeat": 0,
        "ConnectGroupPrepareAssignment": 0,
        "ConnectGroupInstallAssignment": 0,
    },
    traces=("connect",),
    beside=("group", "topics", "step"),
)
