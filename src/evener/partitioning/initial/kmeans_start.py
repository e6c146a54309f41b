"""Where balanced k-means starts: along the curve, or with the large blocks at the rim.

A block at the rim of the domain has fewer neighbours and sends less. Where some blocks are much
larger than the rest it is they that send most, so they are given the rim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray

FloatMatrix = npt.NDArray[np.float32]

LARGE = 3.0  # times the median target: blocks worth a place at the rim
SAMPLE = 1 << 14


@dataclass(eq=False)
class Centres:
    """Where the blocks' centres are, (k, d) in the unit box, and their influence (k,)."""

    places: FloatMatrix
    influence: FloatArray


def start_along_curve(points: FloatMatrix, weights: FloatArray, targets: FloatArray) -> Centres:
    """Centres in the middle of the stretches of the curve that weigh `targets`.

    points (d, n) in a unit box, sorted along a curve; weights (n,), or (0,): all 1.
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
    """Large blocks spread evenly over the rim of the points' box, the rest along the curve inside.

    As start_along_curve where no block is large, or all are.
    """
    large = large_blocks(targets, points.shape[0])
    if not large.any() or large.all():
        return start_along_curve(points, weights, targets)
    d, n = points.shape
    step = max(1, n // SAMPLE)
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
    # Larger ones first: they were chosen first, where there is most room.
    places[np.flatnonzero(large)[np.argsort(-targets[large], kind="stable")]] = sample[chosen]
    places[~large] = rest.places
    return Centres(places, (targets / targets.mean()) ** (1 / d))


def large_blocks(targets: FloatArray, d: int) -> BoolArray:
    """(k,) which blocks get a place at the rim: the large ones, as many as have room there."""
    large = targets >= LARGE * np.median(targets)
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
    """Points of the sample next to the faces of its box, of half the weight of the blocks."""
    low, high = sample.min(axis=0), sample.max(axis=0)
    depth = np.minimum(sample - low, high - sample).min(axis=1)
    order = np.argsort(depth, kind="stable")
    near = np.cumsum(mass[order]) <= 0.5 * shares.sum() * mass.sum()
    return np.asarray(order[near] if near.sum() > shares.size else order)


def _spread(sample: FloatArray, among: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """`count` of these points, each as far as can be from those before it."""
    candidates = sample[among]
    middle = 0.5 * (sample.min(axis=0) + sample.max(axis=0))
    chosen = [int(((candidates - middle) ** 2).sum(axis=1).argmax())]
    distance = np.full(len(candidates), np.inf)
    while len(chosen) < count:
        step = ((candidates - candidates[chosen[-1]]) ** 2).sum(axis=1)
        distance = np.minimum(distance, step)
        chosen.append(int(distance.argmax()))
    return np.asarray(among[np.array(chosen)])


def _nearest(
    sample: FloatArray, mass: FloatArray, chosen: npt.NDArray[np.int64], share: float
) -> BoolArray:
    """Which points lie nearest to the chosen ones, `share` of all weight."""
    distance = np.full(len(sample), np.inf)
    for centre in sample[chosen]:
        distance = np.minimum(distance, ((sample - centre) ** 2).sum(axis=1))
    order = np.argsort(distance, kind="stable")
    taken = np.zeros(len(sample), bool)
    taken[order[np.cumsum(mass[order]) <= share * mass.sum()]] = True
    return taken
