"""Names of actions: in handlers, and in the modules of the specification."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.errors import ConformError
from harness.files import read_text
from harness.replay.calls import Call

C = TypeVar("C", bound=Callable[..., Call])

UNTRACED: Final = frozenset({"ResolveRegex"})
"""Actions of models without traces: Kafka's work in the background (KafkaDialects)."""

INITIAL: Final = "Init"
"""The name of a behaviour's first state, which is loaded into the target."""


def registering(handlers: dict[str, Any]) -> Callable[[C], C]:
    """A decorator that registers a handler under the name of its action: session_timeout for SessionTimeout,
    and return_ for Return, because return is a word of Python."""

    def action(handler: C) -> C:
        handlers["".join(part.capitalize() for part in handler.__name__.split("_"))] = handler
        return handler

    return action


_LITERAL: Final = re.compile(r'"([A-Z]\w*)"')
_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_ACTION_NAMES: Final = re.compile(
    r'action\s*(?:\|->|=)\s*"(\w+)"'
    r'|\b(?:\w*Step|ChangeTopic|GiveUp|ProcessEnds|ClassicHandled|ClassicEvent|Waited)\(\s*"(\w+)"'
)
_ACTION_OF: Final = re.compile(r"^ActionOf\([^)]*\)\s*==(.*?)(?=^\S)", re.DOTALL | re.MULTILINE)


def actions_of_spec(folder: Path) -> frozenset[str]:
    """The action names that the modules of a folder write into `step.action`, read from the text: no module
    is run."""
    names: set[str] = set()
    modules = sorted(folder.glob("*.tla"))
    if not modules:
        raise ConformError(f"There is no TLA+ module in {folder}.")
    for module in modules:
        text = _COMMENT.sub("", read_text(module, "The module"))
        names.update(first or second for first, second in _ACTION_NAMES.findall(text))
        for body in _ACTION_OF.findall(text):
            names.update(_LITERAL.findall(body))
    return frozenset(names)
