"""One Kafka broker on this machine, of jars from Maven Central, for users without a broker.

It is a KRaft broker and its own controller, on 127.0.0.1, with its data in a folder of its own; broker and
folder are removed together. A file in the user's state folder records that it runs.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from harness.engines.java import find_java
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.files import output_folder, write_text
from harness.targets.broker.connection import Connection, Unreachable
from harness.targets.kafka import jars

COORDINATE: Final = "org.apache.kafka:kafka_2.13"
HOST: Final = "127.0.0.1"
JVM: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java: a short start and little memory count more than the highest speed."""
START_S: Final = 60.0
"""The time that a start may take."""
PAUSE_S: Final = 0.05
SHOWN: Final = 2000
"""Characters at the end of a broker's log that a message shows."""
LOG: Final = "broker.log"
PROPERTIES: Final = "server.properties"
ASSIGNMENT_INTERVAL: Final = "group.consumer.assignment.interval.ms"


@dataclass(frozen=True)
class LocalBroker:
    """A started broker: its process, its address, the places of its data and its log."""

    version: str
    pid: int
    port: int
    folder: str

    @property
    def target(self) -> str:
        """The name for `--target`."""
        return f"broker:{HOST}:{self.port}"


def versions() -> list[str]:
    """The versions of Kafka that can be started."""
    return jars.versions(COORDINATE)


def state_folder() -> Path:
    """The folder in which programs of this user keep their state."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "conform"


def up(version: str, port: int | None, folder: Path | None, settings: Mapping[str, str]) -> LocalBroker:
    """Start a broker and record it. ConformError: exit 2 if one runs, 3 if it does not start."""
    state = _state_file()
    if (broker := _remembered()) is not None:
        if runs(broker):
            raise ConformError(
                f"A broker of Kafka {broker.version} runs already: {broker.target}. "
                "`conform broker down` ends it.",
                USAGE,
            )
        stop(broker)
    output_folder(state.parent)
    broker = start(version, port, folder or state.parent / "broker", settings)
    write_text(state, json.dumps(asdict(broker)) + "\n")
    return broker


def down() -> LocalBroker:
    """End the broker that `up` started, and remove its folder. ConformError (exit 2) if there is none."""
    broker = _remembered()
    if broker is None:
        raise ConformError("No broker runs that `conform broker up` has started.", USAGE)
    stop(broker)
    _state_file().unlink(missing_ok=True)
    return broker


def start(
    version: str, port: int | None, folder: Path, settings: Mapping[str, str], jvm: Sequence[str] = JVM
) -> LocalBroker:
    """Format a folder, start a broker in it and wait until it answers.

    `settings` are added to its configuration, `jvm` are options of its Java; `port` is any free one if it is
    None. ConformError: exit 2 for a folder that is not empty, a port that is taken or an unknown version, 3
    if it does not start.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConformError(f"The folder {folder} is not empty: name one for --folder that is.", USAGE)
    port = free_port() if port is None else _free(port)
    classpath = os.pathsep.join(str(jar) for jar in jars.jars(COORDINATE, version))
    folder = output_folder(folder).resolve()
    properties = folder / PROPERTIES
    java = [str(find_java()), *jvm, "-cp", classpath]
    process: subprocess.Popen[bytes] | None = None
    try:
        write_text(properties, _properties(version, port, folder, settings))
        _format(java, properties, folder)
        process = _launch([*java, "kafka.Kafka", str(properties)], folder)
        _wait(process, port, folder)
    except BaseException:
        if process is not None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return LocalBroker(version, process.pid, port, str(folder))


def stop(broker: LocalBroker) -> None:
    """End a broker, if it runs, and remove its folder: nothing is lost by killing it."""
    if runs(broker):
        os.kill(broker.pid, signal.SIGKILL)
        while runs(broker):
            time.sleep(PAUSE_S)
    shutil.rmtree(broker.folder, ignore_errors=True)


def runs(broker: LocalBroker) -> bool:
    """Tell if its process runs, and its number belongs to no other process since."""
    return str(Path(broker.folder) / PROPERTIES) in _command_line(broker.pid)


def _command_line(pid: int) -> str:
    """The command line of a process; "" if it has ended."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def _free(port: int) -> int:
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise ConformError(
            f"Nothing can listen on port {port} of {HOST} ({error.strerror}): name another for --port.", USAGE
        ) from None
    return port


def _state_file() -> Path:
    return state_folder() / "broker.json"


def _remembered() -> LocalBroker | None:
    try:
        return LocalBroker(**json.loads(_state_file().read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ConformError(
            f"{_state_file()} cannot be read: {error}. If no broker of yours runs, delete it."
        ) from None


def _properties(version: str, port: int, folder: Path, settings: Mapping[str, str]) -> str:
    controller = free_port()
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": str(folder / "data"),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "group.consumer.min.session.timeout.ms": "1000",  # so that a group may have short ones
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.coordinator.append.linger.ms": "0",  # an answer does not wait for others' writes
    }
    if [int(part) for part in version.split(".")[:2]] >= [4, 3]:
        # Targets are computed at once, as in KIP-848, in place of at most one a second.
        properties[ASSIGNMENT_INTERVAL] = "0"
    return "".join(f"{key}={value}\n" for key, value in {**properties, **settings}.items())


def _format(java: list[str], properties: Path, folder: Path) -> None:
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    tool = ["kafka.tools.StorageTool", "format", "--standalone", f"--cluster-id={cluster}"]
    ended = subprocess.run(
        [*java, *tool, "--config", str(properties)], cwd=folder, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise ConformError(
            f"Kafka did not accept its configuration: {(ended.stderr or ended.stdout)[-SHOWN:].strip()}",
            ENGINE_FAILED,
        )


def _launch(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start the broker in a session of its own, so that it outlives this command."""
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    """Wait until it answers and counts itself among the brokers that may have partitions."""
    deadline = time.monotonic() + START_S
    while not _answers(port):
        ended = process.poll() is not None
        if ended or time.monotonic() > deadline:
            what = f"ended with exit code {process.returncode}" if ended else f"took more than {START_S:g} s"
            log = (folder / LOG).read_text(encoding="utf-8", errors="replace")[-SHOWN:].strip()
            raise ConformError(f"Kafka did not start: it {what}. Its log ends with: {log}", ENGINE_FAILED)
        time.sleep(PAUSE_S)


def _answers(port: int) -> bool:
    try:
        connection = Connection(HOST, port, 5.0)
    except Unreachable:
        return False
    try:
        return bool(connection.call("Metadata", 12, {"topics": []})["brokers"])
    except Unreachable:
        return False
    finally:
        connection.close()
