"""Hashes that tell if a specification is still the one for which a result was computed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from harness.errors import ConformError
from harness.modules import dependencies


def file_hash(path: Path) -> str:
    """SHA-256 of a text file; line ends are normalised, so that a checkout on Windows hashes the same."""
    try:
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    except OSError as error:
        raise ConformError(f"{path} cannot be read: {error.strerror}.") from None


def spec_files(module: Path, config: Path | None) -> dict[str, str]:
    """File name -> hash, of the module, its configuration and every module on which it depends."""
    paths = [*dependencies(module), *([config] if config else [])]
    return {path.name: file_hash(path) for path in sorted(paths, key=lambda path: path.name)}


def spec_hash(module: Path, config: Path | None) -> str:
    """One hash over all of them."""
    lines = "".join(f"{name} {digest}\n" for name, digest in spec_files(module, config).items())
    return hashlib.sha256(lines.encode()).hexdigest()
