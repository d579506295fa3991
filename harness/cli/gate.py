"""`conform gate`: one command for continuous integration."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, named_manifest, running, write_json
from harness.engines.base import Limits
from harness.errors import HOLDS, ConformError
from harness.files import output_folder, write_text
from harness.gate import Done, Gate, junit
from harness.manifest import TIERS
from harness.report.verdict import MEANINGS, worst
from harness.waivers import read_waivers

_SHOWN = 5


def command(
    tier: Annotated[str, typer.Option(help="The models to check: small or soak.")] = "small",
    minutes: Annotated[
        float, typer.Option(min=0.01, metavar="N", help="Time for everything; what does not fit fails.")
    ] = 18,
    target: Annotated[str, typer.Option(help="The implementation: python, or stdio:COMMAND.")] = "python",
    dialect: Annotated[str, typer.Option(help="What the target speaks and the traces are of.")] = "kip-848",
    traces: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with golden/, counterexamples/ and corpus/.")
    ] = Path("traces"),
    manifest: Annotated[Path, typer.Option(help="The manifest.")] = MANIFEST,
    out: Annotated[Path, typer.Option(help="Folder for logs and counterexamples.")] = Path("build/gate"),
    waivers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Differences that are accepted: signature, reason, expires (TOML)."
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="The result (default: OUT/gate.json).")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="JUnit's XML (default: OUT/gate.xml).")
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory for an engine, as Java takes it.")] = "2g",
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of TLC.")] = None,
) -> None:
    """Verify evidence, replay the committed traces, check scenarios and the models of a tier: one verdict.

    Evidence is verified for the models of other tiers.

    A waiver accepts differences of the replays; one that covers nothing or has expired is a failure.

    Every step is done, whatever the others give; one line says what became of it.

    \b
    conform gate --minutes 18 --junit build/gate.xml

    Exit codes, the most serious of all steps: 3 an engine or the target failed, or the time was over; 2 the
    manifest or a trace is wrong or missing; 10 a model is not as expected; 11 the target does not conform;
    12 evidence is missing or stale; 0 otherwise.
    """
    if tier not in TIERS:
        raise ConformError(f"There is no tier {tier!r}: choose {' or '.join(TIERS)}.")
    accepted = read_waivers(waivers, date.today())
    output_folder(out)
    json_file, junit_file = json_file or out / "gate.json", junit_file or out / "gate.xml"
    for file in (json_file, junit_file):
        check_json_place(file)
    gate = Gate(
        named_manifest(manifest),
        tier,
        traces,
        target,
        dialect,
        out,
        Limits(memory, None, workers),
        minutes * 60,
        accepted,
    )
    steps = gate.steps()
    finished: list[Done] = []
    for number, step in enumerate(steps, start=1):
        title = f"[{number}/{len(steps)}] {step.kind} {step.name}"
        with running(title) as progress:
            done = gate.run(step, progress)
        finished.append(done)
        verdict = "ok" if done.exit_code == HOLDS else f"FAILED ({done.exit_code})"
        print(f"{title}: {verdict} ({done.seconds:.1f} s): {done.message}", flush=True)
    exit_code = worst(done.exit_code for done in finished)
    waived = accepted.to_json("differences")
    write_json(json_file, {**_to_json(finished, exit_code, target, dialect), "waived": waived})
    write_text(junit_file, junit(finished))
    apart = accepted.excepted("differences") if exit_code == HOLDS else ""
    print(f"gate: {_verdict(finished, exit_code)}{apart}")
    raise typer.Exit(exit_code)


def _verdict(finished: list[Done], exit_code: int) -> str:
    if exit_code == HOLDS:
        return MEANINGS[HOLDS]
    failed = [f"{done.step.kind} {done.step.name}" for done in finished if done.exit_code == exit_code]
    more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    return f"{MEANINGS[exit_code]} ({exit_code}): {', '.join(failed[:_SHOWN])}{more}"


def _to_json(finished: list[Done], exit_code: int, target: str, dialect: str) -> dict[str, object]:
    def of(kind: str) -> list[dict[str, object]]:
        return [done.details for done in finished if done.step.kind == kind]

    return {
        "command": "gate",
        "exit_code": exit_code,
        "verdict": MEANINGS[exit_code],
        "target": target,
        "dialect": dialect,
        "steps": [
            {
                **vars(done.step),
                "exit_code": done.exit_code,
                "seconds": round(done.seconds, 2),
                "message": done.message,
            }
            for done in finished
        ],
        "models": of("check"),
        "evidence": of("evidence"),
        "replays": of("replay"),
        "scenarios": of("scenario"),
    }
