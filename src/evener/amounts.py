"""Memory as people read it: bytes in binary units."""

from __future__ import annotations

import math

_SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))


def memory(n_bytes: float) -> str:
    """Return [B] in binary units: "1.20 GiB"; "no cap" for infinity."""
    if math.isinf(n_bytes):
        return "no cap"
    if n_bytes >= 2.0**70:
        return f"{n_bytes:.3g} B"
    for size, unit in _SIZES:
        if n_bytes >= size:
            return f"{three_digits(n_bytes / size)} {unit}"
    return f"{n_bytes:,.0f} B"


def three_digits(value: float) -> str:
    """Return a number of at least one in three digits, or all before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
