"""Pictures by graphviz's program `dot`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import networkx as nx

from harness.errors import ENGINE_FAILED, ConformError
from harness.files import REPLACED, output_folder

FORMATS = ("svg", "png")


def require_dot() -> str:
    """The path of `dot`; ConformError (exit 3) where it is missing."""
    program = shutil.which("dot")
    if program is None:
        raise ConformError(
            "Graphviz's program `dot`, which draws the pictures, is not on this machine: install the package "
            "graphviz (`apt-get install graphviz`, `brew install graphviz`) and try again.",
            ENGINE_FAILED,
        )
    return program


def render(graph: nx.DiGraph, folder: Path, name: str) -> list[Path]:
    """Draw a graph with graphviz's attributes into NAME.svg and NAME.png: both whole, or an error."""
    program = require_dot()
    output_folder(folder)
    text = nx.nx_pydot.to_pydot(graph).to_string()
    with tempfile.TemporaryDirectory(dir=folder, prefix=".drawing-") as inside:
        drawn = [Path(inside) / f"picture.{form}" for form in FORMATS]
        options = [f"-T{form}:cairo" if form == "png" else f"-T{form}" for form in FORMATS]
        outputs = [word for pair in zip(options, drawn, strict=True) for word in (pair[0], f"-o{pair[1]}")]
        written = text.encode(errors=REPLACED)
        ended = subprocess.run([program, *outputs], input=written, capture_output=True, check=False)
        if ended.returncode != 0:
            words = ended.stderr.decode(errors=REPLACED).strip()
            raise ConformError(f"Graphviz could not draw {name}: {words}", ENGINE_FAILED)
        files = [folder / f"{name}.{form}" for form in FORMATS]
        for made, file in zip(drawn, files, strict=True):
            os.replace(made, file)
    return files
