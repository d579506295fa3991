"""`kafka:VERSION`: Kafka's own group coordinator in a JVM, on a simulated clock.

A Java program (the folder `java`) runs Kafka's code from its jars, on one thread, with a log in memory, and
speaks the line protocol.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from harness.class_archive import archive_options
from harness.engines.java import find_java
from harness.targets.kafka.archive import WORK
from harness.targets.kafka.build import JAR, program
from harness.targets.kafka.jars import jars
from harness.targets.kafka.lock import alone
from harness.targets.stdio import StdioTarget

COORDINATOR: Final = "org.apache.kafka:kafka-group-coordinator"
MAIN: Final = "conform.kafka.LineProtocol"
# A short start counts more than the highest speed: one small heap, one collector thread.
JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m", "-Xss4m")


def kafka_target(version: str) -> StdioTarget:
    """Start the coordinator of that version of Kafka.

    ConformError: exit 2 for a version that is not known, 3 if there is no Java or no jar.
    """
    return StdioTarget(command(version), name=f"kafka:{version}")


def command(version: str) -> list[str]:
    """The command line of the program, with its jars fetched, itself compiled and its classes archived."""
    runs, option, classes = java(version)
    words = [*JVM, option, classes, MAIN, f"Apache Kafka {version}"]
    folder = Path(classes.partition(os.pathsep)[0]).parent
    with alone("kafka"):
        return [runs, *archive_options(Path(runs), words, folder, WORK), *words]


def java(version: str) -> list[str]:
    """Java and the option with all classes of that version, those of the program first: the words before the
    name of a program. ConformError as above."""
    with alone("kafka"):
        listed = jars(COORDINATOR, version)
        folder = program(version, listed)
    return [str(find_java()), "-cp", os.pathsep.join(map(str, [folder / JAR, *listed]))]
