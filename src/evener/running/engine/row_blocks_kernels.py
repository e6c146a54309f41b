"""Divides rows of a graph or matrix into parts, one for each block of threads of a CUDA device.

This is CSR-Adaptive: Greathouse and Daga, Efficient Sparse Matrix-Vector Multiplication on GPUs
Using the CSR Storage Format (2014). A part consists of consecutive rows with together at most
`room` arcs, or is a piece of one row with more arcs. Compiled for the CPU.
"""

# mypy: ignore-errors
from typing import NamedTuple

import numpy as np

from evener.jit import njit


class RowParts(NamedTuple):
    """The parts: part b begins in row rows[b], at arc places[b].

    rows, places (parts + 1,), of the offsets' dtype. A part with fewer arcs than its first row is a
    piece of this row. long (l, 2): rows in pieces, and the first part of each.
    """

    rows: np.ndarray
    places: np.ndarray
    long: np.ndarray


def row_parts(offsets, n, room, most_rows):
    """Return the RowParts of rows 0 to n - 1, whose arcs begin at offsets (n + 1,).

    room: largest number of arcs of a part; most_rows: largest number of rows of a part.
    """
    none = np.empty(0, offsets.dtype)
    count, n_long = cut_rows(offsets, n, room, most_rows, none, none, none.reshape(0, 2))
    rows, places = np.empty((2, count + 1), offsets.dtype)
    made = RowParts(rows, places, np.empty((n_long, 2), offsets.dtype))
    cut_rows(offsets, n, room, most_rows, *made)
    return made


@njit(cache=True)
def cut_rows(offsets, n, room, most_rows, rows, places, long):
    """Return the numbers of parts and of rows in pieces.

    Fills the arrays of RowParts unless `rows` is empty.
    """
    fills = rows.size > 0
    parts, n_long, u = 0, 0, 0
    while u < n:
        first, end = np.int64(offsets[u]), np.int64(offsets[u + 1])
        if end - first > room:
            if fills:
                long[n_long, 0], long[n_long, 1] = u, parts
            n_long += 1
            for place in range(first, end, room):
                if fills:
                    rows[parts], places[parts] = u, place
                parts += 1
            u += 1
            continue
        if fills:
            rows[parts], places[parts] = u, first
        parts += 1
        last = min(u + most_rows, n)
        u += 1
        while u < last and np.int64(offsets[u + 1]) - first <= room:
            u += 1
    if fills:
        rows[parts], places[parts] = n, offsets[n]
    return parts, n_long
