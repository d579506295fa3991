"""Locks between processes of one user, in the folder of caches."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import USAGE, ConformError
from harness.files import cache_folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Let only one process at a time do the work of this name: others wait, and find its results.

    A process that holds a name may take another one, not the same. ConformError (exit 2) if the cache cannot
    be written to.
    """
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        opened = (cache_folder() / f"{name}.lock").open("w")
    except OSError as error:
        raise ConformError(
            f"The cache {cache_folder()} cannot be written to: {error.strerror}. "
            "Name another folder by XDG_CACHE_HOME.",
            USAGE,
        ) from None
    with opened as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
