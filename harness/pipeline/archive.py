"""An archive of Java's classes in the form in which Java holds them (class data sharing): with it Spark
starts in half the time.

The first session that lasts (`WORTH_S`) makes one, in the folder of caches; later sessions use it. Its name
has everything on which an archive depends, and Java itself checks an archive before it uses one: where it
does not fit, Java goes on without. The archive becomes visible in one move, whole, so that any number of
sessions may make it at once. Where it cannot be made, no message appears: everything works as before.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.files import cache_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORTH_S: Final = 60.0
"""The length of a session beside which the seconds for making an archive, about 10, are few."""
_COMPILED_WITHIN_S: Final = 10.0
_FORM: Final = "2"
"""The form of an archive: those of form 1 may have methods that are never compiled."""
_QUIET: Final = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:disable -Xlog:all=error:stderr"
"""The option without warnings: Java warns of each class that cannot be in an archive, and of archives that do
not fit."""
_BEAN: Final = "com.sun.management:type=DiagnosticCommand"


@dataclass(frozen=True)
class Archive:
    """The archive of a name in a folder, which may have to be made.

    The file's name ends with its size: Java crashes on an archive that was cut off.
    """

    folder: Path
    name: str

    def find(self) -> Path | None:
        """The file, if it exists and is whole."""
        archives = sorted(self.folder.glob(f"{self.name}-*.jsa"))
        return next((one for one in archives if one.stem == f"{self.name}-{one.stat().st_size}"), None)

    @property
    def options(self) -> str:
        """Options for Java: to use the archive, or to record the data for making one."""
        if place := self.find():
            return f"{_QUIET} -Xshare:auto -XX:SharedArchiveFile={place}"
        return f"{_QUIET} -XX:+RecordDynamicDumpInfo"

    def make(self, session: SparkSession, lasted_s: float) -> None:
        """Make the archive from the classes of this session's Java, unless it exists or the session was
        short."""
        if lasted_s < WORTH_S or self.find():
            return
        with suppress(Exception):  # a Java that cannot do that, or a full disk: then there is no archive
            new = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
            made = new / "spark.jsa"
            try:
                _dump(session, made)
                with made.open("rb") as stream:
                    os.fsync(stream.fileno())
                made.replace(self.folder / f"{self.name}-{made.stat().st_size}.jsa")
            finally:
                made.unlink(missing_ok=True)
                new.rmdir()


def archive_of(java_home: Path, jars: Path, options: str) -> Archive | None:
    """The archive of this Java, these jars and these options of Java; None where there can be none.

    Java takes no archive for classes in folders, like a configuration of Spark beside its jars, and the
    settings take no path with a space.
    """
    folder = cache_folder()
    if any((jars.parent / "conf").glob("*")) or os.environ.get("SPARK_CONF_DIR") or " " in str(folder):
        return None
    try:
        parts = [_FORM, options, str(java_home), (java_home / "release").read_text(encoding="utf-8")]
        parts += [f"{one} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in sorted(jars.iterdir())]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    archive = Archive(folder, f"spark-{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]}")
    return archive if archive.find() or os.access(folder, os.W_OK) else None


def _dump(session: SparkSession, place: Path) -> None:
    """Tell Java to write its archive, as `jcmd VM.cds dynamic_dump` does, which not every Java has.

    A method that waits for the compiler would wait in the archive, too, and be interpreted in every run with
    the archive (`harness.class_archive`): Java compiles those first. TimeoutError where that does not end.
    """
    until = time.monotonic() + _COMPILED_WITHIN_S
    while methods_wait(_diagnosed(session, "compilerQueue")):
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.05)
    jvm: Any = session.sparkContext._jvm
    jvm.java.lang.System.setOut(jvm.java.lang.System.err)  # the stream on which Java reports that it writes
    _diagnosed(session, "vmCds", "dynamic_dump", str(place))


def methods_wait(queues: str) -> bool:
    """Tell if a method is being compiled or waits for that, by the output of `jcmd Compiler.queue`."""
    lines = [line.strip() for line in queues.splitlines()]
    return any(line and line != "Empty" and not line.endswith(":") for line in lines)


def _diagnosed(session: SparkSession, operation: str, *words: str) -> str:
    """The output of a diagnostic command of Spark's Java, as of jcmd."""
    jvm: Any = session.sparkContext._jvm
    new_array = session.sparkContext._gateway.new_array  # type: ignore[union-attr]

    def array(kind: Any, *items: Any) -> Any:
        made = new_array(kind, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    text, thing = jvm.java.lang.String, jvm.java.lang.Object
    given = array(thing, *([array(text, *words)] if words else []))
    types = array(text, *(["[Ljava.lang.String;"] if words else []))
    name = jvm.javax.management.ObjectName(_BEAN)
    server = jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
    # by reflection, since py4j only sees the server's own class, which is hidden
    methods = jvm.java.lang.Class.forName("javax.management.MBeanServer").getMethods()
    invoke = next(method for method in methods if method.getName() == "invoke")
    return str(invoke.invoke(server, array(thing, name, operation, given, types)))
