"""The command `conform` (= `python -m harness`): one verb per job."""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import importlib.util
import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

from harness.engines.process import stop_on_signals
from harness.errors import ConformError, meant
from harness.files import REPLACED

VERBS = (
    *("check", "scenario", "generate", "replay", "exhaust", "validate", "graph", "shrink", "simulate"),
    *("compare", "mutate", "diff", "doctor", "identify", "client", "proxy", "broker", "dialects", "report"),
    *("gate", "coverage"),
)
"""All verbs in the order of `--help`; each is `command` in the module of its name, if that exists: a
function, or an app of verbs of its own."""

MOVED = {
    "simulate": (
        *("--target", "--against", "--dialect", "--against-dialect"),
        *("--steps", "--length", "--max-differences", "--waivers"),
    )
}
"""Options that a verb had, and `compare` has now."""

RENAMED = {
    "coverage": {"--record": "--record-evidence"},
    "diff": {"--without": "--leave-out"},
    "doctor": {"--timeout": "--answer-timeout"},
    "exhaust": {"--output": "--out"},
    "generate": {"--tour": "--edges"},
    "scenario": {"--spec": "--manifest"},
    "shrink": {"--spec": "--manifest"},
    "validate": {"--spec": "--manifest"},
}
"""Options that have another name now, a table for each verb."""


FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a device that has no space left."""


def _flush() -> None:
    """Write what was printed, so that an error of standard output is an error of the verb."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno in FULL:  # Python itself reports a closed pipe
            raise


def _no_space(error: OSError) -> ConformError:
    """The sentence for a full device. Python writes the rest of standard output once more at its end, so a
    full output is replaced."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ConformError(
        f"{error.strerror}: standard output, or the folder of temporary files (TMPDIR names another), takes "
        "no more. This run has no verdict."
    )


def _end(ctx: Any, error: ConformError) -> NoReturn:
    print(f"conform: {error.message}", file=sys.stderr)
    ctx.exit(error.exit_code)
    raise AssertionError


class _Conform(typer.core.TyperGroup):
    """The app of `conform`, which imports only the requested verb: that halves the start. It prints a failure
    as its sentence and ends with its exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [verb for verb in VERBS if importlib.util.find_spec(f"harness.cli.{verb}")]

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in self.list_commands(ctx):
            return None
        try:
            verb = importlib.import_module(f"harness.cli.{name}").command
        except ConformError as error:  # of a package that adds a kind of group
            _end(ctx, error)
        alone = typer.Typer(pretty_exceptions_show_locals=False, add_completion=False, rich_markup_mode=None)
        if isinstance(verb, typer.Typer):
            alone.add_typer(verb, name=name)
        else:
            alone.command(name)(verb)
        return typer.main.get_group(alone).get_command(ctx, name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb of a command line. A name that is no verb fails with the most similar verb as a hint, and
        an option that has moved or has another name with the new place or name."""
        verbs = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in verbs:
            hint = meant(args[0], verbs) or f" There are {', '.join(verbs)}."
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        for option in (word.partition("=")[0] for word in args[1:]):
            gone = f"conform {args[0]} has no option {option} any more: "
            if option in MOVED.get(args[0], ()):
                ctx.fail(f"{gone}two implementations are compared by conform compare, with the same options.")
            if new := RENAMED.get(args[0], {}).get(option):
                file = ", and it takes the file manifest.json, not its folder" if option == "--spec" else ""
                ctx.fail(f"{gone}its name is {new} now{file}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                _flush()
        except ConformError as error:
            _end(ctx, error)
        except OSError as error:
            if error.errno not in FULL:
                raise
            _end(ctx, _no_space(error))
        except RecursionError:
            _end(ctx, ConformError("Values are nested too deeply: in a file, in an answer, or in the kit."))


app = typer.Typer(
    pretty_exceptions_show_locals=False,  # those of a run on Spark take gigabytes to print
    cls=_Conform,
    name="conform",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="From a TLA+ specification to a conformance verdict. Exit codes: 0 holds; 10 a model has another "
    "result than expected; 11 an implementation does not conform; 12 evidence is missing or stale; 13 "
    "undecided, for want of time; 2 usage; 3 an engine or a target failed; 129 SIGHUP (the "
    "terminal was closed); 130 Ctrl-C; 143 SIGTERM.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"conform {importlib.metadata.version('group-conformance')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of `conform` itself."""


def main() -> None:
    """Run the command line. A stop signal stops the engines, too: `run_program` cleans up on the way. A text
    of a target may have characters that the output cannot have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=REPLACED)
    stop_on_signals()
    app()
