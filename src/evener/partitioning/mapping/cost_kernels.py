"""The scene of a mapping: what blocks are and exchange, what devices are, what links cost.

A mapping is `device` (k,), the device of every block, and its inverse `at` (k,). Predicted
seconds are in `computing` and `talking` alone, as in evener.plans.metrics.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit import inner, njit


class Scene(NamedTuple):
    """Arrays of a mapping problem over k blocks and k devices.

    starts (k + 1,), other (p,), n_bytes (p,): the quotient graph; bytes that two blocks exchange,
    both ways together, the same in both rows. weight (k, c), size (k,): the blocks' [units], one
    a weight of the vertices, and [B]; home (k,): where each is at first and may always stay.
    speed, cap (k,), low, high (k, c): the devices'. codes (depth, k): equal where devices share
    the first 1, 2, ... places; kind (k, k): kind of link between two devices, empty where the
    codes say it. alpha [s], beta [s/B], hops: of every kind of link.
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
def link_kind(scene, p, q):
    """Return the kind of link between two different devices."""
    if scene.kind.size > 0:
        return np.int64(scene.kind[p, q])
    depth = scene.codes.shape[0]
    level = 0
    while level < depth and scene.codes[level, p] == scene.codes[level, q]:
        level += 1
    return level


@inner(forceinline=True)
def computing(scene, b, d):
    """Seconds that block b takes on device d."""
    return scene.weight[b, 0] / scene.speed[d]


@inner(forceinline=True)
def talking(scene, kind, n_bytes):
    """Seconds that either end of a link spends on an exchange of n_bytes, both ways together."""
    return scene.alpha[kind] + scene.beta[kind] * n_bytes


@njit(cache=True, nogil=True)
def fits(scene, b, d):
    """Whether block b keeps the contract of device d, or has been there from the beginning."""
    if scene.home[b] == d:
        return True
    for c in range(scene.weight.shape[1]):
        if not scene.low[d, c] <= scene.weight[b, c] <= scene.high[d, c]:
            return False
    return 0 < scene.size[b] <= scene.cap[d]


@inner()
def block_seconds(scene, device, b, d):
    """Seconds of block b on device d, the others being where `device` says."""
    total = computing(scene, b, d)
    for e in range(scene.starts[b], scene.starts[b + 1]):
        kind = link_kind(scene, d, device[scene.other[e]])
        total += talking(scene, kind, scene.n_bytes[e])
    return total


@njit(cache=True, nogil=True)
def count_seconds(scene, device, seconds):
    """Fill seconds (k,) of all blocks; returns the bytes x hops of all messages."""
    hop_bytes = 0.0
    for b in range(device.size):
        seconds[b] = block_seconds(scene, device, b, device[b])
        for e in range(scene.starts[b], scene.starts[b + 1]):
            kind = link_kind(scene, device[b], device[scene.other[e]])
            hop_bytes += 0.5 * scene.hops[kind] * scene.n_bytes[e]
    return hop_bytes


# Every mapping of a few blocks, for the best one of all.


@njit(cache=True, nogil=True)
def best_of_all(scene, as_soon, most, device):
    """Put the best mapping into device (k,), which holds one already and keeps it among equals.

    Its makespan is at most `as_soon` times the least of all, and at most `most`; its bytes x hops
    are the fewest of such mappings.
    """
    least = _sweep(scene, 0.0, False, device)
    _sweep(scene, min(as_soon * least, most), True, device)


@inner()
def _sweep(scene, ceiling, choose, device):
    """Return the least makespan of all mappings; choose the nearest of those up to `ceiling`."""
    k = device.size
    seconds = np.empty(k)
    fewest = count_seconds(scene, device, seconds) * (1 - 1e-12)
    if seconds.max() > ceiling:
        fewest = np.inf
    least = np.inf
    order = np.arange(k)
    while True:
        allowed = True
        for b in range(k):
            allowed = allowed and fits(scene, b, order[b])
        if allowed:
            hop_bytes = count_seconds(scene, order, seconds)
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
