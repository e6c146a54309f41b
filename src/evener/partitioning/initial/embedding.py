"""Computes coordinates for the vertices of a small graph, such that distances follow its edges.

The hop distances from a few landmarks, which are far from each other, determine the position of a
vertex: classical scaling of the hops between landmarks gives coordinates of the landmarks, from
which those of all other vertices follow [dST04]_. For a mesh without coordinates, this restores its
geometry up to rotation and small errors, in a few milliseconds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.partitioning.initial import bisection_kernels as kernels
from evener.partitioning.levels.levels import GraphLevel, Unsigned

# Set by hand; benchmarks/constants.py shows what other values give.
LANDMARKS = 32  # vertices from which hops are counted
WEAK = 0.6  # of the mean weight of an end's edges: lighter ones are long, as those along a hull
FLAT = 0.3  # of the second axis' spread: the third one is needed from this on
TURNS = 32  # angles tried for the smallest box, in each plane
LARGE_PIECE = 0.9  # of the vertices: a graph whose pieces are all smaller gets no places
NOTHING = 1e-6  # of the first axis' spread: what counts as none
SMOOTHINGS = 4  # times that every place is drawn towards its neighbours'


def embedded(level: GraphLevel) -> FloatArray | None:
    """Return coordinates (n, 2) or (n, 3) of a graph's vertices, or None if that is impossible.

    It is impossible if there are few vertices, several large components, or all lie on a line.
    Vertices of small components get the coordinates of some vertex of the large one.
    """
    hops = None if level.n <= LANDMARKS else _hops(level)
    if hops is None:
        return None
    marks, to_all = hops
    squares = to_all.astype(np.float64) ** 2
    among = squares[:, marks]
    mean = among.mean(axis=1)
    # Inner products of the landmarks' places, and with them the axes along which they spread.
    spread, axes = np.linalg.eigh(-0.5 * (among - mean[:, None] - mean + mean.mean()))
    spread, axes = spread[::-1], axes[:, ::-1]
    d = 3 if spread[2] > FLAT * spread[1] else 2
    if not spread[d - 1] > NOTHING * spread[0]:
        return None
    places = -0.5 * (squares - mean[:, None]).T @ (axes[:, :d] / np.sqrt(spread[:d]))
    return _in_smallest_box(_smoothed(level, places))


def _hops(level: GraphLevel) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] | None:
    """Choose landmarks, each as far as possible from the previous ones, and count hops from them.

    Returns the landmarks (l,), and the hops (l, n) from each to every vertex. Hops use strong edges
    only. Returns None if there is no large component.
    """
    n = level.n
    degrees = level.xadj[1:] - level.xadj[:-1]
    ends, middle = np.repeat(np.arange(n), degrees), int(degrees.argmax())
    queue, to_all = np.empty(n, np.int32), np.empty((LANDMARKS, n), np.int32)
    kernels.hops(level.xadj, level.adjncy, middle, queue, to_all[0])
    whole = to_all[0] >= 0
    if whole.mean() < LARGE_PIECE:
        return None
    strong = _strong(level, ends)
    start = kernels.hops(*_rows(level, ends, strong), middle, queue, to_all[0])
    apart = to_all[0] < 0  # what hangs on weak edges alone keeps them
    rows = _rows(level, ends, strong | apart[ends] | apart[level.adjncy])
    marks, nearest = np.empty(LANDMARKS, np.int64), np.where(whole, n, -1).astype(np.int32)
    for i in range(LANDMARKS):
        marks[i] = start
        kernels.hops(*rows, start, queue, to_all[i])
        nearest = np.minimum(nearest, to_all[i])
        start = int(nearest.argmax())
    lies = np.maximum.accumulate(np.where(whole, np.arange(n), whole.argmax()))
    return marks, to_all[:, lies]


def _strong(level: GraphLevel, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return flags (e,): edges that are not much lighter than the mean edge at both ends."""
    if level.adjwgt.size == 0:
        return np.ones(ends.size, np.bool_)
    weights = level.adjwgt.astype(np.float64)
    mean = np.bincount(ends, weights, level.n) / np.maximum(np.bincount(ends, minlength=level.n), 1)
    return np.asarray(weights >= WEAK * np.maximum(mean[ends], mean[level.adjncy]))


def _rows(
    level: GraphLevel, ends: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_]
) -> tuple[Unsigned, Unsigned]:
    """Return xadj and adjncy with only the entries that are flagged in `kept` (e,)."""
    xadj = np.zeros(level.n + 1, np.uint32)
    np.cumsum(np.bincount(ends[kept], minlength=level.n), out=xadj[1:])
    return xadj, level.adjncy[kept]


def _smoothed(level: GraphLevel, places: FloatArray) -> FloatArray:
    """Return coordinates (n, d) averaged with neighbours', as whole hop counts make them coarse."""
    ends = np.repeat(np.arange(level.n), level.xadj[1:] - level.xadj[:-1])
    weights = level.adjwgt.astype(np.float64) if level.adjwgt.size else np.ones(ends.size)
    share = 0.5 / np.maximum(np.bincount(ends, weights, level.n), 1e-300)
    alone = np.bincount(ends, weights, level.n) == 0
    for axis in places.T:
        for _ in range(SMOOTHINGS):
            drawn = share * np.bincount(ends, weights * axis[level.adjncy], level.n)
            axis[:] = np.where(alone, axis, 0.5 * axis + drawn)
    return places


def _in_smallest_box(places: FloatArray) -> FloatArray:
    """Return coordinates (n, d) rotated such that their bounding box is small."""
    pairs = [(0, 1)] if places.shape[1] == 2 else [(0, 1), (0, 2), (1, 2)] * 3
    places = places.copy()
    angles = np.linspace(0, np.pi / 2, TURNS, endpoint=False)
    across, along = np.cos(angles), np.sin(angles)
    for i, j in pairs:
        x, y = places[:, i, None], places[:, j, None]
        first, second = across * x + along * y, across * y - along * x
        best = int((np.ptp(first, axis=0) * np.ptp(second, axis=0)).argmin())
        places[:, i], places[:, j] = first[:, best], second[:, best]
    return places
