"""Which of the coordinator's seeded bugs `conform exhaust` finds alone, and what finds the others.

    python tests/pipeline/seeded_bugs.py --evidence tests/mutants/exhaust
    python tests/pipeline/seeded_bugs.py --only 01,02
    python tests/pipeline/seeded_bugs.py --verify tests/mutants/exhaust

`conform exhaust` judges the open models on the coordinator as it is, which must hold. The steps in its tables
are then judged by the same code on a copy of the coordinator with each of the bugs, model by model until one
shows the bug; Spark is not started for each. The evidence is a folder: models.json says what was judged, and
each bug has a file of its own, so that a new bug is recorded alone (`--only`). EXHAUST.md, the table of all,
is written beside the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from called import changes, note_calls  # noqa: E402

from harness.errors import ENGINE_FAILED, EVIDENCE_MISSING, NOT_CONFORMANT, ConformError  # noqa: E402
from harness.files import output_folder, write_text  # noqa: E402
from harness.manifest import read_manifest  # noqa: E402
from harness.mutate.patches import FOLDER, REPLAY, Patch, apply_patch, read_patch  # noqa: E402
from harness.pipeline.version import package_key  # noqa: E402
from harness.spechash import file_hash, spec_hash  # noqa: E402

MODELS: Final = {
    "MCTour": "",
    "MCStaticTour": "",
    "MCRefused": "",
    "MCLogStep": "",
    "MCLogOffsets": "",
    "MCOpen": "",
    "MCOffsets": "offset",
    "MCTopicIds": "subscription",
}
"""Open models of the manifest, in the order in which they are asked -> how the files of the coordinator are
called for whose bugs it is there: those of all others would take hours on some."""
TABLES: Final = ROOT / "build" / "exhaust-bugs"
_MODELS: Final = "models.json"
_PROCESSES: Final = 2
_TIMEOUT_S: Final = 1800

Json = dict[str, Any]


def mutants(only: Sequence[str] = ()) -> list[Patch]:
    """The coordinator's mutants in the order of their numbers; those with the numbers in `only`, if any."""
    every = [read_patch(path) for path in (ROOT / FOLDER / "coordinator").glob("*.patch")]
    numbers = {number(mutant) for mutant in every}
    if unknown := sorted(set(only) - numbers):
        raise ConformError(f"There is no mutant {unknown[0]} in {FOLDER}/coordinator.")
    chosen = [mutant for mutant in every if not only or number(mutant) in only]
    return sorted(chosen, key=lambda mutant: int(number(mutant)))


def number(mutant: Patch) -> str:
    return mutant.path.name.partition("-")[0]


def exhaust(model: str) -> Json:
    """Let `conform exhaust` judge a model on the coordinator as it is. ConformError if it does not hold."""
    result = output_folder(TABLES) / f"{model}.json"
    options = ["--tour", "", "--out", str(TABLES / model), "--json", str(result)]
    spark = ["--master", f"local[{_PROCESSES}]"]
    ended = _run([sys.executable, "-m", "harness", "exhaust", model, *options, *spark], ROOT)
    if ended.returncode:
        raise ConformError(
            f"The model {model} does not hold on the coordinator without a bug: {ended.stderr.strip()}",
            ended.returncode,
        )
    exhausted: Json = json.loads(result.read_text(encoding="utf-8"))
    return {name: exhausted[name] for name in ("spec_hash", "states", "steps")}


def judged(mutant: Patch, places: Mapping[str, Path], control: Mapping[str, Json]) -> dict[str, Json]:
    """The verdicts on a copy of the coordinator with a bug: model -> `Judged`, up to the first model that
    shows the bug. A model whose steps call nothing that the patch changes (`control`) is left out."""
    results: dict[str, Json] = {}
    with _copied(mutant) as folder:
        for model, place in places.items():
            meant = f"+++ b/coordinator/{MODELS[model]}" in mutant.path.read_text(encoding="utf-8")
            if meant and changes(ROOT, folder, control[model]["called"]):
                results[model] = _judged_in(folder, place)
                if results[model]["differ"]:
                    break
    return results


def judged_without(places: Mapping[str, Path]) -> dict[str, Json]:
    """Results without a bug, and the functions that are called. ConformError if anything differs."""
    with _copied(None) as folder:
        note_calls(folder)
        results = {model: _judged_in(folder, place) for model, place in places.items()}
    for model, one in results.items():
        if one["differ"] or one["not_loaded"]:
            raise ConformError(f"{model} differs without a bug: {one['first']}.", NOT_CONFORMANT)
    return results


@contextmanager
def _copied(mutant: Patch | None) -> Iterator[Path]:
    """A folder with a copy of the coordinator, with the bug."""
    with tempfile.TemporaryDirectory(prefix="conform-mutant-") as name:
        folder = Path(name).resolve()
        unneeded = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "coordinator", folder / "coordinator", ignore=unneeded)
        if mutant:
            apply_patch(mutant, folder)
        yield folder


def _judged_in(folder: Path, place: Path) -> Json:
    program = Path(__file__).with_name("judge_rows.py")
    path = os.pathsep.join([str(folder), str(ROOT)])
    ended = _run([sys.executable, str(program), str(place.resolve())], folder, PYTHONPATH=path)
    if ended.returncode:
        raise ConformError(f"Judging {place.name} failed: {ended.stderr.strip()}", ENGINE_FAILED)
    output: Json = json.loads(ended.stdout)
    if output["home"] != str(folder):
        raise ConformError(f"It was not the copy that was judged, but {output['home']}.", ENGINE_FAILED)
    return output


def _run(command: Sequence[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **more}
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise ConformError(f"`{' '.join(command)}` took more than {_TIMEOUT_S} s.", ENGINE_FAILED) from None


def row(mutant: Patch, places: Mapping[str, Path], control: Mapping[str, Json]) -> Json:
    """The row of a mutant: the verdicts in each model, and the check that finds the bug."""
    result = judged(mutant, places, control)
    shown = next((model for model, one in result.items() if one["differ"]), None)
    return {
        "mutant": mutant.path.name,
        "patch_sha256": file_hash(mutant.path),
        "bug": mutant.bug,
        "requirement": mutant.requirement,
        "check": mutant.check,
        "judged": {model: one["steps"] for model, one in result.items()},
        "not_loaded": {model: one["not_loaded"] for model, one in result.items() if one["not_loaded"]},
        "model": shown,
        "found": {name: result[shown][name] for name in _FOUND} if shown else None,
        "found_by": "exhaust" if shown else _others(mutant.check),
    }


_FOUND: Final = ("after", "differ", "requirements", "first")


def _others(check: str) -> str:
    return "replay of traces" if check.startswith(REPLAY) else f"tests: {check.partition('::')[0]}"


def recorded(folder: Path) -> Json:
    """The evidence in a folder: which bugs were found (`mutants`), on which sources (`models`)."""
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-*.json")]
    rows.sort(key=lambda one: int(one["mutant"].partition("-")[0]))
    return {**_models(folder), "mutants": rows}


def _models(folder: Path) -> Json:
    judged: Json = json.loads((folder / _MODELS).read_text(encoding="utf-8"))
    return judged


def record(folder: Path, models: Mapping[str, Json], rows: Sequence[Json]) -> None:
    """Write rows to their files, and the table of all rows beside the folder; files of bugs that are no more
    go. ConformError, and nothing is written, where other rows are of other models."""
    judged = {
        "what": "which seeded bugs of the coordinator `conform exhaust` finds on open models, without traces",
        "coordinator": package_key("coordinator"),
        "models": dict(models),
    }
    known = {_file(mutant.path.name) for mutant in mutants()}
    others = (known - {_file(one["mutant"]) for one in rows}) & {
        path.name for path in folder.glob("*-*.json")
    }
    if others:
        if _models(folder)["models"] != judged["models"]:
            raise ConformError(f"The models have changed since {sorted(others)[0]}: record all bugs again.")
        judged["coordinator"] = _models(folder)["coordinator"]
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*-*.json"):
        if path.name not in known:
            path.unlink()
    for one in rows:
        write_text(folder / _file(one["mutant"]), json.dumps(one, indent=2) + "\n")
    write_text(folder / _MODELS, json.dumps(judged, indent=2) + "\n")
    write_text(folder.with_name("EXHAUST.md"), table(recorded(folder)))


def _file(mutant: str) -> str:
    return f"{Path(mutant).stem}.json"


def verify(path: Path) -> int:
    """Tell if the evidence is still valid: exit code 0, or 12 where it is missing or stale."""
    if not (path / _MODELS).is_file():
        print(f"there is no evidence {path}: record it with --evidence", file=sys.stderr)
        return EVIDENCE_MISSING
    result = recorded(path)
    known = {one["mutant"]: one["patch_sha256"] for one in result["mutants"]}
    current = {mutant.path.name: file_hash(mutant.path) for mutant in mutants()}
    stale = sorted(name for name in known.keys() | current.keys() if known.get(name) != current.get(name))
    stale += [model for model, one in result["models"].items() if one["spec_hash"] != current_spec(model)]
    stale += ["coordinator/"] if result["coordinator"] != package_key("coordinator") else []
    print(f"stale: changed since are {', '.join(stale)}" if stale else "accepted")
    return EVIDENCE_MISSING if stale else 0


def current_spec(model: str) -> str:
    """The hash of a model's modules and configuration as they are."""
    entry = read_manifest(ROOT / "spec" / "manifest.json").entry(model)
    return spec_hash(entry.module, entry.model().configuration)


def table(result: Json) -> str:
    """The evidence as Markdown: a sentence, and a line for each mutant."""
    rows = result["mutants"]
    alone = sum(one["found_by"] == "exhaust" for one in rows)
    others = Counter(_kind(one["found_by"]) for one in rows if one["found_by"] != "exhaust")
    rest = ", ".join(f"{count} by {kind}" for kind, count in sorted(others.items()))
    sentence = ", ".join(f"{name} ({one['steps']:,} steps)" for name, one in result["models"].items())
    lines = [
        "# Seeded bugs found by exhaust",
        "",
        f"{alone} of {len(rows)} are found by `conform exhaust` alone" + (f", {rest}." if rest else "."),
        "",
        f"Judged were, in this order up to the first that shows the bug: {sentence}. On the coordinator "
        "without a bug all of them hold. `after` is the number of steps from an initial state, the one that "
        "differs included, of the shortest way to a difference; counted are the steps that differ at that "
        "distance. Written by `tests/pipeline/seeded_bugs.py`.",
        "",
        "| # | bug | found by | after | steps that differ | first difference |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *map(_line, rows)]) + "\n"


def _kind(found_by: str) -> str:
    parts = found_by.split("/")
    return found_by if len(parts) == 1 else f"tests/{parts[1]}"


def _line(one: Json) -> str:
    cells = [f"{one['bug'].rstrip('.')} ({one['requirement']})", *_result(one)]
    return " | ".join(["", one["mutant"].partition("-")[0], *map(_cell, cells), ""]).strip()


def _result(one: Json) -> list[str]:
    """The cells of a row: the model that finds the bug, the number of steps after which it does, the number
    of such steps, and an example; or the reason why none finds it."""
    if one["model"]:
        result, first = one["found"], one["found"]["first"]
        way = "/".join(part for part in (first["action"], first["branch"], first["error"]) if part)
        example = f"{first['requirement']} {way}: `{first['path']}`"
        return [f"exhaust {one['model']}", str(result["after"]), f"{result['differ']:,}", example]
    why = (
        f"no step of {', '.join(one['judged'])} differs" if one["judged"] else "no step calls what it changes"
    )
    if unloaded := sum(one["not_loaded"].values()):
        why += f"; {unloaded:,} begin in states that do not load, and were not judged"
    return [one["found_by"], "", "", why]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Exit code 0, or that of what went wrong, with a sentence."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="the numbers of some mutants, as in 01,02")
    parser.add_argument(
        "--evidence", type=Path, help="the folder for the results; EXHAUST.md is written beside it"
    )
    parser.add_argument(
        "--verify", type=Path, help="only say if the evidence in this folder is of today's sources"
    )
    options = parser.parse_args()
    if options.verify:
        return verify(options.verify)
    try:
        chosen = mutants([part for part in options.only.split(",") if part])
        models, rows = _all(chosen)
        if options.evidence:
            record(options.evidence, models, rows)
    except ConformError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    print(table({"models": models, "mutants": rows}).splitlines()[2])
    return 0


def _all(chosen: Sequence[Patch]) -> tuple[dict[str, Json], list[Json]]:
    models = {}
    for model in MODELS:
        models[model] = exhaust(model)
        print(f"{model}: {models[model]['steps']:,} steps hold without a bug", flush=True)
    places = {model: TABLES / model for model in models}
    control = judged_without(places)
    rows = []
    with ThreadPoolExecutor(_PROCESSES) as pool:
        for one in pool.map(lambda mutant: row(mutant, places, control), chosen):
            rows.append(one)
            print(_line(one), flush=True)
    return models, rows


if __name__ == "__main__":
    sys.exit(main())
