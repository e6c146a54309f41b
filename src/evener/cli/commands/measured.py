"""Print the results of `evener measure`: samples of speed curves, of surfaces, and links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.cli.judged import finite
from evener.cli.machines import MAX_ROWS
from evener.measuring.kernels import unit_of
from evener.measuring.outcomes import BUSY, Gap
from evener.wording import count, duration, percent, plural, signed_percent

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.measuring.campaign import DeviceRecord
    from evener.measuring.links import NamedLink
    from evener.measuring.outcomes import Outcome, Point
    from evener.measuring.rectangles import Rectangles
    from evener.platforms.models.samples import Sample

MARK = "*"  # marks a sample that is less precise than asked for
CHANGED = 0.05  # min. relative change between two measurements of a load that is printed


def show_records(
    records: Sequence[DeviceRecord], kernel: str | None, written: str, out: Output
) -> None:
    """Print the samples of each device, as a table or for --json."""
    unit = unit_of(kernel or "")
    rows = [row for record in records for row in _rows(record)]
    header = ("device", "load", "time", "+/-", "repetitions", "units/s", "")
    out.table(header, rows, most=MAX_ROWS, what="in the file")
    say_imprecise([point for record in records for point in record.points], out)
    for record in records:
        if record.capacity < math.inf:
            out.say(f"{record.name} holds {record.capacity:,.0f} units; more did not fit.")
        for later, what in ((record.again, "as at first"), (record.alone, "alone")):
            for point in later:
                times = record.change(point)
                if times is not None and (what == "alone" or abs(times - 1) > CHANGED):
                    out.say(f"{record.name}: {_times(times, what)}, at {point.load:,.0f} units")
        for check in record.checks:
            out.say(f"{record.name}: an outlying load was measured again, {check}")
    points = plural(sum(len(record.points) for record in records), "sample")
    out.say(f"Written: {written} ({points}; unit: {unit})")
    out.result(
        {
            "written": written,
            "kernel": kernel,
            "unit": unit,
            "devices": [_as_dict(record) for record in records],
        }
    )


def _times(times: float, what: str) -> str:
    """Return as text how much longer a load takes than alone, or at the end than at the start."""
    if what == "alone":
        return f"{_longer(1 / times)} than alone"
    return f"{_longer(times)} at the end than at the start (drift)"


def _longer(ratio: float) -> str:
    """Return a ratio of times as text: "23.0 % less time"."""
    return f"{percent(abs(ratio - 1))} {'more' if ratio >= 1 else 'less'} time"


def say_imprecise(points: Sequence[Point], out: Output) -> None:
    """Explain the mark for imprecise points, if any point has it."""
    marked = sum(map(is_imprecise, points))
    if marked:
        loads = f"{marked:,} of {len(points):,} loads" if len(points) > 1 else "the load"
        out.say(
            f"{MARK} less precise than requested: {loads}; a longer --time-limit, more "
            "--repetitions or an otherwise idle computer help"
        )


def is_imprecise(point: Point) -> bool:
    """Return whether a point was measured less precisely than requested."""
    return not point.reached and point.sample.status != "slower"


def width_text(point: Point, share: float | None) -> str:
    """Return half the confidence interval, with a mark if it is wider than requested."""
    if point.sample.status == "slower":
        return ""
    return percent(share) + (f" {MARK}" if is_imprecise(point) else "")


def _rows(record: DeviceRecord) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for point in sorted(record.points, key=lambda point: point.load):
        sample = point.sample
        slower = sample.status == "slower"
        rows.append(
            (
                record.name,
                count(sample.load),
                ("> " if slower else "") + duration(sample.seconds),
                width_text(point, _relative_width(sample)),
                str(sample.repetitions),
                ("< " if slower else "") + f"{sample.speed:.3g}",
                _remark(point),
            )
        )
    return rows + [
        (record.name, count(load), "none", "", "", "", why)
        for load, why in [
            *((gap.load, gap.message[:100]) for gap in record.gaps),
            *((load, f"skipped, {record.why_skipped}") for load in record.skipped),
        ]
    ]


def _relative_width(sample: Sample) -> float | None:
    """Return half the confidence interval over the time; None for a single repetition."""
    once = sample.repetitions < 2 and sample.half_width == 0
    return None if once else sample.half_width / sample.seconds


def _remark(point: Point) -> str:
    """Return remarks on the measurement of a point, as text."""
    if point.sample.status == "slower":
        return "stopped"
    parts = []
    if point.outliers:
        parts.append(f"{point.outliers} slow excluded")
    if point.slow:
        parts.append("slower than requested")
    if point.share < BUSY:
        parts.append(f"other programs had the core {percent(1 - point.share)} of the time")
    if point.drift:
        parts.append(f"drift {signed_percent(point.drift)}")
    return ", ".join(parts)


def _as_dict(record: DeviceRecord) -> dict[str, Any]:
    return {
        "device": record.name,
        "capacity": record.capacity if record.capacity < math.inf else None,
        "samples": [
            {
                "load": point.load,
                "seconds": point.sample.seconds,
                "half_width": point.sample.half_width,
                "repetitions": point.sample.repetitions,
                "status": point.sample.status,
                "outliers": point.outliers,
                "drift": point.drift,
                "flops": point.flops,
                "share": point.share,
            }
            for point in sorted(record.points, key=lambda point: point.load)
        ],
        "again": [{"load": p.load, "seconds": p.sample.seconds} for p in record.again],
        "alone": [{"load": p.load, "seconds": p.sample.seconds} for p in record.alone],
        "checks": [
            {"load": c.load, "first": c.first.sample.seconds, "second": _seconds(c.second)}
            for c in record.checks
        ],
        "skipped": {"loads": record.skipped, "why": record.why_skipped},
        "gaps": [
            {"load": gap.load, "kind": gap.kind, "message": gap.message} for gap in record.gaps
        ],
    }


def _seconds(outcome: Outcome) -> float | None:
    return None if isinstance(outcome, Gap) else outcome.sample.seconds


def show_surfaces(
    found: Sequence[Rectangles], kernel: str | None, written: str, out: Output
) -> None:
    """Print the samples of each device, as a table or for --json."""
    unit = unit_of(kernel or "")
    rows = [row for one in found for row in _surface_rows(one)]
    header = ("device", "height", "width", "time", "+/-", "repetitions", "units/s", "")
    out.table(header, rows, most=MAX_ROWS, what="in the file")
    say_imprecise(
        [point for one in found for column in one.columns for point in column.points], out
    )
    for one in found:
        if one.capacity < math.inf:
            out.say(f"{one.name} holds {one.capacity:,.0f} units; more did not fit.")
        if not one.heights:
            out.note(
                f"note: no rectangle of {one.name} could be measured; the file does not contain "
                "this device"
            )
        elif missing := one.surface()[1]:
            rectangles = plural(len(missing), "rectangle")
            out.note(
                f"note: {one.name}: {rectangles} not measured; the file states the speed of the "
                "next lower one, else of the next higher"
            )
    surfaces = plural(sum(bool(one.heights) for one in found), "surface")
    out.say(f"Written: {written} ({surfaces}; unit: {unit})")
    out.result(
        {
            "written": written,
            "kernel": kernel,
            "unit": unit,
            "surfaces": [_surface_dict(one) for one in found],
        }
    )


def _surface_rows(one: Rectangles) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for width, column in zip(one.widths, one.columns, strict=True):
        points = sorted(column.points, key=lambda point: point.load)
        rows += [_rectangle_row(one.name, width, point) for point in points]
        gaps = [(gap.load, gap.message[:100]) for gap in column.gaps]
        gaps += [(float(load), f"skipped, {column.why_skipped}") for load in column.skipped]
        rows += [(one.name, count(load), str(width), "none", "", "", "", why) for load, why in gaps]
    return rows


def _rectangle_row(name: str, width: int, point: Point) -> tuple[str, ...]:
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
        _remark(point),
    )


def _surface_dict(one: Rectangles) -> dict[str, Any]:
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


def show_links(links: Sequence[NamedLink], written: str, out: Output) -> None:
    """Print latency and bandwidth of each link, as a table or for --json."""
    rows = []
    for link in links:
        fitted = link.fitted
        rows.append(
            (
                link.name,
                duration(fitted.link.alpha),
                duration(fitted.alpha_half),
                f"{fitted.GB_per_s:.3g}",
                percent(fitted.beta_half / fitted.link.beta) if fitted.link.beta else "",
            )
        )
    out.table(("link", "alpha", "+/-", "GB/s", "+/-"), rows)
    out.say(f"Written: {written} ({plural(len(links), 'link')}; unit: byte)")
    out.result(
        {
            "written": written,
            "kernel": "link",
            "unit": "byte",
            "devices": [
                {
                    "device": link.name,
                    "ends": link.many,
                    "alpha": link.fitted.link.alpha,
                    "alpha_half_width": finite(link.fitted.alpha_half),
                    "beta": link.fitted.link.beta,
                    "beta_half_width": finite(link.fitted.beta_half),
                    "samples": [
                        {"load": s.load, "seconds": s.seconds, "half_width": s.half_width}
                        for s in link.fitted.samples
                    ],
                }
                for link in links
            ],
        }
    )
