"""Durations as people read them: seconds with the unit that suits."""

from __future__ import annotations

import math

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

CENTURY = 3e9  # seconds; beyond, digits are noise


def times(ratio: float) -> str:
    """Return a ratio in words for sentences: "1.08", "2.5e+30"."""
    return f"{ratio:.2f}" if ratio < 1e6 else f"{ratio:.3g}"


def duration(seconds: float) -> str:
    """Return [s] in three digits: "3.10 ms"; "forever" for infinity."""
    if not math.isfinite(seconds):
        return "forever"
    if seconds == 0:
        return "0 s"
    if seconds >= CENTURY:
        return f"{seconds:.3g} s"
    # From 1000 s on three digits would become 1e+03.
    if seconds >= 999.5:
        return f"{seconds:,.0f} s"
    for size, unit in _UNITS:
        if float(f"{seconds / size:.3g}") >= 1:
            return f"{seconds / size:#.3g} {unit}".replace(". ", " ")
    return f"{seconds / 1e-9:.2g} ns"


def time_of(seconds: float, ideal: float | None) -> str:
    """Return [s] as a duration, or as a multiple of the ideal where speeds are relative: "1.03x".

    ideal: what Platform.relative_ideal says.
    """
    return duration(seconds) if ideal is None else f"{times(seconds / ideal)}x"
