"""`python -m coordinator serve`: the coordinator as a broker for unmodified clients."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import logging
import re
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from coordinator.core.clock import SystemClock, random_ids
from coordinator.core.config import Config, configured
from coordinator.core.dialect import DIALECTS, Dialect
from coordinator.core.errors import AppendFailed, BadInput
from coordinator.core.storage import SqliteStorage
from coordinator.serve.broker import Broker
from coordinator.serve.cluster import Cluster
from coordinator.serve.connection import Bounds
from coordinator.serve.login import read_users
from coordinator.serve.server import Server, UpstreamFailed
from coordinator.serve.stored import CountedStorage
from coordinator.serve.upstream import Upstream
from coordinator.service import Coordinator

EXAMPLES = """\
examples:
  Serve two topics on port 9092, and let librdkafka's or Kafka's consumers join:

    python -m coordinator serve --listen 127.0.0.1:9092 --topic foo:6 --topic bar:2

  Keep the groups in a file, and go on from it after a stop or a crash:

    python -m coordinator serve --listen 127.0.0.1:9092 --topic foo:6 --log groups.db

  Answer for groups in front of a real broker, which keeps topics and records:

    python -m coordinator serve --listen 127.0.0.1:9092 --upstream 127.0.0.1:9093

  As Apache Kafka 4.2 behaves, with short time-outs for tests:

    python -m coordinator serve --topic foo:6 --dialect kafka-4.2 \\
      --set group.consumer.min.heartbeat.interval.ms=200 --set group.consumer.heartbeat.interval.ms=200 \\
      --set group.consumer.min.session.timeout.ms=2000 --set group.consumer.session.timeout.ms=2000
"""
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:]+\]|[^:\[\]]+):(?P<port>\d{1,5})")
DEFAULT_RATE = 10
MOST_RATE = 1_000_000
"""The most records of a partition in a second: a higher rate soon makes offsets that no answer can hold."""
_TOPIC = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,249}):(?P<partitions>\d{1,5})")


def serve(arguments: Sequence[str]) -> int:
    """Serve until told to stop. Exit code 0; 2 for a wrong command line, 3 where the port is not free or no
    broker is upstream."""
    parser = _parser()
    options = parser.parse_args(arguments)
    host, port = _address(parser, "--listen", options.listen)
    behind = None if options.upstream is None else _address(parser, "--upstream", options.upstream)
    topics = _topics(parser, options)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    storage = None
    try:
        config, _ = configured(Config(), {}, _settings(options.set))  # before the log arms any timer
        storage = None if options.log is None else CountedStorage(SqliteStorage(options.log))
        coordinator = Coordinator(
            dialect=Dialect.named(options.dialect),
            clock=SystemClock(),
            ids=random_ids(),
            config=config,
            storage=storage,
        )
        rate = DEFAULT_RATE if options.rate is None else options.rate
        cluster = Cluster(host, port, coordinator.clock.now_ms(), lambda: str(uuid4()), rate)
        for name, partitions in topics:
            cluster.add(name, partitions)
        broker = Broker(coordinator, cluster, storage)
        users = None if options.users is None else read_users(Path(options.users))
        tls = _tls(options.certificate, options.key)
    except (BadInput, AppendFailed) as error:
        parser.error(str(error))
    if not _is_loopback(host) and users is None:
        print(
            f"Everybody who reaches {host}:{port} can use this broker: it asks for no password.",
            file=sys.stderr,
        )
    elif not _is_loopback(host) and tls is None:
        print(
            f"Passwords travel to {host}:{port} as they are: give --certificate and --key.", file=sys.stderr
        )
    upstream = None if behind is None else Upstream(behind, broker)
    server = Server(broker, Bounds(connections=options.connections), users, tls, upstream)
    try:
        return asyncio.run(_run(server, host, port))
    except OSError as error:
        print(
            f"python -m coordinator serve: {host}:{port} cannot be used: {error.strerror}.", file=sys.stderr
        )
        return 3
    except UpstreamFailed as error:
        print(f"python -m coordinator serve: {error}.", file=sys.stderr)
        return 3
    finally:
        if storage is not None:
            storage.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coordinator serve",
        description="Serve the coordinator over Kafka's protocol. Each partition holds the numbers from 0 "
        "on as records, and clients cannot produce; with --upstream, a real broker holds the data. "
        "Connections use TLS with --certificate and --key, and SASL/PLAIN with --users.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--listen",
        default="127.0.0.1:9092",
        metavar="HOST:PORT",
        help="the address to listen on (default: %(default)s)",
    )
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:PARTITIONS",
        help="a topic with the number of its partitions; may be given several times",
    )
    parser.add_argument(
        "--upstream",
        metavar="HOST:PORT",
        help="a real broker, which answers the requests that are not about groups",
    )
    parser.add_argument(
        "--dialect", default="kip-848", help=f"one of {', '.join(DIALECTS)} (default: %(default)s)"
    )
    parser.add_argument("--log", metavar="FILE", help="keep the groups in this SQLite file and go on from it")
    parser.add_argument(
        "--rate",
        type=int,
        metavar="N",
        help=f"the new records of each partition in a second (default: {DEFAULT_RATE})",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a configuration of the coordinator under Kafka's name, with a whole number; may be given "
        "several times",
    )
    parser.add_argument(
        "--connections",
        type=int,
        default=1000,
        metavar="N",
        help="accept at most N connections at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--users",
        metavar="FILE",
        help="accept only the users in this file, by SASL/PLAIN; each line is NAME:PASSWORD",
    )
    parser.add_argument("--certificate", metavar="FILE", help="the server's certificate for TLS, as PEM")
    parser.add_argument("--key", metavar="FILE", help="the key of the certificate, as PEM")
    return parser


def _address(parser: argparse.ArgumentParser, option: str, given: str) -> tuple[str, int]:
    address = _ADDRESS.fullmatch(given)
    if address is None or int(address["port"]) > 65535:
        parser.error(f"{option} is HOST:PORT, as in 127.0.0.1:9092, not {given!r}")
    return address["host"].strip("[]"), int(address["port"])


def _topics(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[tuple[str, int]]:
    """The topics of the command line, whose numbers are checked, too."""
    if options.upstream is not None and (options.topic or options.rate is not None):
        parser.error("--topic and --rate do not go with --upstream: topics and records are the broker's")
    if options.rate is not None and not 0 <= options.rate <= MOST_RATE:
        parser.error(f"--rate is a number of records from 0 to {MOST_RATE}, not {options.rate}")
    if options.connections < 1:
        parser.error(f"--connections is a number of connections from 1, not {options.connections}")
    topics = []
    for given in options.topic:
        read = _TOPIC.fullmatch(given)
        if read is None:
            parser.error(f"--topic is NAME:PARTITIONS, as in foo:6, not {given!r}")
        topics.append((read["name"], int(read["partitions"])))
    for name, times in Counter(name for name, _ in topics).items():
        if times > 1:
            parser.error(f"--topic gives {name} twice; give it once")
    return topics


def _settings(given: Sequence[str]) -> dict[str, int]:
    settings = {}
    for one in given:
        name, _, value = one.partition("=")
        if not re.fullmatch(r"-?\d{1,12}", value):
            raise BadInput(f"--set is NAME=VALUE with a whole number, not {one!r}")
        if name in settings:
            raise BadInput(f"--set gives {name} twice; give it once")
        settings[name] = int(value)
    return settings


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tls(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    """The server's side of TLS. BadInput, in words, where certificate or key cannot be used."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise BadInput("TLS takes both --certificate and --key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError, ValueError) as error:
        raise BadInput(f"{certificate} and {key} are no certificate with its key: {error}") from None
    return context


async def _run(server: Server, host: str, port: int) -> int:
    stop, listening = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.create_task(server.run(host, port, stop, listening))
    ready = asyncio.create_task(listening.wait())
    await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
    if listening.is_set():
        print(f"listening on {host}:{port}", flush=True)
    ready.cancel()
    open_ones = await running
    print(f"stopped; {open_ones} connections were open", flush=True)
    return 0
