"""A Spark session that needs no configuration on one machine and keeps its messages to itself."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from harness.engines.java import find_java
from harness.engines.process import ending_signals
from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.archive import Archive, archive_of
from harness.pipeline.connect import SETTING, connected, remote_of
from harness.pipeline.reasons import reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    # rows are long: a trace is a row, and so is a step with all its expected values
    "spark.sql.parquet.columnarReaderBatchSize": "256",
    # compressed states are small on disk and large in memory: never copy a table of them to every process
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    "spark.python.worker.reuse": "true",
    # Python's own hashes must not matter: results that depend on them would differ between two runs
    "spark.executorEnv.PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
}

_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Spark's Java. In runs of minutes its second compiler and parallel collector take more processor
time than they save: half of Java's whole time."""


@dataclass(frozen=True)
class Cluster:
    """The place where Spark computes: its `master`, the memory of the JVM that drives, and the package for
    workers that do not share this machine's Python (`make package`), with the cluster's settings."""

    master: str = "local[*]"
    memory: str = "1500m"
    package: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def spark_session(cluster: Cluster, log: Path) -> Iterator[SparkSession]:
    """A session; Spark's output goes to the file `log`.

    An existing session is used and left running; else the setting spark.remote or SPARK_REMOTE may name a
    server. Under spark-submit, the settings of spark-submit count. ConformError (exit 3) if there is no Java
    for Spark, Spark does not start, or the server cannot be reached. SIGTERM, SIGHUP and SIGINT end the
    process with one sentence, also while Spark starts.
    """
    running = _running()
    if running is not None:
        with _set_meanwhile(running, cluster.settings):
            yield running
        return
    place, named_by = remote_of(cluster.settings)
    if place:
        remote = connected(place, named_by)
        try:
            others = {name: value for name, value in cluster.settings.items() if name != SETTING}
            with _set_meanwhile(remote, others):
                yield remote
        finally:
            remote.stop()
        return
    with tempfile.TemporaryDirectory(prefix="conform-spark-") as folder, _Stopping() as stopping:
        begin = time.monotonic()
        archive = _archive()
        session = _start(cluster, log, Path(folder), archive)
        try:
            stopping.handle_signals(session)  # Spark has a handler of its own for SIGINT
            yield session
            if archive:
                archive.make(session, time.monotonic() - begin)
        finally:
            session.stop()


def _running() -> SparkSession | None:
    """The existing session: of a notebook, of a program, of a Spark Connect client."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        session: SparkSession = SparkSession.active()
    except PySparkException:
        return None
    return session


@contextmanager
def _set_meanwhile(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session that is not ours, and restore them at the end. ConformError for one that
    cannot be changed."""
    from pyspark.errors import PySparkException

    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            try:
                session.conf.set(name, value)
            except PySparkException:
                raise ConformError(
                    f"The Spark session that is there already does not change {name}: leave out that --conf, "
                    "and give it to whoever starts the session."
                ) from None
        yield
    finally:
        for name, old in before.items():
            with suppress(PySparkException):
                session.conf.unset(name) if old is None else session.conf.set(name, old)


def settings_of(given: Sequence[str]) -> dict[str, str]:
    """Settings of `--conf KEY=VALUE`; the last one of a key counts. ConformError for another form."""
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, pair in zip(given, pairs, strict=True) if not pair[0] or not pair[1]), ""):
        raise ConformError(
            f"A setting of Spark is KEY=VALUE, as in --conf spark.ui.enabled=true; not {wrong!r}."
        )
    return {name.strip(): value for name, _, value in pairs}


def parallelism(session: SparkSession) -> int:
    """The number of tasks that run at a time, from Spark without a context, which Spark Connect does not
    have."""
    from pyspark.sql import functions as F

    return max(1, session.range(1 << 16).select(F.spark_partition_id()).distinct().count())


class _Stopping:
    """A handler that ends the process with one sentence when a signal stops it, whatever fails on the way:
    Java may have had the same signal, and then no call of Java is answered any more.

    A running Spark job is cancelled first. That takes a thread of its own, which has another connection to
    Java; the main thread's connection has a pending answer, which must not be left there for the next call.
    """

    def __init__(self) -> None:
        self._before = {number: signal.getsignal(number) for number in (*ending_signals(), signal.SIGINT)}
        self._session: SparkSession | None = None
        self._signal: int | None = None
        self._ended = threading.Event()

    def __enter__(self) -> _Stopping:
        self.handle_signals(None)
        return self

    def handle_signals(self, session: SparkSession | None) -> None:
        """Take the signals, except those that the process ignores or leaves to the system."""
        if self._signal is not None:  # libraries that are imported or start Java may have caught the exit
            raise SystemExit(128 + self._signal)
        self._session = session
        self._set({one: self._stop for one, handler in self._before.items() if callable(handler)})

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._ended.set()
        self._set(self._before)
        if self._signal is not None:
            if self._session is None:
                _kill_children()
            print(f"conform: stopped by {signal.Signals(self._signal).name}.", file=sys.stderr)
            raise SystemExit(128 + self._signal) from None

    def _set(self, handlers: Mapping[signal.Signals, Any]) -> None:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._signal is not None:
            return  # a second signal must not interrupt the work of the first one
        self._signal = number
        logging.disable()  # py4j logs much about connections that end, some of it with the root's logger
        if self._session is None or not _waits_for_java(frame):
            raise SystemExit(128 + number)
        threading.Thread(target=self._cancel, args=[self._session], daemon=True).start()

    def _cancel(self, session: SparkSession) -> None:
        while not self._ended.wait(0.5):
            with suppress(Exception):  # Java may be gone, which ends the main thread's call, too
                session.sparkContext.cancelAllJobs()


def _kill_children() -> None:
    """Kill the programs that this process has started, where the system lists them. A signal between the fork
    of Spark's launcher and its exec is lost with the handler of the fork, and Java would live on."""
    for file in Path("/proc/self/task").glob("*/children"):
        for number in file.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)


def _waits_for_java(frame: FrameType | None) -> bool:
    """Tell if a call of Java waits for its answer there."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _archive() -> Archive | None:
    """The archive of classes of the Java that this process starts for Spark, if there can be one."""
    _environment()
    if SUBMITTED in os.environ:
        return None
    return archive_of(Path(os.environ["JAVA_HOME"]), Path(os.environ["SPARK_HOME"]) / "jars", _JAVA)


def _start(cluster: Cluster, log: Path, folder: Path, archive: Archive | None) -> SparkSession:
    from pyspark.sql import SparkSession

    _workers_python(cluster)
    builder = SparkSession.builder.appName("conform")
    if SUBMITTED not in os.environ:
        builder = builder.master(cluster.master)
    given = _submitted_settings()
    for name, value in {**_SETTINGS, **_own(cluster, folder, archive), **cluster.settings}.items():
        if name not in given:
            builder = builder.config(name, value)
    try:
        with _stderr_to(log):
            session: SparkSession = builder.getOrCreate()
    except Exception as error:  # PySpark raises Java's, gRPC's and its own
        raise ConformError(
            f"Spark did not start on {cluster.master}: {reason_of(error)}. What it printed is in {log}.",
            ENGINE_FAILED,
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    return session


SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""An environment variable that spark-submit sets."""


def _submitted_settings() -> frozenset[str]:
    """The names of the settings of spark-submit; none where this process starts Spark itself."""
    if SUBMITTED not in os.environ:
        return frozenset()
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # connects to the Java that spark-submit has started
    return frozenset(name for name, _ in SparkConf().getAll())


def _own(cluster: Cluster, folder: Path, archive: Archive | None) -> dict[str, str]:
    """The settings that depend on the place of this run."""
    java = f"-Dderby.system.home={folder} {_JAVA}"
    own = {
        "spark.driver.memory": cluster.memory,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"{java} {archive.options}" if archive else java,
    }
    if cluster.package:
        own |= {"spark.files": str(cluster.package.resolve())}
    if cluster.master.startswith("local"):
        own |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        own |= {"spark.local.dir": str(folder), "spark.sql.shuffle.partitions": "32"}
    return {} if SUBMITTED in os.environ else own


def _environment() -> None:
    """Set the variables with which Spark finds Java and itself; variables that are set stay."""
    import pyspark

    os.environ.setdefault("JAVA_HOME", str(find_java().resolve().parents[1]))
    os.environ.setdefault("SPARK_HOME", pyspark.__path__[0])
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _workers_python(cluster: Cluster) -> None:
    """Set the variable with which workers find a Python; a variable that is set stays."""
    if cluster.package:
        if not cluster.package.is_file():
            raise ConformError(f"The package {cluster.package} does not exist; `make package` makes it.")
        os.environ["PYSPARK_PYTHON"] = f"./{cluster.package.name}"
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Send the standard error of processes that are started meanwhile to the file, for as long as they
    live."""
    sys.stderr.flush()
    terminal = os.dup(2)
    try:
        with log.open("ab") as stream:
            os.dup2(stream.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
