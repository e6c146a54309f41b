"""Whole sizes near other ones, of the same sum, that are no less than limits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray

Whole = npt.NDArray[np.int64]


def raised(sizes: Whole, low: IntArray) -> Whole:
    """Return sizes (k,) that are `low` at least; those with most to spare give what that takes.

    The sum of `low` is at most that of the sizes.
    """
    found = np.maximum(sizes, low).astype(np.int64)
    missing = int(found.sum() - sizes.sum())
    for i in np.argsort(low - found, kind="stable").tolist():
        given = min(missing, int(found[i] - low[i]))
        found[i] -= given
        missing -= given
    return found
