"""The kit with a sixth kind of group: a copy with the folders of the kind, and a line in each registry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
LINES: Final[Mapping[str, tuple[str, str, str]]] = {
    "harness/kinds/registry.py": (
        "from harness.kinds.toy.description import TOY",
        "CLASSIC, CONNECT, MIGRATION, CONSUMER)",
        "TOY, ",
    ),
    "harness/kinds/decoders.py": (
        "from harness.kinds.toy.decode import HANDLERS as TOY_HANDLERS, toy_decoder",
        "    CONSUMER.name: (",
        '    "toy": (toy_decoder, TOY_HANDLERS),\n',
    ),
    "harness/kinds/recordings.py": (
        "from harness.kinds.toy.recorded import ToyLogReader, ToyRecording",
        "    CONSUMER.name: lambda",
        '    "toy": lambda path, group, _: ToyLogReader(path, group, ToyRecording()),\n',
    ),
    "harness/kinds/scenarios.py": (
        "from harness.kinds.toy.scenario import TOY",
        "CLASSIC, CONNECT, CLIENT",
        "TOY, ",
    ),
    "harness/kinds/cards.py": (
        "from harness.kinds.toy.pictures import ToyDescriber",
        "    (CONSUMER.variables, GroupDescriber),",
        '    (("toy", "step"), ToyDescriber),\n',
    ),
    "harness/kinds/sequences.py": (
        "from harness.kinds.toy.pictures import toy_steps",
        "    CONSUMER.name: ",
        '    "toy": toy_steps,\n',
    ),
    "coordinator/kinds.py": (
        "from coordinator.toy.service import APIS as TOY_APIS, ToyGroups, parse_toy",
        "CLASSIC, CONNECT)",
        'Kind("toy", TOY_APIS, parse_toy, ToyGroups), ',
    ),
    "coordinator/record_kinds.py": (
        "from coordinator.toy.records import MEMBER, METADATA, ToyRecord, toy_from_wire, toy_to_wire",
        "Codec(CONNECT_TYPES,",
        "Codec((MEMBER, METADATA), ToyRecord, toy_from_wire, toy_to_wire, lambda value: 4), ",
    ),
}
"""By the file of each registry: an import, the place before which an entry goes, and the entry."""
MODELS: Final = (
    {
        "name": "MCToy",
        "module": "MCToy.tla",
        "config": "MCToy.cfg",
        "engine": "tlc",
        "purpose": "The toy protocol",
        "bounds": "2 members, epochs up to 4",
        "args": {},
        "expect": {"outcome": "holds"},
        "distinct_states": 34,
        "depth": 5,
        "seconds": 1,
        "tier": "small",
    },
)


def assemble(folder: Path) -> None:
    """Put the kit with the toy kind into a folder: programs, the modules of the specification, a manifest of
    the toy's models alone. With what Python has compiled of them: it compiles anew what is changed here."""
    for name in ("harness", "coordinator"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("carried"))
    shutil.copytree(HERE / "in_harness", folder / "harness/kinds/toy")
    shutil.copytree(HERE / "in_coordinator", folder / "coordinator/toy")
    for file, (imported, place, entry) in LINES.items():
        path = folder / file
        text = path.read_text()
        assert text.count(place) == 1, f"{file} has {place!r} not once"
        text = text.replace(place, entry + place)
        first = "from __future__ import annotations\n"
        path.write_text(text.replace(first, f"{first}\n{imported}\n", 1))
    shutil.copytree(HERE / "spec", folder / "spec")
    (folder / "spec/manifest.json").write_text(json.dumps({"models": MODELS}))
    shutil.copytree(HERE / "traces", folder / "traces")


def conform(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb of that kit."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
