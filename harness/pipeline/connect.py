"""A session of a Spark Connect server. The address is tried first, since gRPC itself tries for minutes."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.reasons import reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING: Final = "spark.remote"
"""The setting that names a server; it precedes the environment variable."""
VARIABLE: Final = "SPARK_REMOTE"
_PORT: Final = 15002
"""Spark Connect's own port, for an address without one."""
_SECONDS: Final = 5.0
_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy")
"""Environment variables that make gRPC reach the server through another host."""


def remote_of(settings: Mapping[str, str]) -> tuple[str, str]:
    """The requested server, and the setting that names it; two empty texts for none."""
    if SETTING in settings:
        return settings[SETTING], f"--conf {SETTING}"
    return os.environ.get(VARIABLE, ""), VARIABLE


def connected(place: str, named_by: str) -> SparkSession:
    """A session of the Spark Connect server at `place`. ConformError (exit 3) if there is none."""
    _check(place, named_by)
    from pyspark.sql import SparkSession

    try:
        session: SparkSession = SparkSession.builder.remote(place).getOrCreate()
        session.range(1).count()
    except Exception as error:  # PySpark raises Java's, gRPC's and its own errors
        client = " Its client is in pip install 'pyspark[connect]'." if isinstance(error, ImportError) else ""
        raise ConformError(
            f"The Spark Connect server {place}, which {named_by} names, cannot be used: {reason_of(error)}."
            f"{client}",
            ENGINE_FAILED,
        ) from None
    return session


def _check(place: str, named_by: str) -> None:
    """ConformError (exit 3) if no server listens at the address; another place, as `local[2]`, is left to
    Spark."""
    if not place.startswith("sc://"):
        return
    try:
        url = urlsplit(place)
        host, port = url.hostname, url.port or _PORT
        if not host:
            raise ValueError("it has no host")
    except ValueError as error:
        raise ConformError(
            f"{place}, which {named_by} names, is no address of a Spark Connect server: {error}. Such an "
            "address is sc://HOST:PORT."
        ) from None
    if _has_proxy(host):
        return
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except OSError as error:
        reason = "it does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise ConformError(
            f"The Spark Connect server {place}, which {named_by} names, cannot be reached at {host}:{port}: "
            f"{reason}. Start it (sbin/start-connect-server.sh of Spark), name another one, or leave out "
            f"{named_by}, and Spark runs on this machine.",
            ENGINE_FAILED,
        ) from None


def _has_proxy(host: str) -> bool:
    proxied = any(os.environ.get(name) for name in _PROXIES)
    return proxied and not proxy_bypass(host)
