"""Balanced k-means: compact blocks of unequal weight from coordinates alone.

Every block has a centre and an influence: a point belongs to the centre for which distance over
influence is least. Rounds move the centres to the middle of their blocks and change influences
until every block weighs what it should [vLMM18]_. A sample along the Hilbert curve settles the
centres; a few rounds over all points settle the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, NumberArray
from evener.curves import as_points, hilbert_order
from evener.errors import InfeasibleError
from evener.partitioning import kmeans_kernels as kernels
from evener.partitioning.kmeans_start import Centres, start_at_rim
from evener.partitioning.threads import in_slices

FloatMatrix = npt.NDArray[np.float32]

SAMPLE_PER_BLOCK = 150  # points that the smallest block keeps in the sample
SPARSEST = 64  # one point of this many is enough of any sample
SAMPLE_ROUNDS = 150
FULL_ROUNDS = 3
BALANCING_ROUNDS = 40
SETTLED = 0.004  # of a block's diameter: centres that move less have settled
HALF_OF_LARGEST = 8e307
LEAST_INFLUENCE = 1e-15  # what float32 holds of squared distances over its square
GROUPS = 32  # sums are taken in groups, so that threads do not change their last digits
GROUP_BRANCHES = 16  # branches of the tree that are worth a group


@dataclass(eq=False)
class _Cloud:
    """Points (d, n) along a curve, their weights ((0,): all 1), and the boxes around them."""

    points: FloatMatrix
    weights: FloatArray
    leaf_low: FloatMatrix
    leaf_high: FloatMatrix
    leaf_mass: FloatArray
    leaf_moment: FloatArray
    branch_low: FloatMatrix
    branch_high: FloatMatrix

    @classmethod
    def of(cls, points: FloatMatrix, weights: FloatArray) -> _Cloud:
        d, n = points.shape
        leaves = -(-n // kernels.LEAF)
        low, high = np.empty((leaves, d), np.float32), np.empty((leaves, d), np.float32)
        mass, moment = np.empty(leaves), np.empty((leaves, d))
        kernels.sum_leaves(points, weights, low, high, mass, moment)
        branches = np.arange(0, leaves, kernels.BRANCH)
        return cls(
            points, weights, low, high, mass, moment,
            np.minimum.reduceat(low, branches), np.maximum.reduceat(high, branches),
        )  # fmt: skip

    @property
    def total(self) -> float:
        return float(self.leaf_mass.sum())


def kmeans_blocks(
    points: npt.ArrayLike,
    weights: NumberArray | None,
    targets: FloatArray,
    *,
    tolerance: float = 0.01,
    threads: int = 1,
) -> npt.NDArray[np.int32]:
    """Return the block (n,) of every point, of weights near `targets` (k,) [units].

    points (n, 2) or (n, 3); weights (n,) or None: all 1. tolerance: what a block may be off its
    target, relative; heavy points and points in one place may keep it from being reached, which
    is not reported. Raises InputError for coordinates that are not finite, InfeasibleError where
    a target or the weight of all points is 0.
    """
    points = as_points(points)
    order = hilbert_order(points)
    along = unit_box(points[order])
    sorted_weights = np.empty(0) if weights is None else np.asarray(weights, np.float64)[order]
    part = np.empty(len(order), np.int32)
    part[order] = along_curve(along, sorted_weights, targets, tolerance, threads)[0]
    return part


def along_curve(
    points: FloatMatrix,
    weights: FloatArray,
    targets: FloatArray,
    tolerance: float,
    threads: int,
    start: Centres | None = None,
) -> tuple[npt.NDArray[np.int32], Centres]:
    """Return blocks (n,) and centres for points (d, n) in a unit box, sorted along a curve."""
    cloud = _Cloud.of(points, weights)
    n = points.shape[1]
    if not (cloud.total > 0 and targets.min() > 0):
        raise InfeasibleError("a target, or the weight of all points, is zero")
    targets = targets * (cloud.total / targets.sum())
    centres = start or start_at_rim(cloud.points, weights, targets)
    part = np.empty(n, np.int32)
    smallest = n * targets.min() / cloud.total
    step = int(np.clip(smallest / SAMPLE_PER_BLOCK, 1, SPARSEST))
    rounds = _Rounds(targets / cloud.total, tolerance, threads)
    if step > 1:
        rounds.settle(_sample(cloud, step), centres, SAMPLE_ROUNDS, 0, part[:0])
        rounds.settle(cloud, centres, FULL_ROUNDS, BALANCING_ROUNDS, part)
    else:
        rounds.settle(cloud, centres, SAMPLE_ROUNDS, BALANCING_ROUNDS, part)
    return part, centres


def unit_box(points: FloatArray) -> FloatMatrix:
    """Return (d, n) float32 in a box whose longest side is one."""
    columns = np.ascontiguousarray(points.T)
    low, high = columns.min(axis=1), columns.max(axis=1)
    if max(float(high.max()), -float(low.min())) > HALF_OF_LARGEST:
        return unit_box(points / 4)  # their difference may be more than a double holds
    extent = float((high - low).max()) or 1.0
    return np.asarray((columns - low[:, None]) / extent, np.float32)


def _sample(cloud: _Cloud, step: int) -> _Cloud:
    """One point of every `step`, with the weight of all of them."""
    points = np.ascontiguousarray(cloud.points[:, step // 2 :: step])
    if not cloud.weights.size:
        return _Cloud.of(points, cloud.weights)
    weights = np.add.reduceat(cloud.weights, np.arange(0, cloud.weights.size, step))
    return _Cloud.of(points, weights[: points.shape[1]])


@dataclass(eq=False)
class _Rounds:
    """Repeats assignment and correction; shares (k,) of the whole weight are the targets."""

    shares: FloatArray
    tolerance: float
    threads: int

    def settle(
        self,
        cloud: _Cloud,
        centres: Centres,
        moving: int,
        balancing: int,
        part: npt.NDArray[np.int32],
    ) -> None:
        """Move centres for some rounds, then only balance; fill `part` unless it is empty."""
        d = cloud.points.shape[0]
        targets = self.shares * cloud.total
        diameter = (1.0 / self.shares.size) ** (1 / d)
        for turn in range(moving + balancing):
            mass, moment = self._assign(cloud, centres, part)
            ratio = mass / targets
            worst = float(np.abs(ratio - 1).max())
            moves = turn < moving
            if worst <= self.tolerance and not moves:
                return
            limit = 0.1 if moves else 0.05
            change = np.maximum(ratio, 1e-3) ** (-1 / d)
            centres.influence *= np.clip(change, 1 - limit, 1 + limit)
            if moves:
                moved = _move(centres, mass, moment)
                if turn >= 15 and worst < 0.05 and moved < SETTLED * diameter and not balancing:
                    return

    def _assign(
        self, cloud: _Cloud, centres: Centres, part: npt.NDArray[np.int32]
    ) -> tuple[FloatArray, FloatArray]:
        k, d = centres.places.shape
        branches = len(cloud.branch_low)
        groups = int(np.clip(branches // GROUP_BRANCHES, 1, GROUPS))
        mass, moment = np.zeros((groups, k)), np.zeros((groups, k, d))
        scales = (np.maximum(centres.influence, LEAST_INFLUENCE) ** -2).astype(np.float32)

        def one(group: int) -> None:
            kernels.assign(
                cloud.points, cloud.weights, cloud.leaf_low, cloud.leaf_high, cloud.leaf_mass,
                cloud.leaf_moment, cloud.branch_low, cloud.branch_high, centres.places, scales,
                branches * group // groups, branches * (group + 1) // groups, part.size > 0, part,
                mass[group], moment[group],
            )  # fmt: skip

        in_slices(one, groups, self.threads)
        return mass.sum(axis=0), moment.sum(axis=0)


def _move(centres: Centres, mass: FloatArray, moment: FloatArray) -> float:
    """Put centres in the middle of their blocks; return how far the one moved that moved most."""
    filled = mass > 0
    before = centres.places[filled].astype(np.float64)
    after = moment[filled] / mass[filled, None]
    centres.places[filled] = after.astype(np.float32)
    return float(np.sqrt(((after - before) ** 2).sum(axis=1)).max())
