"""Findings of the gate, in the forms that continuous integration reads."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from harness.errors import ENGINE_FAILED, HOLDS, USAGE, worst
from harness.gate.run import nothing_done
from harness.gate.steps import Done, GateOptions, Outcome
from harness.report.verdict import MEANINGS

_SHOWN: Final = 5
_LISTS: Final = {
    "models": "check",
    "evidence": "evidence",
    "replays": "replay",
    "scenarios": "scenario",
    "exhausts": "exhaust",
    "random": "random",
    "simulations": "simulate",
}
_NOT_IN_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that no XML may have, as those that colour the errors of a target."""


def verdict(finished: Sequence[Done]) -> tuple[int, str]:
    """The exit code of the most serious step, and a sentence that names what failed."""
    if nothing_done(finished):
        return ENGINE_FAILED, f"nothing was done ({ENGINE_FAILED}): no step, or no time for any"
    exit_code = worst(done.exit_code for done in finished)
    if exit_code == HOLDS:
        return exit_code, MEANINGS[HOLDS]
    failed = [title(done) for done in finished if done.exit_code == exit_code]
    more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    return exit_code, f"{MEANINGS[exit_code]} ({exit_code}): {', '.join(failed[:_SHOWN])}{more}"


def title(done: Done) -> str:
    """The name of a step."""
    return f"{done.step.kind} {done.step.name}"


def result_line(done: Done) -> str:
    """One step in words."""
    outcome = f"FAILED ({done.exit_code})" if done.failed else "ok"
    if done.outcome is not Outcome.DONE:
        return f"{title(done)}: {done.outcome}: {done.message}"
    return f"{title(done)}: {outcome} ({done.seconds:.1f} s): {done.message}"


def not_done(finished: Sequence[Done], outcome: Outcome) -> list[str]:
    """A line for each part that was cut or left out, with the reason."""
    return [f"{title(done)}: {first_line(done)}" for done in finished if done.outcome is outcome]


def first_line(done: Done) -> str:
    """The claim of a step, without its explanation."""
    return done.message.splitlines()[0]


def to_json(options: GateOptions, finished: Sequence[Done]) -> dict[str, Any]:
    """The result for `--json`: the steps, and by kind the JSON of the verb of that kind."""

    def of(kind: str) -> list[dict[str, Any]]:
        return [done.details for done in finished if done.step.kind == kind and done.outcome is Outcome.DONE]

    exit_code, sentence = verdict(finished)
    return {
        "command": "gate",
        "exit_code": exit_code,
        "verdict": MEANINGS[exit_code],
        "message": sentence,
        "target": options.target,
        "dialect": options.dialect,
        "minutes": options.seconds / 60,
        "steps": [
            {
                "kind": done.step.kind,
                "name": done.step.name,
                "outcome": done.outcome.value,
                "exit_code": done.exit_code,
                "seconds": round(done.seconds, 2),
                "message": done.message,
            }
            for done in finished
        ],
        **{name: of(kind) for name, kind in _LISTS.items()},
        "cut": not_done(finished, Outcome.CUT),
        "left_out": not_done(finished, Outcome.LEFT_OUT),
        "waived": options.waivers.to_json("differences"),
    }


def junit(steps: Sequence[Done]) -> str:
    """The steps as JUnit's XML: a failed step is a failure, a step that could not be done an error, and a
    step that was cut or left out is skipped."""
    errors = [done for done in steps if done.exit_code in (ENGINE_FAILED, USAGE)]
    failures = [done for done in steps if done.failed and done not in errors]
    skipped = sum(done.outcome is not Outcome.DONE for done in steps)
    counts = {
        "tests": str(len(steps)),
        "failures": str(len(failures)),
        "errors": str(len(errors)),
        "skipped": str(skipped),
    }
    seconds = f"{sum(done.seconds for done in steps):.3f}"
    suites = {name: count for name, count in counts.items() if name != "skipped"}
    root = ElementTree.Element("testsuites", {**suites, "time": seconds})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "conform gate", **counts, "time": seconds})
    for done in steps:
        names = {"classname": f"conform.{done.step.kind}", "name": done.step.name}
        case = ElementTree.SubElement(suite, "testcase", {**names, "time": f"{done.seconds:.3f}"})
        if done.failed:
            failure = {"message": first_line(done), "type": f"exit code {done.exit_code}"}
            ElementTree.SubElement(
                case, "error" if done in errors else "failure", failure
            ).text = done.message
        elif done.outcome is not Outcome.DONE:
            ElementTree.SubElement(case, "skipped", {"message": f"{done.outcome}: {done.message}"})
    ElementTree.indent(root)
    written = ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", written)


def github_annotations(finished: Sequence[Done], repository: Path) -> Iterator[str]:
    """Workflow commands of GitHub Actions: an error for each failed step, beside its file if that is in the
    repository, and a warning for a step that was cut."""
    for done in finished:
        if done.failed:
            yield _command("error", {**_at(done, repository), "title": title(done)}, done.message)
    if cut := not_done(finished, Outcome.CUT):
        yield _command("warning", {"title": "conform gate: random work was cut"}, "\n".join(cut))


def _at(done: Done, repository: Path) -> dict[str, str]:
    place = _inside(done.place, repository)
    return {"file": place, "line": "1"} if place else {}


def _inside(place: Path | None, repository: Path) -> str:
    """The file's path in the repository, "" for a file elsewhere."""
    if place is None or not place.resolve().is_relative_to(repository.resolve()):
        return ""
    return place.resolve().relative_to(repository.resolve()).as_posix()


def _command(name: str, properties: dict[str, str], message: str) -> str:
    """https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands"""
    written = ",".join(
        f"{key}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    )
    return f"::{name} {written}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def code_quality(finished: Sequence[Done], repository: Path) -> str:
    """Failed steps as GitLab's code quality report, which a merge request shows beside its files."""
    return json.dumps(
        [
            {
                "description": f"{title(done)}: {first_line(done)}",
                "check_name": f"conform.{done.step.kind}",
                "fingerprint": hashlib.sha256(f"{title(done)}\n{done.message}".encode()).hexdigest()[:32],
                "severity": "critical" if done.exit_code in (ENGINE_FAILED, USAGE) else "major",
                "location": {"path": _inside(done.place, repository) or ".", "lines": {"begin": 1}},
            }
            for done in finished
            if done.failed
        ],
        indent=2,
    )


def markdown(options: GateOptions, finished: Sequence[Done]) -> str:
    """A page of a job, as GitHub's step summary: the verdict, then a row for each step."""
    exit_code, sentence = verdict(finished)
    lines = [
        f"## conform gate: {sentence}{_except(options, exit_code)}",
        "",
        f"Target `{options.target}`, dialect {options.dialect}.",
        "",
        "| step | | seconds | |",
        "| --- | --- | ---: | --- |",
    ]
    for done in finished:
        outcome = f"**failed ({done.exit_code})**" if done.failed else "ok"
        outcome = outcome if done.outcome is Outcome.DONE else done.outcome.value
        cell = first_line(done).replace("|", "\\|")
        lines.append(f"| {title(done)} | {outcome} | {done.seconds:.1f} | {cell} |")
    for done in finished:
        if done.failed:
            lines += ["", f"<details><summary>{title(done)}</summary>", "", "```", done.message, "```", ""]
            lines += ["</details>"]
    return "\n".join(lines) + "\n"


def _except(options: GateOptions, exit_code: int) -> str:
    return options.waivers.excepted("differences") if exit_code == HOLDS else ""
