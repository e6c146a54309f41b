"""Converts a graph's arrays to the types that kernels take; raises InputError if they are wrong."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from evener.arrays import (
    FloatArray,
    IntArray,
    NumberArray,
    as_array,
    as_integers,
    as_numbers,
    as_weights,
    refuse_far,
)
from evener.errors import InputError


def index_type(n: int) -> type[np.int32 | np.int64]:
    """Return the index type for n vertices."""
    return np.int32 if n < 2**31 else np.int64


def endpoints(values: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.int64]:
    """Return the ends of pairs (p,) as whole numbers in [0, n)."""
    array = as_integers(values, name)
    if array.size and (array.min() < 0 or array.max() >= n):
        raise InputError(
            f"{name} must lie in [0, {n}); its range is {array.min()} to {array.max()}"
        )
    return array


def listed(
    n: int, u: npt.ArrayLike, v: npt.ArrayLike, weights: npt.ArrayLike | None, *, both: bool
) -> tuple[IntArray, IntArray, NumberArray | None]:
    """Return offsets, entries and weights of lists with v[i] in the list of u[i], without loops.

    both: u[i] is also in the list of v[i]. Of equal entries, only the first counts, with its
    weight. Raises InputError for vertices out of range and different lengths.
    """
    from evener.graphs import graph_kernels as kernels

    if n < 0:
        raise InputError(f"the number of vertices must not be negative, but is {n}")
    dtype = index_type(n)
    u, v = endpoints(u, n, "u").astype(dtype), endpoints(v, n, "v").astype(dtype)
    same_length(v, u.size, "v", "entries of u")
    given = None if weights is None else as_weights(weights, "weights")
    if given is not None:
        same_length(given, u.size, "weights", "entries of u")
    xadj = np.zeros(n + 1, np.int64)
    kernels.count_pairs(u, v, both, xadj)
    adjncy = np.empty(int(xadj[-1]), dtype)
    origin = np.empty(adjncy.size if given is not None else 0, np.int64)
    kernels.fill_pairs(u, v, both, xadj[:-1].copy(), adjncy, origin)
    adjwgt = _sort_with(xadj, adjncy, origin, given)
    kept = np.empty(n + 1, np.int64)
    dropped = kernels.drop_duplicates(xadj, adjncy, adjwgt, kept)
    size = adjncy.size - dropped
    entries = adjncy[:size].copy() if dropped else adjncy
    return kept, entries, None if given is None else adjwgt[:size]


def _sort_with(
    xadj: IntArray, adjncy: IntArray, origin: IntArray, weights: NumberArray | None
) -> NumberArray:
    """Sort all lists; return the entries' weights in the new order (empty without weights)."""
    from evener.graphs import graph_kernels as kernels

    if weights is None:
        none = np.empty(0, np.int64)
        kernels.sort_lists(xadj, adjncy, none)
        return none
    order = np.empty(adjncy.size, np.int64)
    kernels.sort_lists(xadj, adjncy, order)
    return weights[origin[order]]


def check_offsets(xadj: IntArray, entries: int) -> None:
    """Raise InputError unless the offsets ascend from 0 to `entries`."""
    if xadj.size == 0:
        raise InputError("xadj is empty; a graph with n vertices has n + 1 offsets")
    if xadj[0] != 0 or xadj[-1] != entries:
        raise InputError(f"xadj must run from 0 to {entries}, not {xadj[0]} to {xadj[-1]}")
    # Compared instead of subtracted, because a difference might overflow.
    decreases = xadj[1:] < xadj[:-1]
    if decreases.any():
        raise InputError(f"xadj decreases at vertex {int(np.argmax(decreases))}")


def narrow(adjncy: npt.ArrayLike, n: int) -> IntArray:
    """Return the indices in the integer type that kernels use.

    Indices of another type are checked; indices of the right type are not.
    """
    array = np.asarray(adjncy)
    dtype = index_type(n)
    if array.dtype == dtype and array.ndim == 1:
        return np.ascontiguousarray(array)
    wide = as_integers(array, "adjncy")
    if wide.size and (wide.min() < 0 or wide.max() >= n):
        bad = int(np.argmax((wide < 0) | (wide >= n)))
        raise InputError(f"adjncy[{bad}] is {wide[bad]}, but there are {n} vertices")
    return wide.astype(dtype)


def vertex_weights(values: npt.ArrayLike, n: int) -> NumberArray:
    """Return weights (n,) or (n, c); a single column becomes (n,)."""
    array = as_array(values, "vwgt")
    weights = as_weights(array, "vwgt", ndim=2 if array.ndim == 2 else 1)
    same_length(weights, n, "vwgt", "vertices")
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise InputError("vwgt has no columns")
    return weights[:, 0].copy() if weights.ndim == 2 and weights.shape[1] == 1 else weights


def coordinates(values: npt.ArrayLike, n: int) -> FloatArray:
    """Return coordinates (n, 2) or (n, 3)."""
    coords = as_numbers(values, "coords", ndim=2)
    same_length(coords, n, "coords", "vertices")
    if coords.shape[1] not in (2, 3):
        raise InputError(f"coords must have 2 or 3 columns, not {coords.shape[1]}")
    refuse_far(coords, "coords")
    return coords


def cost(value: object, name: str) -> float:
    """Return a number of bytes, which must be finite and not negative."""
    if not (
        isinstance(value, int | float | np.integer | np.floating)
        and np.isfinite(value)
        and value >= 0
    ):
        raise InputError(f"{name} must be finite and not negative, not {value!r}")
    return float(value)


def same_length(array: npt.NDArray[np.generic], length: int, name: str, what: str) -> None:
    """Raise InputError unless the array has `length` entries, one for each of `what`."""
    if len(array) != length:
        raise InputError(f"{name} has {len(array)} entries for {length} {what}")


def sorted_entries(
    xadj: IntArray, adjncy: IntArray, adjwgt: NumberArray | None, *, symmetric: bool
) -> tuple[IntArray, NumberArray | None]:
    """Return adjncy and adjwgt with every list in ascending order; not copied if already sorted.

    Raises InputError for loops, parallel edges, indices out of range, and, if lists must be
    `symmetric`, for asymmetry (one linear pass each).
    """
    from evener.graphs import graph_kernels as kernels

    n, none, where = xadj.size - 1, np.empty(0, np.int64), np.zeros(2, np.int64)
    code = kernels.check_entries(xadj, adjncy, where)
    if code == kernels.OK and kernels.first_unsorted(xadj, adjncy) >= 0:
        adjncy = adjncy.copy()  # the caller's array must not change
        order = none if adjwgt is None else np.empty(adjncy.size, np.int64)
        kernels.sort_lists(xadj, adjncy, order)
        adjwgt = None if adjwgt is None else adjwgt[order]
        code = kernels.check_duplicates(xadj, adjncy, where)
    if code == kernels.OK and symmetric:
        weights = none if adjwgt is None else adjwgt
        code = kernels.check_symmetry(xadj, adjncy, weights, np.empty(n, np.int64), where)
    if code != kernels.OK:
        _refuse(code, int(where[0]), int(where[1]), n)
    return adjncy, adjwgt


def _refuse(code: int, v: int, u: int, n: int) -> NoReturn:
    from evener.graphs import graph_kernels as kernels

    reasons = {
        kernels.OUT_OF_RANGE: f"vertex {v} has neighbour {u}, but there are {n} vertices",
        kernels.LOOP: f"vertex {v} is its own neighbour: loops are not allowed",
        kernels.DUPLICATE: f"vertex {v} lists its neighbour {u} more than once",
        kernels.ASYMMETRIC: f"vertex {v} lists {u} as a neighbour, but not the other way round",
        kernels.WEIGHT: f"the edge between {v} and {u} has different weights at its two ends",
    }
    raise InputError(reasons[code] + " (vertices counted from 0)")
