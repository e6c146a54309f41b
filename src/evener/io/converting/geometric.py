"""Random geometric graphs of any size: points are stored on disk by squares of a Hilbert curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.graphs.generating.checks import random_source
from evener.graphs.generating.random_graphs import rgg_radius
from evener.graphs.hilbert import BITS_A_COORDINATE, keys_in_box
from evener.io.converting.buckets import BucketLists, Spool, Store

DRAWN = 2**19  # points drawn at a time
# Peak memory [B] per point of the squares that are examined together: coordinates, the
# tree, pairs of neighbours and their numbers.
BYTES_A_POINT, BYTES_A_NEIGHBOUR = 150, 40
WIDER = 1.001  # squares are wider than the radius by this, so that rounding hides no neighbour
KEPT = 12  # recently read squares that are cached


@dataclass(frozen=True)
class _Squares:
    """A grid of 2^(levels d) squares or cubes over a box, in the order of the Hilbert curve.

    low, high (d,): bounds of all points. place (squares, d): grid position of each square; at: the
    square at a position.
    """

    levels: int
    low: FloatArray
    high: FloatArray
    place: npt.NDArray[np.int64]
    at: dict[tuple[int, ...], int]

    @classmethod
    def of(cls, levels: int, low: FloatArray, high: FloatArray) -> _Squares:
        """Return the grid with this number of levels."""
        d, side = low.size, float((high - low).max()) / 2**levels
        place = np.array(list(product(range(2**levels), repeat=d)), np.int64)
        found = cls(levels, low, high, place, {})
        order = np.argsort(found.of_points(low + (place + 0.5) * side))
        place = place[order]
        at = {tuple(one): i for i, one in enumerate(place.tolist())}
        return cls(levels, low, high, place, at)

    def of_points(self, points: FloatArray) -> npt.NDArray[np.uint64]:
        """Return the square (n,) of each point."""
        d = self.low.size
        keys = self.keys(points)
        return (
            keys >> np.uint64(d * BITS_A_COORDINATE[d] - d * self.levels)
            if self.levels
            else (np.zeros(len(points), np.uint64))
        )

    def keys(self, points: FloatArray) -> npt.NDArray[np.uint64]:
        """Return the position (n,) of each point on the curve."""
        return keys_in_box(np.ascontiguousarray(points), self.low, self.high)

    def around(self, square: int) -> list[int]:
        """Return a square and the squares that touch it, in ascending order."""
        steps = product((-1, 0, 1), repeat=self.low.size)
        near = (tuple(self.place[square] + step) for step in steps)
        return sorted(self.at[one] for one in near if one in self.at)


class GeometricGraph:
    """The graph that `rgg` returns, with adjacency lists made square by square.

    memory [B]: limit for the squares that are examined together.
    """

    def __init__(self, n: int, seed: int, dim: int, degree: float, spool: Spool, memory: int):
        self.n, self.dim = n, dim
        self._seed, self._spool = seed, spool
        self.radius = rgg_radius(n, dim, degree)
        low, high = self._extents()
        self._squares = _Squares.of(self._levels(high - low, degree, memory), low, high)
        self._points = [Store(np.float64) for _ in self._squares.place]
        if n * dim * 8 > memory // 4:
            for store in self._points:
                store.spill(spool)
        self.starts = self._deal()
        self._recent: dict[int, FloatArray] = {}

    def points(self) -> Iterator[FloatArray]:
        """Yield the coordinates (p, dim) of all vertices, in their order."""
        for square in range(len(self._points)):
            yield self._sorted(square)

    def lists(self) -> Iterator[BucketLists]:
        """Yield the lists of all vertices, in order, a square at a time."""
        for square in range(len(self._points)):
            yield self._listed(square)

    def _levels(self, extents: FloatArray, degree: float, memory: int) -> int:
        """Return how often to halve squares to save memory; they stay wider than the radius."""
        each = BYTES_A_POINT + BYTES_A_NEIGHBOUR * degree
        together = 3**self.dim
        levels = 0
        extent = float(extents.max())
        while (
            levels * self.dim < 12
            and together * (self.n >> (levels * self.dim)) * each > memory / 2
            and extent / 2 ** (levels + 1) > WIDER * self.radius
        ):
            levels += 1
        return levels

    def _drawn(self) -> Iterator[FloatArray]:
        rng = random_source(self._seed)
        for first in range(0, self.n, DRAWN):
            yield rng.random((min(DRAWN, self.n - first), self.dim))

    def _extents(self) -> tuple[FloatArray, FloatArray]:
        low, high = np.full(self.dim, np.inf), np.full(self.dim, -np.inf)
        for points in self._drawn():
            low, high = np.minimum(low, points.min(0)), np.maximum(high, points.max(0))
        return low, high

    def _deal(self) -> IntVector:
        """Store the points by squares; return (squares + 1,) the first vertex of each square."""
        counts = np.zeros(len(self._points), np.int64)
        for points in self._drawn():
            squares = self._squares.of_points(points).astype(np.uint16)
            order = np.argsort(squares, kind="stable")
            part = np.bincount(squares, minlength=counts.size)
            ends = np.cumsum(part)
            for i in np.flatnonzero(part).tolist():
                self._points[i].append(points[order[ends[i] - part[i] : ends[i]]].ravel())
            counts += part
        return np.concatenate([[0], np.cumsum(counts)])

    def _sorted(self, square: int) -> FloatArray:
        """Return the points of a square in the order of the curve."""
        if square not in self._recent:
            points = self._points[square].read().reshape(-1, self.dim)
            order = np.argsort(self._squares.keys(points), kind="stable")
            if len(self._recent) >= max(KEPT, 3**self.dim):
                del self._recent[next(iter(self._recent))]
            self._recent[square] = points[order]
        return self._recent[square]

    def _listed(self, square: int) -> BucketLists:
        from scipy.spatial import cKDTree

        first, last = self.starts[square : square + 2].tolist()
        own = self._sorted(square)
        rows = last - first
        if not rows:
            return BucketLists(first, np.zeros(1, np.int64), np.empty(0, np.int32), None)
        low, high = own.min(0) - WIDER * self.radius, own.max(0) + WIDER * self.radius
        near, numbers = [], []
        for other in self._squares.around(square):
            points = self._sorted(other)
            inside = np.flatnonzero(((points >= low) & (points <= high)).all(1))
            near.append(points[inside])
            numbers.append(inside + self.starts[other])
        number = np.concatenate(numbers)
        pairs = cKDTree(np.concatenate(near)).query_pairs(self.radius, output_type="ndarray")
        tails, heads = number[pairs[:, 0]], number[pairs[:, 1]]
        keys = np.concatenate([tails << 31 | heads, heads << 31 | tails])
        keys = np.sort(keys[(keys >= first << 31) & (keys < last << 31)])
        xadj = np.searchsorted(keys, np.arange(first, last + 1, dtype=np.int64) << 31)
        return BucketLists(first, xadj, (keys & (2**31 - 1)).astype(np.int32), None)
