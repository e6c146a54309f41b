"""What `evener measure --second` prints: a line a rectangle, and what is not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.cli.commands.measured import MAX_ROWS, remark, say_imprecise, width_text
from evener.measuring.kernels import unit_of

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.measuring.outcomes import Point
    from evener.measuring.rectangles import Rectangles


def show_surfaces(
    found: Sequence[Rectangles], kernel: str | None, written: str, out: Output
) -> None:
    """Print and return as JSON what was measured of each device."""
    from evener.reporting.numbers import plural

    unit = unit_of(kernel or "")
    rows = [row for one in found for row in _rows(one)]
    header = ("device", "height", "width", "time", "+/-", "repetitions", "units/s", "")
    out.table(header, rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        out.say(f"... {len(rows) - MAX_ROWS:,} more in the file")
    say_imprecise(
        [point for one in found for column in one.columns for point in column.points], out
    )
    for one in found:
        if one.capacity < math.inf:
            out.say(f"{one.name} holds {one.capacity:,.0f} units; more did not fit.")
        if not one.heights:
            out.note(f"note: no rectangle of {one.name} could be measured: it is not in the file")
        elif missing := one.surface()[1]:
            rectangles = plural(len(missing), "rectangle")
            out.note(f"note: {one.name}: {rectangles} not measured, at the speed of the next one")
    surfaces = plural(sum(bool(one.heights) for one in found), "surface")
    out.say(f"Written: {written} ({surfaces}; unit: {unit})")
    out.result(
        {
            "written": written,
            "kernel": kernel,
            "unit": unit,
            "surfaces": [_as_dict(one) for one in found],
        }
    )


def _rows(one: Rectangles) -> list[tuple[str, ...]]:
    from evener.reporting.numbers import count

    rows: list[tuple[str, ...]] = []
    for width, column in zip(one.widths, one.columns, strict=True):
        points = sorted(column.points, key=lambda point: point.load)
        rows += [_row(one.name, width, point) for point in points]
        gaps = [(gap.load, gap.message[:100]) for gap in column.gaps]
        gaps += [(float(load), f"skipped, {column.why_skipped}") for load in column.skipped]
        rows += [(one.name, count(load), str(width), "none", "", "", "", why) for load, why in gaps]
    return rows


def _row(name: str, width: int, point: Point) -> tuple[str, ...]:
    from evener.reporting.numbers import count, duration

    sample = point.sample
    slower = sample.status == "slower"
    return (
        name,
        count(sample.load),
        str(width),
        ("> " if slower else "") + duration(sample.seconds),
        width_text(point, sample.half_width / sample.seconds),
        str(sample.repetitions),
        ("< " if slower else "") + f"{width * sample.speed:.3g}",
        remark(point),
    )


def _as_dict(one: Rectangles) -> dict[str, Any]:
    return {
        "device": one.name,
        "capacity": one.capacity if one.capacity < math.inf else None,
        "samples": [
            {"height": s.load, "width": width, "seconds": s.seconds, "status": s.status}
            for width, column in zip(one.widths, one.columns, strict=True)
            for s in column.samples
        ],
        "not_measured": one.surface()[1] if one.heights else None,
        "gaps": [
            {"height": gap.load, "width": width, "kind": gap.kind, "message": gap.message}
            for width, column in zip(one.widths, one.columns, strict=True)
            for gap in column.gaps
        ],
    }
