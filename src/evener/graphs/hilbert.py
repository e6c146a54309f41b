"""Orders points along the Hilbert curve: points near in the order are near in space.

The curve is that of [Ham06]_ in two and three dimensions: a cell's orientation is the pair (entry
corner, direction), and a Gray code visits its quadrants or octants. The keys have 32 bits per
coordinate in the plane and 21 in space, with one scale for all dimensions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_numbers
from evener.errors import InputError
from evener.threads import in_slices, slice_ends, slices_for

BITS_A_COORDINATE = {2: 32, 3: 21}
BITS_A_STEP = {2: 4, 3: 3}  # bits of each coordinate per look-up, by dimension


def hilbert_order(points: npt.ArrayLike, threads: int = 1) -> npt.NDArray[np.int64]:
    """Return the order (n,) in which the Hilbert curve visits `points` (n, 2) or (n, 3).

    Points in one finest cell (2^-32 of the largest extent in the plane, 2^-21 in space) keep
    their order. Raises InputError for other shapes and for coordinates that are not finite.
    """
    return _sorting_order(hilbert_keys(points, threads), threads)


def hilbert_keys(points: npt.ArrayLike, threads: int = 1) -> npt.NDArray[np.uint64]:
    """Return the key (n,) of each point's finest cell; keys ascend along the curve.

    Raises the errors of hilbert_order.
    """
    points = within_range(as_points(points))
    if not len(points):
        return np.zeros(0, np.uint64)
    return keys_in_box(points, *extents(points, threads), threads)


def keys_in_box(
    points: FloatArray, low: FloatArray, high: FloatArray, threads: int = 1
) -> npt.NDArray[np.uint64]:
    """Return the key (n,) of each point on the curve that fills a box.

    Keys of subsets are comparable if the box is the same. points (n, d) float64, contiguous, with
    magnitudes as `within_range` returns them. low, high (d,): the smallest and largest coordinates
    of all points.
    """
    from evener.graphs import hilbert_kernels as kernels

    n, d = points.shape
    keys = np.zeros(n, np.uint64)
    extent = float((high - low).max())
    if extent > 0 and n:
        scale = 2.0 ** BITS_A_COORDINATE[d] / extent
        fill = kernels.keys_2d if d == 2 else kernels.keys_3d
        table, slices = step_table(d), slices_for(n)
        ends = slice_ends(n, slices)
        in_slices(
            lambda i: fill(points, ends[i], ends[i + 1], low, scale, table, keys), slices, threads
        )
    return keys


def extents(points: FloatArray, threads: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest coordinates (d,) of points (n, d), n > 0."""
    from evener.graphs import hilbert_kernels as kernels

    n, d = points.shape
    slices = slices_for(n)
    ends = slice_ends(n, slices)
    low, high = np.empty((slices, d)), np.empty((slices, d))
    in_slices(
        lambda i: kernels.extents(points, ends[i], ends[i + 1], low[i], high[i]), slices, threads
    )
    return low.min(axis=0), high.max(axis=0)


def _sorting_order(keys: npt.NDArray[np.uint64], threads: int) -> npt.NDArray[np.int64]:
    """Return the stable order (n,) that sorts the keys, which are destroyed."""
    from evener.graphs import hilbert_kernels as kernels

    if (keys[1:] >= keys[:-1]).all():
        return np.arange(keys.size)
    n, buckets = keys.size, 1 << kernels.FIRST_BITS
    slices = slices_for(n)
    ends = slice_ends(n, slices)
    counts = np.zeros((slices, buckets), np.int64)
    in_slices(
        lambda i: kernels.count_buckets(keys, ends[i], ends[i + 1], counts[i]), slices, threads
    )
    # Ordered by bucket, then by slice, so that equal keys keep their order.
    starts = (np.cumsum(counts.T) - counts.T.ravel()).reshape(buckets, slices).T.copy()
    begin = np.append(starts[0], n)
    in_buckets, order = np.empty_like(keys), np.empty(n, _index_type(n))
    in_slices(
        lambda i: kernels.fill_buckets(keys, ends[i], ends[i + 1], starts[i], in_buckets, order),
        slices,
        threads,
    )
    spare = np.empty_like(order)
    bounds = np.searchsorted(begin, ends)  # each slice's buckets have about the same size
    bounds[0], bounds[-1] = 0, buckets
    in_slices(
        lambda i: kernels.sort_buckets(
            begin, bounds[i], bounds[i + 1], keys, spare, in_buckets, order
        ),
        slices,
        threads,
    )
    return order.astype(np.int64, copy=False)


def _index_type(n: int) -> type[np.uint32 | np.int64]:
    return np.uint32 if n <= np.iinfo(np.uint32).max else np.int64


def as_points(points: npt.ArrayLike) -> FloatArray:
    """Return points as a contiguous (n, 2) or (n, 3) float64 array; raise InputError otherwise."""
    array = as_numbers(points, "points", ndim=2)
    if array.shape[1] not in BITS_A_COORDINATE:
        raise InputError(f"points must have 2 or 3 columns, not {array.shape[1]}")
    return array


def within_range(values: FloatArray, largest: float | None = None) -> FloatArray:
    """Scale values by a power of two if products or inverses of differences could overflow.

    largest: the largest magnitude in the whole array, if `values` is a part of it; None: that of
    `values`.
    """
    if largest is None:
        largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest == 0.0 or 1e-60 < largest < 1e60:
        return values
    return np.asarray(np.ldexp(values, -int(np.frexp(largest)[1])), np.float64)


@lru_cache(maxsize=2)
def step_table(d: int) -> npt.NDArray[np.uint16]:
    """Return a look-up table of several levels: table[state, cell] = next state and key digits.

    A cell holds the next BITS_A_STEP bits of x, then of y (then of z); the entry is the next state
    above the d * BITS_A_STEP bits of the key. The table is flattened, states first.
    """
    digit, successor = _single_steps(d)
    bits = BITS_A_STEP[d]
    cell = np.arange(1 << (d * bits))
    state = np.repeat(np.arange(len(digit))[:, None], cell.size, axis=1)
    key = np.zeros_like(state)
    for level in reversed(range(bits)):
        corner = np.zeros_like(cell)
        for j in range(d):
            coordinate = cell >> ((d - 1 - j) * bits)
            corner |= ((coordinate >> level) & 1) << (d - 1 - j)
        key = key << d | digit[state, corner]
        state = successor[state, corner]
    return (state << (d * bits) | key).astype(np.uint16).ravel()


def _single_steps(d: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return digit and next state for every reachable (state, corner), level by level [Ham06]_."""
    numbers = {(0, 0): 0}
    waiting = [(0, 0)]
    digits: list[list[int]] = []
    successors: list[list[int]] = []
    for entry, direction in waiting:  # grows during the loop
        steps = [_step(d, entry, direction, corner) for corner in range(1 << d)]
        for _, state in steps:
            if state not in numbers:
                numbers[state] = len(numbers)
                waiting.append(state)
        digits.append([digit for digit, _ in steps])
        successors.append([numbers[state] for _, state in steps])
    return np.array(digits), np.array(successors)


def _step(d: int, entry: int, direction: int, corner: int) -> tuple[int, tuple[int, int]]:
    """Return the position of `corner` along the curve in a cell, and the state there.

    A state is (entry, direction).
    """
    digit = _gray_inverse(_rotate(corner ^ entry, -(direction + 1), d))
    inner_entry = _gray(2 * ((digit - 1) // 2)) if digit else 0
    inner_direction = _trailing_ones(digit - 1 + digit % 2) % d if digit else 0
    below = entry ^ _rotate(inner_entry, direction + 1, d)
    return digit, (below, (direction + inner_direction + 1) % d)


def _gray(i: int) -> int:
    return i ^ (i >> 1)


def _gray_inverse(g: int) -> int:
    return g ^ (g >> 1) ^ (g >> 2)  # enough for three bits


def _rotate(value: int, left: int, d: int) -> int:
    left %= d
    return (value << left | value >> (d - left)) & ((1 << d) - 1)


def _trailing_ones(value: int) -> int:
    return ((value ^ (value + 1)).bit_length()) - 1
