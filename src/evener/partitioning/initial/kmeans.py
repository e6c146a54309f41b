"""Balanced k-means: compact blocks of unequal weight from coordinates alone.

Every block has a centre and an influence: a point belongs to the centre with the smallest distance
/ influence. Each round moves the centres to the means of their blocks and changes the influences
until the weights of the blocks are near their targets [vLMM18]_. The centres are computed on a
sample along the Hilbert curve; a few rounds over all points then correct the weights.

Initial centres lie along the curve, except that large blocks start at the rim of the domain. Blocks
much larger than the rest usually send the most values; at the rim they have fewer neighbours and
send less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray, NumberArray
from evener.errors import InfeasibleError
from evener.graphs.hilbert import as_points, extents, hilbert_order
from evener.partitioning.initial import kmeans_kernels as kernels
from evener.partitioning.initial.kmeans_kernels import Cloud
from evener.threads import in_slices, slice_ends, slices_for

FloatMatrix = npt.NDArray[np.float32]

# Set by hand; benchmarks/constants.py shows what other values give.
LARGE_TARGET = 3.0  # times the median target: blocks worth a place at the rim
RIM_SAMPLE = 1 << 14  # points among which places at the rim are chosen
# Weight of a place's distance from the middle, relative to that from other large blocks. From 0.15
# to 0.35, largest volumes differ by 2 %.
OUTWARD = 0.25


@dataclass(eq=False)
class Centres:
    """The centres (k, d) of the blocks, in the unit box, and their influences (k,)."""

    places: FloatMatrix
    influence: FloatArray


def start_along_curve(points: FloatMatrix, weights: FloatArray, targets: FloatArray) -> Centres:
    """Return centres in the middle of sections of the curve that weigh `targets`.

    points (d, n) in a unit box, sorted along a curve; weights (n,), or (0,) if all are 1.
    """
    d, n = points.shape
    ends = np.cumsum(targets)
    middle = (ends - 0.5 * targets) / ends[-1]
    if weights.size:
        so_far = np.cumsum(weights)
        index = np.searchsorted(so_far, middle * so_far[-1])
    else:
        index = (middle * n).astype(np.int64)
    places = points[:, np.minimum(index, n - 1)].T.astype(np.float32)
    return Centres(np.ascontiguousarray(places), (targets / targets.mean()) ** (1 / d))


def start_at_rim(points: FloatMatrix, weights: FloatArray, targets: FloatArray) -> Centres:
    """Return centres: large blocks at the rim of the box, corners first; others along the curve.

    If no block is large, or all are, the result is that of start_along_curve.
    """
    large = large_blocks(targets, points.shape[0])
    if not large.any() or large.all():
        return start_along_curve(points, weights, targets)
    d, n = points.shape
    step = max(1, n // RIM_SAMPLE)
    sample = points[:, step // 2 :: step].astype(np.float64).T
    mass = np.ones(len(sample)) if not weights.size else _sampled(weights, step, len(sample))
    shares = targets / targets.sum()
    chosen = _spread(sample, _rim(sample, mass, shares[large]), int(large.sum()))
    taken = _nearest(sample, mass, chosen, float(shares[large].sum()))
    inside = np.flatnonzero(~taken)
    if inside.size == 0:  # the others' shares are lost in the rounding
        return start_along_curve(points, weights, targets)
    rest = start_along_curve(
        sample[inside].T.astype(np.float32), mass[inside] if weights.size else weights,
        targets[~large],
    )  # fmt: skip
    places = np.empty((targets.size, d), np.float32)
    # The largest blocks get the places chosen first, which are in corners.
    places[np.flatnonzero(large)[np.argsort(-targets[large], kind="stable")]] = sample[chosen]
    places[~large] = rest.places
    return Centres(places, (targets / targets.mean()) ** (1 / d))


def large_blocks(targets: FloatArray, d: int) -> BoolArray:
    """Return flags (k,) of the large blocks that start at the rim, as many as fit there."""
    large = targets >= LARGE_TARGET * np.median(targets)
    order = np.argsort(-targets, kind="stable")
    side = (targets[order] / targets.sum()) ** (1 / d)
    # Sides of blocks along the rim, or their faces on the surface.
    used = np.cumsum(side ** (d - 1))
    fits = np.zeros(targets.size, bool)
    fits[order] = used <= 1.3 * 2 * d * (1 - side) ** (d - 1)
    return np.asarray(large & fits)


def _sampled(weights: FloatArray, step: int, size: int) -> FloatArray:
    return np.add.reduceat(weights, np.arange(0, weights.size, step))[:size]


def _rim(sample: FloatArray, mass: FloatArray, shares: FloatArray) -> npt.NDArray[np.int64]:
    """Return the points nearest to the faces of the sample's box; they weigh half of `shares`."""
    low, high = sample.min(axis=0), sample.max(axis=0)
    depth = np.minimum(sample - low, high - sample).min(axis=1)
    order = np.argsort(depth, kind="stable")
    near = np.cumsum(mass[order]) <= 0.5 * shares.sum() * mass.sum()
    return np.asarray(order[near] if near.sum() > shares.size else order)


def _spread(sample: FloatArray, among: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Return `count` of the points `among`, each as far as possible from the previous ones.

    The distance is the largest difference of coordinates: a free corner of a box is then as far
    from its neighbours as any point between them. Of points equally far, those far from the middle
    are preferred: in a corner, a block has the shortest border.
    """
    candidates = sample[among]
    middle = 0.5 * (sample.min(axis=0) + sample.max(axis=0))
    outward = np.sqrt(((candidates - middle) ** 2).sum(axis=1))
    chosen = [int(outward.argmax())]
    distance = np.full(len(candidates), np.inf)
    while len(chosen) < count:
        distance = np.minimum(distance, np.abs(candidates - candidates[chosen[-1]]).max(axis=1))
        chosen.append(int((distance + OUTWARD * outward).argmax()))
    return np.asarray(among[np.array(chosen)])


def _nearest(
    sample: FloatArray, mass: FloatArray, chosen: npt.NDArray[np.int64], share: float
) -> BoolArray:
    """Return flags of the points nearest to the chosen ones, with this share of all weight."""
    distance = np.full(len(sample), np.inf)
    for centre in sample[chosen]:
        distance = np.minimum(distance, ((sample - centre) ** 2).sum(axis=1))
    order = np.argsort(distance, kind="stable")
    taken = np.zeros(len(sample), bool)
    taken[order[np.cumsum(mass[order]) <= share * mass.sum()]] = True
    return taken


# Numbers are set by hand; benchmarks/constants.py shows what other values give.
# Points that the smallest block keeps in a sample, and rounds on that sample at most.
SAMPLES = ((50, 100), (150, 50))
SPARSEST = 64  # one point of this many is enough of any sample
BALANCE = 0.01  # relative deviation from its target that k-means may leave to a block
FULL_ROUNDS = 3  # at most, on all points, after the samples
FEWEST_ROUNDS = 15  # before centres may count as settled
NEAR = 0.05  # relative deviation of blocks of settled centres, at most
SETTLED = 0.004  # of a block's diameter: centres that move less have settled
LARGEST_STEP = 0.1  # relative change of an influence in a round
FAR_OFF = 0.25  # relative deviation at which balancing goes on, if asked
FEWEST_POINTS = 50  # of the smallest block: with fewer, it is off by the weight of a few anyway
PROGRESS = 0.9  # x the least deviation so far: one below it counts as progress
HALF_OF_LARGEST = 8e307  # of float64: coordinates beyond it are scaled, or differences overflow
GROUPS = 32  # sums are taken in groups, so that threads do not change their last digits
LEAVES_A_SLICE = 1 << 12  # leaves that are worth a slice of their own

_NOWHERE = np.empty(0, np.int32)


class Balancing(NamedTuple):
    """Limits of the rounds in which only influences of centres change.

    rounds: largest number of rounds. patience: the rounds end after this number of rounds without
    progress, because the weights of blocks with few points may oscillate for ever. damping:
    exponent of the factor by which an influence is corrected.
    """

    rounds: int
    patience: int
    damping: float


BALANCING, BALANCING_ON = Balancing(40, 5, 0.8), Balancing(400, 60, 0.4)


def _cloud(points: FloatMatrix, weights: FloatArray, threads: int = 1) -> Cloud:
    """Return the points (d, n), which are sorted along a curve, with their tree of boxes."""
    d, n = points.shape
    leaves = -(-n // kernels.LEAF)
    low, high = np.empty((leaves, d), np.float32), np.empty((leaves, d), np.float32)
    mass, moment = np.empty(leaves), np.empty((leaves, d))
    slices = -(-leaves // LEAVES_A_SLICE)
    in_slices(
        lambda i: kernels.sum_leaves(
            points, weights, leaves * i // slices, leaves * (i + 1) // slices, low, high, mass,
            moment,
        ),
        slices,
        threads,
    )  # fmt: skip
    branches, boughs = (np.arange(0, leaves, kernels.FAN**i) for i in (1, 2))
    return Cloud(
        points, weights, low, high, mass, moment,
        np.minimum.reduceat(low, branches), np.maximum.reduceat(high, branches),
        np.minimum.reduceat(low, boughs), np.maximum.reduceat(high, boughs),
    )  # fmt: skip


def _total(cloud: Cloud) -> float:
    return float(cloud.leaf_mass.sum())


def _is_small(cloud: Cloud) -> bool:
    """Return whether all rounds run in one kernel call: for few points, many calls are slower."""
    return len(cloud.bough_low) == 1


def kmeans_blocks(
    points: npt.ArrayLike,
    weights: NumberArray | None,
    targets: FloatArray,
    *,
    tolerance: float = BALANCE,
    threads: int = 1,
) -> npt.NDArray[np.int32]:
    """Return the block (n,) of every point, with weights near `targets` (k,) [units].

    points (n, 2) or (n, 3); weights (n,), or None if all are 1. tolerance: relative deviation from
    the target that a block may have; heavy points and coinciding points may prevent this, which is
    not reported. Raises InputError for coordinates that are not finite, InfeasibleError if a target
    or the weight of all points is 0.
    """
    points = as_points(points)
    order = hilbert_order(points, threads)
    along = unit_box(points, order, threads)
    sorted_weights = np.empty(0) if weights is None else np.asarray(weights, np.float64)[order]
    part = np.empty(len(order), np.int32)
    part[order] = along_curve(along, sorted_weights, targets, tolerance, threads, persistent=True)[
        0
    ]
    return part


def along_curve(
    points: FloatMatrix,
    weights: FloatArray,
    targets: FloatArray,
    tolerance: float,
    threads: int,
    start: Centres | None = None,
    *,
    persistent: bool = False,
) -> tuple[npt.NDArray[np.int32], Centres]:
    """Return blocks (n,) and centres for points (d, n) in a unit box, sorted along a curve.

    persistent: whether to continue balancing, with smaller corrections, if blocks are still far off
    their targets: in thin and branching domains, weight must move through many blocks.
    """
    cloud = _cloud(points, weights, threads)
    n = points.shape[1]
    if not (_total(cloud) > 0 and targets.min() > 0):
        raise InfeasibleError("the targets and the total weight of the points must be above zero")
    targets = targets * (_total(cloud) / targets.sum())
    centres = start or start_at_rim(cloud.points, weights, targets)
    part = np.empty(n, np.int32)
    smallest = n * targets.min() / _total(cloud)
    rounds = _Rounds(targets / _total(cloud), tolerance, threads)
    for kept, turns in SAMPLES:
        step = int(np.clip(smallest / kept, 1, SPARSEST))
        rounds.settle(_sample(cloud, step) if step > 1 else cloud, centres, turns)
    rounds.settle(cloud, centres, FULL_ROUNDS)
    off = rounds.balance(cloud, centres, part, BALANCING)
    if persistent and off > FAR_OFF and smallest >= FEWEST_POINTS:
        rounds.balance(cloud, centres, part, BALANCING_ON)
    return part, centres


def unit_box(points: FloatArray, order: IntArray | None = None, threads: int = 1) -> FloatMatrix:
    """Return the points (n, d), in `order` (n,), as (d, n) float32; the longest side is 1."""
    n, d = points.shape
    low, high = extents(points, threads)
    # The difference of the largest numbers is more than a double holds.
    factor = 0.25 if max(float(high.max()), -float(low.min())) > HALF_OF_LARGEST else 1.0
    extent = float((factor * high - factor * low).max()) or 1.0
    box, slices = np.empty((d, n), np.float32), slices_for(n)
    ends, along = slice_ends(n, slices), np.arange(n) if order is None else order
    in_slices(
        lambda i: kernels.to_unit_box(
            points, along, ends[i], ends[i + 1], factor, factor * low, extent, box
        ),
        slices,
        threads,
    )
    return box


def _sample(cloud: Cloud, step: int) -> Cloud:
    """Return every step-th point, with the weight of all the points it represents."""
    points = np.ascontiguousarray(cloud.points[:, step // 2 :: step])
    if not cloud.weights.size:
        return _cloud(points, cloud.weights)
    return _cloud(points, _sampled(cloud.weights, step, points.shape[1]))


@dataclass(eq=False)
class _Rounds:
    """Repeats assignment and correction; shares (k,) of the total weight are the targets."""

    shares: FloatArray
    tolerance: float
    threads: int

    def settle(self, cloud: Cloud, centres: Centres, turns: int) -> None:
        """Move centres to their blocks' means and correct influences, until centres hardly move."""
        k, d = centres.places.shape
        diameter = (1.0 / k) ** (1 / d)
        if _is_small(cloud):
            goal = kernels.Goal(
                self.shares, turns, FEWEST_ROUNDS, NEAR, SETTLED * diameter, LARGEST_STEP, 1.0
            )
            kernels.settle(cloud, centres.places, centres.influence, goal)
            return
        for turn in range(turns):
            mass, moment = self._assign(cloud, centres, _NOWHERE)
            worst = self._correct(centres, mass, LARGEST_STEP, 1.0)
            moved = _move(centres, mass, moment)
            if turn >= FEWEST_ROUNDS and worst < NEAR and moved < SETTLED * diameter:
                return

    def balance(
        self, cloud: Cloud, centres: Centres, part: npt.NDArray[np.int32], how: Balancing
    ) -> float:
        """Correct influences alone until blocks are near their targets; fill `part` (n,).

        Returns the largest relative deviation of a block from its target.
        """
        if _is_small(cloud):
            goal = kernels.Goal(self.shares, how.rounds, 0, 0.0, 0.0, LARGEST_STEP / 2, how.damping)
            return float(
                kernels.balance(
                    cloud, centres.places, centres.influence, goal, how.patience, self.tolerance,
                    PROGRESS, part,
                )
            )  # fmt: skip
        least, worst, idle = np.inf, np.inf, 0
        for _ in range(how.rounds):
            mass, _ = self._assign(cloud, centres, part)
            worst = self._correct(centres, mass, LARGEST_STEP / 2, how.damping)
            idle = 0 if worst < PROGRESS * least else idle + 1
            least = min(least, worst)
            if worst <= self.tolerance or idle > how.patience:
                break
        return worst

    def _correct(self, centres: Centres, mass: FloatArray, limit: float, damping: float) -> float:
        """Correct influences toward targets; return the largest relative deviation before this."""
        ratio = mass / (self.shares * (mass.sum() or 1.0))  # a sample may miss all weight
        change = np.maximum(ratio, kernels.LEAST_RATIO) ** (-damping / centres.places.shape[1])
        centres.influence *= np.clip(change, 1 - limit, 1 + limit)
        return float(np.abs(ratio - 1).max())

    def _assign(
        self, cloud: Cloud, centres: Centres, part: npt.NDArray[np.int32]
    ) -> tuple[FloatArray, FloatArray]:
        k, d = centres.places.shape
        boughs = len(cloud.bough_low)
        groups = min(boughs, GROUPS)
        mass, moment = np.zeros((groups, k)), np.zeros((groups, k, d))
        places = np.ascontiguousarray(centres.places.T)
        scales = (np.maximum(centres.influence, kernels.LEAST_INFLUENCE) ** -2).astype(np.float32)

        def one(group: int) -> None:
            kernels.assign(
                cloud, places, scales, boughs * group // groups, boughs * (group + 1) // groups,
                part.size > 0, part, mass[group], moment[group],
            )  # fmt: skip

        in_slices(one, groups, self.threads)
        return mass.sum(axis=0), moment.sum(axis=0)


def _move(centres: Centres, mass: FloatArray, moment: FloatArray) -> float:
    """Move centres to the means of their blocks; return the largest distance moved."""
    filled = mass > 0
    before = centres.places[filled].astype(np.float64)
    after = moment[filled] / mass[filled, None]
    centres.places[filled] = after.astype(np.float32)
    return float(np.sqrt(((after - before) ** 2).sum(axis=1)).max())
