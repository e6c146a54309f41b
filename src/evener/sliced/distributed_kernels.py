"""Kernels for rows whose neighbours may be on other ranks: check, sort and renumber them."""

# mypy: ignore-errors
import numpy as np

from evener.arrays_kernels import mixed
from evener.jit import njit

FINE, OUT_OF_RANGE, LOOP, UNSORTED = 0, 1, 2, 3  # what check_rows finds


@njit(cache=True, nogil=True)
def check_rows(xadj, adjncy, first, n, where):
    """Find the first invalid entry, or else the first row that is not ascending.

    Invalid entries are not in [0, n), or are the row's own vertex. adjncy: global numbers; row i is
    vertex first + i. where: set to (row, entry).
    """
    found = FINE
    for i in range(xadj.size - 1):
        last = np.int64(-1)
        for e in range(xadj[i], xadj[i + 1]):
            u = np.int64(adjncy[e])
            if u < 0 or u >= n or u == first + i:
                where[0], where[1] = i, u
                return LOOP if u == first + i else OUT_OF_RANGE
            if u <= last:
                if found == FINE:
                    where[0], where[1] = i, u
                found = UNSORTED
            last = u
    return found


@njit(cache=True, nogil=True)
def signature(xadj, adjncy, weights, first):
    """Return a sum modulo 2^64 that is 0 over all rows of a symmetric graph.

    Like `signature` of running/slices_kernels. weights: bits of the entries' weights, or empty.
    """
    total = np.uint64(0)
    weighted = weights.size > 0
    for i in range(xadj.size - 1):
        v = np.uint64(first + i)
        own = mixed(v)
        for e in range(xadj[i], xadj[i + 1]):
            u = np.uint64(adjncy[e])
            word = mixed(own + u) if v < u else mixed(mixed(u) + v)
            if weighted:
                word = mixed(word + weights[e])
            total = total + word if v < u else total - word
    return total


@njit(cache=True, nogil=True)
def outside(adjncy, first, last, found):
    """Copy all entries outside [first, last) into `found`; return their number."""
    count = 0
    for e in range(adjncy.size):
        u = adjncy[e]
        if u < first or u >= last:
            if count < found.size:
                found[count] = u
            count += 1
    return count


@njit(cache=True, nogil=True)
def localise(adjncy, first, n_own, ghosts, starts, shift, local):
    """Set local (a,) to the entries' local numbers: own vertices from 0, ghosts from n_own on.

    ghosts: global numbers of the ghosts, ascending. starts: starts[q] is how many of them are less
    than q << shift.
    """
    for e in range(adjncy.size):
        u = np.int64(adjncy[e])
        if first <= u < first + n_own:
            local[e] = u - first
        else:
            low, high = starts[u >> shift], starts[(u >> shift) + 1]
            while low < high:
                middle = (low + high) >> 1
                if ghosts[middle] < u:
                    low = middle + 1
                else:
                    high = middle
            local[e] = n_own + low


@njit(cache=True, nogil=True)
def take_rows(xadj, order, entries, listed):
    """Copy the entries of the rows order[0], order[1], ... one after the other to `listed`."""
    to = 0
    for i in range(order.size):
        for e in range(xadj[order[i]], xadj[order[i] + 1]):
            listed[to] = entries[e]
            to += 1


@njit(cache=True, nogil=True)
def put_rows(xadj, place, entries, placed):
    """Copy rows, stored one after the other, to the places of rows place[i] in `placed`."""
    at = 0
    for i in range(place.size):
        for e in range(xadj[place[i]], xadj[place[i] + 1]):
            placed[e] = entries[at]
            at += 1
