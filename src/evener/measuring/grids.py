"""Loads to be measured, fixed beforehand: evenly or geometrically spaced."""

from __future__ import annotations

import re

import numpy as np

from evener.errors import UsageError

LARGEST = 1 << 53  # units: whole numbers up to here are exact as floats


def fixed_grid(low: int, high: int, points: int) -> list[int]:
    """Return whole loads from low to high, evenly spaced, without repeats."""
    return _whole(np.linspace(low, high, points))


def geometric_grid(low: int, high: int, points: int) -> list[int]:
    """Return whole loads from low to high, each the same factor above the one before."""
    return _whole(np.geomspace(low, high, points))


def range_of(text: str, option: str = "--range") -> tuple[int, int]:
    """Return the least and the largest load of a text such as "1e3:1e6". Raises UsageError."""
    match = re.fullmatch(r"([^:]+):([^:]+)", text.strip())
    try:
        low, high = (float(word) for word in match.groups()) if match else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if not 1 <= low <= high <= LARGEST:  # false for NaN
        raise UsageError(
            f"{option} is LOW:HIGH in units, as 1e3:1e6; not {text!r}",
            hint="Both are whole numbers from 1 to 2^53, the lower one first.",
        )
    return round(low), round(high)


def _whole(values: np.typing.NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.unique(np.rint(values))]
