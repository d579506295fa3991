r"""Arms of a specification: the expressions that an evaluation may leave out.

TLC evaluates an expression in one piece, except for these parts: the body of a definition, the sides of IF,
the values of CASE, the operands of /\ and \/ after the first, the right side of =>, and the body of a
quantifier, a set, a function or CHOOSE. Each of them is an arm. If all arms are reached, so is each
expression.

SANY, the parser of TLC's jar, gives their places: it writes the tree of a module as XML. Three kinds of
definitions have no arms: temporal formulas, tuples such as `vars`, whose form TLC reads, and constants with
their parts, since TLC computes these before the search, and a configuration may name them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from harness.engines.base import EngineError, Failure, Limits
from harness.engines.java import find_java
from harness.engines.process import run_program
from harness.engines.tlc import BRIEF, find_jar

Place = tuple[int, int]
"""Line and column, both from 1."""
WORDS: Final = {
    "definition": "the definition",
    "$IfThenElse 1": "THEN",
    "$IfThenElse 2": "ELSE",
    "$Case": "a value of CASE",
    "$ConjList": "a conjunct",
    "\\land": "a conjunct",
    "$DisjList": "a disjunct",
    "\\lor": "a disjunct",
    "=>": "the right side of =>",
    "$BoundedForall": "the body of \\A",
    "$BoundedExists": "the body of \\E",
    "$BoundedChoose": "the body of CHOOSE",
    "$SetOfAll": "the elements of a set",
    "$SubsetOf": "the condition of a set",
    "$FcnConstructor": "the values of a function",
}
"""Operator of the parent, and the operand's number where that matters -> the word for the arm."""
_LATER: Final = ("$ConjList", "$DisjList", "\\land", "\\lor", "=>")
_TEMPORAL: Final = 3


@dataclass(frozen=True, slots=True, order=True)
class Arm:
    """One arm. `definition` is the name of the module's definition around it, `what` a value of `WORDS`; the
    text is from `begin` to `end`, both included."""

    module: str
    begin: Place
    end: Place
    definition: str
    what: str


@dataclass(frozen=True, slots=True, order=True)
class Extent:
    """A definition of a module, from its first line to its last, with its arms in the order of the text."""

    module: str
    first: int
    last: int
    name: str
    arms: tuple[Arm, ...]


def extents(module: Path, limits: Limits, libraries: Sequence[Path] = ()) -> list[Extent]:
    """The definitions with arms, of a module and of all modules that it uses in its folder and in
    `libraries`.

    EngineError if SANY cannot read the module.
    """
    folders = [module.resolve().parent, *(path.resolve() for path in libraries)]
    own = {path.stem for folder in folders for path in folder.glob("*.tla")}
    return _Tree(_tree(module, folders, limits), own).extents()


def _tree(module: Path, folders: Sequence[Path], limits: Limits) -> Element:
    with tempfile.TemporaryDirectory(prefix="conform-sany-") as place:
        log = Path(place) / "tree.xml"
        library = f"-DTLA-Library={os.pathsep.join(map(str, folders))}"
        java = [str(find_java()), f"-Xmx{limits.memory}", "-Xss16m", *BRIEF, library, "-cp", str(find_jar())]
        ended = run_program(
            [*java, "tla2sany.xml.XMLExporter", "-o", module.name],
            name="SANY",
            log=log,
            folder=module.resolve().parent,
            timeout=limits.timeout,
        )
    text = "\n".join(ended.lines)
    tree, end = text.find("<?xml"), "</modules>"
    if tree < 0 or end not in text:
        last = "\n".join(ended.lines[-3:])
        raise EngineError(Failure.PARSE, f"SANY could not read {module.name}:\n{last}")
    return ElementTree.fromstring(text[tree : text.index(end) + len(end)])


@dataclass
class _Tree:
    """The tree of SANY: `own` are the modules that count."""

    root: Element
    own: set[str]
    nodes: dict[str, Element] = field(init=False)
    local: set[str] = field(init=False)

    def __post_init__(self) -> None:
        context = self.root.find("context")
        self.nodes = {
            entry.findtext("UID", ""): next(node for node in entry if node.tag != "UID")
            for entry in (context if context is not None else ())
        }
        self.local = {
            reference.findtext("UID", "") for names in self.root.iter("opDefs") for reference in names
        }

    def extents(self) -> list[Extent]:
        """The definitions of all modules, without those of LET, which belong to the definition around
        them."""
        defined = {
            uid: node
            for uid, node in self.nodes.items()
            if node.tag == "UserDefinedOpKind" and node.find("body") is not None
        }
        constant = self._constants(defined)
        by_place: dict[tuple[str, Place], Extent] = {}
        for uid, node in defined.items():
            module, begin, end = _location(node)
            if module not in self.own or uid in self.local | constant or (module, begin) in by_place:
                continue
            name = node.findtext("uniquename", "").rpartition("!")[2]
            arms = {(arm.begin, arm.end): arm for arm in self._arms(node, module, name)}
            if arms:
                ordered = tuple(sorted(arms.values()))
                by_place[module, begin] = Extent(module, begin[0], end[0], name, ordered)
        return sorted(by_place.values())

    def _constants(self, defined: dict[str, Element]) -> set[str]:
        """The definitions that TLC computes before the search, and those that these use."""
        waiting = [
            uid
            for uid, node in defined.items()
            if uid not in self.local and _level(node) == 0 and node.findtext("arity") == "0"
        ]
        names: set[str] = set()
        while waiting:
            uid = waiting.pop()
            if uid not in names and uid in defined:
                names.add(uid)
                waiting += [name.findtext("UID", "") for name in defined[uid].iter("UserDefinedOpKindRef")]
        return names

    def _arms(self, definition: Element, module: str, name: str) -> Iterator[Arm]:
        """The arms of one definition, without those that lie in another module (of an INSTANCE)."""
        body = definition.find("body/*")
        while body is not None and body.tag == "SubstInNode":
            body = body.find("body/*")
        if body is None or _level(definition) >= _TEMPORAL:
            return
        inner = [] if self._operator(body) == "$Tuple" else [("definition", body)]
        for what, node in [*inner, *self._parts(body)]:
            place = _location(node)
            if place[0] == module and node.tag != "AtNode" and _level(node) < _TEMPORAL:
                yield Arm(module, place[1], place[2], name, WORDS[what])

    def _parts(self, node: Element) -> Iterator[tuple[str, Element]]:
        """Each expression below a node that an evaluation may leave out."""
        if node.tag == "LetInNode":
            for reference in node.findall("opDefs/*"):
                local = self.nodes[reference.findtext("UID", "")]
                body = local.find("body/*")
                if body is not None and local.tag == "UserDefinedOpKind":
                    yield "definition", body
                    yield from self._parts(body)
        yield from self._optional(node)
        for below in node:
            if below.tag not in ("location", "level", "opDefs"):
                yield from self._parts(below)

    def _optional(self, node: Element) -> Iterator[tuple[str, Element]]:
        operands = node.findall("operands/*")
        operator = self._operator(node)
        if operator == "$IfThenElse":
            yield from ((f"{operator} {number}", operands[number]) for number in (1, 2))
        elif operator == "$Case":
            yield from ((operator, pair.findall("operands/*")[1]) for pair in operands)
        elif operator in _LATER:
            yield from ((operator, operand) for operand in operands[1:])
        elif operator in WORDS:
            yield operator, operands[0]

    def _operator(self, node: Element) -> str:
        """The name of the built-in operator of an application; "" for all other nodes."""
        reference = node.find("operator/BuiltInKindRef")
        return (
            "" if reference is None else self.nodes[reference.findtext("UID", "")].findtext("uniquename", "")
        )


def _location(node: Element) -> tuple[str, Place, Place]:
    place = node.find("location")
    if place is None:
        return "", (0, 0), (0, 0)
    line, column = (
        [int(place.findtext(f"{what}/{end}", "0")) for end in ("begin", "end")] for what in ("line", "column")
    )
    return place.findtext("filename", ""), (line[0], column[0]), (line[1], column[1])


def _level(node: Element) -> int:
    """The level that SANY gives: constant 0, state 1, action 2, temporal 3."""
    return int(node.findtext("level") or 0)
