"""The rows of a graph's matrix on one device, cut into pieces for its threads.

Row u contains the weights of the arcs that leave vertex u; weights are 1 if arcs have none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.arrays_kernels import SPREAD
from evener.errors import InputError
from evener.running.apps import rows_kernels as kernels
from evener.running.engine.pool import ThreadPool
from evener.running.engine.work import ARCS_OF_CHUNK
from evener.running.local_graphs import LocalArcs

NONE: FloatArray = np.empty(0)


class MatrixRows(NamedTuple):
    """Arcs of m vertices in the form for kernels; weights are empty if every arc weighs 1."""

    offsets: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    weights: npt.NDArray[Any]

    @classmethod
    def of(cls, arcs: LocalArcs) -> MatrixRows:
        """Return the arcs themselves, not a copy."""
        return cls(arcs.offsets, arcs.ends, NONE if arcs.weights is None else arcs.weights)


class Cuts(NamedTuple):
    """First row and first arc of each piece, and the end (pieces + 1,); rows may be divided."""

    first_rows: IntVector
    first_arcs: IntVector


def piece_count(n_rows: int, n_arcs: int) -> int:
    """Return the number of pieces of rows; each piece has ARCS_OF_CHUNK arcs or a few more."""
    return (n_arcs + 2 * n_rows) // ARCS_OF_CHUNK + 1


def cut(rows: MatrixRows, *, whole: bool = False) -> Cuts:
    """Return pieces with about equal numbers of arcs; long rows are cut unless `whole`."""
    pieces = piece_count(rows.offsets.size - 1, rows.ends.size)
    cuts = Cuts(np.empty(pieces + 1, np.int64), np.empty(pieces + 1, np.int64))
    longest = rows.ends.size if whole else ARCS_OF_CHUNK
    kernels.cut_rows(rows.offsets, longest, *cuts)
    return cuts


def within_rows(rows: MatrixRows, cuts: Cuts) -> IntVector:
    """Return the numbers of the pieces that begin inside a row."""
    return np.flatnonzero(cuts.first_arcs[:-1] > rows.offsets[cuts.first_rows[:-1]])


def row_sums(rows: MatrixRows, pool: ThreadPool, chunks: IntVector) -> FloatArray:
    """Return the sum of each row (m,). chunks: rows at which pieces begin, and the end."""
    sums = np.empty(rows.offsets.size - 1)
    if rows.weights.size:
        pool.run(kernels.sum_rows, chunks, rows, sums)
    else:
        np.subtract(rows.offsets[1:], rows.offsets[:-1], out=sums)
    return sums


def random_looking(vertices: IntVector) -> FloatArray:
    """Return pseudo-random numbers in [0, 1) for vertices, given by global number."""
    mixed = vertices.astype(np.uint64)
    with np.errstate(over="ignore"):
        mixed += np.uint64(1)
        mixed *= SPREAD
        mixed ^= mixed >> np.uint64(31)
        mixed *= SPREAD
    mixed >>= np.uint64(11)
    found = mixed.astype(np.float64)
    found /= 2.0**53
    return found


def reciprocals(sums: FloatArray) -> FloatArray:
    """Return 1 / sums; 0 for sums that are not above zero.

    Raises InputError if a sum above zero is so small that its reciprocal is infinite.
    """
    is_above = sums > 0
    with np.errstate(over="ignore"):
        found = np.divide(1.0, sums, out=np.zeros(sums.size), where=is_above)
    if np.isinf(found).any():
        least = sums[is_above].min()
        raise InputError(
            f"the weights of a row add up to {least:g}, which is too small a divisor",
            hint="Multiply all weights by a larger factor.",
        )
    return found
