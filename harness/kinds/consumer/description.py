"""Consumer groups, described."""

from typing import Final

from harness.kinds.description import Kind

CONSUMER: Final = Kind(
    name="consumer",
    adjective="consumer",
    variables=("group", "topics", "step"),
    kept=("computation", "admission", "partitionEpochs"),
    api="",
    apis={"ConsumerGroupHeartbeat": 0},
    traces=("client", "admission"),
    retold=True,
    stage="harness.simulate.groups.stage",
)
