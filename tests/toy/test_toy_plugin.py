"""A package that brings a target and a kind of group by entry points: the kit finds both by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from assembled import HERE, LINES, ROOT

from harness import plugins
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.kinds.description import Kind
from harness.kinds.registry import KINDS
from harness.targets import open_target

KIND: Final = {
    "toy": "acme.toy.description:TOY",
    "toy.decoder": "acme.toy.decode:toy_decoder",
    "toy.actions": "acme.toy.decode:HANDLERS",
    "toy.sequence": "acme.toy.pictures:toy_steps",
}
TARGET: Final = """
import sys
from harness.targets.stdio import StdioTarget

def acme(argument, dialect):
    return StdioTarget([sys.executable, "-m", argument, "--stdio"], name=f"acme:{argument}")

def strange(argument, dialect):
    return object()

def broken(argument, dialect):
    raise RuntimeError(f"no licence for {argument}")
"""
TARGETS: Final = {name: f"acme.target:{name}" for name in ("acme", "strange", "broken")}


def install(folder: Path, kind: Mapping[str, str], targets: Mapping[str, str], package: str = "acme") -> None:
    """Write a package with its metadata, as pip leaves it."""
    about = folder / f"{package}_conform-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}-conform\nVersion: 1.0\n")
    groups = {"kinds": kind, "targets": targets}
    (about / "entry_points.txt").write_text(
        "".join(
            f"[group_conformance.{group}]\n"
            + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        )
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `acme`: the toy kind of group, and a target that is a copy of the coordinator
    which knows it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(HERE / "in_harness", folder / "acme/toy")
    (folder / "acme/__init__.py").touch()
    (folder / "acme/target.py").write_text(TARGET)
    for path in (folder / "acme/toy").glob("*.py"):
        path.write_text(path.read_text().replace("harness.kinds.toy", "acme.toy"))
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "coordinator", folder / "coordinator", ignore=ignored)
    shutil.copytree(HERE / "in_coordinator", folder / "coordinator/toy")
    for file, (imported, place, entry) in LINES.items():
        if file.startswith("coordinator/"):
            path, first = folder / file, "from __future__ import annotations\n"
            text = path.read_text().replace(place, entry + place)
            path.write_text(text.replace(first, f"{first}\n{imported}\n", 1))
    install(folder, KIND, TARGETS)
    return folder


def conform(here: Path, places: list[Path], *words: str) -> subprocess.CompletedProcess[str]:
    """Run the kit itself with these folders where packages are found."""
    path = os.pathsep.join(str(place) for place in (*places, ROOT))
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=300)


def test_a_kind_and_a_target_of_another_package_load_by_name(site: Path, tmp_path: Path) -> None:
    traces = str(HERE / "traces/toy")
    ran = conform(tmp_path, [site], "replay", traces, "--target", "acme:coordinator")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "of them on acme:coordinator" in ran.stdout and "0 differences" in ran.stdout
    (trace,) = (HERE / "traces/toy").glob("*.itf.json")
    ran = conform(tmp_path, [site], "graph", "--trace", str(trace), "--sequence", "--out", "graphs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "toy heartbeat" in (tmp_path / "graphs/tour-sequence.svg").read_text()


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that adds folders where this process finds packages."""

    def add(*folders: Path) -> None:
        for folder in folders:
            monkeypatch.syspath_prepend(folder)
        plugins.declared.cache_clear()

    yield add
    plugins.declared.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        (
            "strange",
            ENGINE_FAILED,
            "(acme.target:strange) of the package acme-conform gave no target: object lacks name, hello",
        ),
        ("broken:x", ENGINE_FAILED, "acme-conform does not start: RuntimeError: no licence for x"),
        ("none", USAGE, "packages that are installed bring acme, broken, strange"),
    ],
)
def test_a_target_that_is_none_is_named_with_its_package(
    site: Path, places: Callable[..., None], target: str, code: int, message: str
) -> None:
    places(site)
    with pytest.raises(ConformError) as failed:
        open_target(target)
    assert failed.value.exit_code == code
    assert message in failed.value.message


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            {"toy": "acme.nowhere:TOY"},
            "cannot be loaded: ModuleNotFoundError: No module named 'acme.nowhere'",
        ),
        ({"toy": "acme.target:acme"}, "is no Kind with the name 'toy'"),
        ({"classic": "harness.kinds.classic.description:CLASSIC"}, "has the name of a kind of the kit"),
        ({"toy": KIND["toy"]}, "lacks the entry point toy.decoder beside it"),
        ({"toy.decoder": KIND["toy"]}, "belongs to no kind"),
    ],
)
def test_a_kind_that_is_none_is_named_with_its_package(
    site: Path, tmp_path: Path, places: Callable[..., None], kind: Mapping[str, str], message: str
) -> None:
    install(tmp_path, kind, {}, "wrong")
    (tmp_path / "acme").symlink_to(site / "acme")
    places(tmp_path)
    with pytest.raises(ConformError, match="of the package wrong-conform") as failed:
        plugins.kinds(Kind, [kind.name for kind in KINDS])
    assert failed.value.exit_code == ENGINE_FAILED
    assert message in failed.value.message


def test_two_packages_may_not_bring_the_same_name(
    site: Path, tmp_path: Path, places: Callable[..., None]
) -> None:
    install(tmp_path, {}, {"acme": "acme.target:acme"}, "second")
    places(site, tmp_path)
    with pytest.raises(ConformError, match="second-conform and acme-conform both bring 'acme'"):
        open_target("acme:coordinator")


def test_a_bad_kind_ends_a_command_with_the_sentence(tmp_path: Path) -> None:
    """Also where no verb has begun: the list of verbs imports them all."""
    install(tmp_path, {"toy": "acme.nowhere:TOY"}, {}, "wrong")
    ran = conform(tmp_path, [tmp_path], "--help")
    assert (ran.returncode, ran.stderr.count("\n")) == (ENGINE_FAILED, 1), ran.stderr
    assert "of the package wrong-conform cannot be loaded" in ran.stderr
