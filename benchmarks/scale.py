"""The parts of the benchmark at scale: measured case by case, then tables and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from benchmarks.cases import STEPS, loads
from benchmarks.measure import Measured, in_fresh_process
from benchmarks.shapes import SHAPES, SIZES, Shape, Size

HEARTBEAT_MEMBERS: Final = (10, 100, 1_000, 10_000)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Table:
    """One table of figures, and the same as JSON."""

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)


def targets(progress: Progress, sizes: Sequence[Size] = SIZES, shapes: Sequence[Shape] = SHAPES) -> Table:
    """Assignors alone, and the requests that compute a target, side by side; seconds of the processor."""
    table = Table(
        [
            "members x partitions",
            "assignor and subscriptions",
            "initial s",
            "one joins s",
            "one leaves s",
            "MB",
            "join request s",
            "leave request s",
            "MB of group",
            "MB more",
        ]
    )
    for size in sizes:
        for shape in shapes:
            extent = f"{size.members:,} x {size.partitions:,}"
            progress(f"{shape.title}, {extent}")
            alone = [_measured("assignor", shape, size, step) for step in STEPS]
            requests = [_measured("coordinator", shape, size, step) for step in ("join", "leave")]
            seconds = [f"{measured.cpu_s:.3f}" for measured in (*alone, *requests)]
            table.rows.append(
                [
                    extent,
                    shape.title,
                    *seconds[:3],
                    f"{max(measured.peak_mb - measured.before_mb for measured in alone):.0f}",
                    *seconds[3:],
                    f"{requests[0].before_mb:.0f}",
                    f"{max(measured.peak_mb - measured.before_mb for measured in requests):.0f}",
                ]
            )
            table.data.append(
                {
                    "members": size.members,
                    "partitions": size.partitions,
                    "assignor": shape.assignor,
                    "subscriptions": shape.title,
                    **{f"assignor {step}": asdict(got) for step, got in zip(STEPS, alone, strict=True)},
                    **{
                        f"coordinator {step}": asdict(got)
                        for step, got in zip(("join", "leave"), requests, strict=True)
                    },
                }
            )
    return table


def _measured(case: str, shape: Shape, size: Size, step: str) -> Measured:
    return in_fresh_process(
        case, shape=[shape.assignor, shape.subscriptions], size=[size.members, size.topics], step=step
    )


def heartbeats(
    progress: Progress, members: Sequence[int] = HEARTBEAT_MEMBERS, count: int = 50_000
) -> tuple[Table, dict[str, dict[int, float]]]:
    """A heartbeat without news, by the size of the group; also as curves: microseconds by members.

    Ten members in turn cost the same in any group; of all members in turn, most are not in the processor's
    caches when their turn comes.
    """
    table = Table(
        ["heartbeat that changes nothing, us of processor", *(f"{size:,} members" for size in members)]
    )
    curves: dict[str, dict[int, float]] = {}
    for title, most in (("of 10 members in turn", 10), ("of all members in turn", None)):
        curve = curves[title] = {}
        for size in members:
            progress(f"{title}, {size:,} members")
            senders = min(most or size, size)
            measured = in_fresh_process("heartbeat", members=size, heartbeats=count, senders=senders)
            curve[size] = measured.cpu_s * 1e6
            table.data.append({"members": size, "senders": senders, **asdict(measured)})
        table.rows.append([title, *(f"{cost:.1f}" for cost in curve.values())])
    return table, curves


def takeovers(progress: Progress, groups: int = 10_000) -> Table:
    """A coordinator that loads a log of many groups, from records and from its storage."""
    table = Table(
        ["log loaded, 3 members a group", "groups", "records", "s of processor", "s", "MB before", "MB peak"]
    )
    progress(f"{groups:,} groups")
    records, measured = loads(groups)
    for source, title in (("records", "from JSON records"), ("sqlite", "from SQLite")):
        got = measured[source]
        table.rows.append(
            [
                title,
                f"{groups:,}",
                f"{records:,}",
                f"{got.cpu_s:.2f}",
                f"{got.wall_s:.2f}",
                f"{got.before_mb:.0f}",
                f"{got.peak_mb:.0f}",
            ]
        )
        table.data.append({"source": source, "groups": groups, "records": records, **asdict(got)})
    return table
