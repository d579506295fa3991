"""The whole state graph of a model as TLC dumps it, with every step exact.

A state graph has one node for each state, and `step`, which records how a state was reached, must not make
states. But an edge of TLC's dump has only the name of an action. So TLC gets a specification in which every
step may also end in a leaf: a state that keeps `step`, and from which no step goes on. The leaves are the
distinct pairs of a step and the state after it; an edge into a leaf is a transition.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.dumps import shared_dump, shares_dumps
from harness.engines.base import Limits, Model, Progress, silent
from harness.engines.tlc import SHA256, run_tlc, variant
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, Config, read_config
from harness.engines.tlc_output import read_report
from harness.errors import ConformError
from harness.files import read_text
from harness.modules import declared_variables, dependencies, strip_comments
from harness.stategraph import HIDDEN

_MODULE: Final = "ConformTransitions"
LEAF: Final = "conformLeaf"
ADDED: Final = (LEAF, "conformDepth")
"""The variables that dumped states have beside the model's."""
OPTIONS: Final = ("-deadlock", "-seed", "0", "-dump", "dot")
_NOT_PLAIN: Final = re.compile(r"\\/|\\[AE]\b|=>|\b(?:LET|IF|CASE|ENABLED)\b")
"""Operators that make a definition more than a plain conjunction: such a definition is not split at each
`/\\`."""


def dump(
    model: Model,
    dot: Path,
    *,
    limits: Limits,
    log: Path,
    progress: Progress = silent,
    beyond_bounds: bool = False,
    any_order: bool = False,
) -> int:
    """Write the state graph of a model of the group protocol to `dot` (see the module); the number of nodes
    by TLC.

    With `beyond_bounds` a leaf may be one step out of the model's bounds (`bounds_of`), so that a step that
    is cut off differs from one that does not exist. With `any_order` TLC works on all processors, unless the
    model is small or the dump is shared: nodes and edges are the same, but a state has the hidden variables
    and the depth of any way to it. ConformError if the model has no variable `step`, or no initial predicate
    and next-state relation by name.
    """
    config = read_config(model.configuration)
    variables = declared_variables(model.module)
    if "step" not in variables:
        raise ConformError(
            f"{model.module.name} has no variable `step` that names the last step, so its transitions "
            "cannot be told apart."
        )
    init, following = behaviour(model, config)
    dropped = (*CHECKS, *UNKNOWN_TO_TLC, "SYMMETRY", "VIEW", "SPECIFICATION", "INIT", "NEXT")
    plain = config.without(dropped).having("VIEW", "ConformView").having("SPECIFICATION", "ConformSpec")
    bounds: list[str] = []
    if beyond_bounds:
        following, bounds = bounds_of(following, _sources(model))
        bounds += [f"({name})'" for name in config.names("CONSTRAINT")]
        plain = plain.without(["CONSTRAINT"])
    text = _module(model.module.stem, variables, init, following, bounds)

    def write() -> int:
        with tempfile.TemporaryDirectory(prefix="conform-") as folder, variant(plain) as path:
            module = Path(folder) / f"{_MODULE}.tla"
            module.write_text(text, encoding="utf-8")
            libraries = (model.module.parent, *model.libraries)
            own = limits.of(model)
            many = any_order and not own.brief and not shares_dumps()
            options = ["-workers", "auto" if many else "1", *OPTIONS, str(dot)]
            ended = run_tlc(
                module, path, options, log=log, limits=own, progress=progress, libraries=libraries
            )
        return read_report(ended.lines).distinct_states or 0

    more = (read_text(path, "The module") for one in model.libraries for path in sorted(one.glob("*.tla")))
    depends = (SHA256, *OPTIONS, plain.text(), text, *_sources(model), *more)
    return shared_dump(dot, depends, write, log=log, progress=progress)


def bounds_of(following: str, sources: Sequence[str]) -> tuple[str, list[str]]:
    """A next-state relation without the bounds of its model, and these: conjuncts over primed variables.

    `BoundedNext == Next /\\ group'.epoch <= MaxEpoch` gives `Next` and that one. A conjunct about `step`
    restricts the steps and no states, and is kept; so is a relation of any other form.
    """
    definition = re.compile(rf"^{re.escape(following)} ==\s*(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
    first = next((match for source in sources if (match := definition.search(source))), None)
    parts = re.split(r"/\\", first[1].strip().removeprefix("/\\")) if first else []
    parts = [" ".join(part.split()) for part in parts]
    if len(parts) < 2 or not re.fullmatch(r"\w+", parts[0]) or any(map(_NOT_PLAIN.search, parts)):
        return following, []
    inner, bounds = bounds_of(parts[0], sources)
    more = [part for part in parts[1:] if "'" in part and not re.search(r"\bstep\b", part)]
    kept = [part for part in parts[1:] if part not in more]
    return " /\\ ".join([inner, *kept]), bounds + more


def _module(extended: str, variables: list[str], init: str, following: str, bounds: list[str]) -> str:
    others = ", ".join(name for name in variables if name not in HIDDEN)
    every = ", ".join(variables)
    inside = "".join(f"\n  /\\ conformLeaf' \\/ ({bound})" for bound in bounds)
    return f"""---- MODULE {_MODULE} ----
EXTENDS {extended}, Naturals
VARIABLES conformLeaf, conformDepth
ConformInit == {init} /\\ conformLeaf = FALSE /\\ conformDepth = 0
ConformNext ==
  /\\ ~conformLeaf
  /\\ {following}
  /\\ conformLeaf' \\in BOOLEAN{inside}
  /\\ conformDepth' = conformDepth + 1
ConformSpec == ConformInit /\\ [][ConformNext]_<<{every}, conformLeaf, conformDepth>>
ConformView == IF conformLeaf THEN <<{every}>> ELSE <<{others}>>
====
"""


def behaviour(model: Model, config: Config) -> tuple[str, str]:
    """The initial predicate and the next-state relation, by name or in parentheses. Fairness is left out."""
    if config.names("INIT") and config.names("NEXT"):
        return config.names("INIT")[0], config.names("NEXT")[0]
    for specification in config.names("SPECIFICATION"):
        if named := _specified(specification, _sources(model)):
            return named
    raise ConformError(
        f"The specification of {model.name} must be written as `Spec == Init /\\ [][Next]_vars`, perhaps "
        "with fairness, for its transitions to be listed."
    )


_SPECIFIED: Final = re.compile(r"(.*?)\s*/\\\s*\[\]\[(.*?)\]_", re.DOTALL)
_FIRST: Final = re.compile(r"(\w+)\s*/\\")


def _specified(name: str, sources: Sequence[str]) -> tuple[str, str] | None:
    """The initial predicate and the next-state relation of a specification; for one that adds fairness to
    another specification, those of that one."""
    definition = re.compile(rf"^{name} ==\s*(?:/\\)?\s*(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
    specified = next((match[1] for source in sources if (match := definition.search(source))), "")
    if match := _SPECIFIED.match(specified):
        return _operand(match[1]), _operand(match[2])
    first = _FIRST.match(specified)
    return _specified(first[1], sources) if first else None


def _operand(expression: str) -> str:
    return expression if re.fullmatch(r"\w+", expression) else f"({expression})"


def _sources(model: Model) -> list[str]:
    """The texts of the model's modules, without comments."""
    return [strip_comments(read_text(path, "The module")) for path in dependencies(model.module)]
