"""`conform broker`: a Kafka broker on this machine, for a target that is there when one is needed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.cli.options import JsonFile
from harness.errors import ConformError

command = typer.Typer(
    no_args_is_help=True, help="Start a Kafka broker on 127.0.0.1 (up), or end and remove that broker (down)."
)


@command.command()
def up(
    version: Annotated[str, typer.Option(help="The version of Kafka: 4.0.2, 4.1.2, 4.2.1, 4.3.1, 4.4.0.")],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the broker; a free port if not given.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the broker's data and log, which `down` removes; by default in "
            "the user's state folder."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A broker configuration; may be repeated."),
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Start one Kafka broker on 127.0.0.1 and print its name for --target.

    The jars come from Maven Central, once, and their checksums are verified. The broker goes on running when
    this command ends. From 4.3 on it computes targets at once (group.consumer.assignment.interval.ms=0),
    if --set does not say otherwise.

    \b
    conform broker up --version 4.2.1
    conform broker up --version 4.3.1 --set group.consumer.assignment.interval.ms=1000

    Exit codes: 0 the broker answers; 2 a broker runs already, or a wrong version, folder or setting; 3 the
    broker did not start.
    """
    from harness.targets.broker import local

    check_json_place(json_file)
    given = dict(_setting(text) for text in settings or [])
    with running(f"starting Kafka {version}"):
        broker = local.up(version, port, folder, given)
    write_json(json_file, {"target": broker.target, **asdict(broker)})
    print(broker.target)


@command.command()
def down(json_file: JsonFile = None) -> None:
    """End the broker that `up` started, and remove its data and its log.

    Exit codes: 0 the broker is gone; 2 no broker runs.
    """
    from harness.targets.broker import local

    check_json_place(json_file)
    broker = local.down()
    write_json(json_file, {"target": broker.target, **asdict(broker)})
    print(f"ended Kafka {broker.version} ({broker.target})")


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or "\n" in text:
        raise ConformError(f"--set {text} is not a setting: write KEY=VALUE.")
    return key, value
