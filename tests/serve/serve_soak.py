"""The served coordinator for long: kills, frames, and many members that are held; the result is evidence.

    python tests/serve/serve_soak.py kills 10000 --jobs 2 --evidence spec/evidence/ServeKills.json
    python tests/serve/serve_soak.py frames 10000000 --evidence spec/evidence/ServeFrames.json
    python tests/serve/serve_soak.py held 600 --evidence spec/evidence/ServeHeld.json
    python tests/serve/serve_soak.py held --verify spec/evidence/ServeHeld.json

Kills: a process is killed with SIGKILL at a random moment, while a client commits. Its successor must have
each commit that was answered, and at most the one commit more that was under way. Frames: those of
test_serve_fuzz.py. Held: 10,000 groups of 10 members, then one group of 2,000, each for so many seconds, over
100 connections. No member's assignment changes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from test_serve_fuzz import Fuzzed  # noqa: E402

from benchmarks.served import Load, compiled, coordinator, generate  # noqa: E402
from coordinator.__main__ import main as run_coordinator  # noqa: E402
from harness import sources  # noqa: E402
from harness.errors import NOT_CONFORMANT  # noqa: E402
from harness.files import write_text  # noqa: E402
from harness.targets.broker.connection import Connection, Unreachable  # noqa: E402

KILLS_A_LOG: Final = 20
PORTS: Final = 20_000
"""The server of a log has a port of its own from here on. Systems give clients higher ones, so no connection
of another log's client has the port while no server runs."""
PRELOADED: Final = [
    "coordinator.__main__",
    "coordinator.serve.command",
    "benchmarks.served",
    "test_serve_fuzz",
]
"""The modules of a server, and those that this program imports: a process imports the program again."""
MOST_S = 0.1
"""A process is killed within this time of its first commit."""
SESSION: Final = (
    *("--set", "group.consumer.max.session.timeout.ms=600000"),
    *("--set", "group.consumer.session.timeout.ms=600000"),
)
"""A member of 100,000 that join one after the other is not heard of again for longer than 45 s."""
HELD: Final = {
    "10,000 groups of 10 members": Load(100, 10_000, 10, interval_ms=15_000, warm_s=15),
    "one group of 2,000 members": Load(100, 1, 2_000, interval_ms=5_000, warm_s=15),
}


class Lost(AssertionError):
    """A rule that must hold was broken. The text says which."""


@dataclass(frozen=True)
class Part:
    """A run of its own, with a record of its own."""

    run: Callable[[argparse.Namespace], dict[str, Any]]
    what: str
    sources: tuple[str, ...]
    """Patterns of the sources that the result depends on; of Python's files, those that are imported."""
    program: str
    """The program of the run beside this one, whose imports count."""


@contextmanager
def program(*words: str, port: int) -> Iterator[ForkServerProcess]:
    """`python -m coordinator serve` as a process that has imported its modules already: it is forked from one
    that has done so. A start takes a tenth of the time, and a kill is a kill."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(PRELOADED)
    heard, ready = forks.Pipe(duplex=False)
    server = forks.Process(target=_serve, args=(ready, ["--listen", f"127.0.0.1:{port}", *words]))
    server.start()
    ready.close()
    try:
        with open(heard.fileno(), encoding="utf-8", closefd=False) as output:
            line = output.readline()
        assert line == f"listening on 127.0.0.1:{port}\n", line
        yield server
    finally:
        server.kill()
        server.join()
        server.close()
        heard.close()


def _serve(ready: Pipe, words: list[str]) -> None:
    os.dup2(ready.fileno(), 1)
    sys.exit(run_coordinator(["serve", *words]))


def kill_servers(options: argparse.Namespace) -> dict[str, Any]:
    """Kill as many servers as the options say, on logs in a folder that is removed."""
    with tempfile.TemporaryDirectory() as folder:
        counts = kill_again_and_again(options.many, options.seed, Path(folder), options.jobs)
    return {"seed": options.seed, **counts}


def kill_again_and_again(kills: int, seed: int, folder: Path, jobs: int = 1) -> Counter[str]:
    """Kill the server this many times, and count the commits that each kill hit; `jobs` logs at a time.

    Raises Lost for an answered commit that a successor does not have.
    """
    counts: Counter[str] = Counter()
    firsts = range(0, kills, KILLS_A_LOG)
    with ThreadPoolExecutor(jobs) as pool:
        lives = [min(KILLS_A_LOG, kills - first) for first in firsts]
        done = pool.map(lambda first, most: _kill(first, most, seed, folder), firsts, lives)
        for number, counted in enumerate(done, start=1):
            counts.update(counted)
            print(f"{counts['killed']:,} of {kills:,} kills, log {number}", file=sys.stderr, flush=True)
    return counts


def _kill(first: int, kills: int, seed: int, folder: Path) -> Counter[str]:
    """Kill the servers of one log, one after the other."""
    counts: Counter[str] = Counter()
    rng, log = random.Random(f"{seed} {first}"), folder / f"{seed}-{first}.db"
    port = PORTS + first // KILLS_A_LOG
    answered, sent = -1, -1
    for life in range(kills + 1):
        with program("--topic", "foo:1", "--log", str(log), port=port) as run:
            found = _committed(port)
            if found not in (answered, sent):
                raise Lost(f"{log.name}, life {life}: {found} is committed, {answered} was answered")
            counts["operation under way was kept" if found > answered else "nothing more was kept"] += 1
            if life == kills:
                break
            answered, sent = _commits_until_killed(port, found, run.kill, rng)
            counts["killed"] += 1
            counts["commits answered"] += answered - found
    return counts


def _committed(port: int) -> int:
    client = Connection("127.0.0.1", port)
    wanted = {"groups": [{"groupId": "g", "topics": [{"name": "foo", "partitionIndexes": [0]}]}]}
    answer = client.call("OffsetFetch", 9, wanted)
    client.close()
    return int(answer["groups"][0]["topics"][0]["partitions"][0]["committedOffset"])


def _commits_until_killed(port: int, offset: int, kill: Any, rng: random.Random) -> tuple[int, int]:
    """Commit one number after the other until the server is killed: the last that was answered and sent."""
    client, answered, sent = Connection("127.0.0.1", port), offset, offset
    timer = threading.Timer(rng.random() * MOST_S, kill)
    timer.start()
    try:
        while True:
            sent = answered + 1
            partition = {"partitionIndex": 0, "committedOffset": sent, "committedMetadata": ""}
            topics = [{"name": "foo", "partitions": [partition]}]
            answer = client.call("OffsetCommit", 9, {"groupId": "g", "topics": topics})
            if answer["topics"][0]["partitions"][0]["errorCode"]:
                raise Lost(f"a commit of {sent} was answered {answer}")
            answered = sent
    except Unreachable:
        return answered, sent
    finally:
        timer.join()


def send_frames(options: argparse.Namespace) -> dict[str, Any]:
    """Send as many frames as the options say, of all kinds; memory in MB after each tenth of them.

    Raises Lost for a change of another group, or memory that grows by more than 5 % from the half on: before
    that, caches of bounded size are filled."""
    frames, fuzzed, process = options.many, Fuzzed(), psutil.Process()
    memory = []
    for _ in range(10):
        fuzzed.frames(frames // 10)
        fuzzed.settle()
        fuzzed.broker.seen.clear()
        memory.append(round(process.memory_info().rss / 1e6, 1))
        print(f"{len(memory)} tenths of {frames:,} frames, {memory[-1]} MB", file=sys.stderr, flush=True)
    if fuzzed.watched() != fuzzed.before:
        raise Lost("the group of another client has changed")
    if memory[-1] > 1.05 * memory[4]:
        raise Lost(f"memory grows: {memory} MB after each tenth")
    return {"frames": frames, "seen": dict(sorted(fuzzed.seen.items())), "memory_mb": memory}


def hold(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of the members that are held. Raises Lost if the assignment of one of them changed."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        classes = compiled(Path(folder))
        for title, load in HELD.items():
            given = Load(**{**load.__dict__, "seconds": options.many})
            with coordinator(*SESSION) as place:
                found[title] = {**given.__dict__, **generate(classes, place, given)}
            if found[title]["changes"]:
                raise Lost(f"{title}: {found[title]['changes']} answers said something new")
    return found


PARTS: Final[Mapping[str, Part]] = {
    "kills": Part(
        kill_servers,
        "servers killed with SIGKILL while a client commits",
        ("coordinator/**/*.py", "harness/targets/broker/connection.py"),
        "coordinator/serve/command.py",
    ),
    "frames": Part(
        send_frames,
        "frames of all kinds for a broker without sockets",
        ("coordinator/**/*.py", "tests/serve/served.py", "tests/serve/test_serve_fuzz.py"),
        "tests/serve/test_serve_fuzz.py",
    ),
    "held": Part(
        hold,
        "seconds, for each of two loads of many members that are held",
        ("coordinator/**/*.py", "benchmarks/served.py", "benchmarks/Heartbeats.java"),
        "coordinator/serve/command.py",
    ),
}


def hashes(part: str) -> dict[str, str]:
    """`code_hash` of every source that the result of a part depends on."""
    chosen, own = PARTS[part], "tests/serve/serve_soak.py"
    return sources.hashes(ROOT, (*chosen.sources, own), chosen.program, own)


def main() -> int:
    """Exit code 0, 11 with the broken rule, 12 for evidence that does not count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("many", type=int, nargs="?", default=0, help="kills, frames or seconds")
    parser.add_argument("--seed", type=int, default=848, help="seed of the kills (default: 848)")
    parser.add_argument("--jobs", type=int, default=1, help="logs whose servers are killed at a time")
    parser.add_argument("--evidence", type=Path, help="write the result to this file, if nothing was lost")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    files = hashes(options.part)
    if options.verify:
        return sources.verify(options.verify, files)
    began = time.monotonic()
    try:
        counted = PARTS[options.part].run(options)
    except Lost as lost:
        print(f"{options.part}: {lost}", file=sys.stderr)
        return NOT_CONFORMANT
    result = {
        "what": f"the served coordinator: {PARTS[options.part].what}",
        "files": files,
        "versions": {"python": platform.python_version()},
        "result": counted,
        "clock_s": round(time.monotonic() - began, 1),
    }
    print(json.dumps(counted))
    if options.evidence:
        write_text(options.evidence, json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
