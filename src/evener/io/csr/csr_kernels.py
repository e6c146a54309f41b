"""Checks of ranges of rows while they are read."""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import mixed
from evener.jit import njit

OK, OUT_OF_RANGE, LOOP, UNSORTED = 0, 1, 2, 3


@njit(cache=True, nogil=True, counted=False)
def check_rows(first, xadj, adjncy, n, where):
    """Check rows `first` on: in range, ascending, no loops; where: a wrong (row, neighbour).

    xadj (r + 1,) from 0.
    """
    for i in range(xadj.size - 1):
        before = -1
        for e in range(xadj[i], xadj[i + 1]):
            u = np.int64(adjncy[e])
            if u <= before or u >= n or u == first + i:
                where[0], where[1] = first + i, u
                if u < 0 or u >= n:
                    return OUT_OF_RANGE
                return LOOP if u == first + i else UNSORTED
            before = u
    return OK


@njit(cache=True, nogil=True, counted=False)
def signature(first, xadj, adjncy, bits):
    """Return a sum modulo 2^64 that is 0 over all rows of a symmetric graph.

    bits: the arcs' weights as uint64, or (0,). An arc from a lower to a higher number adds a hash
    of both numbers and the weight; an arc in the other direction subtracts it. Over an asymmetric
    graph the sum is 0 with probability 2^-64.
    """
    total = np.uint64(0)
    weighted = bits.size > 0
    for i in range(xadj.size - 1):
        v = first + i
        for e in range(xadj[i], xadj[i + 1]):
            u = np.int64(adjncy[e])
            word = mixed((np.uint64(min(u, v)) << np.uint64(32)) + np.uint64(max(u, v)))
            if weighted:
                word = mixed(word + bits[e])
            total = total + word if v < u else total - word
    return total
