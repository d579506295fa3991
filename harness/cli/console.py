"""The common parts of the verbs of `conform`: progress, tables, JSON files, models on the command line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.engines.base import Model, Progress
from harness.errors import ConformError
from harness.files import is_stream, output_folder, write_text
from harness.kit import kit_folder, kit_path
from harness.manifest import Entry, Manifest, read_manifest
from harness.modules import config_beside

MANIFEST = Path("spec/manifest.json")
_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def running(title: str) -> Iterator[Progress]:
    """Show the progress of a task: a moving line on a terminal, now and then a plain line elsewhere."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(title) as status:
            yield lambda line: status.update(f"{title}: {line}")
        return
    print(f"{title} …", file=sys.stderr, flush=True)
    shown = time.monotonic()

    def show(line: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= _SECONDS_BETWEEN_LINES:
            shown = time.monotonic()
            print(f"{title}: {line}", file=sys.stderr, flush=True)

    yield show


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """A table without a frame, of its natural width where no terminal sets a limit."""
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    console.print(table) if console.is_terminal else Console(highlight=False, markup=False, width=200).print(
        table
    )


def write_json(path: Path | None, data: dict[str, Any]) -> None:
    """Write the file of `--json`, if the option is given."""
    if path is not None:
        write_text(path, json.dumps(data, indent=2) + "\n")


def check_json_place(path: Path | None) -> None:
    """Check the place for `--json` before the work and not after it."""
    if path is not None and not is_stream(path):
        output_folder(path.parent)


def find_model(
    name: str, config: Path | None, manifest: Path, libraries: Sequence[Path] = ()
) -> tuple[Model, Entry | None]:
    """A model by its name in the manifest, or by the path of its module."""
    if not name.endswith(".tla"):
        if config:
            raise ConformError(f"--config goes with the path of a module (.tla), not with the model {name}.")
        entry = named_manifest(manifest).entry(name)
        return entry.model(), entry
    module = kit_path(Path(name))
    if not module.is_file():
        raise ConformError(f"The module {module} does not exist.")
    if config and not config.is_file():
        raise ConformError(f"The configuration {config} does not exist.")
    for library in libraries:
        if not library.is_dir():
            raise ConformError(f"The library {library} is not a folder.")
    chosen = config or config_beside(module)
    return Model(chosen.stem, module, chosen, libraries=tuple(libraries)), None


def named_manifest(path: Path) -> Manifest:
    """Read the manifest; the default one may come with the package (harness/kit.py)."""
    path = kit_folder("spec") / MANIFEST.name if path == MANIFEST else path
    if path == MANIFEST and not path.is_file():
        raise ConformError(
            f"There is no {path} here: run in the repository's folder, name a manifest with --manifest, "
            "or give the path of a module (.tla)."
        )
    return read_manifest(path)


def spec_folder(manifest: Path) -> Path:
    """The folder of a specification's modules: the manifest is in it."""
    if manifest.is_dir():
        raise ConformError(f"{manifest} is a folder: --manifest names the file {MANIFEST.name} in it.")
    return kit_path(manifest.parent)
