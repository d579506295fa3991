"""`kafka:VERSION`: Kafka's own group coordinator in a JVM, on a simulated clock.

A Java program (the folder `java`) runs Kafka's code from its jars, on one thread, with a log in memory, and
speaks the line protocol.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from harness.engines.java import find_java
from harness.targets.kafka.build import alone, program
from harness.targets.kafka.jars import jars
from harness.targets.stdio import StdioTarget

COORDINATOR: Final = "org.apache.kafka:kafka-group-coordinator"
MAIN: Final = "conform.kafka.LineProtocol"
# A short start counts more than the last bit of speed: one small heap, one collector thread.
JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m", "-Xss4m")


def kafka_target(version: str) -> StdioTarget:
    """Start the coordinator of that version of Kafka.

    ConformError: exit 2 for a version that is not known, 3 if there is no Java or no jar.
    """
    return StdioTarget(command(version), name=f"kafka:{version}")


def command(version: str) -> list[str]:
    """The command line of the program, its jars fetched and itself compiled."""
    return [*java(version, JVM), MAIN, f"Apache Kafka {version}"]


def java(version: str, options: Sequence[str] = ()) -> list[str]:
    """Java with all classes of that version: what precedes the name of a program. ConformError as above."""
    with alone():
        found = jars(COORDINATOR, version)
        classes = program(version, found)
    return [str(find_java()), *options, "-cp", os.pathsep.join(map(str, [classes, *found]))]
