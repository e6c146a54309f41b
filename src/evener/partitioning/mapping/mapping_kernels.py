"""Mapping problems for kernels: blocks, devices, costs of mappings, and swaps that reduce them.

A mapping is `device` (k,), the device of every block, and its inverse `at` (k,). Predicted seconds
(k,) of all blocks are computed as in evener.plans.metrics, here by `computing` and `talking` alone,
and each swap updates them: evaluating a swap takes time linear in the messages of its two blocks.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit


class MappingProblem(NamedTuple):
    """k blocks, k devices, and the kinds of links between devices.

    The quotient graph: starts (k + 1,), other (p,), n_bytes (p,): bytes that two blocks exchange in
    both directions, stored in both rows. Blocks: weight (k, c) [units], for each weight of the
    vertices; size (k,) [B]. Block b is on device b at first, and may always stay there. Devices:
    speed (k,), low, high (k, c), cap (k,) [B]. Links: codes (depth, k): in row i, devices in the
    same group of level i have equal codes; kind (k, k): the kind of link between two devices, empty
    if it is the number of levels that they share. alpha [s], beta [s/B], hops: of every kind of
    link.
    """

    starts: np.ndarray
    other: np.ndarray
    n_bytes: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    speed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cap: np.ndarray
    codes: np.ndarray
    kind: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    hops: np.ndarray


@inner(forceinline=True)
def link_kind(problem, p, q):
    """Return the kind of link between two different devices."""
    if problem.kind.size > 0:
        return np.int64(problem.kind[p, q])
    depth = problem.codes.shape[0]
    level = 0
    while level < depth and problem.codes[level, p] == problem.codes[level, q]:
        level += 1
    return level


@inner(forceinline=True)
def computing(problem, b, d):
    """Return the seconds that block b computes on device d."""
    return problem.weight[b, 0] / problem.speed[d]


@inner(forceinline=True)
def talking(problem, kind, n_bytes):
    """Return the seconds that each end of a link spends to exchange n_bytes, both directions."""
    return problem.alpha[kind] + problem.beta[kind] * n_bytes


@njit(cache=True, nogil=True)
def fits(problem, b, d):
    """Return whether block b satisfies the contract of device d, or is there at first."""
    if b == d:
        return True
    for c in range(problem.weight.shape[1]):
        if not problem.low[d, c] <= problem.weight[b, c] <= problem.high[d, c]:
            return False
    return 0 < problem.size[b] <= problem.cap[d]


@inner()
def block_seconds(problem, device, b, d):
    """Return the seconds of block b on device d, with the other blocks where `device` says."""
    total = computing(problem, b, d)
    for e in range(problem.starts[b], problem.starts[b + 1]):
        kind = link_kind(problem, d, device[problem.other[e]])
        total += talking(problem, kind, problem.n_bytes[e])
    return total


@njit(cache=True, nogil=True)
def count_seconds(problem, device, seconds):
    """Fill in the seconds (k,) of all blocks; return the bytes x hops of all messages."""
    hop_bytes = 0.0
    for b in range(device.size):
        seconds[b] = block_seconds(problem, device, b, device[b])
        for e in range(problem.starts[b], problem.starts[b + 1]):
            kind = link_kind(problem, device[b], device[problem.other[e]])
            hop_bytes += 0.5 * problem.hops[kind] * problem.n_bytes[e]
    return hop_bytes


@njit(cache=True, nogil=True)
def best_of_all(problem, as_soon, most, device):
    """Try all mappings and store the best in device (k,); ties go to the given mapping.

    The best mapping has the fewest bytes x hops among those whose makespan is at most `as_soon` x
    the least makespan, and at most `most` [s].
    """
    least = _sweep(problem, 0.0, False, device)
    _sweep(problem, min(as_soon * least, most), True, device)


@inner()
def _sweep(problem, ceiling, choose, device):
    """Return the least makespan of all mappings.

    choose: instead store in `device` the mapping with the fewest bytes x hops and a makespan of at
    most `ceiling` [s].
    """
    k = device.size
    seconds = np.empty(k)
    fewest = count_seconds(problem, device, seconds) * (1 - 1e-12)
    if seconds.max() > ceiling:
        fewest = np.inf
    least = np.inf
    order = np.arange(k)
    while True:
        allowed = True
        for b in range(k):
            allowed = allowed and fits(problem, b, order[b])
        if allowed:
            hop_bytes = count_seconds(problem, order, seconds)
            makespan = seconds.max()
            least = min(least, makespan)
            if choose and makespan <= ceiling and hop_bytes < fewest:
                fewest = hop_bytes * (1 - 1e-12)
                copy_to(order, device)
        # The next permutation in lexicographic order.
        i = k - 2
        while i >= 0 and order[i] > order[i + 1]:
            i -= 1
        if i < 0:
            return least
        j = k - 1
        while order[j] < order[i]:
            j -= 1
        order[i], order[j] = order[j], order[i]
        i, j = i + 1, k - 1
        while i < j:
            order[i], order[j] = order[j], order[i]
            i, j = i + 1, j - 1


class Nearby(NamedTuple):
    """Candidate devices for a block: near the blocks that it exchanges most with.

    heavy (k, h): these blocks, by bytes, padded with -1. order (rows, k): devices in the order of
    the tree's leaves, the first `length` (rows,) of a row; row 0 has all devices, each other row a
    group of devices that can take each other's blocks. place (rows, k): position of each device in
    that order, or where it would be. row_of (k,): the row of each device's group, or 0. window: how
    many positions to try on either side of a place; if it is k or more, every device is tried.
    """

    heavy: np.ndarray
    order: np.ndarray
    length: np.ndarray
    place: np.ndarray
    row_of: np.ndarray
    window: int


@inner()
def _change(problem, fixed, rate, device, b, c):
    """Return by how much the cost of all messages rises if blocks b and c swap devices."""
    p, q = device[b], device[c]
    total = 0.0
    for e in range(problem.starts[b], problem.starts[b + 1]):
        x = problem.other[e]
        if x != c:
            new, old = link_kind(problem, q, device[x]), link_kind(problem, p, device[x])
            if new != old:
                total += fixed[new] - fixed[old] + (rate[new] - rate[old]) * problem.n_bytes[e]
    for e in range(problem.starts[c], problem.starts[c + 1]):
        x = problem.other[e]
        if x != b:
            new, old = link_kind(problem, p, device[x]), link_kind(problem, q, device[x])
            if new != old:
                total += fixed[new] - fixed[old] + (rate[new] - rate[old]) * problem.n_bytes[e]
    return total


@inner()
def _list_changes(problem, device, b, c, extra, touched):
    """List in `touched` the blocks whose seconds a swap changes; add the changes to extra (k,).

    Returns the number of these blocks; b and c are the first two. extra must be 0 on entry.
    """
    p, q = device[b], device[c]
    count = 2
    touched[0], touched[1] = b, c
    extra[b] = computing(problem, b, q) - computing(problem, b, p)
    extra[c] = computing(problem, c, p) - computing(problem, c, q)
    for one in range(2):
        own, away, here, there = (b, c, p, q) if one == 0 else (c, b, q, p)
        for e in range(problem.starts[own], problem.starts[own + 1]):
            x = problem.other[e]
            if x == away:
                continue
            new, old = link_kind(problem, there, device[x]), link_kind(problem, here, device[x])
            if new == old:
                continue
            n_bytes = problem.n_bytes[e]
            more = talking(problem, new, n_bytes) - talking(problem, old, n_bytes)
            extra[own] += more
            if extra[x] == 0.0:
                touched[count] = x
                count += 1
            extra[x] += more
    return count


@inner()
def _worst_after(problem, device, seconds, b, c, extra, touched):
    """Return the longest seconds, after a swap, of a block that it changes.

    extra (k,) is 0 before and after.
    """
    count = _list_changes(problem, device, b, c, extra, touched)
    worst = 0.0
    for i in range(count):
        x = touched[i]
        worst = max(worst, seconds[x] + extra[x])
        extra[x] = 0.0
    return worst


@inner()
def _swap(problem, device, at, seconds, b, c, extra, touched):
    count = _list_changes(problem, device, b, c, extra, touched)
    for i in range(count):
        x = touched[i]
        seconds[x] += extra[x]
        extra[x] = 0.0
    device[b], device[c] = device[c], device[b]
    at[device[b]], at[device[c]] = b, c
    # Counted anew: sums of differences would lose digits.
    seconds[b] = block_seconds(problem, device, b, device[b])
    seconds[c] = block_seconds(problem, device, c, device[c])


@inner()
def _candidates(device, nearby, b, stamp, mark, found):
    """List in `found` the devices to try for block b; return their number."""
    k = device.size
    if nearby.window >= k:
        for d in range(k):
            found[d] = d
        return k
    count = 0
    own = nearby.row_of[device[b]]
    for i in range(nearby.heavy.shape[1]):
        x = nearby.heavy[b, i]
        if x < 0:
            break
        for row in (0, own):
            middle = nearby.place[row, device[x]]
            first = max(middle - nearby.window, 0)
            for j in range(first, min(middle + nearby.window + 1, nearby.length[row])):
                d = nearby.order[row, j]
                if mark[d] != stamp:
                    mark[d] = stamp
                    found[count] = d
                    count += 1
    return count


@njit(cache=True, nogil=True)
def lower_cost(problem, fixed, rate, ceiling, nearby, budget, device, at, seconds):
    """Swap blocks while the cost of all messages falls; return the number of swaps.

    A message costs fixed + rate x bytes, by kind of link. No swap may leave a block that it changes
    above `ceiling` seconds. device, at, seconds (k,) are updated. budget: approximate number of
    messages examined.
    """
    k = device.size
    active = np.ones(k, np.bool_)
    extra, touched = np.zeros(k), np.empty(2 * k + 2, np.int64)
    mark, found = np.full(k, -1, np.int64), np.empty(k, np.int64)
    swaps, looks, stamp, any_active = 0, 0, 0, True
    while any_active:
        any_active = False
        for b in range(k):
            if not active[b] or looks > budget:
                continue
            active[b] = False
            stamp += 1
            count = _candidates(device, nearby, b, stamp, mark, found)
            best, least = -1, 0.0
            for i in range(count):
                c = at[found[i]]
                looks += 1
                if c == b or not (fits(problem, b, found[i]) and fits(problem, c, device[b])):
                    continue
                looks += problem.starts[b + 1] - problem.starts[b]
                looks += problem.starts[c + 1] - problem.starts[c]
                change = _change(problem, fixed, rate, device, b, c)
                if change >= least:
                    continue
                if (
                    ceiling < np.inf
                    and _worst_after(problem, device, seconds, b, c, extra, touched) > ceiling
                ):
                    continue
                best, least = c, change
            # A difference below the last digits of the block's own messages is a rounding error.
            scale = 0.0
            for e in range(problem.starts[b], problem.starts[b + 1]):
                scale += fixed.max() + rate.max() * problem.n_bytes[e]
            if best < 0 or least > -1e-12 * scale:
                continue
            _swap(problem, device, at, seconds, b, best, extra, touched)
            swaps += 1
            for own in (b, best):
                active[own] = True
                for e in range(problem.starts[own], problem.starts[own + 1]):
                    active[problem.other[e]] = True
            any_active = True
    count_seconds(problem, device, seconds)
    return swaps


@njit(cache=True, nogil=True)
def lower_makespan(problem, tolerance, goal, nearby, budget, device, at, seconds):
    """Swap the block that finishes last, or a block it exchanges with, while the makespan falls.

    After a swap, every block that it changes finishes earlier than the last block did before. Stops
    at `goal` seconds. device, at, seconds (k,) are updated. Returns the number of swaps.
    """
    k = device.size
    extra, touched = np.zeros(k), np.empty(2 * k + 2, np.int64)
    mark, found = np.full(k, -1, np.int64), np.empty(k, np.int64)
    shared = np.full(k, -1.0)  # bytes that each block exchanges with the last one, or -1
    swaps, looks, stamp = 0, 0, 0
    while looks < budget:
        last = seconds.argmax()
        if seconds[last] <= goal:
            break
        least = seconds[last] * (1 - tolerance)
        best_b, best_c = -1, -1
        first, end = problem.starts[last], problem.starts[last + 1]
        for e in range(first, end):
            shared[problem.other[e]] = problem.n_bytes[e]
        for i in range(first - 1, end):
            b = last if i < first else problem.other[i]
            stamp += 1
            count = _candidates(device, nearby, b, stamp, mark, found)
            for j in range(count):
                c = at[found[j]]
                looks += 1
                if c == b or not (fits(problem, b, found[j]) and fits(problem, c, device[b])):
                    continue
                if _last_after(problem, device, seconds, b, c, last, shared) >= least:
                    continue
                looks += problem.starts[b + 1] - problem.starts[b]
                looks += problem.starts[c + 1] - problem.starts[c]
                worst = _worst_after(problem, device, seconds, b, c, extra, touched)
                if worst < least:
                    best_b, best_c, least = b, c, worst
            if looks > budget:
                break
        for e in range(first, end):
            shared[problem.other[e]] = -1.0
        if best_b < 0:
            break
        _swap(problem, device, at, seconds, best_b, best_c, extra, touched)
        swaps += 1
    count_seconds(problem, device, seconds)
    return swaps


@inner()
def _last_after(problem, device, seconds, b, c, last, shared):
    """Return the seconds of block `last` after a swap of two other blocks.

    0 if it is swapped itself.
    """
    if b == last or c == last:
        return 0.0
    total, here = seconds[last], device[last]
    for x, there in ((b, device[c]), (c, device[b])):
        if shared[x] >= 0:
            total += talking(problem, link_kind(problem, here, there), shared[x])
            total -= talking(problem, link_kind(problem, here, device[x]), shared[x])
    return total
