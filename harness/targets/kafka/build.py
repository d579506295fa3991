"""The Java program that runs Kafka's coordinator: compiled at first use, and kept in the user's cache.

`java/common` fits every version of Kafka, `java/4.2` and the like have the differences: a file there takes
the place of the common one of the same path. A compiled program is found by the hash of all its inputs; it
appears whole or not at all, with any number of processes that make it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.engines.java import OLDEST, find_compiler
from harness.errors import ENGINE_FAILED, ConformError
from harness.files import cache_folder

SOURCES: Final = Path(__file__).parent / "java"
JAR: Final = "program.jar"
"""The program's classes in one file, as an archive of classes (`archive.py`) needs them."""


def program(version: str, jars: Sequence[Path]) -> Path:
    """The folder of the classes for a version of Kafka with these jars.

    ConformError (exit 3) if they must be compiled and there is no JDK, or they do not compile.
    """
    sources = _sources(version.rpartition(".")[0])
    classes = cache_folder() / f"kafka-{version}-{_digest(sources, jars)}"
    if not classes.is_dir():
        _compile(sources, jars, classes)
    return classes


def _sources(line: str) -> list[Path]:
    files: dict[Path, Path] = {}
    for folder in (SOURCES / "common", SOURCES / line):
        files |= {path.relative_to(folder): path for path in folder.rglob("*.java")}
    return sorted(files.values())


def _digest(sources: Sequence[Path], jars: Sequence[Path]) -> str:
    digest = hashlib.sha256(JAR.encode())
    for path in sources:
        digest.update(f"{path.relative_to(SOURCES)}\n".encode() + path.read_bytes())
    digest.update(" ".join(jar.name for jar in jars).encode())
    return digest.hexdigest()[:16]


def _compile(sources: Sequence[Path], jars: Sequence[Path], classes: Path) -> None:
    """Compile beside the final place, then rename."""
    javac = find_javac()
    classes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=classes.parent) as folder:
        made = Path(folder) / "classes"
        options = ["-proc:none", "-nowarn", "--release", str(OLDEST), "-d", str(made), "-encoding", "UTF-8"]
        path = os.pathsep.join(map(str, jars))
        ended = subprocess.run(
            [javac, *options, "-cp", path, *map(str, sources)], capture_output=True, text=True
        )
        if ended.returncode:
            errors = "\n".join(line for line in ended.stderr.splitlines() if "error:" in line) or ended.stderr
            raise ConformError(
                f"The program that runs Kafka does not compile with {javac}: {errors}", ENGINE_FAILED
            )
        _pack(made)
        try:
            made.rename(classes)
        except OSError:
            if not classes.is_dir():
                raise


def _pack(classes: Path) -> None:
    class_files = sorted(classes.rglob("*.class"))
    with zipfile.ZipFile(classes / JAR, "w") as jar:
        for path in class_files:
            jar.write(path, path.relative_to(classes))


def find_javac() -> Path:
    """The compiler of a JDK >= 17, of JAVA_HOME or PATH. ConformError (exit 3) if there is none."""
    if javac := find_compiler():
        return javac
    raise ConformError(
        f"Kafka's coordinator needs a JDK >= {OLDEST} once, to compile the program that runs it, and no "
        "javac of one is in JAVA_HOME or PATH: install one, like the package openjdk-17-jdk-headless.",
        ENGINE_FAILED,
    )
