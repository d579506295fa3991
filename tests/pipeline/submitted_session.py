"""Prints settings of the session that the pipeline makes: spark-submit submitted_session.py LOG NAME ..."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.pipeline.session import Cluster, spark_session

if __name__ == "__main__":
    with spark_session(Cluster(), Path(sys.argv[1])) as session:
        for name in sys.argv[2:]:
            print(f"{name}={session.conf.get(name)}")
