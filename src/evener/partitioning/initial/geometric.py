"""Partitions points by coordinates only: Hilbert curve, coordinate and inertial bisection.

Every method arranges the vertices in a line, by the curve or by a tree of bisections, with the
blocks in ascending order along it. A boundary between two blocks is put where the cumulative weight
of all vertices before it is nearest to the cumulative target of all blocks before it. So each
boundary is off by at most half the weight of the heaviest vertex, each block by at most one such
weight, and errors do not add up along the tree.

Sources: recursive coordinate bisection [BB87]_, inertial bisection [Sim91]_, curves [PB94]_.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InfeasibleError, InputError
from evener.graphs.hilbert import as_points, hilbert_order, within_range

NEARLY_ONE = 1.0 - 1e-9  # targets of at least this count as 1, despite rounding by rescaling


def hilbert_blocks(
    points: npt.ArrayLike, weights: npt.ArrayLike | None, targets: npt.ArrayLike
) -> npt.NDArray[np.int32]:
    """Return the block (n,) of every point, by cutting a Hilbert curve into one piece per block.

    points (n, 2) or (n, 3); weights (n,) not negative, or None if all are 1; targets (k,) not
    negative, rescaled to the total weight. No block is off its target by more than the heaviest
    vertex; if weights are 1 and targets at least 1, no block is empty. If all weights are zero,
    they count as 1. Raises InputError for wrong shapes, NaN and negative numbers, and
    InfeasibleError if all targets are zero.
    """
    points, weights, ideal = checked_input(points, weights, targets)
    order = hilbert_order(points)
    if weights.size == 0:
        counts = np.diff(ideal).astype(np.int64)
    else:
        counts = np.diff(nearest_places(np.cumsum(weights[order]), ideal))
    part = np.empty(order.size, np.int32)
    part[order] = np.repeat(np.arange(ideal.size - 1, dtype=np.int32), counts)
    return part


def rcb_blocks(
    points: npt.ArrayLike, weights: npt.ArrayLike | None, targets: npt.ArrayLike
) -> npt.NDArray[np.int32]:
    """Return blocks (n,) by recursive bisection across the longest side of the box [BB87]_.

    Equal coordinates are split by vertex number. Arguments and errors are those of hilbert_blocks.
    """
    return _bisect(points, weights, targets, inertial=False)


def rib_blocks(
    points: npt.ArrayLike, weights: npt.ArrayLike | None, targets: npt.ArrayLike
) -> npt.NDArray[np.int32]:
    """Return blocks (n,) by recursive bisection across the axis of largest spread [Sim91]_.

    Equal components along the axis are split by vertex number. Arguments and errors are those of
    hilbert_blocks.
    """
    return _bisect(points, weights, targets, inertial=True)


GEOMETRIC = {"hilbert": hilbert_blocks, "rcb": rcb_blocks, "rib": rib_blocks}


def _bisect(
    points: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    targets: npt.ArrayLike,
    *,
    inertial: bool,
) -> npt.NDArray[np.int32]:
    from evener.partitioning.initial import geometric_kernels as kernels

    points, weights, ideal = checked_input(points, weights, targets)
    part = np.empty(len(points), np.int32)
    # The kernel moves coordinates and weights about: both are copies here.
    columns = np.array(points.T, order="C", copy=True)
    kernels.bisect(columns, weights.copy(), ideal, inertial, part)
    return part


def checked_input(
    points: npt.ArrayLike, weights: npt.ArrayLike | None, targets: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points, weights (empty: all 1), and cumulative targets (k + 1,) at boundaries."""
    points = within_range(as_points(points))
    n = len(points)
    if n >= 2**31:
        raise InputError(f"{n} points are too many: geometric partitioners take fewer than 2^31")
    weights = _checked_weights(weights, n)
    targets = _not_negative(as_numbers(targets, "targets"), "targets")
    if targets.size == 0 or targets.max() == 0.0:
        raise InfeasibleError("no target is above zero, so no block may take a vertex")
    total = float(weights.sum()) if weights.size else float(n)
    # Dividing by the largest first: the sum of huge targets stays finite.
    shares = targets / targets.max()
    cumulative = np.concatenate([[0.0], np.cumsum(shares)])
    ideal = (cumulative / cumulative[-1]) * total  # in this order the last is exactly the total
    if weights.size == 0:
        ideal = _whole(ideal)
    return points, weights, ideal


def _checked_weights(weights: npt.ArrayLike | None, n: int) -> FloatArray:
    if weights is None:
        return np.empty(0)
    checked = _not_negative(as_numbers(weights, "weights"), "weights")
    if checked.size != n:
        raise InputError(f"weights has {checked.size} entries for {n} points")
    if n == 0 or checked.max() == checked.min():
        return np.empty(0)  # equal weights are as good as 1s, all zero included
    return within_range(checked)


def _not_negative(values: FloatArray, name: str) -> FloatArray:
    if values.size and values.min() < 0:
        raise InputError(f"{name} must not be negative, but entry {int(np.argmin(values))} is")
    return values


def _whole(ideal: FloatArray) -> FloatArray:
    """Return the boundaries rounded to whole numbers, for vertices of weight 1; halves go down.

    If all targets are at least 1, neighbouring boundaries differ, so no block is empty.
    """
    nearest = np.ceil(ideal - 0.5)
    if np.diff(ideal).min() >= NEARLY_ONE:
        steps = np.arange(ideal.size)
        nearest = np.maximum.accumulate(nearest - steps) + steps
        nearest = np.minimum(nearest, nearest[-1] - steps[::-1])
    return nearest


def nearest_places(cumulative: FloatArray, ideal: FloatArray) -> npt.NDArray[np.int64]:
    """Return positions (k + 1,) in the line where the cumulative weight is nearest to `ideal`."""
    prefix = np.concatenate([[0.0], cumulative])
    at = np.searchsorted(prefix, ideal)
    at = np.clip(at, 1, prefix.size - 1)
    at -= ideal - prefix[at - 1] <= prefix[at] - ideal
    at[0], at[-1] = 0, prefix.size - 1
    return at.astype(np.int64)
