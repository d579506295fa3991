"""The two versions of a specification: a model, a folder, a git revision, or a dialect of the present one.

Each version is copied into a folder of its own, so that later changes of the original do not matter, and a
dialect can be a module beside the others.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from harness.dialects import TEXT_MODULE
from harness.engines.base import Model
from harness.engines.tlc_config import read_config
from harness.errors import ConformError, meant
from harness.files import read_text, write_text
from harness.manifest import Entry, read_manifest
from harness.modules import strip_comments
from harness.replay.dialects import FORMS

OPERATOR: Final = "ConformDialect"
"""The dialect in a generated module, whose name is this and the model's."""

_KEPT: Final = (".tla", ".cfg", ".json")
_DIALECT = re.compile(r"([\w.-]+)((?:,\w+=[\w-]+)*)")
_CHOSEN = re.compile(r"\bDialect\s*<-\s*\w+")
_NO_WAY: Final = (
    "it is no module (.tla), no folder with modules, no model of {manifest}, no dialect (kip-848, kafka-4.2, "
    "or with constants changed, as kip-848,FencedMemberIsRemoved=FALSE) and no git revision (HEAD~1, or "
    "HEAD~1:spec for another folder)."
)


@dataclass(frozen=True)
class Dialect:
    """An operator of the specification that is a dialect, with some of its constants chosen otherwise."""

    operator: str
    changed: Mapping[str, str]

    def expression(self) -> str:
        """The dialect in TLA+."""
        if not self.changed:
            return self.operator
        changes = ", ".join(f"!.{name} = {value}" for name, value in self.changed.items())
        return f"[{self.operator} EXCEPT {changes}]"


@dataclass(frozen=True)
class Side:
    """One version: its name on the command line, a folder of its modules, the model that it names, or "", and
    the dialect that all of its models take in place of their own, or None."""

    label: str
    folder: Path
    names: str = ""
    dialect: Dialect | None = None

    def model(self, name: str) -> Model:
        """A model by its name in the manifest, or by the common name of a module and a configuration."""
        model = self._plain_model(name)
        return model if self.dialect is None else self._in_dialect(model, self.dialect)

    def bounds(self, name: str) -> str:
        """The manifest's words for the model's bounds; "" if it has no such model."""
        return next((entry.bounds for entry in self._entries() if entry.name == name), "")

    def constants(self, model: Model) -> dict[str, Any]:
        """The constants of a model, for its traces. A changed dialect keeps the name of its origin."""
        assert model.config is not None
        constants = read_config(model.config).constants()
        if self.dialect is None:
            return dict(constants)
        changed = {"DialectChanged": dict(self.dialect.changed)} if self.dialect.changed else {}
        return {**constants, "Dialect": self.dialect.operator, **changed}

    def _entries(self) -> tuple[Entry, ...]:
        manifest = self.folder / "manifest.json"
        return read_manifest(manifest).entries if manifest.is_file() else ()

    def _plain_model(self, name: str) -> Model:
        for entry in self._entries():
            if entry.name == name:
                if entry.engine != "tlc" or "simulate" in entry.args:
                    raise ConformError(f"TLC does not explore all states of the model {name}; name another.")
                return replace(entry.model(), config=entry.model().configuration, args=entry.args)
        module, config = self.folder / f"{name}.tla", self.folder / f"{name}.cfg"
        if not module.is_file() or not config.is_file():
            missing = config if module.is_file() else module
            hint = meant(name, [entry.name for entry in self._entries()])
            raise ConformError(f"{self.label} has no model {name}: there is no {missing.name} in it.{hint}")
        return Model(name, module, config)

    def _in_dialect(self, model: Model, dialect: Dialect) -> Model:
        assert model.config is not None
        text, chosen = _CHOSEN.subn(f"Dialect <- {OPERATOR}", strip_comments(read_text(model.config, "")))
        if chosen != 1:
            raise ConformError(f"The model {model.name} has no dialect: {model.config.name} names none.")
        name = f"{OPERATOR}{model.name}"
        module, config = self.folder / f"{name}.tla", self.folder / f"{name}.cfg"
        write_text(
            module,
            f"---- MODULE {name} ----\nEXTENDS {model.module.stem}, KafkaDialects\n"
            f"{OPERATOR} == {dialect.expression()}\n====\n",
        )
        write_text(config, text)
        return replace(model, module=module, config=config)


def open_side(named: str, manifest: Path, folder: Path) -> Side:
    """Copy the named version into a new folder. `manifest` is that of the present specification.

    ConformError (exit 2) for a name that is none of the possible things.
    """
    path = Path(named)
    if named.endswith(".tla") or path.is_dir():
        return _of_path(named, path, folder)
    if manifest.is_file():
        if any(entry.name == named for entry in read_manifest(manifest).entries):
            return Side(named, _copy(manifest.parent, folder), named)
        if dialect := _dialect(named, manifest.parent):
            return Side(named, _copy(manifest.parent, folder), dialect=dialect)
    if (archive := _archive(named, manifest.parent)) is not None:
        _unpack(archive, folder, named)
        return Side(named, folder)
    raise ConformError(f"{named!r} names no specification: {_NO_WAY.format(manifest=manifest)}")


def _of_path(named: str, path: Path, folder: Path) -> Side:
    if named.endswith(".tla"):
        if not path.is_file():
            raise ConformError(f"The module {path} does not exist.")
        return Side(named, _copy(path.parent, folder), path.stem)
    if not any(path.glob("*.tla")) and any((path / "spec").glob("*.tla")):
        path = path / "spec"
    if not any(path.glob("*.tla")):
        raise ConformError(f"The folder {path} has no modules (.tla).")
    return Side(named, _copy(path, folder))


def _copy(source: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.suffix in _KEPT:
            shutil.copyfile(path, folder / path.name)
    return folder


def _dialect(named: str, spec: Path) -> Dialect | None:
    """`kafka-4.2`, or `kip-848,FencedMemberIsRemoved=FALSE`. ConformError for an unknown constant."""
    operators = {form.name: operator for operator, form in reversed(FORMS.items())}
    match = _DIALECT.fullmatch(named)
    if not match or match[1] not in (*operators, *FORMS):
        return None
    known = set(re.findall(r"^  (\w+) \|->", read_text(spec / TEXT_MODULE, "The module"), re.MULTILINE))
    changed: dict[str, str] = {}
    for change in filter(None, match[2].split(",")):
        name, _, value = change.partition("=")
        if name not in known:
            raise ConformError(
                f"{named}: dialects have no constant {name}; they have {', '.join(sorted(known))}."
            )
        plain = value in ("TRUE", "FALSE") or value.isdecimal()
        changed[name] = value if plain else f'"{value}"'
    return Dialect(operators.get(match[1], match[1]), changed)


def _archive(named: str, default: Path) -> bytes | None:
    """The files of a git revision; None if there is no such revision."""
    revision, _, inside = named.partition(":")
    if not revision or revision.startswith("-"):
        return None
    where = f"{revision}:./{inside or default.as_posix()}" if not default.is_absolute() or inside else ""
    if not where or _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is None:
        return None
    archive = _git("archive", "--format=tar", where)
    if archive is None:
        raise ConformError(f"The revision {revision} has no folder {inside or default}.")
    return archive


def _git(*words: str) -> bytes | None:
    try:
        return subprocess.run(["git", *words], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def _unpack(archive: bytes, folder: Path, named: str) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files.getmembers():
            path = Path(member.name)
            if member.isfile() and len(path.parts) == 1 and path.suffix in _KEPT:
                content = files.extractfile(member)
                assert content is not None
                (folder / path.name).write_bytes(content.read())
    if not any(folder.glob("*.tla")):
        raise ConformError(f"The revision {named} has no modules (.tla) there.")
