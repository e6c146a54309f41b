"""Preferential attachment: a random end of a random edge is a vertex drawn by its degree."""

# mypy: ignore-errors
import numpy as np

from evener.jit import inner, njit


@inner()
def _mixed(counter):
    """Return the counter-th number of the SplitMix64 sequence, as a float in [0, 1)."""
    z = counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


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
                u = ends[int(_mixed(counter) * first)]
                if joined[u] == v:
                    continue
                joined[u] = v
            ends[size], ends[size + 1] = v, u
            size += 2
