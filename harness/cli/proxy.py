"""`conform proxy`: record what clients and a broker say to each other, and inject faults."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.engines.process import ending_signals
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.replay.dialects import FORMS, TEXT
from harness.targets.recording import opened_log

if TYPE_CHECKING:
    from harness.proxy.run import Proxy

_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:]+\]|[^:\[\]\s]+):(?P<port>\d{1,5})")


def command(
    upstream: Annotated[str, typer.Option(metavar="HOST:PORT", help="The broker.")],
    record: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Write the requests of clients and the answers of the broker to this log, for "
            "conform validate.",
        ),
    ],
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address for a client (default: 127.0.0.1:9192); one for each process of a client.",
        ),
    ] = None,
    faults: Annotated[
        int | None, typer.Option(metavar="SEED", min=0, help="Inject faults that are drawn from this seed.")
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Inject the faults of this file, or of a record with faults."),
    ] = None,
    dialect: Annotated[str, typer.Option(help="The dialect of the broker, for the record.")] = "kafka-4.2",
    connections: Annotated[
        int, typer.Option(min=1, metavar="N", help="The most connections at a time.")
    ] = 1000,
) -> None:
    """Stand between clients and a broker, and record the requests and answers of groups.

    Every frame is passed on. Requests of groups and their answers go to the record, a log that `conform
    validate` judges; beside each heartbeat stands the group as the broker describes it. The record knows
    only groups that begin in it: create the topics first, and use group ids that the broker does not know.

    With --faults or --schedule requests and answers are lost, connections cut, requests delayed, refused with
    an error, or handed over late. The record names each fault. A line of a schedule is
    {"client":1,"api":"ConsumerGroupHeartbeat","nth":3,"fault":"answer lost"}; client 1 is that of the first
    --listen, and nth counts its requests of that API from 1.

    \b
    conform proxy --listen 127.0.0.1:9192 --listen 127.0.0.1:9193 \\
      --upstream 127.0.0.1:9092 --record build/clients.jsonl --faults 7
    conform validate build/clients.jsonl

    Exit codes: 0 stopped by SIGTERM, SIGHUP or Ctrl-C; 2 usage; 3 an address cannot be used.
    """
    from harness.proxy.faults import from_file, from_seed, no_faults
    from harness.proxy.record import Record
    from harness.proxy.run import Bounds, Proxy

    if faults is not None and schedule is not None:
        raise ConformError("--faults and --schedule exclude each other: give one of them.", USAGE)
    known = sorted({forms.name for forms in FORMS.values()} - {TEXT.name})
    if dialect not in known:
        raise ConformError(
            f"--dialect is one of {', '.join(known)}, not {dialect!r}: a broker speaks Kafka's protocol, "
            "which cannot carry all that KIP-848's text has.",
            USAGE,
        )
    broker = _address("--upstream", upstream)
    places = [_address("--listen", one) for one in listen or ["127.0.0.1:9192"]]
    injected = no_faults if faults is None else from_seed(faults)
    if schedule is not None:
        injected = from_file(schedule)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    for host, port in places:
        _check_free(host, port)  # before an earlier record is replaced
        if not _is_loopback(host):
            print(f"Everybody who reaches {host}:{port} reaches the broker through it.", file=sys.stderr)
    with opened_log(record) as note:
        written = Record(note, dialect)
        try:
            asyncio.run(_run(lambda: Proxy(broker, written, injected, Bounds(connections)), places))
        except OSError as error:
            raise ConformError(
                f"An address of --listen cannot be used: {error.strerror}.", ENGINE_FAILED
            ) from None
    print(f"stopped; {record} has {written.requests} requests of groups and {written.faults} faults")


def _address(option: str, given: str) -> tuple[str, int]:
    match = _ADDRESS.fullmatch(given)
    if match is None or not 0 < int(match["port"]) < 1 << 16:
        raise ConformError(f"{option} is HOST:PORT, as in 127.0.0.1:9092, not {given!r}.", USAGE)
    return match["host"].strip("[]"), int(match["port"])


def _check_free(host: str, port: int) -> None:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ConformError(
            f"--listen {host}:{port} cannot be used: {error.strerror}. Name another address.", ENGINE_FAILED
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _run(make: Callable[[], Proxy], places: list[tuple[str, int]]) -> None:
    stop, listening = asyncio.Event(), asyncio.Event()
    for signal_number in (*ending_signals(), signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
    running = asyncio.create_task(make().run(places, stop, listening))
    ready = asyncio.create_task(listening.wait())
    await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
    if listening.is_set():
        for number, (host, port) in enumerate(places, start=1):
            print(f"listening on {host}:{port} for client {number}", flush=True)
    ready.cancel()
    await running
