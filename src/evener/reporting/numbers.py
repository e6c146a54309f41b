"""Numbers as people read them: the only place where SI values become text with units."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from evener import wording
from evener.plans.plan import Plan
from evener.wording import time_of

_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
NOTHING = "–"
NO_BREAK = "\N{NO-BREAK SPACE}"


def duration(seconds: float | None) -> str:
    """Return [s] with the unit that suits it: "3.10 ms"; a dash for None."""
    return NOTHING if seconds is None else wording.duration(seconds)


def microseconds(seconds: float) -> str:
    """Return [s] in the unit of machine files' latencies: "0.5 µs"."""
    return f"{seconds * 1e6:.4g} µs"


def memory(n_bytes: float | None) -> str:
    """Return [B] in binary units: "1.20 GiB"; "no cap" for infinity, a dash for None."""
    return NOTHING if n_bytes is None else wording.memory(n_bytes)


def count(value: float | None) -> str:
    """Return a number of things: all digits below ten million, then "12.3 M"; fractions kept."""
    if value is None:
        return NOTHING
    if not math.isfinite(value):
        return "unlimited"
    if abs(value) >= 1e7:
        for size, unit in _COUNTS:
            if abs(value) >= size:
                return f"{wording.three_digits(value / size)} {unit}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(share: float | None) -> str:
    """Return a fraction of one in percent: "3.0 %"; a dash for None."""
    if share is None or not math.isfinite(share):
        return NOTHING
    value = 100 * share
    text = f"{value:.0f} %" if abs(value) >= 100 else f"{value:.1f} %"
    return text.replace("-", "−")


def signed_percent(share: float) -> str:
    """Return a deviation in percent with its sign: "+0.40 %"; a dash where there is none."""
    if not math.isfinite(share):
        return NOTHING
    text = f"{100 * share:+.2f} %"
    return "0.00 %" if float(text[:-2]) == 0 else text.replace("-", "−")


def ratio(value: float | None) -> str:
    """Return a ratio: "1.08x"; a dash for None."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:.2f}x" if value < 10 else f"{wording.three_digits(value)}x"


def speed(units_per_second: float) -> str:
    """Return [units/s] with a prefix: "200 M units/s"."""
    for size, unit in (*_COUNTS, (1e3, "k")):
        if units_per_second >= size:
            return f"{units_per_second / size:.3g} {unit} units/s"
    return f"{units_per_second:.3g} units/s"


def unbroken(text: str) -> str:
    """Return text whose numbers stay in one line with their units."""
    return re.sub(r"(?<=\d) (?=%|[mnuµ]?s\b|[KMGT]?i?B\b)", NO_BREAK, text)


def plural(n: int, one: str, many: str | None = None) -> str:
    """Return "1 device" or "8 devices"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


# Predicted times in words: seconds, or multiples where a machine's speeds are relative.

Clock = Callable[[float], str]


def clock_of(plan: Plan) -> Clock:
    """Return what turns seconds of this plan's devices into text; see Platform.relative_ideal."""
    ideal = plan.platform.relative_ideal(float(plan.certificate.weights.sum()))
    return lambda seconds: time_of(float(seconds), ideal)


def is_relative(plan: Plan) -> bool:
    """Whether the machine's speeds are relative, so that times are multiples."""
    return plan.platform.relative_ideal(float(plan.certificate.weights.sum())) is not None


# The steps of a search in plain words, for readers who have not seen the search.

# What a step is called where it is recorded, and in words; in the order they are looked for.
WORDS = (
    (r"^chosen: ", ""),
    (r"^plain plan", "minimum-cut plan"),
    (r"^METIS with speeds", "METIS, sizes by speed alone"),
    (r"^one device$", "all on one device"),
    (r"^1 devices?, ", "one device, "),
    (r"\bslabs\b", "strips side by side"),
    (r"\bsketched\b", "planned on a coarser graph"),
    (r", sizes 1\b", ", sizes adjusted once"),
    (r", sizes 2\b", ", sizes adjusted twice"),
    (r", sizes (\d+)", r", sizes adjusted \1 times"),
    (r", placed\b", ", moved to better devices"),
    (r", mapped\b", ", moved to better devices"),
    (r", refined\b", ", refined for time"),
    (r" \((\d+)\)", r", attempt \1"),
)


def in_words(name: str) -> str:
    """Return the name of a step in plain words; names that are not known stay as they are."""
    for pattern, words in WORDS:
        name = re.sub(pattern, words, name)
    return name
