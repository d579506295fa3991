"""What results depend on besides their inputs: this code, and the target's."""

from __future__ import annotations

import hashlib
import importlib.util
import shlex
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path

from harness.pipeline.tables import key


@cache
def package_key(package: str) -> str:
    """The key of all sources of a package."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    digest = hashlib.sha256()
    for folder in spec.submodule_search_locations:
        for path in sorted(Path(folder).rglob("*.py")):
            digest.update(
                f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
            )
    return digest.hexdigest()[:32]


def code_key() -> str:
    """The key of the code that makes rows of sources."""
    return package_key("harness")


def target_key(target: str) -> str:
    """The key of a target: its name, and as far as it can be told, its program: every file that its command
    names, and the package of `python -m PACKAGE`."""
    if target == "python":
        return key(target, package_key("coordinator"))
    words = shlex.split(target.partition(":")[2])
    files = [Path(found) for word in words if (found := shutil.which(word) or word) and Path(found).is_file()]
    packages = [after.partition(".")[0] for word, after in pairwise(words) if word == "-m"]
    known = [package_key(name) for name in packages if _is_package(name)]
    return key(target, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files), *known)


def _is_package(name: str) -> bool:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    return spec is not None and bool(spec.submodule_search_locations)
