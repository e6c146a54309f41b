"""Graphs shrunk by heavy-edge matching inside blocks, level by level; imports NumPy and SciPy only.

A pair is matched where its edge is the heaviest, and of those as heavy the one drawn first, of all
that either end has left: locally dominant edges [MB07]_. No pair lies in two blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROUNDS = 8  # after which next to no pair is left to match
LEAST_SHRINKAGE = 0.95  # a step that leaves more of the vertices than this is the last

Whole = npt.NDArray[np.int64]


class MatchedLevel(NamedTuple):
    """A graph in whole numbers: xadj (n + 1,), adjncy (2m,), vwgt (n,), adjwgt (2m,).

    part (n,): the block of each vertex; coarse_of: what its vertices became, or None at the last.
    """

    xadj: npt.NDArray[Any]
    adjncy: npt.NDArray[Any]
    vwgt: Whole
    adjwgt: Whole
    part: npt.NDArray[np.int32]
    coarse_of: npt.NDArray[np.intp] | None = None


def matched_levels(level: MatchedLevel, enough: int, seed: int) -> list[MatchedLevel]:
    """Return the levels, finest first, down to about `enough` vertices or until none match.

    No vertex gets heavier than 1.5 times the mean one of `enough`: METIS's rule [KK98]_.
    """
    rng = np.random.default_rng(seed)
    heaviest = 1.5 * float(level.vwgt.sum()) / enough
    levels = []
    while level.vwgt.size > enough:
        coarse_of = _matching(level, heaviest, rng)
        count = int(coarse_of.max()) + 1
        if count > LEAST_SHRINKAGE * level.vwgt.size:
            break
        levels.append(level._replace(coarse_of=coarse_of))
        level = _contracted(level, coarse_of, count)
    return [*levels, level]


def _matching(
    level: MatchedLevel, heaviest: float, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return the number (n,) of the pair that each vertex belongs to, or of itself."""
    n = level.vwgt.size
    u = np.repeat(np.arange(n), np.diff(level.xadj))
    v = level.adjncy.astype(np.int64)
    kept = (level.part[u] == level.part[v]) & (level.vwgt[u] + level.vwgt[v] <= heaviest)
    kept &= u != v
    u, v, weight = u[kept], v[kept], level.adjwgt[kept]
    # One number an edge, the same seen from both ends: the weight, then a drawn order of vertices.
    drawn = rng.permutation(n)
    low, high = np.minimum(drawn[u], drawn[v]), np.maximum(drawn[u], drawn[v])
    tie = (low * 40_503 + high * 30_011) % 65_537
    mate = np.arange(n)
    for _ in range(ROUNDS):
        if u.size == 0:
            break
        starts = np.flatnonzero(np.r_[True, u[1:] != u[:-1]])
        counts = np.diff(np.r_[starts, u.size])
        best = np.arange(u.size)
        for values in (weight, tie, high, low):  # the last two make every edge differ
            most = np.repeat(np.maximum.reduceat(values[best], starts), counts)
            at = np.flatnonzero(values[best] == most)
            best, starts, counts = best[at], *_runs(u[best[at]])
        choice = np.full(n, -1)
        choice[u[best]] = v[best]
        mutual = np.flatnonzero((choice >= 0) & (choice[choice] == np.arange(n)))
        mate[mutual] = choice[mutual]
        free = mate == np.arange(n)
        kept = free[u] & free[v]
        u, v, weight, tie, low, high = (a[kept] for a in (u, v, weight, tie, low, high))
    first = np.minimum(mate, np.arange(n))
    return np.unique(first, return_inverse=True)[1]


def _runs(sorted_values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where runs of equal numbers begin, and how long each is."""
    starts = np.flatnonzero(np.r_[True, sorted_values[1:] != sorted_values[:-1]])
    return starts, np.diff(np.r_[starts, sorted_values.size])


def _contracted(level: MatchedLevel, coarse_of: npt.NDArray[np.intp], count: int) -> MatchedLevel:
    """Return the graph of the pairs: weights of vertices and of parallel edges add up."""
    from scipy.sparse import coo_array

    u = np.repeat(coarse_of, np.diff(level.xadj))
    v = coarse_of[level.adjncy]
    apart = u != v
    entries = coo_array((level.adjwgt[apart], (u[apart], v[apart])), shape=(count, count))
    joined = entries.tocsr()
    vwgt = np.zeros(count, np.int64)
    np.add.at(vwgt, coarse_of, level.vwgt)
    part = np.empty(count, np.int32)
    part[coarse_of] = level.part
    return MatchedLevel(joined.indptr, joined.indices, vwgt, joined.data, part)
