"""A session that makes an archive of classes however short it is; prints which archive its Java uses.

python tests/pipeline/archived_session.py LOG
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.pipeline import archive
from harness.pipeline.session import Cluster, spark_session

if __name__ == "__main__":
    archive.WORTH_S = 0.0  # type: ignore[misc]
    with spark_session(Cluster("local[1]"), Path(sys.argv[1])) as session:
        assert session.range(10).count() == 10
        java = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
        used = {
            line.split()[-1] for line in Path(f"/proc/{java}/maps").read_text().splitlines() if ".jsa" in line
        }
        print("\n".join(sorted(Path(name).name for name in used if Path(name).name.startswith("spark-"))))
