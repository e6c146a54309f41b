"""What is passed as a mesh's points, corners and fields: brought into one form, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, as_integers, as_numbers, refuse_far
from evener.errors import InputError

Fields = dict[str, npt.NDArray[Any]]


def checked_points(values: npt.ArrayLike, widths: tuple[int, ...]) -> FloatArray:
    """Return (p, d) finite coordinates, d one of the widths."""
    points = as_numbers(values, "points", ndim=2)
    if points.shape[1] not in widths:
        raise InputError(f"points must have 2 or 3 columns, not {points.shape[1]}")
    if len(points) >= 2**31:
        raise InputError(f"there are {len(points):,} points; at most 2^31 - 1 can be handled")
    refuse_far(points, "points")
    return points


def checked_corners(values: npt.ArrayLike, n_points: int) -> IntArray:
    """Narrow to int32; what does not fit is out of range anyway, and stays so."""
    corners = as_integers(values, "corners")
    bad = np.flatnonzero((corners < 0) | (corners >= n_points))
    if bad.size:
        raise InputError(
            f"a cell has the corner {corners[bad[0]]}: there is no such point among {n_points}"
            " (counted from 0)"
        )
    return corners.astype(np.int32)


def checked_fields(fields: Fields, n: int, what: str) -> Fields:
    """Return arrays by name, each with a row for each of n `what`."""
    checked = {}
    for name, values in fields.items():
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != n:
            size = 1 if array.ndim == 0 else len(array)
            raise InputError(f"the field {name!r} has {size} entries for {n} {what}")
        checked[str(name)] = array
    return checked
