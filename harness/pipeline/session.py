"""A Spark session that needs no configuration on one machine and keeps its noise to itself."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from harness.engines.java import find_java
from harness.errors import ENGINE_FAILED, ConformError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.parquet.compression.codec": "zstd",
    # rows are long: a trace is a row, and so is a step with all that is expected of it
    "spark.sql.parquet.columnarReaderBatchSize": "256",
    # compressed states are small on disk and large in memory: never copy a table of them to every process
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    "spark.python.worker.reuse": "true",
    # Python's own hashes must not matter: what depends on them would differ between two runs
    "spark.executorEnv.PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
}


@dataclass(frozen=True)
class Cluster:
    """Where Spark computes: its `master`, the memory of the JVM that drives, and the package that the workers
    get where they do not share this machine's Python (`make package`), with the settings that a cluster
    wants."""

    master: str = "local[*]"
    memory: str = "1500m"
    package: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def spark_session(cluster: Cluster, log: Path) -> Iterator[SparkSession]:
    """A session; what Spark prints goes to the file `log`.

    A session that is there already is used and left running; under spark-submit, what spark-submit was told
    counts. ConformError (exit 3) if there is no Java for it or it does not start.
    """
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="conform-spark-") as folder:
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        session = _start(cluster, log, Path(folder))
        try:
            with _cancelled_when_told(session, before):
                yield session
        finally:
            session.stop()


@contextmanager
def _cancelled_when_told(session: SparkSession, before: Mapping[signal.Signals, Any]) -> Iterator[None]:
    """Whoever stops this process does not wait until Spark's job is done: it is cancelled, and then what was
    there `before` is done about the signal.

    To cancel takes a thread of its own, which has another connection to Java; that of the main thread has an
    answer due, which nobody may leave there for the next call.
    """
    told: list[signal.Signals] = []
    ended = threading.Event()

    def cancel() -> None:
        while not ended.wait(0.5):
            session.sparkContext.cancelAllJobs()

    def stop(number: int, frame: FrameType | None) -> None:
        if not _asks_java(frame):
            before[signal.Signals(number)](number, frame)
        elif not told:
            told.append(signal.Signals(number))
            threading.Thread(target=cancel, daemon=True).start()

    if threading.current_thread() is threading.main_thread():
        for number, handler in before.items():
            signal.signal(number, stop if callable(handler) else handler)
    try:
        yield
    except Exception:
        if told:
            before[told[0]](told[0], None)
        raise
    finally:
        ended.set()
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


def _asks_java(frame: FrameType | None) -> bool:
    """Whether a call of Java waits for its answer there."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _start(cluster: Cluster, log: Path, folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    _environment(cluster)
    builder = SparkSession.builder.appName("conform")
    if SUBMITTED not in os.environ:
        builder = builder.master(cluster.master)
    for name, value in {**_SETTINGS, **_own(cluster, folder), **cluster.settings}.items():
        builder = builder.config(name, value)
    try:
        with _stderr_to(log):
            session: SparkSession = builder.getOrCreate()
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ConformError(
            f"Spark did not start on {cluster.master}: {reason} What it printed is in {log}.", ENGINE_FAILED
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    return session


SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""An environment variable that spark-submit sets."""


def _own(cluster: Cluster, folder: Path) -> dict[str, str]:
    """The settings that depend on where this runs."""
    own = {
        "spark.driver.memory": cluster.memory,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }
    if cluster.package:
        own |= {"spark.files": str(cluster.package.resolve())}
    if cluster.master.startswith("local"):
        own |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        own |= {"spark.local.dir": str(folder), "spark.sql.shuffle.partitions": "32"}
    return {} if SUBMITTED in os.environ else own


def _environment(cluster: Cluster) -> None:
    """Spark finds Java and itself, and its workers a Python, without being told; what is set stays."""
    import pyspark

    os.environ.setdefault("JAVA_HOME", str(find_java().resolve().parents[1]))
    os.environ.setdefault("SPARK_HOME", pyspark.__path__[0])
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if cluster.package:
        if not cluster.package.is_file():
            raise ConformError(f"The package {cluster.package} does not exist; `make package` makes it.")
        os.environ["PYSPARK_PYTHON"] = f"./{cluster.package.name}"
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Processes that are started meanwhile print to the file for as long as they live."""
    sys.stderr.flush()
    terminal = os.dup(2)
    try:
        with log.open("ab") as stream:
            os.dup2(stream.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
