"""The place of Apalache: APALACHE_HOME, PATH, or the pinned release in the user's cache."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from harness.engines.base import EngineError, Failure
from harness.files import cache_folder

PINNED: Final = "0.61.0"
SHA256: Final = "68fb56dd9d053cf21d692fd7ec3fbaaeba1395661ec7434fa2b4c47e6fc432b8"
URL: Final = f"https://github.com/apalache-mc/apalache/releases/download/v{PINNED}/apalache-{PINNED}.tgz"


def find_apalache() -> Path:
    """The program `apalache-mc`. EngineError if it is not on this machine."""
    if home := os.environ.get("APALACHE_HOME"):
        program = Path(home) / "bin" / "apalache-mc"
        if not program.is_file():
            raise EngineError(Failure.MISSING, f"APALACHE_HOME is {home}, but there is no {program}.")
        return program
    if on_path := shutil.which("apalache-mc"):
        return Path(on_path)
    pinned = cache_folder() / f"apalache-{PINNED}" / "bin" / "apalache-mc"
    if pinned.is_file():
        return pinned
    raise EngineError(
        Failure.MISSING,
        "Apalache is not in APALACHE_HOME, PATH or the cache: "
        f"unpack a release and set APALACHE_HOME, or let `conform check --download` fetch {PINNED}.",
    )


def download_apalache(url: str = URL) -> Path:
    """Fetch the pinned release into the cache and return `apalache-mc`. EngineError if that fails."""
    import urllib.error
    import urllib.request  # its import takes a tenth of the start of any verb of `conform`

    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            archive = answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise EngineError(
            Failure.MISSING,
            f"Apalache {PINNED} cannot be fetched from {url} ({error}): install it, set APALACHE_HOME.",
        ) from None
    digest = hashlib.sha256(archive).hexdigest()
    if digest != SHA256:
        raise EngineError(Failure.MISSING, f"{url} is not Apalache {PINNED}: its SHA-256 is {digest}.")
    return _unpack(archive)


def _unpack(archive: bytes) -> Path:
    """Unpack beside the final place and rename, so that an interrupted run leaves nothing half-done."""
    cache, home = cache_folder(), cache_folder() / f"apalache-{PINNED}"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # Python before 3.11.4 has no filters; the checksum has already verified the archive.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)
        if not home.exists():
            (Path(folder) / home.name).rename(home)
    return home / "bin" / "apalache-mc"
