"""The options about earlier failures, for the verbs that try these first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

KeptFolder: TypeAlias = Annotated[
    Path, typer.Option("--kept", metavar="DIR", help="Where what fails is kept; the next run tries it first.")
]
NoKept: TypeAlias = Annotated[
    bool, typer.Option("--no-kept", help="Try nothing that failed before, and keep nothing.")
]
