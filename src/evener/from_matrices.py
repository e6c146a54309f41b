"""The pairs of a SciPy sparse matrix: which rows and columns are neighbours, and by what weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.errors import InputError


class Pairs(NamedTuple):
    """n vertices and the edges u[i], v[i] (p,), with weights (p,) or None; of each edge one."""

    n: int
    u: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    weights: npt.NDArray[Any] | None


def pairs_of_matrix(matrix: Any, *, symmetrize: bool, weights: bool) -> Pairs:
    """Return the edges of a square sparse matrix, its diagonal left out; O(entries log entries).

    What is stored counts, zeros too, as in a Matrix Market file. Raises InputError where only one
    of (i, j) and (j, i) is stored, or, with weights, where they differ; with symmetrize the
    pattern is that of A + A^T, and so are the weights.
    """
    from scipy.sparse import coo_array

    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " x ".join(f"{one:,}" for one in shape)
        raise InputError(
            f"a matrix of {size}: only a square one is a graph",
            hint="A A^T or A^T A, whichever the computation uses, would be one.",
        )
    # A copy: adding up entries that stand twice changes a matrix in place.
    own = coo_array(matrix.tocoo(), copy=True)
    own.sum_duplicates()
    off = own.row != own.col
    n, rows, columns = int(shape[0]), own.row[off].astype(np.int64), own.col[off].astype(np.int64)
    values = _weights_of(own.data[off]) if weights else None
    if not symmetrize:
        _check_symmetric(n, rows, columns, values)
    elif values is not None:
        # Not by adding matrices: that leaves out entries whose sum is zero.
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        both = coo_array((np.concatenate([values, values]), ends), shape=shape)
        both.sum_duplicates()
        rows, columns, values = both.row.astype(np.int64), both.col.astype(np.int64), both.data
    upper = rows < columns
    if symmetrize and values is None:
        return Pairs(n, rows, columns, None)  # whoever makes the graph joins (i, j) and (j, i)
    return Pairs(n, rows[upper], columns[upper], None if values is None else values[upper])


def _weights_of(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "biuf":
        raise InputError(
            f"entries of {values.dtype} are no edge weights",
            hint="Take the pattern alone, or abs(matrix).",
        )
    if values.size and not values.min() >= 0:  # also where one is NaN
        raise InputError(
            "an entry off the diagonal is negative or NaN: no edge weight",
            hint="Take the pattern alone, or abs(matrix).",
        )
    return values.astype(np.int64) if values.dtype.kind in "bu" else values


def _check_symmetric(
    n: int,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: npt.NDArray[Any] | None,
) -> None:
    """Refuse entries without, or unlike, their mirror image."""
    here, there = rows * n + columns, columns * n + rows
    order, mirror = np.argsort(here), np.argsort(there)
    same = here[order] == there[mirror]
    if not same.all():
        i = int(np.flatnonzero(np.isin(here, there, invert=True))[0])
        raise InputError(
            f"entry ({rows[i]}, {columns[i]}) is stored and ({columns[i]}, {rows[i]}) is not: the "
            "pattern is not symmetric",
            hint="ev.Graph.from_scipy(matrix, symmetrize=True) takes that of A + A^T.",
        )
    if values is not None and (values[order] != values[mirror]).any():
        i = int(order[np.flatnonzero(values[order] != values[mirror])[0]])
        raise InputError(
            f"entries ({rows[i]}, {columns[i]}) and ({columns[i]}, {rows[i]}) differ: no weight of "
            "one edge",
            hint="ev.Graph.from_scipy(matrix, weights=True, symmetrize=True) adds them up.",
        )
