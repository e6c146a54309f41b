"""Borders of neighbouring blocks of edges cut anew, through as few vertices as can be."""

from __future__ import annotations

import numpy as np

from evener.arrays import IntArray, Part
from evener.splitting import separating_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups, Limits
from evener.splitting.refining import tables_of
from evener.splitting.separating_kernels import EdgeCorridor

MOST_BLOCKS = 8  # of a vertex at a border; one in more is a hub, around which no border is short
REACHES = (4.0, 2.0)  # of corridors, round by round: multiples of what a block may lose or gain


def cut_borders(edges: EdgeGroups, part: Part, limits: Limits, rng: np.random.Generator) -> int:
    """Cut the border of each two neighbouring blocks anew, in place; return the copies saved.

    edges: groups of one edge each. No block gets further outside its limits; limits.load changes
    along. The new border is a minimum cut through the vertices of a corridor around the old one.
    """
    n, m = edges.offsets.size - 1, part.size
    corridor = EdgeCorridor(
        np.empty(m, np.int32), np.empty(n, np.int32), np.full(m, -1, np.int32),
        np.full(n, -1, np.int32),
    )  # fmt: skip
    total = 0
    for reach in REACHES:
        borders = _borders(edges, part, limits.load.size, rng)
        total += int(kernels.separate_pairs(edges, part, limits, *borders, reach, corridor))
    return total


def _borders(
    edges: EdgeGroups, part: Part, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, Part]:
    """Return pairs of neighbouring blocks, shuffled, and the vertices in both of them.

    Those of pair i are vertices[begins[i]:begins[i + 1]].
    """
    tables = tables_of(edges, part, k)
    nothing = np.empty(0, np.int64), np.empty(0, np.int32)
    count = kernels.list_shared(tables, k, MOST_BLOCKS, *nothing)
    pair, vertex = np.empty(count, np.int64), np.empty(count, np.int32)
    kernels.list_shared(tables, k, MOST_BLOCKS, pair, vertex)
    pairs, of, sizes = np.unique(pair, return_inverse=True, return_counts=True)
    order = rng.permutation(pairs.size)
    place = np.empty(pairs.size, np.int64)
    place[order] = np.arange(pairs.size)
    begins = np.zeros(pairs.size + 1, np.int64)
    np.cumsum(sizes[order], out=begins[1:])
    return pairs[order], begins, vertex[np.argsort(place[of], kind="stable")]
