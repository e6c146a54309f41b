"""Mapping problems for kernels: blocks, devices, and the cost of links between them.

A mapping is `device` (k,), the device of every block, and its inverse `at` (k,). Predicted
seconds are computed as in evener.plans.metrics, by `computing` and `talking` alone.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit


class MappingProblem(NamedTuple):
    """k blocks, k devices, and the kinds of links between devices.

    The quotient graph: starts (k + 1,), other (p,), n_bytes (p,): bytes that two blocks exchange,
    both ways together, the same in both rows. Blocks: weight (k, c) [units], for each weight of
    the vertices; size (k,) [B]; home (k,): the device each begins on and may always stay on.
    Devices: speed (k,), low, high (k, c), cap (k,) [B]. Links: codes (depth, k) are equal in row i
    where devices share a place of the machine's level i; kind (k, k): the kind of link between two
    devices, empty where it is the number of levels they share. alpha [s], beta [s/B], hops: of
    every kind of link.
    """

    starts: np.ndarray
    other: np.ndarray
    n_bytes: np.ndarray
    weight: np.ndarray
    size: np.ndarray
    home: np.ndarray
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
    """Seconds that block b takes on device d."""
    return problem.weight[b, 0] / problem.speed[d]


@inner(forceinline=True)
def talking(problem, kind, n_bytes):
    """Seconds that either end of a link spends on an exchange of n_bytes, both ways together."""
    return problem.alpha[kind] + problem.beta[kind] * n_bytes


@njit(cache=True, nogil=True)
def fits(problem, b, d):
    """Whether block b keeps the contract of device d, or has been there from the beginning."""
    if problem.home[b] == d:
        return True
    for c in range(problem.weight.shape[1]):
        if not problem.low[d, c] <= problem.weight[b, c] <= problem.high[d, c]:
            return False
    return 0 < problem.size[b] <= problem.cap[d]


@inner()
def block_seconds(problem, device, b, d):
    """Seconds of block b on device d, with the other blocks where `device` says."""
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
    """Try all mappings and leave the best in device (k,); of equals, the one it held before.

    The best has the fewest bytes x hops of those whose makespan is at most `as_soon` times the
    least of all, and at most `most` [s].
    """
    least = _sweep(problem, 0.0, False, device)
    _sweep(problem, min(as_soon * least, most), True, device)


@inner()
def _sweep(problem, ceiling, choose, device):
    """Return the least makespan of all mappings.

    choose: leave in `device` the one of fewest bytes x hops with a makespan up to `ceiling` [s].
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
