"""Many steps of the Python coordinator and of Kafka's own on the same random schedules, as evidence.

    python tests/simulate/soak.py --steps 1000000 --evidence spec/evidence/SimulateKafka42.json
    python tests/simulate/soak.py --verify spec/evidence/SimulateKafka42.json

The comparison is that of `conform compare`; the script records the compared targets, the seed,
the versions, and the hashes of the sources.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from harness import sources  # noqa: E402
from harness.cli.compare import command  # noqa: E402
from harness.errors import ConformError  # noqa: E402
from harness.files import output_folder, write_text  # noqa: E402

SOURCES: Final = (
    *("coordinator/**/*.py", "harness/simulate/*.py", "harness/targets/*.py"),
    *("harness/targets/kafka/*.py", "harness/targets/kafka/java/**/*.java"),
    *("harness/targets/kafka/pins/kafka-group-coordinator-*.txt", "harness/replay/compare.py"),
    *("harness/replay/signature.py", "harness/replay/view.py", "harness/replay/wire.py"),
    "tests/simulate/soak.py",
)
"""The sources of a result: the Python coordinator, the targets, the drawing and the comparison. Those in
Python count if they are imported."""
KEPT: Final = (
    *("target", "against", "dialect", "against_dialect", "seed", "steps", "length", "command", "runs"),
    *("unscripted", "ways", "states", "unobserved", "left_out", "differences", "found"),
)


def hashes() -> dict[str, str]:
    """`code_hash` of every source that a result depends on."""
    return sources.hashes(ROOT, SOURCES, "tests/simulate/soak.py")


def simulated(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The result of the simulation. ConformError (exit 11) if the two differ."""
    started, result = time.monotonic(), folder / "result.json"
    command(
        "python",
        options.against,
        options.dialect,
        steps=options.steps,
        seed=options.seed,
        out=output_folder(Path("build") / "simulate"),
        json_file=result,
        no_kept=True,
    )
    printed = json.loads(result.read_text(encoding="utf-8"))
    return {
        "what": "random schedules on two coordinators, all that both show compared after every step: "
        "no difference",
        **{name: printed[name] for name in KEPT},
        "versions": {"python": platform.python_version(), "against": options.against},
        "files": hashes(),
        "seconds": round(time.monotonic() - started, 1),
    }


def main() -> int:
    """Exit code 0, 11 if the two differ, or the code that ends `conform compare`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", default="kafka:4.2.1")
    parser.add_argument("--dialect", default="kafka-4.2")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=848)
    parser.add_argument("--evidence", type=Path, help="write the result to this file, if they agree")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    if options.verify:
        return sources.verify(options.verify, hashes())
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = simulated(options, Path(folder))
        if options.evidence:
            write_text(options.evidence, json.dumps(result, indent=2, sort_keys=True) + "\n")
    except ConformError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
