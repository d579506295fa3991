"""Options of several verbs: each has one name, one form and one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from harness.errors import USAGE, ConformError
from harness.files import read_text
from harness.replay.dialects import known_name

JsonFile: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON, too.")
]
WaiverFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Differences that are accepted: signature, reason, expires (TOML)."),
]
Wait: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0, metavar="SECONDS", help="Wait at most so long, in total, for timers of a live broker."
    ),
]
Schedule: TypeAlias = Annotated[
    Path | None, typer.Option("--replay", metavar="FILE", help="Run this schedule instead of a random one.")
]

ManifestFile: TypeAlias = Annotated[Path, typer.Option(help="The manifest, beside which the modules are.")]
Config: TypeAlias = Annotated[Path | None, typer.Option(help="The configuration of a module given by path.")]
Libraries: TypeAlias = Annotated[
    list[Path] | None, typer.Option(metavar="DIR", help="A folder with more modules, for a path.")
]
TlcMemory: TypeAlias = Annotated[str, typer.Option(help="Memory for TLC, as Java takes it.")]
TlcTimeout: TypeAlias = Annotated[
    float | None, typer.Option(min=0.1, metavar="S", help="Stop a run of TLC after S seconds.")
]

Master: TypeAlias = Annotated[str, typer.Option(help="Spark's master: local[2], spark://HOST:7077, yarn …")]
Package: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The package that a cluster's workers run: build/conform.pex of `make package`."
    ),
]
SparkSettings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="A setting of Spark, as of spark-submit; repeatable."),
]
SparkMemory: TypeAlias = Annotated[str, typer.Option(help="Memory for Spark's JVM, as Java takes it.")]
ALL_PROCESSORS: Final = "local[*]"
"""The default of --master: all processors of this machine."""
SPARK_MEMORY: Final = "1500m"
"""The default of --spark-memory."""

KeptFolder: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--kept", metavar="DIR", help="The folder of earlier failures, which the next run tries first."
    ),
]
NoKept: TypeAlias = Annotated[
    bool, typer.Option("--no-kept", help="Try no earlier failure first, and keep no new one.")
]


def dialect_option(text: str) -> Any:
    """The option of a dialect, by name or by a file that has the name, with this help text."""
    return typer.Option(parser=named, metavar="NAME|FILE", help=text)


def named(given: str) -> str:
    """The name of a dialect, read from the file if there is a file of that name (`conform identify --out`
    writes such a file). ConformError (exit 2) for a name that no dialect has, and for a file without a
    name."""
    path = Path(given)
    if "=" in given or not path.is_file():
        return known_name(given)
    lines = (line.partition("#")[0].strip() for line in read_text(path, "The dialect").splitlines())
    names = [line for line in lines if line]
    if len(names) != 1:
        raise ConformError(
            f"The file {path} must have one line with the name of a dialect, as conform identify --out "
            f"writes it; it has {len(names)}.",
            USAGE,
        )
    return known_name(names[0])
