"""Sweeping: recursive bisection along straight fronts, placed where they cut the fewest edges.

Every piece is swept along several directions. Among all fronts with about the target weight on each
side, the one that cuts the fewest edges is used. (Coordinate bisection [BB87]_ sweeps along the
longest side only, and cuts where the weights are met exactly.)

With coordinates, the directions are axes, diagonals, distances from corners of the box, and
principal axes. Without them, they are hop distances from far vertices, differences of these (which
are coordinates on grids), and the vertex numbers, which often follow the structure of a mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, Part
from evener.partitioning.initial import bisection_kernels, sweeping_kernels
from evener.partitioning.initial.bisection import DEALS, cut_of, halving_tree, slack_of_one
from evener.partitioning.initial.bisection_levels_kernels import HalvingTree
from evener.partitioning.levels.levels import GraphLevel

# Coordinates (r, n) of vertices, or other numbers that change little from neighbour to neighbour.
Rows = npt.NDArray[np.float32]
# Function that returns the position (n,) of every vertex along a direction, from the rows.
Direction = Callable[[Rows], npt.NDArray[np.float32]]

FAR = 4  # number of vertices from which hops are counted


class Sweep(NamedTuple):
    """Blocks `part` (n,) made by sweeping, the tree of bisections, and the cut."""

    tree: HalvingTree
    part: Part
    cut: float


def best_sweep(level: GraphLevel, places: Rows, targets: FloatArray, epsilon: float) -> Sweep:
    """Return the Sweep along places (d, n) with least cut, of all DEALS (ways to group blocks).

    targets (k,), k at least 2. epsilon: see recursive_bisection.
    """
    unlike: dict[tuple[bytes, bytes], HalvingTree] = {}
    for tree in (halving_tree(targets, None, deal) for deal in DEALS):
        # Which block a piece becomes does not matter to the cut.
        unlike.setdefault((tree.share.tobytes(), (tree.below < 0).tobytes()), tree)
    found = []
    for tree in unlike.values():
        part = swept_blocks(level, places, tree, epsilon)
        found.append(Sweep(tree, part, cut_of(level, part)))
    return min(found, key=lambda sweep: sweep.cut)


def best_directions(
    level: GraphLevel, rows: Rows, tree: HalvingTree, directions: list[Direction], epsilon: float
) -> tuple[list[Direction], Part]:
    """Return the directions of the fronts of least cut, and the blocks (n,) between the fronts.

    The rows themselves are tried as directions, too, but are not returned.
    """
    places = np.stack([*rows, *(direction(rows) for direction in directions)])
    part, chosen = _swept(level, places, tree, epsilon)
    return [directions[i - len(rows)] for i in np.unique(chosen) if i >= len(rows)], part


def swept_blocks(level: GraphLevel, places: Rows, tree: HalvingTree, epsilon: float) -> Part:
    """Return blocks (n,) between fronts, each along the row of places (d, n) that cuts least."""
    return _swept(level, places, tree, epsilon)[0]


def _swept(
    level: GraphLevel, places: Rows, tree: HalvingTree, epsilon: float
) -> tuple[Part, IntArray]:
    """Return blocks (n,), and for each bisection the number of its direction."""
    part, chosen = np.empty(level.n, np.int32), np.empty(tree.share.size, np.int64)
    slack = slack_of_one(epsilon, tree.share.size + 1)
    sweeping_kernels.sweep_all(level.arrays, tree.share, tree.below, places, slack, part, chosen)
    return part, chosen


def directions_of_points(d: int) -> list[Direction]:
    """Return the directions along which points (d, n) are swept in addition to the axes."""
    axes = range(d)
    found: list[Direction] = []
    for i, j in combinations(axes, 2):
        found += [partial(_diagonal, i=i, j=j, sign=sign) for sign in (1, -1)]
        found += [partial(_corner, i=i, j=j, far=far) for far in product((False, True), repeat=2)]
    return found + [partial(_principal, i=i) for i in axes]


def _diagonal(points: Rows, i: int, j: int, sign: int) -> npt.NDArray[np.float32]:
    return np.asarray(points[i] + sign * points[j])


def _corner(points: Rows, i: int, j: int, far: tuple[bool, ...]) -> npt.NDArray[np.float32]:
    """Return for each point (n,) the side of the smallest square at a corner that contains it.

    far: for coordinates i and j, whether the corner is at the largest value instead of the least.
    """
    x, y = (
        row.max() - row if at_end else row - row.min()
        for row, at_end in zip((points[i], points[j]), far, strict=True)
    )
    return np.asarray(np.maximum(x, y))


def _principal(points: Rows, i: int) -> npt.NDArray[np.float32]:
    """Return the positions (n,) along the principal axis with the i-th smallest spread."""
    _, axes = np.linalg.eigh(np.atleast_2d(np.cov(points)))
    return np.asarray(axes[:, i].astype(np.float32) @ points)


def far_vertices(level: GraphLevel) -> IntArray:
    """Return FAR vertices, each as far as possible, in hops, from the previous ones."""
    queue, hops = np.empty(level.n, np.int32), np.empty(level.n, np.int32)
    nearest, marks = np.full(level.n, level.n, np.int32), np.empty(FAR, np.int64)
    start = bisection_kernels.hops(level.xadj, level.adjncy, 0, queue, hops)
    for i in range(FAR):
        marks[i] = start
        bisection_kernels.hops(level.xadj, level.adjncy, start, queue, hops)
        nearest = np.minimum(nearest, hops)
        start = int(nearest.argmax())
    return marks


def rows_of_hops(level: GraphLevel, marks: IntArray, number: npt.NDArray[np.number]) -> Rows:
    """Return rows (FAR + 1, n): hops from `marks` to each vertex, and its number (n,)."""
    queue, hops = np.empty(level.n, np.int32), np.empty((FAR, level.n), np.int32)
    for mark, row in zip(marks, hops, strict=True):
        bisection_kernels.hops(level.xadj, level.adjncy, mark, queue, row)
    return np.vstack([hops, number]).astype(np.float32)


def directions_of_hops() -> list[Direction]:
    """Return the directions along which hops are swept in addition to the rows of rows_of_hops."""
    return [partial(_diagonal, i=i, j=j, sign=-1) for i, j in combinations(range(FAR), 2)]
