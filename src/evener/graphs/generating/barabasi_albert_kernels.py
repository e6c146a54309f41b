"""Preferential attachment: a random end of a random edge is a vertex drawn by its degree."""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import SPREAD, mixed
from evener.jit import inner, njit


@inner()
def _uniform(counter):
    """Return the counter-th number of the SplitMix64 sequence, as a float in [0, 1)."""
    word = mixed(counter * SPREAD)
    return (word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def attach(n, degree, start, joined, ends):
    """Join each vertex from `degree` on to `degree` different earlier vertices.

    ends (2 * degree * (n - degree),) int32 gets both ends of each edge, one edge after the other.
    start (uint64): offset in the random sequence. joined (n,) int32, all 0: scratch, the last
    vertex that joined each vertex.
    """
    one = np.uint64(1)
    counter = start
    size = 0
    for v in range(degree, n):
        first = size
        while size < first + 2 * degree:
            if v == degree:
                u = (size - first) // 2  # the first to come joins all that are there
            else:
                counter += one
                u = ends[int(_uniform(counter) * first)]
                if joined[u] == v:
                    continue
                joined[u] = v
            ends[size], ends[size + 1] = v, u
            size += 2
