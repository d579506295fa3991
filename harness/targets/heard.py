"""Answers of a program that a check could not read: a fault of the program, or of the kit.

A program's answers are kept while a check runs. Where the check ends with an error of Python, the line
protocol's schema finds the answer with another form. Without such an answer the kit is at fault.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.protocol_schema import schema
from harness.targets.base import Capabilities, Json, Target
from harness.targets.stdio import StdioTarget

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError)
"""The errors of a check that reads an answer of another form than the protocol's."""


class KitFault(ConformError):
    """An answer has the protocol's form, and the kit could not read it (exit 3)."""


def listen(target: Target) -> None:
    """Keep the answers from now on, and forget the earlier ones; a target that is no program has none."""
    if isinstance(target, StdioTarget):
        target.heard = []


def malformed(target: Target, known: Capabilities, error: Exception) -> str:
    """The sentence about a malformed answer, in which a check ended with an error.

    KitFault (exit 3) if all answers of the program have the protocol's form: the kit read them wrongly.
    """
    name = error.args[0] if isinstance(error, KeyError) and isinstance(error.args[0], str) else ""
    if not isinstance(target, StdioTarget) or target.heard is None:
        return _lacks(name) if name else "An answer is of another form than the one that this check reads."
    for operation, answer in target.heard:
        if problem := problem_of(operation, answer):
            return f"The answer to {operation['op']} has not the form of the line protocol: {problem}."
    if name in _optional() and name not in _hidden(known.unobserved):
        return _lacks(name)
    raise KitFault(
        f"This is a fault of the kit: the answers of {target.name} have the form of the line protocol, and a "
        f"check could not read them ({type(error).__name__}: {error}). Please report the fault with this "
        "sentence.",
        ENGINE_FAILED,
    ) from error


def problem_of(operation: Json, answer: Json) -> str:
    """The place in an answer that differs from the line protocol's schema, and the reason; "" if there is
    none."""
    checks = [(f"answer.{operation['op']}", answer)]
    if operation["op"] == "request" and "body" in answer:
        checks.append((f"response.{operation['api']}", answer["body"]))
    for definition, value in checks:
        if definition not in schema()["$defs"]:
            continue
        for error in _validator(definition).iter_errors(value):
            place = error.json_path.replace("$", "the body" if value is not answer else "the answer", 1)
            return f"{place}: {error.message[:200]}"
    return ""


@cache
def _validator(definition: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema()["$defs"]})


def _lacks(name: str) -> str:
    return f"An answer has no {name}, which this check reads."


@cache
def _optional() -> frozenset[str]:
    """The fields that an answer may lack by the schema: a target hides them, or only one dialect has them."""
    names = set[str]()
    for definition in schema()["$defs"].values():
        names |= definition.get("properties", {}).keys() - set(definition.get("required", []))
    return frozenset(names)


def _hidden(unobserved: Collection[str]) -> set[str]:
    return {name.rpartition(".")[2] for name in unobserved}
