"""What `evener measure` prints: a line a point, what did not fit, what others cost, links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evener.measuring.kernels import unit_of
from evener.measuring.outcomes import BUSY, Gap

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.measuring.campaign import Record
    from evener.measuring.linking import NamedLink
    from evener.measuring.outcomes import Outcome, Point
    from evener.platforms.models.samples import Sample

MAX_ROWS = 60
MARK = "*"  # of a point that is less precise than asked
CHANGED = 0.05  # between two measurements of one load: worth saying


def show_records(records: Sequence[Record], kernel: str | None, written: str, out: Output) -> None:
    """Print and return as JSON what was measured of each device."""
    from evener.reporting.numbers import plural

    unit = unit_of(kernel or "")
    rows = [row for record in records for row in _rows(record)]
    out.table(("device", "load", "time", "+/-", "repetitions", "speed /s", ""), rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        out.say(f"... {len(rows) - MAX_ROWS:,} more in the file")
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
            out.say(f"{record.name}: one load stood out and was measured again, {check}")
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
    """Say by how much longer a load took."""
    if what == "alone":
        return f"{_longer(1 / times)} than alone"
    return f"{_longer(times)} at the end than at the start (drift)"


def _longer(ratio: float) -> str:
    """Say a ratio of times: "23.0 % less time"."""
    from evener.reporting.numbers import percent

    return f"{percent(abs(ratio - 1))} {'more' if ratio >= 1 else 'less'} time"


def say_imprecise(points: Sequence[Point], out: Output) -> None:
    """Explain the mark of points that are less precise than asked, once."""
    marked = sum(map(is_imprecise, points))
    if marked:
        loads = f"{marked:,} of {len(points):,} loads" if len(points) > 1 else "the load"
        out.say(
            f"{MARK} less precise than asked: {loads}; a longer --time-limit and more "
            "--repetitions help, and so does a computer that does nothing else"
        )


def is_imprecise(point: Point) -> bool:
    """Whether a point was measured less precisely than asked for."""
    return not point.reached and point.sample.status != "slower"


def width_text(point: Point, share: float | None) -> str:
    """Return half the width of the confidence interval, marked where more was asked for."""
    from evener.reporting.numbers import percent

    if point.sample.status == "slower":
        return ""
    return percent(share) + (f" {MARK}" if is_imprecise(point) else "")


def _rows(record: Record) -> list[tuple[str, ...]]:
    from evener.reporting.numbers import count, duration

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
                remark(point),
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
    """Of the confidence interval, a half; None where one repetition tells nothing of it."""
    once = sample.repetitions < 2 and sample.half_width == 0
    return None if once else sample.half_width / sample.seconds


def remark(point: Point) -> str:
    """Return what was odd about a point."""
    from evener.reporting.numbers import percent, signed_percent

    if point.sample.status == "slower":
        return "stopped"
    parts = []
    if point.outliers:
        parts.append(f"{point.outliers} slow set aside")
    if point.slow:
        parts.append("slower than asked for")
    if point.share < BUSY:
        parts.append(f"others had the core {percent(1 - point.share)} of the time")
    if point.drift:
        parts.append(f"drift {signed_percent(point.drift)}")
    return ", ".join(parts)


def _as_dict(record: Record) -> dict[str, Any]:
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


def show_links(links: Sequence[NamedLink], written: str, out: Output) -> None:
    """Print and return as JSON what was fitted to each link."""
    from evener.reporting.numbers import duration, percent, plural

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
                    "alpha_half_width": _finite(link.fitted.alpha_half),
                    "beta": link.fitted.link.beta,
                    "beta_half_width": _finite(link.fitted.beta_half),
                    "samples": [
                        {"load": s.load, "seconds": s.seconds, "half_width": s.half_width}
                        for s in link.fitted.samples
                    ],
                }
                for link in links
            ],
        }
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
