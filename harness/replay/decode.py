"""From a trace of any kind of group to prepared steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.itf import Trace
from harness.kinds.decoders import DECODERS
from harness.kinds.decoding import KindDecoder
from harness.kinds.registry import kind_of, refuse_unreplayable
from harness.replay.contents import Contents
from harness.replay.prepared import DecodedTrace, Loadable
from harness.targets.base import Json
from harness.values import State


class Decoder:
    """A decoder of traces; common parts of several traces are read once."""

    def __init__(self, inputs: Contents | None = None) -> None:
        """`inputs` numbers the inputs of all steps; by default their numbers follow from their content."""
        numbers = Contents() if inputs is None else inputs
        self._decoders = {kind: decoder(numbers) for kind, decoder in DECODERS.items()}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification."""
        refuse_unreplayable(trace, name)
        return self._of(trace, f"The trace {name}").decode(trace, name)

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[Loadable, Json]:
        """A state as the start of a trace with this #meta: its load, and its description."""
        return self._of(Trace(dict(meta), tuple(state), [state]), name).start(state, name, meta)

    def _of(self, trace: Trace, name: str) -> KindDecoder[Any]:
        return self._decoders[kind_of(trace, name).name]
