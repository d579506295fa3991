"""Consumers in other languages that report each event in a line: tests/serve/programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from harness.engines.java import find_java
from harness.errors import ConformError
from harness.targets.kafka import jars
from harness.targets.kafka.build import find_javac
from harness.targets.kafka.target import COORDINATOR

PROGRAMS: Final = Path(__file__).with_name("programs")
VERSION: Final = "4.3.1"


class Program:
    """A consumer in a process of its own."""

    def __init__(self, *command: object) -> None:
        self.owned: set[str] = set()
        """The partitions of the consumer, as foo-0."""
        self.taken = 0
        """The number of times that a partition was taken from the consumer."""
        self.read: dict[str, list[int]] = {}
        self._words = list(map(str, command))
        self._process = subprocess.Popen(
            self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._errors: list[str] = []
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._log)]
        for thread in self._threads:
            thread.start()

    def _log(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            what, *words = line.split()
            if what == "assigned":
                self.owned |= set(words)
            elif what == "revoked":
                self.owned -= set(words)
                self.taken += bool(words)
            elif what == "read":
                partition, offset, value = words
                assert value == offset, line
                self.read.setdefault(partition, []).append(int(offset))

    def poll(self) -> None:
        """Give the process time. AssertionError if the process ended by itself."""
        time.sleep(0.05)
        assert self._process.poll() is None, "".join(self._errors)[-2000:]

    @property
    def topics(self) -> set[str]:
        return {partition.rpartition("-")[0] for partition in self.owned}

    def close(self) -> None:
        """Let the consumer close, and wait for that."""
        assert self._process.stdin is not None
        self._process.stdin.write("close\n")
        self._process.stdin.flush()
        code = self._process.wait(60)
        for thread in self._threads:
            thread.join()
        assert code == 0, "".join(self._errors)[-2000:]

    def end(self) -> None:
        """End the process, in any state."""
        self._process.kill()
        for thread in self._threads:
            thread.join()
        self._process.communicate()


def java_consumer(folder: Path) -> list[str]:
    """The command of Apache Kafka's consumer, compiled; skips where there is no JDK or no jar."""
    try:
        java, javac = find_java(), find_javac()
        classes = os.pathsep.join(map(str, jars.jars(COORDINATOR, VERSION)))
    except ConformError as error:
        pytest.skip(error.message)
    subprocess.run([javac, "-cp", classes, "-d", folder, PROGRAMS / "Consumer.java"], check=True)
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return [str(java), *quick, "-cp", f"{folder}{os.pathsep}{classes}", "Consumer"]


def kafkajs_consumer(folder: Path) -> list[str]:
    """The command of the consumer of kafkajs, installed; skips where there is no Node or no network."""
    for word in ("node", "npm"):
        if shutil.which(word) is None:
            pytest.skip(f"kafkajs needs {word}, which is not there")
    shutil.copytree(PROGRAMS / "kafkajs", folder / "kafkajs")
    install: Sequence[str] = ["npm", "install", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=folder / "kafkajs", capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"kafkajs: {' '.join(install)} failed: {done.stderr.strip()[-300:]}")
    return ["node", str(folder / "kafkajs/consumer.js")]
