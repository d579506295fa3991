"""Jars of Kafka from Maven Central: fetched once, by jgo, and each checked against its pinned checksum.

`pins/ARTIFACT-VERSION.txt` lists the jars of one version, one on a line: its SHA-256 and its coordinate. With
the list, no POM is read: Kafka 4.4.0's names a jar that Maven Central does not have. A list is made by
`python -m harness.targets.kafka.jars GROUP:ARTIFACT VERSION [GROUP:ARTIFACT:VERSION...]`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.targets.kafka.lock import alone

MAVEN_CENTRAL: Final = "https://repo.maven.apache.org/maven2"
PINS: Final = Path(__file__).parent / "pins"


class Unavailable(ConformError):
    """A jar cannot be fetched from Maven Central: the one reason for which tests may be skipped."""


@cache
def jars(coordinate: str, version: str) -> list[Path]:
    """The jars of GROUP:ARTIFACT at a version, with all their dependencies, in the order of its list.

    Processes that want jars at the same time fetch each jar once. ConformError: exit 2 for a version without
    a list, 3 for a jar that cannot be fetched or has another checksum.
    """
    artifact = coordinate.partition(":")[2]
    pins = PINS / f"{artifact}-{version}.txt"
    if not pins.is_file():
        raise ConformError(
            f"There are no jars of {artifact} in version {version!r}; there are jars for "
            f"{', '.join(versions(coordinate))}.",
            USAGE,
        )
    maven = _maven()
    with alone("jars"):  # jgo takes a jar that another process is still writing for a whole one, or fails
        return [_checked(maven, *line.split()) for line in pins.read_text(encoding="utf-8").splitlines()]


def versions(coordinate: str) -> list[str]:
    """The versions of GROUP:ARTIFACT that have a list, the oldest first."""
    artifact = coordinate.partition(":")[2]
    return sorted(path.stem.removeprefix(f"{artifact}-") for path in PINS.glob(f"{artifact}-[0-9]*.txt"))


def _maven() -> Any:
    """Maven Central and the user's own registries, cached where Maven caches."""
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    settings = GlobalSettings.load()
    return MavenContext(
        repo_cache=settings.repo_cache, remote_repos={"central": MAVEN_CENTRAL, **settings.repositories}
    )


def _checked(maven: Any, digest: str, name: str) -> Path:
    jar = _fetched(maven, name)
    actual = hashlib.sha256(jar.read_bytes()).hexdigest()
    if actual != digest:
        raise ConformError(
            f"{jar} is not {name}: its SHA-256 is {actual}. Delete it and try again.", ENGINE_FAILED
        )
    return jar


def _fetched(maven: Any, name: str) -> Path:
    import requests

    group, artifact, version = name.split(":")
    try:
        return Path(maven.project(group, artifact).at_version(version).artifact().resolve())
    except (requests.RequestException, RuntimeError, OSError) as error:
        raise Unavailable(
            f"The jar {name} could not be had from Maven Central: {error}. Does this machine reach it?",
            ENGINE_FAILED,
        ) from None


def pins_of(coordinate: str, version: str, more: Sequence[str] = ()) -> Iterator[str]:
    """The lines of a list, from the POMs: the jars that are needed at run time, without those that cannot be
    fetched, and `more`."""
    from jgo.maven import Model

    maven = _maven()
    group, artifact = coordinate.split(":")
    dependencies, _ = Model(maven.project(group, artifact).at_version(version).pom(), maven).dependencies()
    names = [f"{one.groupId}:{one.artifactId}:{one.version}" for one in dependencies]
    for name in [f"{coordinate}:{version}", *names, *more]:
        try:
            digest = hashlib.sha256(_fetched(maven, name).read_bytes()).hexdigest()
        except ConformError as error:
            print(f"left out: {error.message}", file=sys.stderr)
        else:
            yield f"{digest}  {name}"


if __name__ == "__main__":
    for line in pins_of(sys.argv[1], sys.argv[2], sys.argv[3:]):
        print(line)
