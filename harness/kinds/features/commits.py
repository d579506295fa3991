"""Commits of offsets (O1), which steps and states of either kind of group have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from harness.kinds.fields import Partition


class CommitRequest(Protocol):
    """The sender of a commit: member id, instance id, and member epoch or generation."""

    @property
    def member(self) -> str: ...
    @property
    def instance(self) -> str | None: ...
    @property
    def epoch(self) -> int: ...


class Answered(Protocol):
    """A response, as far as its error."""

    @property
    def error(self) -> str: ...


class CommitStep(Protocol):
    """A step that may commit an offset, of either kind of group (O1)."""

    @property
    def action(self) -> str: ...
    @property
    def request(self) -> CommitRequest: ...
    @property
    def response(self) -> Answered: ...
    @property
    def partition(self) -> Partition | None: ...
    @property
    def offset(self) -> int: ...


class CommitState(Protocol):
    """A state with committed offsets, of either kind of group."""

    @property
    def step(self) -> CommitStep: ...
    @property
    def offsets(self) -> Mapping[Partition, int]: ...
