"""The served coordinator for long: kills, frames, and many members that are held; the result is evidence.

    python tests/serve/serve_soak.py --kills 10000 --frames 10000000 --seconds 600 --evidence FILE
    python tests/serve/serve_soak.py --verify spec/evidence/Serve.json

Kills: a process is killed with SIGKILL at a random moment, while a client commits. Its successor must have
what was answered, and at most the one commit more that was under way. Frames: those of test_serve_fuzz.py.
Held: 10,000 groups of 10 members, then one group of 2,000, each for so many seconds, over 100 connections. No
member is told anything new.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from test_serve_command import program  # noqa: E402
from test_serve_fuzz import Fuzzed  # noqa: E402

from benchmarks.served import Load, compiled, coordinator, generate  # noqa: E402
from harness.errors import EVIDENCE_MISSING, NOT_CONFORMANT  # noqa: E402
from harness.files import write_text  # noqa: E402
from harness.spechash import file_hash  # noqa: E402
from harness.targets.broker.connection import Connection, Unreachable  # noqa: E402

SOURCES: Final = (
    *("coordinator/**/*.py", "benchmarks/served.py", "benchmarks/Heartbeats.java"),
    *("harness/targets/broker/connection.py", "tests/serve/served.py", "tests/serve/serve_soak.py"),
    *("tests/serve/test_serve_command.py", "tests/serve/test_serve_fuzz.py"),
)
"""The sources of a result: the coordinator, and what asks and judges it."""
KILLS_A_LOG: Final = 20
PORTS: Final = 20_000
"""The server of a log has a port of its own from here on. Systems give clients higher ones, so no connection
of another log's client has the port while no server runs."""
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
    """Something that must hold does not. The text says what."""


def kill_again_and_again(kills: int, seed: int, folder: Path, jobs: int = 1) -> dict[str, int]:
    """Kill the server this many times, and count what each kill hit; `jobs` logs at a time.

    Raises Lost for an answered commit that a successor does not have."""
    counts: Counter[str] = Counter()
    firsts = range(0, kills, KILLS_A_LOG)
    with ThreadPoolExecutor(jobs) as pool:
        lives = [min(KILLS_A_LOG, kills - first) for first in firsts]
        done = pool.map(lambda first, most: _kill(first, most, seed, folder), firsts, lives)
        for number, counted in enumerate(done, start=1):
            counts.update(counted)
            print(f"{counts['killed']:,} of {kills:,} kills, log {number}", file=sys.stderr, flush=True)
    return dict(sorted(counts.items()))


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
            answered, sent = _commits_until_killed(port, found, partial(run.send_signal, signal.SIGKILL), rng)
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


def send_frames(frames: int) -> dict[str, Any]:
    """Send this many frames of all kinds; memory in MB after each tenth of them.

    Raises Lost for a change of another group, or memory that grows by more than 5 % from the half on: before
    that, caches of bounded size are filled."""
    fuzzed, process = Fuzzed(), psutil.Process()
    memory = []
    for _ in range(10):
        fuzzed.frames(frames // 10)
        fuzzed.settle()
        fuzzed.broker.seen.clear()
        memory.append(round(process.memory_info().rss / 1e6, 1))
    if fuzzed.watched() != fuzzed.before:
        raise Lost("the group of another client has changed")
    if memory[-1] > 1.05 * memory[4]:
        raise Lost(f"memory grows: {memory} MB after each tenth")
    return {"frames": frames, "seen": dict(sorted(fuzzed.seen.items())), "memory_mb": memory}


def hold(seconds: int) -> dict[str, Any]:
    """The figures of the members that are held. Raises Lost if one of them was told anything new."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        classes = compiled(Path(folder))
        for title, load in HELD.items():
            given = Load(**{**load.__dict__, "seconds": seconds})
            with coordinator(*SESSION) as place:
                found[title] = {**given.__dict__, **generate(classes, place, given)}
            if found[title]["changes"]:
                raise Lost(f"{title}: {found[title]['changes']} answers said something new")
    return found


def hashes() -> dict[str, str]:
    """SHA-256 of every source that a result depends on."""
    sources = sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))
    return {str(path.relative_to(ROOT)): file_hash(path) for path in sources}


def verify(path: Path) -> int:
    """Say whether the evidence still counts: exit code 0, or 12 where it is missing or stale."""
    if not path.is_file():
        print(f"there is no evidence {path}: record it with --evidence", file=sys.stderr)
        return EVIDENCE_MISSING
    recorded, current = json.loads(path.read_text(encoding="utf-8"))["files"], hashes()
    changed = sorted(
        name for name in recorded.keys() | current.keys() if recorded.get(name) != current.get(name)
    )
    print(f"stale: changed since are {', '.join(changed)}" if changed else "accepted")
    return EVIDENCE_MISSING if changed else 0


def main() -> int:
    """Exit code 0, 11 with what was lost, 12 for evidence that does not count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=60, help="how long members are held")
    parser.add_argument("--seed", type=int, default=848)
    parser.add_argument("--jobs", type=int, default=1, help="logs whose servers are killed at a time")
    parser.add_argument("--together", action="store_true", help="run the three parts side by side")
    parser.add_argument("--evidence", type=Path, help="write the result to this file, if nothing was lost")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    if options.verify:
        return verify(options.verify)
    result: dict[str, Any] = {
        "what": "the served coordinator, killed, sent frames of all kinds, and with many members",
        "files": hashes(),
        "seed": options.seed,
        "together": options.together,
        "versions": {"python": platform.python_version()},
    }
    parts: dict[str, tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = {
        "frames": (send_frames, (options.frames,)),
        "held": (hold, (options.seconds,)),
        "kills": (_kills, (options.kills, options.seed, options.jobs)),
    }
    with ProcessPoolExecutor(len(parts) if options.together else 1) as pool:
        running = {part: pool.submit(_timed, work, *given) for part, (work, given) in parts.items()}
        for part, one in running.items():
            try:
                result[part] = one.result()
            except Lost as lost:
                print(f"{part}: {lost}", file=sys.stderr)
                pool.shutdown(wait=False, cancel_futures=True)
                return NOT_CONFORMANT
            print(f"{part}: {json.dumps(result[part])}", flush=True)
    if options.evidence:
        write_text(options.evidence, json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


def _timed(work: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """The result of a part, with its time on the clock."""
    began = time.monotonic()
    return {**work(*given), "clock_s": round(time.monotonic() - began, 1)}


def _kills(kills: int, seed: int, jobs: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        return kill_again_and_again(kills, seed, Path(folder), jobs)


if __name__ == "__main__":
    sys.exit(main())
