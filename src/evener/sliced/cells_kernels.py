"""Kernels that grow cells around seeds: a vertex joins the cell of most of its neighbours.

of (n_local,) int32 is the cell of a vertex; or UNREACHED if it has no cell; or NEW - cell if it
joined in this round: such vertices do not count for their neighbours until the round ends.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evener.arrays_kernels import SPREAD, mixed
from evener.jit import inner, njit

UNREACHED = -1
NEW = -2
RATED = 64  # neighbouring cells that a vertex compares, at most


@inner()
def _is_seed(of, begin, v, one_in, seed):
    """Return whether v is unreached and chosen by the hash of its number and the seed."""
    word = np.uint64(begin + v) * SPREAD + np.uint64(seed)
    return of[v] == UNREACHED and mixed(word) % np.uint64(one_in) == 0


@njit(cache=True, nogil=True)
def count_seeds(of, begin, first, last, one_in, seed):
    """Count the seeds among the unreached vertices [first, last).

    begin: global number of local vertex 0.
    """
    count = 0
    for v in range(first, last):
        count += _is_seed(of, begin, v, one_in, seed)
    return count


@njit(cache=True, nogil=True)
def place_seeds(of, begin, first, last, one_in, seed, cell):
    """Give each seed among the unreached vertices [first, last) a new cell, from `cell` on."""
    for v in range(first, last):
        if _is_seed(of, begin, v, one_in, seed):
            of[v] = cell
            cell += 1


@njit(cache=True, nogil=True)
def grow(rows, of):
    """Let unreached vertices of rows join the cell of most edge weight; return how many joined.

    Ties go to the lower cell.
    """
    rated = np.empty(RATED, np.int32)
    rating = np.empty(RATED, np.float64)
    weighted = rows.adjwgt.size > 0
    joined = 0
    for i in range(rows.xadj.size - 1):
        if of[rows.first + i] != UNREACHED:
            continue
        n_rated = 0
        for e in range(rows.xadj[i], rows.xadj[i + 1]):
            c = of[rows.adjncy[e]]
            if c < 0:
                continue
            w = rows.adjwgt[e] if weighted else 1.0
            known = False
            for q in range(n_rated):
                if rated[q] == c:
                    rating[q] += w
                    known = True
                    break
            if not known and n_rated < RATED:
                rated[n_rated], rating[n_rated] = c, w
                n_rated += 1
        best, most = -1, -1.0
        for q in range(n_rated):
            if rating[q] > most or (rating[q] == most and rated[q] < best):
                best, most = rated[q], rating[q]
        if best >= 0:
            of[rows.first + i] = NEW - best
            joined += 1
    return joined
