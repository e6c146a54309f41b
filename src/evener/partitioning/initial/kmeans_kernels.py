"""Kernels of balanced k-means: points along a curve, in the leaves of a three-level box tree.

A centre c with scale w has distance w |x - c|^2 from x. For each box, centres that cannot be
nearest to any point of the box are removed; the remaining ones are passed to the boxes inside it,
and at last compared with each point.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.jit import inner, njit

LEAF = 32  # points of a leaf
FAN = 16  # leaves of a branch, branches of a bough
FAR = np.float32(3e38)  # more than any distance
LEAST_INFLUENCE = 1e-15  # what float32 holds of squared distances over its square
LEAST_RATIO = 1e-3  # of a block's weight to its share, in corrections


class Cloud(NamedTuple):
    """Points (d, n) along a curve, weights (n,), or (0,) if all are 1, and the tree of boxes.

    Boughs contain branches, and branches contain leaves. leaf_low, leaf_high (leaves, d), and the
    same of branches and boughs: corners of the boxes. leaf_mass (leaves,), leaf_moment (leaves, d):
    weight of the points in a leaf, and the sum of weight x coordinates.
    """

    points: np.ndarray
    weights: np.ndarray
    leaf_low: np.ndarray
    leaf_high: np.ndarray
    leaf_mass: np.ndarray
    leaf_moment: np.ndarray
    branch_low: np.ndarray
    branch_high: np.ndarray
    bough_low: np.ndarray
    bough_high: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def to_unit_box(points, order, first, last, factor, low, extent, box):
    """Fill box[:, first:last] with the points (n, d) at order[first:last], scaled."""
    for j in range(points.shape[1]):
        row, least = box[j], low[j]
        for i in range(first, last):
            row[i] = (factor * points[order[i], j] - least) / extent


@njit(cache=True, nogil=True)
def sum_leaves(points, weights, first_leaf, last_leaf, low, high, mass, moment):
    """Compute boxes of leaves (leaves, d), their weight (leaves,) and weighted sums (leaves, d).

    points (d, n); weights (n,), or of size 0 if all are 1.
    """
    d, n = points.shape
    for leaf in range(first_leaf, last_leaf):
        first, last = leaf * LEAF, min(n, (leaf + 1) * LEAF)
        mass[leaf] = last - first if weights.size == 0 else weights[first:last].sum()
        for j in range(d):
            least = most = points[j, first]
            total = 0.0
            for i in range(first, last):
                x = points[j, i]
                least, most = min(least, x), max(most, x)
                total += x if weights.size == 0 else x * weights[i]
            low[leaf, j], high[leaf, j], moment[leaf, j] = least, most, total


@inner(error_model="numpy")
def _strike_out(low, high, box, names, places, scales, count, lead, to_names, to_places, to_scales):
    """Keep the centres that may be nearest to some point of the box; return their number.

    The centres have names (k,), places (d, k) and scales (k,); those kept are copied to to_names,
    to_places and to_scales. lead (k,) is scratch. The centre nearest to the middle of the box comes
    first, the others follow in their order.
    """
    d = places.shape[0]
    half = np.float32(0.5)
    lead[:count] = 0
    for j in range(d):
        middle = half * (low[box, j] + high[box, j])
        for q in range(count):
            step = middle - places[j, q]
            lead[q] += scales[q] * step * step
    best = 0
    for q in range(1, count):
        if lead[q] < lead[best]:
            best = q
    b = scales[best]
    lead[:count] = 0  # the least of a |x - c|^2 - b |x - best|^2 over the box
    for j in range(d):
        left, right, other = low[box, j], high[box, j], places[j, best]
        at_left = b * (left - other) * (left - other)
        at_right = b * (right - other) * (right - other)
        for q in range(count):
            a, own = scales[q], places[j, q]
            x = (a * own - b * other) / (a - b)  # where the difference is extreme, or not a number
            x = x if x > left else left
            x = x if x < right else right
            least = a * (left - own) * (left - own) - at_left
            value = a * (right - own) * (right - own) - at_right
            least = value if value < least else least
            value = a * (x - own) * (x - own) - b * (x - other) * (x - other)
            least = value if value < least else least
            lead[q] += least
    kept = 0
    for q in range(-1, count):
        c = best if q < 0 else q
        # Of centres that are equal everywhere, `best` is compared first.
        if q < 0 or (lead[q] < 0 and q != best):
            to_names[kept], to_scales[kept] = names[c], scales[c]
            for j in range(d):
                to_places[j, kept] = places[j, c]
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _compare(points, first, size, places, scales, count, nearest, owner):
    """Set owner[:size] to the index of the centre nearest to each of the points from `first` on."""
    nearest[:size] = FAR
    for q in range(count):
        scale, place = scales[q], np.int32(q)
        x, y = places[0, q], places[1, q]
        if places.shape[0] == 2:
            for i in range(size):
                dx, dy = points[0, first + i] - x, points[1, first + i] - y
                distance = scale * (dx * dx + dy * dy)
                owner[i] = place if distance < nearest[i] else owner[i]
                nearest[i] = min(distance, nearest[i])
        else:
            z = places[2, q]
            for i in range(size):
                dx, dy = points[0, first + i] - x, points[1, first + i] - y
                dz = points[2, first + i] - z
                distance = scale * (dx * dx + dy * dy + dz * dz)
                owner[i] = place if distance < nearest[i] else owner[i]
                nearest[i] = min(distance, nearest[i])


@njit(cache=True, nogil=True, error_model="numpy")
def assign(cloud, places, scales, first_bough, last_bough, write, part, mass, moment):
    """Assign the points of some boughs to their nearest centres; add up mass (k,), moment (k, d).

    places (d, k), scales (k,): of the centres. write: whether to fill part (n,). Ties go to the
    centre compared first, which depends only on points and centres.
    """
    points, weights = cloud.points, cloud.weights
    leaf_mass, branch_low = cloud.leaf_mass, cloud.branch_low
    d, n = points.shape
    k = scales.size
    everyone = np.arange(k, dtype=np.int32)
    names, lists = np.empty((3, k), np.int32), np.empty((3, d, k), np.float32)
    weighed, lead = np.empty((3, k), np.float32), np.empty(k, np.float32)
    nearest, owner = np.empty(LEAF, np.float32), np.empty(LEAF, np.int32)
    for bough in range(first_bough, last_bough):
        far = _strike_out(
            cloud.bough_low, cloud.bough_high, bough, everyone, places, scales, k, lead,
            names[0], lists[0], weighed[0],
        )  # fmt: skip
        for branch in range(bough * FAN, min(len(branch_low), (bough + 1) * FAN)):
            near = _strike_out(
                branch_low, cloud.branch_high, branch, names[0], lists[0], weighed[0], far, lead,
                names[1], lists[1], weighed[1],
            )  # fmt: skip
            for leaf in range(branch * FAN, min(leaf_mass.size, (branch + 1) * FAN)):
                first, last = leaf * LEAF, min(n, (leaf + 1) * LEAF)
                nearer = _strike_out(
                    cloud.leaf_low, cloud.leaf_high, leaf, names[1], lists[1], weighed[1], near,
                    lead, names[2], lists[2], weighed[2],
                )  # fmt: skip
                if nearer == 1:
                    c = names[2, 0]
                    mass[c] += leaf_mass[leaf]
                    for j in range(d):
                        moment[c, j] += cloud.leaf_moment[leaf, j]
                    if write:
                        part[first:last] = c
                    continue
                _compare(points, first, last - first, lists[2], weighed[2], nearer, nearest, owner)
                for i in range(last - first):
                    c = names[2, owner[i]]
                    weight = 1.0 if weights.size == 0 else weights[first + i]
                    mass[c] += weight
                    for j in range(d):
                        moment[c, j] += weight * points[j, first + i]
                    if write:
                        part[first + i] = c


class Goal(NamedTuple):
    """The goal of rounds, and when they end; see Balancing and `settle` of kmeans.py.

    shares (k,): targets as shares of the total weight. rounds: largest number of rounds. least:
    number of rounds before centres may rest. near: relative deviation of a block from its share at
    which centres may rest. resting: largest distance by which resting centres move. limit: largest
    relative change of an influence. damping: exponent of the factor that corrects an influence.
    """

    shares: np.ndarray
    rounds: int
    least: int
    near: float
    resting: float
    limit: float
    damping: float


@njit(cache=True, nogil=True, error_model="numpy")
def settle(cloud, places, influence, goal):
    """Move centres to the means of their blocks until they rest, and correct influences.

    Like _Rounds.settle, for clouds of one bough: with so few points, calling kernels would take
    longer than computing. places (k, d) and influence (k,) are changed.
    """
    k, d = places.shape
    mass, moment, scales = np.empty((1, k)), np.empty((1, k, d)), np.empty(k, np.float32)
    along, nowhere = np.empty((d, k), np.float32), np.empty(0, np.int32)
    for turn in range(goal.rounds):
        _assign_all(cloud, places, influence, along, scales, nowhere, mass, moment)
        worst = _correct(influence, mass[0], goal, d)
        most = 0.0
        for b in range(k):
            if mass[0, b] > 0:
                moved = 0.0
                for j in range(d):
                    after = moment[0, b, j] / mass[0, b]
                    moved += (after - places[b, j]) ** 2
                    places[b, j] = after
                most = max(most, moved)
        if turn >= goal.least and worst < goal.near and np.sqrt(most) < goal.resting:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def balance(cloud, places, influence, goal, patience, tolerance, progress, part):
    """Correct influences alone until blocks are near their targets; fill `part` (n,).

    Like _Rounds.balance, for clouds of one bough. Returns the largest relative deviation.
    """
    k, d = places.shape
    mass, moment, scales = np.empty((1, k)), np.empty((1, k, d)), np.empty(k, np.float32)
    along = np.empty((d, k), np.float32)
    least, worst, idle = np.inf, np.inf, 0
    for _ in range(goal.rounds):
        _assign_all(cloud, places, influence, along, scales, part, mass, moment)
        worst = _correct(influence, mass[0], goal, d)
        idle = 0 if worst < progress * least else idle + 1
        least = min(least, worst)
        if worst <= tolerance or idle > patience:
            break
    return worst


@inner(error_model="numpy")
def _assign_all(cloud, places, influence, along, scales, part, mass, moment):
    """Assign all points of a cloud of one bough, like `assign`.

    along (d, k), scales (k,): scratch.
    """
    mass[:], moment[:] = 0.0, 0.0
    for b in range(influence.size):
        scales[b] = max(influence[b], LEAST_INFLUENCE) ** -2
        for j in range(places.shape[1]):
            along[j, b] = places[b, j]
    assign(cloud, along, scales, 0, 1, part.size > 0, part, mass[0], moment[0])


@inner(error_model="numpy", counted=False)
def _correct(influence, mass, goal, d):
    """Correct influences toward the shares; return the largest relative deviation before this."""
    total, worst = 0.0, 0.0
    for b in range(mass.size):
        total += mass[b]
    for b in range(mass.size):
        ratio = mass[b] / (goal.shares[b] * (total if total > 0 else 1.0))
        worst = max(worst, abs(ratio - 1))
        change = max(ratio, LEAST_RATIO) ** (-goal.damping / d)
        influence[b] *= min(max(change, 1 - goal.limit), 1 + goal.limit)
    return worst
