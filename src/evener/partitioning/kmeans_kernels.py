"""Kernels of balanced k-means: points in leaves of a flat two-level box tree, along a curve.

A centre c with scale w is at distance w |x - c|^2 from x. On a box, centres that another one
beats everywhere are struck out; what is left is compared point by point.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = 32  # points a leaf
BRANCH = 16  # leaves a branch
FAR = np.float32(3e38)


@njit(cache=True, nogil=True)
def sum_leaves(points, weights, low, high, mass, moment):
    """Boxes of the leaves (leaves, d), their weight (leaves,) and weighted sums (leaves, d).

    points (d, n); weights (n,), or of size 0: every point weighs 1.
    """
    d, n = points.shape
    for leaf in range(mass.size):
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


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _strike_out(low, high, box, candidates, count, centres, scales, kept):
    """Keep the centres that are nearest to some place in the box; return their number."""
    d = centres.shape[1]
    best, nearest = -1, FAR
    for q in range(count):
        c = candidates[q]
        distance = np.float32(0.0)
        for j in range(d):
            step = np.float32(0.5) * (low[box, j] + high[box, j]) - centres[c, j]
            distance += step * step
        distance *= scales[c]
        if best < 0 or distance < nearest:
            best, nearest = c, distance
    kept[0] = best
    n_kept = 1
    b = scales[best]
    for q in range(count):
        c = candidates[q]
        if c == best:
            continue
        a = scales[c]
        lead = np.float32(0.0)  # the least of a |x - c|^2 - b |x - best|^2 over the box
        for j in range(d):
            own, other = centres[c, j], centres[best, j]
            left, right = low[box, j], high[box, j]
            least = min(
                a * (left - own) * (left - own) - b * (left - other) * (left - other),
                a * (right - own) * (right - own) - b * (right - other) * (right - other),
            )
            if a > b:
                x = (a * own - b * other) / (a - b)
                if left < x < right:
                    bottom = a * (x - own) * (x - own) - b * (x - other) * (x - other)
                    least = min(least, bottom)
            lead += least
        if lead < 0:  # of centres that are equal everywhere, `best` is compared first
            kept[n_kept] = c
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True, error_model="numpy")
def assign(
    points, weights, leaf_low, leaf_high, leaf_mass, leaf_moment, branch_low, branch_high,
    centres, scales, first_branch, last_branch, write, part, mass, moment,
):  # fmt: skip
    """Give the points of some branches to their nearest centres; add up mass (k,), moment (k, d).

    part (n,) is written where `write`. Ties go to the centre compared first, which depends on
    nothing but the points and centres.
    """
    d, n = points.shape
    k = scales.size
    everyone = np.arange(k)
    near, nearer = np.empty(k, np.int64), np.empty(k, np.int64)
    nearest = np.empty(LEAF, np.float32)
    owner = np.empty(LEAF, np.int32)
    for branch in range(first_branch, last_branch):
        n_near = _strike_out(branch_low, branch_high, branch, everyone, k, centres, scales, near)
        for leaf in range(branch * BRANCH, min(leaf_mass.size, (branch + 1) * BRANCH)):
            first, last = leaf * LEAF, min(n, (leaf + 1) * LEAF)
            n_nearer = 1
            if n_near > 1:
                n_nearer = _strike_out(
                    leaf_low, leaf_high, leaf, near, n_near, centres, scales, nearer
                )
            else:
                nearer[0] = near[0]
            if n_nearer == 1:
                c = nearer[0]
                mass[c] += leaf_mass[leaf]
                for j in range(d):
                    moment[c, j] += leaf_moment[leaf, j]
                if write:
                    part[first:last] = c
                continue
            size = last - first
            nearest[:size] = FAR
            for q in range(n_nearer):
                c = np.int32(nearer[q])
                scale = scales[c]
                if d == 2:
                    x, y = centres[c, 0], centres[c, 1]
                    for i in range(size):
                        dx, dy = points[0, first + i] - x, points[1, first + i] - y
                        distance = scale * (dx * dx + dy * dy)
                        owner[i] = c if distance < nearest[i] else owner[i]
                        nearest[i] = min(distance, nearest[i])
                else:
                    x, y, z = centres[c, 0], centres[c, 1], centres[c, 2]
                    for i in range(size):
                        dx, dy = points[0, first + i] - x, points[1, first + i] - y
                        dz = points[2, first + i] - z
                        distance = scale * (dx * dx + dy * dy + dz * dz)
                        owner[i] = c if distance < nearest[i] else owner[i]
                        nearest[i] = min(distance, nearest[i])
            for i in range(size):
                c = owner[i]
                weight = 1.0 if weights.size == 0 else weights[first + i]
                mass[c] += weight
                for j in range(d):
                    moment[c, j] += weight * points[j, first + i]
                if write:
                    part[first + i] = c
