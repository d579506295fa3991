"""A Spark job that never ends; the process id of its worker goes into a file.

python tests/pipeline/stopped_session.py FOLDER
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from harness.engines.process import stop_on_signals
from harness.pipeline.session import Cluster, spark_session


def main(folder: Path) -> None:
    """Until it is told to stop."""
    stop_on_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent of this process may ignore it
    started, new = str(folder / "worker"), str(folder / "worker.new")

    def forever(number: int) -> int:
        Path(new).write_text(str(os.getpid()))
        Path(new).rename(started)
        time.sleep(1000)
        return number

    with spark_session(Cluster("local[1]"), folder / "spark.log") as session:
        session.sparkContext.parallelize([0], 1).map(forever).count()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
