"""Whole numbers in the least bytes that hold them, as ranks tell them to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 2**31  # what is as large, or larger, stays as it is


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in the narrowest type of unsigned integers that holds all of them.

    The array itself where some are negative, no whole numbers, or MOST and above.
    """
    if values.size == 0 or not (values.min() >= 0 and values.max() < MOST):
        return values
    kind = np.min_scalar_type(int(values.max()))
    if kind.itemsize >= values.itemsize:
        return values
    narrowed = values.astype(kind)
    return narrowed if bool((narrowed == values).all()) else values
