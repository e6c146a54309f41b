"""Recursive bisection of points by streaming passes, without sorting and indirect reads.

The coordinates move together with the vertices, so every pass reads memory in order. A histogram of
the keys finds the bin that contains the split; only this bin is examined again. Moves are stable:
in a range the vertices stay in ascending order, so ties between equal keys are broken by vertex
number without comparing numbers.

`points` is (d, n), one row per coordinate; `weights` is empty if all are 1.
"""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import copy_to, sort_along
from evener.jit import inner, njit

# Set by hand for speed, the split is the same; benchmarks/constants.py shows other values.
BINS = 1024  # of a histogram
SHORT = 2048  # candidates; sorting so few costs little against the passes over a range
ROUNDS = 4  # of histograms; coordinates that cluster after as many are sorted
LARGEST_SCALE = 1e300  # beyond it a bin's number could overflow


@njit(cache=True, nogil=True)
def bisect(points, weights, ideal, inertial, part):
    """Split recursively: block b gets the points at cumulative weights ideal[b] to ideal[b + 1].

    ideal (k + 1,): cumulative target weights, not decreasing, from 0 to the total. Each boundary is
    put where the cumulative weight is nearest to its ideal; of two equally near places, the lower.
    `points` and `weights` are destroyed; part (n,) is set.
    """
    d, n = points.shape
    k = ideal.size - 1
    origin = np.arange(n).astype(np.int32)
    keys = np.empty(n)
    spare = np.empty((d + 1, n))
    spare_origin = np.empty(n, np.int32)
    candidates = np.empty((2, n))
    axis = np.empty(d)
    ranges = np.empty((k + 1, 4), np.int64)
    before = np.empty(k + 1)
    ranges[0, 0], ranges[0, 1], ranges[0, 2], ranges[0, 3] = 0, k, 0, n
    before[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        low, high, first, last = ranges[top, 0], ranges[top, 1], ranges[top, 2], ranges[top, 3]
        done = before[top]
        if high - low == 1:
            for i in range(first, last):
                part[origin[i]] = low
            continue
        if first == last:
            continue
        middle = _middle(ideal, low, high)
        if inertial:
            _principal_axis(points, weights, first, last, axis)
            _project(points, first, last, axis, keys)
        else:
            _copy_longest(points, first, last, keys)
        left, sum_left = _split(
            keys,
            weights,
            origin,
            points,
            first,
            last,
            ideal[middle] - done,
            candidates,
            spare,
            spare_origin,
        )
        ranges[top, 0], ranges[top, 1] = middle, high
        ranges[top, 2], ranges[top, 3] = first + left, last
        before[top] = done + sum_left
        top += 1
        ranges[top, 0], ranges[top, 1] = low, middle
        ranges[top, 2], ranges[top, 3] = first, first + left
        before[top] = done
        top += 1


@inner()
def _middle(ideal, low, high):
    """Return the boundary between blocks low and high - 1 that halves their target best."""
    half = 0.5 * (ideal[low] + ideal[high])
    b = low + np.searchsorted(ideal[low : high + 1], half)
    if b > low and half - ideal[b - 1] <= ideal[b] - half:
        b -= 1
    return min(max(b, low + 1), high - 1)


@inner()
def _copy_longest(points, first, last, keys):
    """Fill keys with the coordinate of the largest extent; ties go to the first."""
    longest, extent = 0, -1.0
    for j in range(points.shape[0]):
        x = points[j]
        low = high = x[first]
        for i in range(first, last):
            low = min(low, x[i])
            high = max(high, x[i])
        if high - low > extent:
            longest, extent = j, high - low
    copy_to(points[longest, first:last], keys[first:last])


@inner()
def _project(points, first, last, axis, keys):
    """Fill keys with the component of each point along the axis."""
    d = points.shape[0]
    for i in range(first, last):
        key = axis[0] * points[0, i] + axis[1] * points[1, i]
        if d == 3:
            key += axis[2] * points[2, i]
        keys[i] = key


@inner()
def _principal_axis(points, weights, first, last, axis):
    """Return the unit vector along which the weighted points spread most.

    Zero weights count as 1.
    """
    d = points.shape[0]
    weighted = False
    if weights.size > 0:
        for i in range(first, last):
            if weights[i] > 0:
                weighted = True
                break
    total = 0.0
    mean = np.zeros(d)
    spread = np.zeros((d, d))
    base = points[:, first].copy()  # differences from it lose no digits far from the origin
    for i in range(first, last):
        w = weights[i] if weighted else 1.0
        total += w
        for j in range(d):
            x = points[j, i] - base[j]
            mean[j] += w * x
            for h in range(j + 1):
                spread[j, h] += w * x * (points[h, i] - base[h])
    for j in range(d):
        for h in range(j + 1):
            spread[j, h] = spread[j, h] / total - (mean[j] / total) * (mean[h] / total)
            spread[h, j] = spread[j, h]
    _largest_eigenvector(spread, axis)


@inner()
def _largest_eigenvector(a, axis):
    """Return the eigenvector by Jacobi rotations; its largest component is positive.

    Destroys `a`.
    """
    d = a.shape[0]
    vectors = np.eye(d)
    for _ in range(12):  # sweeps; convergence is quadratic, five are enough for d = 3
        off = 0.0
        for p in range(d):
            for q in range(p):
                off += abs(a[p, q])
        if off == 0.0:
            break
        for p in range(d):
            for q in range(p):
                if a[p, q] == 0.0:
                    continue
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = 1.0 / (abs(theta) + np.sqrt(1.0 + theta * theta))
                if theta < 0:
                    t = -t
                c = 1.0 / np.sqrt(1.0 + t * t)
                s = t * c
                for r in range(d):
                    x, y = a[r, p], a[r, q]
                    a[r, p], a[r, q] = c * x - s * y, s * x + c * y
                for r in range(d):
                    x, y = a[p, r], a[q, r]
                    a[p, r], a[q, r] = c * x - s * y, s * x + c * y
                    x, y = vectors[r, p], vectors[r, q]
                    vectors[r, p], vectors[r, q] = c * x - s * y, s * x + c * y
    best = 0
    for j in range(1, d):
        if a[j, j] > a[best, best]:
            best = j
    sign, size = 1.0, -1.0
    for j in range(d):
        if abs(vectors[j, best]) > size:
            size = abs(vectors[j, best])
            sign = 1.0 if vectors[j, best] >= 0 else -1.0
    for j in range(d):
        axis[j] = sign * vectors[j, best]


@inner()
def _split(keys, weights, origin, points, first, last, goal, candidates, spare, spare_origin):
    """Move the points left of the split to the front; return their number and weight."""
    if goal <= 0:
        return 0, 0.0
    pivot, equals, total = _find(keys, weights, first, last, goal, candidates)
    d = points.shape[0]
    weighted = weights.size > 0
    left, right = first, 0
    # Both places are written and one of them is kept: cheaper than a branch on such data.
    for i in range(first, last):
        key = keys[i]
        goes = key < pivot
        if key == pivot and equals > 0:
            equals -= 1
            goes = True
        for j in range(d):
            x = points[j, i]
            points[j, left] = x
            spare[j, right] = x
        if weighted:
            w = weights[i]
            weights[left] = w
            spare[d, right] = w
        v = origin[i]
        origin[left] = v
        spare_origin[right] = v
        left += goes
        right += not goes
    for j in range(d):
        copy_to(spare[j, :right], points[j, left:last])
    if weighted:
        copy_to(spare[d, :right], weights[left:last])
    copy_to(spare_origin[:right], origin[left:last])
    return left - first, total


@inner()
def _find(keys, weights, first, last, goal, candidates):
    """Find where to split [first, last) so that the weight on the left is nearest to `goal` > 0.

    Returns (pivot, equals, weight): on the left are all keys below the pivot, and the first
    `equals` keys equal to it.
    """
    weighted = weights.size > 0
    n = last - first
    x, w = keys[first:last], weights[first:last] if weighted else weights
    done = 0.0  # weight of everything left of the candidates
    sums = np.empty(BINS)
    for _ in range(ROUNDS):
        low = high = x[0]
        for i in range(n):
            low = min(low, x[i])
            high = max(high, x[i])
        scale = BINS / (high - low) if high > low else np.inf
        if n <= SHORT or low == high or scale > LARGEST_SCALE:
            break
        sums[:] = 0.0
        for i in range(n):
            sums[min(int((x[i] - low) * scale), BINS - 1)] += w[i] if weighted else 1.0
        cut = 0
        while cut < BINS - 1 and done + sums[cut] < goal:
            done += sums[cut]
            cut += 1
        count = 0
        # In place from the second round on: the write never overtakes the read.
        for i in range(n):
            if min(int((x[i] - low) * scale), BINS - 1) == cut:
                candidates[0, count] = x[i]
                if weighted:
                    candidates[1, count] = w[i]
                count += 1
        n = count
        x, w = candidates[0, :n], candidates[1, :n] if weighted else weights
    order, keys = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        order[i], keys[i] = i, x[i]
    sort_along(keys, order)
    return _place(x, w, order, done, goal)


@inner()
def _place(x, w, order, done, goal):
    """Find the exact split among sorted candidates; returns the same values as _find."""
    weighted = w.size > 0
    equals = 0
    pivot = x[order[0]]
    for c in range(order.size):
        i = order[c]
        if x[i] != pivot:
            pivot, equals = x[i], 0
        reached = done + (w[i] if weighted else 1.0)
        if reached >= goal:
            if reached - goal < goal - done:
                equals += 1
                done = reached
            break
        equals += 1
        done = reached
    return pivot, equals, done
