"""Records what TLC says of each seeded bug of the specification, in tests/mutants/spec/evidence/.

    python tests/mutants/record_spec.py            the records that no longer count
    python tests/mutants/record_spec.py --fresh    all of them

A bug that survives its check, and a model that fails without a bug, end it with 1; nothing is recorded then.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from seeded import bugs, without_a_bug  # noqa: E402

from harness.errors import ConformError  # noqa: E402
from harness.evidence import evidence_file  # noqa: E402
from harness.mutate.patches import copy_with  # noqa: E402
from harness.mutate.seeded import SeededCheck, judge_seeded, recorded  # noqa: E402
from harness.mutate.seeded_spec import entry_of, renamed, verdicts  # noqa: E402


def checks_of_models() -> list[SeededCheck]:
    """Each seeded bug that a model must show, and the models of these that the manifest does not have."""
    results = [one for one in bugs("spec") if not one.check.endswith(".yaml")]
    return [*results, *without_a_bug("spec", [one.check for one in results if " with " in one.check])]


def main(fresh: bool) -> int:
    """Judge all, then write the records."""
    checks, wrong = checks_of_models(), 0
    for number, answer in enumerate(judge_seeded(ROOT, checks, 2, fresh), 1):
        name = recorded(answer.seeded)
        right = not answer.problem and bool(answer.caught) == bool(answer.seeded.patch)
        print(f"[{number}/{len(checks)}] {name}: {answer.problem or answer.caught or 'holds'}", flush=True)
        wrong += not right
    if wrong:
        print(f"{wrong} are not as they must be: nothing is recorded", file=sys.stderr)
        return 1
    records = verdicts(ROOT, []).records
    names = {recorded(one) for one in checks}
    for one in checks:
        with tempfile.TemporaryDirectory(prefix="conform-seeded-") as folder:
            copy_with(one.patch, ROOT, one.target, Path(folder))
            entry = renamed(entry_of(Path(folder) / "spec", one.check), recorded(one))
            if not records.publish(entry).counts:
                raise ConformError(f"{evidence_file(entry, records.folder)} does not count.")
    for path in (records.folder / "evidence").iterdir():
        if path.stem not in names:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main("--fresh" in sys.argv[1:]))
