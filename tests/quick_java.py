"""Java that starts fast for the Spark of tests: options of Java for programs that `spark_session` does not
start (spark-submit, a session of others, executors of a cluster), and the archive of classes that all of them
use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.pipeline import archive, session


def quick_java() -> dict[str, str]:
    """An environment with the options that `spark_session` gives its own Java. Without the options Java
    compiles everything twice that runs for seconds, and reads each class anew: half of the time of a small
    run."""
    result = session._archive()
    options = result.options if result and result.find() else ""
    return {"JDK_JAVA_OPTIONS": f"{session._JAVA} {options}".strip()}


def make_archive(spark: Any, lock: Path, use: Callable[[], object]) -> None:
    """Make the archive, unless it is there or another process makes it, when Java has read the classes that
    `use` needs."""
    made = session._archive()
    if not made or made.find():
        return
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    use()
    made.make(spark, archive.WORTH_S)
