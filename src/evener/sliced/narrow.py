"""Store integers in the smallest type that holds them, to send them between ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 2**31  # what is as large, or larger, stays as it is


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in the smallest unsigned integer type that holds all of them.

    Returns the array itself if some numbers are negative, not integers, or at least MOST.
    """
    if values.size == 0 or not (values.min() >= 0 and values.max() < MOST):
        return values
    kind = np.min_scalar_type(int(values.max()))
    if kind.itemsize >= values.itemsize:
        return values
    narrowed = values.astype(kind)
    return narrowed if bool((narrowed == values).all()) else values
