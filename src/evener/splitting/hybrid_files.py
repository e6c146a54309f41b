"""The hybrid partitioner on a file (HEP [Mayer21]_): edges between hubs alone stay out of memory.

A vertex is a hub whose degree is above a threshold: the highest power of two at which the other
edges fit into the memory given. These are divided by neighbourhood expansion, then the file is read
once more and edges between hubs are placed by HDRF.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, IntArray, IntVector, Part
from evener.io.graphs.edge_pieces import EdgePieces, Survey
from evener.plans.partition import Contract
from evener.splitting import expanding_kernels as kernels
from evener.splitting import placing_kernels
from evener.splitting.expanding import HUB_RATIO, NO_BLOCK, hold_placed, region_of, rooms_of
from evener.splitting.streaming import RULES

# Of an edge in memory: ends, number, block, work, and both entries of the lists of its ends.
BYTES_PER_EDGE = 8 + 8 + 4 + 8 + 16
LARGEST_POWER = 63


def hub_degree(source: EdgePieces, survey: Survey, memory: float | None) -> float:
    """Return the degree above which vertices are hubs.

    memory [B]: of edges; None: no limit, and the degree is HUB_RATIO times the mean.
    """
    touched = max(int(np.count_nonzero(survey.degrees)), 1)
    if memory is None:
        return HUB_RATIO * 2 * survey.m / touched
    # Edges by the power of two that reaches the lower degree of their ends.
    counts, powers = np.zeros(LARGEST_POWER + 1, np.int64), _powers(survey.degrees)
    for _, tails, heads in source.read():
        lower = np.minimum(powers[tails], powers[heads])
        counts += np.bincount(lower, minlength=counts.size)
    fit = np.flatnonzero(np.cumsum(counts) * BYTES_PER_EDGE <= memory)
    return float(2 ** int(fit[-1])) if fit.size else 0.0


def place_hybrid(
    source: EdgePieces,
    survey: Survey,
    contract: Contract,
    blocks: placing_kernels.FilledBlocks,
    part: Part,
    *,
    memory: float | None = None,
) -> None:
    """Fill part (m,); blocks, empty at first, take the edges along. memory: as of `hub_degree`."""
    hubs = survey.degrees > hub_degree(source, survey, memory)
    tails, heads, edges = _in_memory(source, hubs)
    found, work = np.full(edges.size, NO_BLOCK, np.int32), np.ones(edges.size)
    region = region_of(tails, heads, found, np.full(survey.n, NO_BLOCK, np.int32), hubs)
    kernels.expand(region, 0, work, rooms_of(contract.targets, edges.size), 0, found)
    part[:] = NO_BLOCK
    part[edges] = found
    hold_placed(blocks, tails, heads, work, found)
    blocks.left[0] -= edges.size
    del region, tails, heads, edges, found
    rule = RULES["hdrf"]
    for first, tails, heads in source.read():
        now = part[first : first + tails.size]
        placing_kernels.place_by_score(
            tails, heads, np.ones(tails.size), rule.by_degree, rule.balance, blocks, now
        )


def _in_memory(source: EdgePieces, hubs: BoolArray) -> tuple[IntArray, IntArray, IntVector]:
    """Return ends and numbers of the edges that have an end that is no hub."""
    pieces: list[tuple[IntArray, IntArray, IntVector]] = []
    for first, tails, heads in source.read():
        kept = np.flatnonzero(~(hubs[tails] & hubs[heads]))
        pieces.append((tails[kept], heads[kept], first + kept))
    by_end = list(zip(*pieces, strict=True))
    return np.concatenate(by_end[0]), np.concatenate(by_end[1]), np.concatenate(by_end[2])


def _powers(degrees: IntVector) -> IntVector:
    """(n,) the least power of two, as its exponent, that is not below each degree."""
    return np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64)
