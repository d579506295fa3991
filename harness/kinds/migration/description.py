"""Groups that migrate: classic or consumer groups by turns (spec/OpenMigration.tla), described."""

from typing import Final

from harness.kinds.description import Kind

MIGRATION: Final = Kind(
    name="migration",
    adjective="migrating",
    variables=("consumer", "classic", "classicStep", "phase", "words", "converted"),
    kept=("consumer", "classic", "phase", "words"),
    api="JoinGroup",
    traces=("migration",),
    unreplayable={
        "mixed": (
            "is of spec/ClosedMigration.tla, which has the classic protocol in a short form without "
            "requests, so that nothing of it can be sent to an implementation. The traces in "
            "traces/migration have the requests of groups that migrate."
        )
    },
)
