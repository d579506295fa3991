"""Mutants of a Python file: the operators of mutmut on libcst's trees, and some that mutmut does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper
from mutmut.mutation.mutators import mutation_operators

from harness.mutate.mutant import Mutant, mutants_of

TEXTS_FOR_PEOPLE: Final = " "
"""A space: strings with spaces are for people, and no rule depends on them."""


def negate(node: cst.If) -> Iterable[cst.If]:
    """`if a` -> `if not (a)`."""
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


def drop_operand(node: cst.BooleanOperation) -> Iterable[cst.BaseExpression]:
    """`a and b` -> `a`, `b`."""
    yield node.left
    yield node.right


def drop_set_operand(node: cst.BinaryOperation) -> Iterable[cst.BaseExpression]:
    """`a - b` -> `a`; `a & b`, `a | b` -> `a`, `b`."""
    if isinstance(node.operator, cst.Subtract | cst.BitAnd | cst.BitOr):
        yield node.left
        if not isinstance(node.operator, cst.Subtract):
            yield node.right


def drop_call(node: cst.SimpleStatementLine) -> Iterable[cst.SimpleStatementLine]:
    """A statement that is a call -> `pass`."""
    if (
        len(node.body) == 1
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.Call)
    ):
        yield node.with_changes(body=[cst.Pass()])


def return_none(node: cst.Return) -> Iterable[cst.Return]:
    """`return a` -> `return None`."""
    if node.value is not None and not (isinstance(node.value, cst.Name) and node.value.value == "None"):
        yield node.with_changes(value=cst.Name("None"))


OWN: Final = (
    (cst.If, negate),
    (cst.BooleanOperation, drop_operand),
    (cst.BinaryOperation, drop_set_operand),
    (cst.SimpleStatementLine, drop_call),
    (cst.Return, return_none),
)


def python_mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of the file, in the order of their lines."""
    finder = _Finder()
    module = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    module.visit(finder)
    text = _Text(module, source)
    changes = ((operator, text.with_change(node, new)) for operator, node, new in finder.found)
    return sorted(mutants_of(path, source, changes), key=lambda mutant: mutant.line)


class _Text:
    """The text of a module, with the places of its nodes."""

    def __init__(self, module: MetadataWrapper, source: str) -> None:
        self._module: Any = module.module
        self._source = source.encode()
        self._spans: Any = module.resolve(ByteSpanPositionProvider)

    def with_change(self, node: cst.CSTNode, new: cst.CSTNode) -> str:
        """The text with another node at that place. Where the node's own text differs from the file's
        (parentheses, indentation), the whole file is written anew, which takes a hundred times as long."""
        start = self._spans[node].start
        end = start + self._spans[node].length
        if self._source[start:end].decode() != self._module.code_for_node(node):
            return str(self._module.deep_replace(node, new).code)
        changed = str(self._module.code_for_node(new))
        return self._source[:start].decode() + changed + self._source[end:].decode()


class _Finder(cst.CSTVisitor):
    """A visitor that applies the operators to code with an effect: no annotations, no docstrings, no
    imports."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Decorator | cst.Import | cst.ImportFrom | cst.TypeAlias):
            return False
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString):
            return False
        if isinstance(node, cst.Assign) and _is_type(node.value):
            return False
        for kind, operator in (*mutation_operators, *OWN):
            if isinstance(node, kind):
                for new in _changed(operator, node):
                    name = operator.__name__.removeprefix("operator_")
                    self.found.append((name, *_smallest(node, new)))
        return True


def _smallest(node: cst.CSTNode, new: cst.CSTNode) -> tuple[cst.CSTNode, cst.CSTNode]:
    """The smallest changed part of an `if` or of a line; the rest keeps its text."""
    if isinstance(node, cst.If) and isinstance(new, cst.If):
        return node.test, new.test
    if isinstance(node, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
        return node.body[0], new.body[0]
    return node, new


def _is_type(node: cst.BaseExpression) -> bool:
    """Literal[…], which only annotations use."""
    return (
        isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name) and node.value.value == "Literal"
    )


def _changed(operator: Any, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The mutants of one node. A string gets one other text, and a text for people gets none. A positional
    argument is not left out: such a mutant nearly always fails at once, which shows nothing about the
    checks."""
    if isinstance(node, cst.Call):
        for new in operator(node):
            kept = getattr(new, "args", ())
            gone = [arg for arg in node.args if arg not in kept]
            if len(kept) < len(node.args) and not all(arg.keyword for arg in gone):
                continue
            if not any(_is_text_for_people(arg.value) for arg in gone):
                yield new
        return
    if isinstance(node, cst.BaseString):
        if isinstance(node, cst.SimpleString) and not _is_text_for_people(node):
            yield from list(operator(node))[:1]
        return
    yield from operator(node)


def _is_text_for_people(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.ConcatenatedString | cst.FormattedString):
        return True
    return isinstance(node, cst.SimpleString) and TEXTS_FOR_PEOPLE in node.value
