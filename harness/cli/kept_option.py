"""The options about earlier failures, for the verbs that try these first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

KeptFolder: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--kept", metavar="DIR", help="The folder of earlier failures, which the next run tries first."
    ),
]
NoKept: TypeAlias = Annotated[
    bool, typer.Option("--no-kept", help="Try no earlier failure first, and keep no new one.")
]
