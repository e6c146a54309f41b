"""Neighbourhood expansion: in memory (NE), with hubs left to a stream (HEP), in buffers (stream).

Blocks grow one after another from vertex to vertex, until each reaches its target, so unequal
targets are met exactly. NE holds all edges in memory. Hubs are in most blocks anyway, so `hep`
leaves out edges between two hubs, and afterwards assigns them to blocks that contain their ends.
`stream` reads the file in order, and grows blocks from the edges in its buffer only.

When a vertex joins a block, the ranked variant examines only its edges to vertices of higher
degree. These are few even at hubs; with many blocks, other variants spend nearly all their time on
the edges of hubs. It makes the same number of copies at a mean degree of 14, and up to a fifth more
at 50.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, IntArray, Part
from evener.graphs.edge_list import EdgeList
from evener.graphs.edge_list_kernels import count_ends
from evener.plans.partition import Contract
from evener.splitting import expanding_kernels, placing_kernels, ranked_kernels
from evener.splitting.splits import Split, kept, work_of
from evener.splitting.streaming import ROUNDING, RULES, empty_blocks

NO_BLOCK = -1
HUB_RATIO = 10.0  # of `hep`: tau of its paper, which tries 1, 10 and 100


def rooms_of(targets: FloatArray, total: float) -> FloatArray:
    """Return the work (k,) that each block takes, if blocks are filled one after another.

    It is `total` divided in proportion to the targets and rounded; the last entry is infinity, as
    the last block takes what remains. Cumulative sums are rounded, so no block is off by more than
    one unit.
    """
    ends = np.rint(np.cumsum(np.concatenate([[0.0], targets])) / targets.sum() * total)
    rooms: FloatArray = np.diff(ends)
    rooms[-1] = np.inf
    return rooms


def rooms_within(contract: Contract, m: int) -> FloatArray:
    """Return the number of edges (k,) that each block takes; they sum to m.

    Each number is the rounded target of the block, changed as little as its limits require.
    """
    low, high = np.ceil(contract.low - ROUNDING), np.floor(contract.high + ROUNDING)
    ends = np.rint(np.cumsum(np.concatenate([[0.0], contract.targets])))
    rooms: FloatArray = np.clip(np.diff(ends), low, high)
    more = m - rooms.sum()
    spare = high - rooms if more > 0 else rooms - low
    before = np.cumsum(spare) - spare
    rooms += np.sign(more) * np.clip(abs(more) - before, 0, spare)
    return rooms


def region_of(
    tails: IntArray, heads: IntArray, part: Part, inside: npt.NDArray[np.int32], hubs: BoolArray
) -> expanding_kernels.EdgesByVertex:
    """Return the edges without a block, listed by vertex.

    inside (n,): the last block that contains each vertex. hubs (n,): whether a vertex is a hub.
    """
    n, left = inside.size, int(np.count_nonzero(part < 0))
    offsets, lengths = np.zeros(n + 1, np.int64), np.zeros(n, np.int32)
    others, listed = np.empty((2, 2 * left), np.int32)
    expanding_kernels.list_ends(tails, heads, part, hubs, offsets, lengths, others, listed)
    outer, before, after = np.zeros((3, n), np.int32)
    first = np.full(int(lengths.max(initial=0)) + 2, NO_BLOCK, np.int32)
    cursor = np.array([1, 0, left, 0], np.int64)
    return expanding_kernels.EdgesByVertex(
        offsets, lengths, others, listed, inside, hubs, outer, before, after, first, cursor
    )


def neighbourhoods(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return blocks grown from vertex to vertex, with all edges in memory (NE) [Zhang17]_."""
    part = np.full(edges.m, NO_BLOCK, np.int32)
    inside, hubs = np.full(edges.n, NO_BLOCK, np.int32), np.zeros(edges.n, np.bool_)
    region = region_of(edges.tails, edges.heads, part, inside, hubs)
    rooms = rooms_of(contract.targets, edges.total_weight)
    expanding_kernels.expand(region, 0, work_of(edges), rooms, 0, part)
    return Split(kept(edges, part, contract), order="ne")


def hybrid(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, hub_ratio: float = HUB_RATIO
) -> Split:
    """Return blocks grown without the edges between hubs, which are streamed afterwards (HEP).

    hub_ratio: a vertex is a hub if its degree / mean degree is above this. Source: [Mayer21]_.
    """
    del preset, seed
    touched = max(int(np.count_nonzero(edges.degrees)), 1)
    hubs = edges.degrees > hub_ratio * 2 * edges.m / touched
    streamed = hubs[edges.tails] & hubs[edges.heads]
    part, work = np.full(edges.m, NO_BLOCK, np.int32), work_of(edges)
    part[streamed] = contract.k  # so that region_of does not list them
    inside = np.full(edges.n, NO_BLOCK, np.int32)
    region = region_of(edges.tails, edges.heads, part, inside, hubs)
    rooms = rooms_of(contract.targets, float(work[~streamed].sum()))
    expanding_kernels.expand(region, 0, work, rooms, 0, part)
    part[streamed] = NO_BLOCK
    blocks, rule, grown = empty_blocks(edges.n, contract), RULES["hdrf"], ~streamed
    hold_placed(blocks, edges.tails[grown], edges.heads[grown], work[grown], part[grown])
    placing_kernels.place_by_score(
        edges.tails, edges.heads, work, rule.by_degree, rule.balance, blocks, part
    )
    return Split(kept(edges, part, contract), order="hep")


def hold_placed(
    blocks: placing_kernels.FilledBlocks,
    tails: IntArray,
    heads: IntArray,
    work: FloatArray,
    part: Part,
) -> None:
    """Add edges with the blocks `part` to the vertices, degrees and loads of `blocks`."""
    placing_kernels.hold_ends(tails, heads, part, blocks.held)
    count_ends(tails, heads, blocks.seen)
    blocks.loads[:] += np.bincount(part, work, blocks.loads.size)
    blocks.full[:] = blocks.loads / blocks.targets


# When these fractions of a block's work are left to fill, its vertices are examined again. On an
# R-MAT graph of 16.6 million edges and 64 blocks, copies are 12 % more without, and no fewer with
# five fractions.
LOOKS = (0.5, 0.1)
MOST_LEFT = 1024  # vertices with at least this many unassigned edges are all in one list


def ranked_neighbourhoods(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, looks: tuple[float, ...] = LOOKS
) -> Split:
    """Return blocks grown from vertex to vertex [Zhang17]_, examining few edges of hubs.

    looks: fractions of a block's work; whenever only such a fraction is left to fill, the vertices
    of the block are examined again.
    """
    del preset, seed
    work: FloatArray = np.empty(0) if edges.weights is None else edges.weights.astype(np.float64)
    rooms = rooms_of(contract.targets, edges.total_weight)
    part = np.full(edges.m, NO_BLOCK, np.int32)
    ranked_kernels.expand_ranked(
        ranked_edges(edges), work, rooms, np.array(looks, np.float64), part
    )
    return Split(kept(edges, part, contract), order="ne")


def ranked_edges(edges: EdgeList) -> ranked_kernels.RankedEdges:
    """Return the edges, listed by vertex; vertices are numbered by descending degree.

    There must be no edges from a vertex to itself.
    """
    ranks = np.empty(edges.n, np.int32)
    n, m = int(ranked_kernels.rank_by_degree(edges.degrees, ranks)), edges.m
    up, down = np.empty((2, m, 2), np.int32)
    ups, downs = np.zeros((2, n + 1), np.int64)
    made = ranked_kernels.RankedEdges(
        up,
        down,
        ups,
        downs,
        np.zeros(n, np.int32),
        np.full((n, 5), NO_BLOCK, np.int32),
        np.full(MOST_LEFT + 1, NO_BLOCK, np.int32),
        np.zeros(-(-m // 8), np.uint8),
        np.empty(n, np.int32),
        np.array([1, 0, m, n, 0], np.int64),
    )
    ranked_kernels.list_by_rank(edges.tails, edges.heads, ranks, made)
    return made
