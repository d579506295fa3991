"""Two processes that want the same jar of an empty cache: one fetches the jar, both have the whole of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

JAR = b"of many bytes " * 10_000
HALF = len(JAR) // 2
PLACE = "a/b/1.0/b-1.0.jar"
ASKS = """
import sys
from pathlib import Path
from harness.targets.kafka import jars
jars.PINS, jars.MAVEN_CENTRAL = Path(sys.argv[1]), sys.argv[2]
[jar] = jars.jars("a:b", "1.0")
print(jar.stat().st_size)
"""


@contextmanager
def repository(fetched: list[str]) -> Iterator[str]:
    """A repository of Maven with one jar. The first client gets half of the jar until a second one fetches
    it, too, or a second has passed; the second client is answered when the first has the whole."""
    second, whole = threading.Event(), threading.Event()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = JAR if self.path.endswith(".jar") else hashlib.sha1(JAR).hexdigest().encode()
            result = self.path.strip("/") in (PLACE, f"{PLACE}.sha1")
            first = self.path.endswith(".jar") and not fetched
            if self.path.endswith(".jar"):
                fetched.append(self.path)
            if result and not first and content is JAR:
                second.set()
                whole.wait(10)
            self.send_response(200 if result else 404)
            self.send_header("Content-Length", str(len(content) if result else 0))
            self.end_headers()
            if result and first:
                self.wfile.write(content[:HALF])
                second.wait(1)
                self.wfile.write(content[HALF:])
                whole.set()
            elif result:
                self.wfile.write(content)

        def log_message(self, format: str, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_jar_is_fetched_once(tmp_path: Path) -> None:
    (tmp_path / "b-1.0.txt").write_text(f"{hashlib.sha256(JAR).hexdigest()}  a:b:1.0\n")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    fetched: list[str] = []
    with repository(fetched) as address:
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", ASKS, str(tmp_path), address],
                env={name: value for name, value in environment.items() if name != "M2_REPO"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        output = [run.communicate(timeout=60) for run in runs]
    assert [(out, errors[-500:]) for out, errors in output] == [(f"{len(JAR)}\n", "")] * 2
    assert len(fetched) == 1
