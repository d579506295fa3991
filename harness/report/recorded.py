"""Models that a run did not check: their recorded results, and whether those still count."""

from __future__ import annotations

from collections.abc import Collection

from harness.check import Checked, compare
from harness.evidence import Status, verify
from harness.manifest import Entry, Manifest


def recorded(manifest: Manifest, checked: Collection[str]) -> list[Checked]:
    """The evidence for every entry of the manifest whose name is not among the checked ones."""
    return [from_evidence(entry, manifest) for entry in manifest.entries if entry.name not in checked]


def from_evidence(entry: Entry, manifest: Manifest) -> Checked:
    """An entry's recorded result, compared with what is expected of it as long as it counts."""
    evidence = verify(entry, manifest.folder)
    accepted = evidence.status is Status.ACCEPTED
    return Checked(
        name=entry.name,
        engine=entry.engine,
        version=evidence.version,
        facts=evidence.facts,
        seconds=evidence.seconds,
        differences=compare(entry.expected(), evidence.facts or {}) if accepted else (),
        evidence=evidence,
        entry=entry,
    )
