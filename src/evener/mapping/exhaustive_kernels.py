"""Every mapping of a few blocks, for the best one of all."""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import copy_to
from evener.jit_kernels import inner, njit
from evener.mapping.scene_kernels import count_seconds, fits


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
