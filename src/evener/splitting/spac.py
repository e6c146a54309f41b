"""Split-and-connect: as in its paper [SPAC]_, and variants that refine other initial partitions.

Initial partitions are made from vertices, or from groups of edges, without a graph of all edges: a
partitioner divides a much smaller graph, whose blocks become blocks of edges. Blocks made from
groups are refined level by level to reduce copies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.levels.levels import overlay
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract, Partition
from evener.splitting import separating_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups, Limits
from evener.splitting.expanding import neighbourhoods, ranked_neighbourhoods
from evener.splitting.groups import levels_of, single_edges
from evener.splitting.orders import incidence_in
from evener.splitting.refining import (
    LEAST_SHARE,
    Effort,
    levelled,
    refine_groups,
    refine_inside,
    refine_level,
    tables_of,
)
from evener.splitting.separating_kernels import EdgeCorridor
from evener.splitting.split_and_connect import blocks_of_edges, clone_graph, contracted_graph
from evener.splitting.splits import Split, asked_of_tool, kept
from evener.splitting.streaming import clusters_of

# A vertex is a hub if its degree is above HUB_RATIO x mean degree. Chosen by hand: meshes and
# finite-element matrices have no hubs, social networks have vertices far above it.
HUB_RATIO = 10.0
# On graphs with hubs, `fast` grows neighbourhoods if the mean degree is at least this; otherwise it
# joins groups: circuits and peer-to-peer networks, with mean degrees 4 to 6, have fewer copies by
# groups (tuning set of the benchmark).
LEAST_EXPANDED = 8.0
# `fast` uses ranked neighbourhoods for at least this many edges. With fewer edges,
# others take less than a second and make a tenth fewer copies (tuning set; R-MAT, 2^20 edges).
LEAST_RANKED = 2**20
# From this number of vertices per block, Evener's own partitioner takes less time than the moves
# that follow.
LEAST_OWN = 100
# Evener's own partitioner is used if at least the fraction CLUSTERED of the edges lies inside
# clusters, found by CLUSTERING passes over the edges; otherwise METIS leads to fewer copies. The
# fraction is 0.45 to 0.94 on meshes and matrices, and 0.1 to 0.16 on uniform random graphs, where
# METIS leads to 0.5 to 0.9 % fewer copies in 0.8 of the time (scale 13).
CLUSTERED, CLUSTERING = 0.25, 2
EFFORTS = {
    "fast": Effort(rounds=2),
    "default": Effort(rounds=3, patience=8, searches=1, cycles=1),
    "strong": Effort(rounds=3, patience=15, cycles=1),
}
# On graphs without hubs: how often edges move and then, but for "fast", borders are cut anew.
TURNS = {"fast": 1, "default": 1, "strong": 2}
ROUNDS_OF_A_START = 3
AFTER_CUTS = Effort(rounds=2, patience=8, searches=1)  # on single edges, after the minimum cuts


# Orders of clones to try; "block" makes up to a factor of 2 fewer copies on social graphs.
TRIED_ORDERS = "neighbour", "block"


class AtHubs(NamedTuple):
    """The effort on graphs with hubs.

    orders: number of vertex orders to try for growing neighbourhoods. starts: number of partitions
    to combine. effort: refinement of the combination; it has few searches, as these take longest at
    hubs, where single moves are nearly as good.
    """

    orders: int
    starts: int
    effort: Effort


# The starts are one by groups, and the best by neighbourhoods; one less if the mean degree is
# small, as searches then take longest.
AT_HUBS = {
    "default": AtHubs(6, 3, Effort(rounds=2, patience=3, searches=1, gives_up=True)),
    "strong": AtHubs(10, 4, Effort(rounds=3, patience=5, searches=1)),
}


def spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks with few copies: an initial partition whose copies are reduced by refinement.

    Graphs with hubs get other initial partitions than graphs without.
    """
    if has_hubs(edges) or contract.k > np.count_nonzero(edges.degrees):
        if preset == "fast":
            return _start_at_hubs(edges, contract, seed)
        made = _combined_at_hubs(edges, contract, AT_HUBS[preset], seed)
        return made if preset == "default" else _cut_anew(made, edges, contract, seed)
    made = _start(edges, contract, preset, seed)
    for turn in range(TURNS[preset]):
        made = _refined(made, edges, contract, EFFORTS[preset], seed + turn)
        made = made if preset == "fast" else _cut_anew(made, edges, contract, seed + turn)
    return made


def _cut_anew(made: Split, edges: EdgeList, contract: Contract, seed: int) -> Split:
    """Return the blocks after replacing their borders by minimum cuts, and refinement."""
    finest, part = single_edges(edges), made.partition.part.copy()
    limits, rng = limits_of(part, finest, contract), np.random.default_rng(seed)
    saved = made.saved + cut_borders(finest, part, limits, rng)
    saved += refine_groups(finest, part, limits, AFTER_CUTS, rng)
    return replace(made, partition=kept(edges, part, contract), saved=saved)


def _refined(made: Split, edges: EdgeList, contract: Contract, effort: Effort, seed: int) -> Split:
    """Return the blocks after refinement, which reduces copies."""
    finest, part = single_edges(edges), made.partition.part.copy()
    limits, rng = limits_of(part, finest, contract), np.random.default_rng(seed)
    saved = made.saved + refine_groups(finest, part, limits, effort, rng)
    return replace(made, partition=kept(edges, part, contract), saved=saved)


def _start(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks of edges from a vertex partition, by METIS or by Evener's partitioner.

    Evener's is used for large blocks, except for "fast" and for graphs without clusters, such as
    random graphs, for which METIS is as good.
    """
    large = preset != "fast" and np.count_nonzero(edges.degrees) >= LEAST_OWN * contract.k
    own = large and _inside_clusters(edges, contract.k) >= CLUSTERED
    by = "default" if preset == "strong" else "fast"
    part = by_vertices(edges, contract, "evener" if own else "metis", seed, by)
    return Split(EdgePartition(part, contract.k), order="vertices")


def _inside_clusters(edges: EdgeList, k: int) -> float:
    """Return the fraction of edges inside clusters of vertices, found by streaming.clusters_of."""
    ends = (edges.tails, edges.heads)
    return clusters_of(lambda: (ends,), edges.degrees, edges.m, k, CLUSTERING)[1]


def _start_at_hubs(edges: EdgeList, contract: Contract, seed: int) -> Split:
    """Return blocks grown as neighbourhoods, or made from groups if the mean degree is small."""
    if _mean_degree(edges) >= LEAST_EXPANDED:
        grow = ranked_neighbourhoods if edges.m >= LEAST_RANKED else neighbourhoods
        return grow(edges, contract, "fast", seed)
    return _joined_groups(edges, contract, seed)


def _combined_at_hubs(edges: EdgeList, contract: Contract, tried: AtHubs, seed: int) -> Split:
    """Return the combination of blocks from groups, and of the best blocks from neighbourhoods.

    Neighbourhoods are grown in several vertex orders.
    """
    grown = neighbourhoods_in_orders(edges, contract, tried.orders, seed)
    others = tried.starts - 1 - (_mean_degree(edges) < LEAST_EXPANDED)
    starts = [_joined_groups(edges, contract, seed), *grown[:others]]
    return combined(edges, starts, contract, tried.effort, seed)


def _joined_groups(edges: EdgeList, contract: Contract, seed: int) -> Split:
    part, saved = by_groups(edges, contract, Effort(ROUNDS_OF_A_START), seed)
    return Split(kept(edges, part, contract), saved=saved, order="groups")


def _mean_degree(edges: EdgeList) -> float:
    return 2 * edges.m / max(edges.touched, 1)


def contracted(
    edges: EdgeList,
    contract: Contract,
    preset: str,
    seed: int,
    *,
    closed: bool = False,
    order: str = "",
) -> Split:
    """Return the blocks of split-and-connect without clones: METIS divides a graph of edges.

    The graph has one vertex per edge. It is the graph of `printed` with every dominant edge
    contracted, so that no dominant edge is cut. order: see `printed`; if it is empty, "fast" uses
    "neighbour", and other presets use the best of TRIED_ORDERS.
    """
    tried = (order,) if order else TRIED_ORDERS[: 1 if preset == "fast" else None]
    found = []
    for name in tried:
        incidence = incidence_in(name, edges, contract, seed)
        graph = contracted_graph(edges, closed=closed, incidence=incidence)
        result = partition_with("metis", graph, asked_of_tool(contract, preset, seed))
        found.append(Split(kept(edges, result.part, contract, graph), order=name))
    best = by_copies(edges, found)[0]
    if len(found) == 1:
        return best
    said = f"of the orders {' and '.join(tried)} of clones, {best.order} copies fewer vertices"
    return replace(best, notes=(*best.notes, said))


def has_hubs(edges: EdgeList) -> bool:
    """Return whether the degree of some vertex is above HUB_RATIO x mean degree."""
    return bool(edges.degrees.max() > HUB_RATIO * _mean_degree(edges))


def printed(
    edges: EdgeList,
    contract: Contract,
    preset: str,
    seed: int,
    *,
    closed: bool,
    order: str = "neighbour",
) -> Split:
    """Return the blocks of split-and-connect as in its paper [SPAC]_: METIS divides clones.

    closed: join the clones of a vertex to a ring instead of a path. order: order of the clones of a
    vertex, one of evener.splitting.orders.ORDERS.
    """
    incidence = incidence_in(order, edges, contract, seed)
    clones = clone_graph(edges, closed=closed, incidence=incidence)
    result = partition_with("metis", clones.graph, asked_of_tool(contract, preset, seed, clones=2))
    part, cut = blocks_of_edges(result.part, clones, contract.targets, edges.weights)
    return Split(kept(edges, part, contract), cut, order=order, notes=clones.notes)


def combined(
    edges: EdgeList, splits: list[Split], contract: Contract, effort: Effort, seed: int
) -> Split:
    """Return the best of `splits` after combining it with each of the others; never a worse one.

    splits: at least one; all blocks must satisfy their limits, and those of the result do too.
    """
    rng, finest = np.random.default_rng(seed), single_edges(edges)
    best, *others = by_copies(edges, splits)
    part = best.partition.part.copy()
    limits, saved = limits_of(part, finest, contract), best.saved
    for other in others:
        inside = overlay(part, other.partition.part, contract.k)
        saved += refine_inside(finest, part, inside, limits, effort, rng)
    orders = dict.fromkeys(made.order for made in (best, *others))
    return replace(best, partition=kept(edges, part, contract), saved=saved, order="+".join(orders))


def by_copies(edges: EdgeList, splits: list[Split]) -> list[Split]:
    """Return the splits sorted by their number of copies, fewest first."""
    return sorted(splits, key=lambda made: edge_metrics(edges, made.partition).copies)


def neighbourhoods_in_orders(
    edges: EdgeList, contract: Contract, tries: int, seed: int
) -> list[Split]:
    """Return `tries` splits grown from vertex to vertex, with fewest copies first.

    Each block begins at the first vertex that has an edge without a block, in a vertex order that
    differs between the splits: by number for the first one, random for the others.
    """
    rng, found = np.random.default_rng(seed), []
    for i in range(tries):
        number: IntVector = np.arange(edges.n) if i == 0 else rng.permutation(edges.n)
        ends = number[edges.tails], number[edges.heads]
        part = neighbourhoods(EdgeList(edges.n, *ends, edges.weights), contract, "default", seed)
        found.append(replace(part, partition=EdgePartition(part.partition.part, contract.k)))
    return by_copies(edges, found)


MOST_BLOCKS = 8  # vertices in more blocks than this are ignored: hubs, with no short border around
REACHES = (4.0, 2.0)  # size of corridors in each round, in units of what a block may lose or gain


def cut_borders(edges: EdgeGroups, part: Part, limits: Limits, rng: np.random.Generator) -> int:
    """Replace the border between each two neighbouring blocks in place; return the copies saved.

    The new border is a minimum cut through the vertices of a corridor around the old border. edges:
    groups of one edge each. No block violates its limits more than before; limits.load is updated.
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
    """Return pairs of neighbouring blocks in random order, begins, and the vertices in both blocks.

    The vertices of pair i are vertices[begins[i]:begins[i + 1]].
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


# Number of groups per block on the coarsest level of a start; set by hand on power-law graphs, for
# which 40 is no better.
GROUPS_OF_A_START = 20
# In the graph of groups, the groups at a vertex form a clique if they are at most this many, else a
# ring.
MOST_IN_CLIQUE = 5
VERTEX_WEIGHT = 60  # determines the weights of a vertex's edges there; divisible by 1 to 5


def by_vertices(
    edges: EdgeList, contract: Contract, tool: str, seed: int, preset: str = "default"
) -> Part:
    """Return blocks of edges (m,) from a vertex partition in which vertices weigh their degrees.

    An edge between blocks a and b is assigned to the smaller number if a + b is even, else to the
    larger. So all edges between a and b are in one block, and only vertices of the other block are
    copied. Every block satisfies its limits.
    """
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    weighted = graph.with_(vwgt=_work_at_vertices(edges))
    blocks = partition_with(tool, weighted, asked_of_tool(contract, preset, seed, 2)).part
    a, b = blocks[edges.tails], blocks[edges.heads]
    part = np.where((a + b) % 2 == 0, np.minimum(a, b), np.maximum(a, b)).astype(np.int32)
    limits = limits_of(part, single_edges(edges), contract)
    levelled(single_edges(edges), part, limits, np.random.default_rng(seed))
    return kept(edges, part, contract).part


def _work_at_vertices(edges: EdgeList) -> npt.NDArray[np.number]:
    """Return the work of each vertex's edges (n,) [units]; at least 1 or, with weights, 1e-9."""
    if edges.weights is None:
        return np.maximum(edges.degrees, 1)
    ends = edges.tails, edges.heads
    return np.maximum(sum(np.bincount(end, edges.weights, edges.n) for end in ends), 1e-9)


def by_groups(edges: EdgeList, contract: Contract, effort: Effort, seed: int) -> tuple[Part, int]:
    """Return blocks of edges (m,) from a METIS partition of groups of edges, and the copies saved.

    The blocks are refined level by level, which saves these copies.
    """
    rng, finest = np.random.default_rng(seed), single_edges(edges)
    most = finest.work.sum() / (LEAST_SHARE * contract.k)
    whole = np.zeros(edges.m, np.int32)
    levels = levels_of(finest, whole, GROUPS_OF_A_START * contract.k, most, rng)
    graph = graph_of_groups(levels.groups[-1])
    part = partition_with("metis", graph, asked_of_tool(contract, "default", seed)).part
    part = enforce(graph, Partition(part, contract.k), contract).partition.part.copy()
    limits = limits_of(part, levels.groups[-1], contract)
    saved, _ = refine_level(levels.groups[-1], part, limits, effort, rng)
    for depth in range(len(levels.clusters) - 1, -1, -1):
        part = part[levels.clusters[depth]]
        saved += refine_level(levels.groups[depth], part, limits, effort, rng)[0]
    return part, saved


def limits_of(part: Part, groups: EdgeGroups, contract: Contract) -> Limits:
    """Return the Limits of the contract, with the current loads of the blocks."""
    return Limits(np.bincount(part, groups.work, contract.k), contract.low, contract.high)


def graph_of_groups(groups: EdgeGroups) -> Graph:
    """Return a graph with one vertex per group, in which groups that share a vertex are joined.

    The groups at a vertex form a clique if they are at most MOST_IN_CLIQUE, else a ring.
    """
    degrees, begins = np.diff(groups.offsets), groups.offsets[:-1]
    ends, weights = [], []
    for size in range(2, MOST_IN_CLIQUE + 1):
        at = begins[degrees == size]
        for i in range(size):
            for j in range(i + 1, size):
                ends.append((groups.groups[at + i], groups.groups[at + j]))
                weights.append(np.full(at.size, VERTEX_WEIGHT // (size - 1)))
    rings = degrees > MOST_IN_CLIQUE
    ends.append((groups.groups[begins[rings]], groups.groups[begins[rings] + degrees[rings] - 1]))
    owner = np.repeat(np.arange(degrees.size), degrees)
    beside = np.flatnonzero((owner[1:] == owner[:-1]) & rings[owner[1:]])
    ends.append((groups.groups[beside], groups.groups[beside + 1]))
    weights.append(np.full(beside.size + np.count_nonzero(rings), VERTEX_WEIGHT // 2))
    tails = np.concatenate([tail for tail, _ in ends])
    heads = np.concatenate([head for _, head in ends])
    return _joined_graph(groups, tails, heads, np.concatenate(weights))


def _joined_graph(
    groups: EdgeGroups, tails: Part, heads: Part, weights: npt.NDArray[np.int64]
) -> Graph:
    """Return the graph with these edges; weights of parallel edges are added."""
    n = groups.work.size
    both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    from scipy.sparse import coo_array

    found = coo_array((np.concatenate([weights, weights]), both), shape=(n, n)).tocsr()
    found.sum_duplicates()
    work = groups.work
    whole = work.astype(np.int64) if (work == np.floor(work)).all() else work
    return Graph(found.indptr.astype(np.int64), found.indices, vwgt=whole, adjwgt=found.data)
