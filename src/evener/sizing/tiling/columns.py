"""Columns of a matrix: as many devices in each (KL), or with the least half-perimeter (BR).

The best columns hold devices in the order of their areas: a column of r devices adds r times its
width, so the largest areas belong into the columns with the fewest devices ([BBRR01]_). The cost of
the first q devices is then the least over the size of the last column, a recurrence in one
variable. By the quadrangle inequality the last column never starts earlier with more devices,
which bounds the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.errors import UsageError

Columns = list[npt.NDArray[np.int64]]


def best_columns(areas: FloatArray, shape: tuple[float, float]) -> Columns:
    """Return the columns of least total half-perimeter (BR, [BBRR01]_; [Cla14]_, 5.1.2).

    areas (p,): above zero, in any unit. shape: height and width of the matrix, in one unit. Each
    column lists its devices from top to bottom; columns from left to right. O(p x a column's size),
    p = 1,000 in 10 ms.
    """
    height, width = shape
    order = np.argsort(-areas, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(areas[order])])
    start, _ = least_columns(before * (width / before[-1]), height)
    ends = [order.size]
    while ends[-1] > 0:
        ends.append(int(start[ends[-1]]))
    ends.reverse()
    return [order[a:b] for a, b in pairwise(ends)]


def least_columns(widths: FloatArray, height: float) -> tuple[npt.NDArray[np.int64], float]:
    """Return where the last column of the first q devices starts, (p + 1,), and the total cost.

    widths (p + 1,): of all devices before each one together, largest area first, if they filled
    columns `height` high.
    """
    p = widths.size - 1
    cost = np.zeros(p + 1)
    start = np.zeros(p + 1, np.int64)  # of the last column, when the first q devices are placed
    counts = np.arange(p + 1, dtype=np.float64)
    first = 0
    for q in range(1, p + 1):
        total = cost[first:q] + (q - counts[first:q]) * (widths[q] - widths[first:q])
        best = int(np.argmin(total))
        cost[q] = total[best] + height
        start[q] = first = first + best
    return start, float(cost[p])


def grid_columns(p: int, n_columns: int | None = None) -> Columns:
    """Return KL's grid: devices in their order, as many in each column ([KL99]_; [Cla14]_, 5.1.1).

    Without n_columns the grid nearest to a square; a prime number of devices makes one column.
    Raises UsageError where n_columns does not divide p.
    """
    if n_columns is None:
        n_columns = max(c for c in range(1, int(p**0.5) + 1) if p % c == 0)
    if n_columns < 1 or p % n_columns:
        raise UsageError(f"{p} devices do not make {n_columns} columns of as many each")
    return [np.asarray(column) for column in np.arange(p).reshape(n_columns, -1)]


def columns_half_perimeter(
    areas: FloatArray, columns: Sequence[npt.NDArray[np.int64]], shape: tuple[float, float]
) -> float:
    """Return the sum of the half-perimeters of devices in columns, before rounding to blocks.

    In the unit of shape: each column adds the height of the matrix once, and its own width for
    every device in it.
    """
    height, width = shape
    share = np.array([areas[column].sum() for column in columns]) / areas.sum()
    sizes = np.array([column.size for column in columns])
    return float(len(columns) * height + width * (sizes * share).sum())
