"""Split-and-connect: as in its paper, and on groups of edges, refined on copies."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evener.arrays import IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting import separating_kernels as kernels
from evener.splitting.copies_kernels import EdgeGroups, Limits
from evener.splitting.expanding import neighbourhoods
from evener.splitting.groups import single_edges
from evener.splitting.orders import incidence_in
from evener.splitting.ranked import ranked_neighbourhoods
from evener.splitting.refining import Effort, refine_groups, refine_inside, tables_of
from evener.splitting.separating_kernels import EdgeCorridor
from evener.splitting.split_and_connect import blocks_of_edges, clone_graph, contracted_graph
from evener.splitting.splits import Split, asked_of_tool, kept
from evener.splitting.starting import by_groups, by_vertices, limits_of
from evener.splitting.two_phase import clusters_of

# Degree, relative to the mean, above which a vertex counts as a hub; chosen by hand: meshes and
# matrices of finite elements stay below it, social networks are far above.
HUB_RATIO = 10.0
# Mean degree from which `fast` expands neighbourhoods at hubs, below it joins groups: circuits and
# peer-to-peer networks, of degrees 4 to 6, copy less by groups (tuning set of the benchmark).
LEAST_EXPANDED = 8.0
# Edges from which `fast` grows blocks by rank: of fewer ones all are looked at within a second, for
# a tenth fewer copies (tuning set, and R-MAT of a million edges).
LEAST_RANKED = 2**20
# Vertices per block from which Evener's own partitioner takes less time than the moves after it.
LEAST_OWN = 100
# Share of edges inside of clusters from which the own partitioner copies less than METIS: 0.45 to
# 0.94 on meshes and matrices, 0.1 to 0.16 on uniform random graphs, where METIS's start leads to
# 0.5 to 0.9 % fewer copies in 0.8 of the time (scale 13).
CLUSTERED, CLUSTERING = 0.25, 2  # by so many passes over edges
EFFORTS = {
    "fast": Effort(rounds=2),
    "default": Effort(rounds=3, patience=8, searches=1, cycles=1),
    "strong": Effort(rounds=3, patience=15, cycles=1),
}
TURNS = {"fast": 1, "default": 1, "strong": 2}  # of moves, then borders cut anew; without hubs
ROUNDS_OF_A_START = 3
AFTER_CUTS = Effort(rounds=2, patience=8, searches=1)  # on single edges, once borders are cut anew


TRIED_ORDERS = "neighbour", "block"  # of clones; blocks are worth up to twice on social graphs


class AtHubs(NamedTuple):
    """Effort at hubs: orders of vertices for neighbourhoods; how many starts are combined.

    Searches cost most at hubs, where single moves find nearly as much.
    """

    orders: int
    starts: int
    effort: Effort


# Starts: of groups, and the best ones of neighbourhoods; one less where the mean degree is small,
# for searches take longest there.
AT_HUBS = {
    "default": AtHubs(6, 3, Effort(rounds=2, patience=3, searches=1, gives_up=True)),
    "strong": AtHubs(10, 4, Effort(rounds=3, patience=5, searches=1)),
}


def spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks of few copies: a start, refined on copies; hubs need other ones."""
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
    """Return blocks whose borders were cut anew, refined."""
    finest, part = single_edges(edges), made.partition.part.copy()
    limits, rng = limits_of(part, finest, contract), np.random.default_rng(seed)
    saved = made.saved + cut_borders(finest, part, limits, rng)
    saved += refine_groups(finest, part, limits, AFTER_CUTS, rng)
    return replace(made, partition=kept(edges, part, contract), saved=saved)


def _refined(made: Split, edges: EdgeList, contract: Contract, effort: Effort, seed: int) -> Split:
    """Return blocks refined on copies."""
    finest, part = single_edges(edges), made.partition.part.copy()
    limits, rng = limits_of(part, finest, contract), np.random.default_rng(seed)
    saved = made.saved + refine_groups(finest, part, limits, effort, rng)
    return replace(made, partition=kept(edges, part, contract), saved=saved)


def _start(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks by those of vertices: by METIS, or by Evener's partitioner for large blocks.

    Where no clusters of vertices are found, as in random graphs, METIS's are as good.
    """
    large = preset != "fast" and np.count_nonzero(edges.degrees) >= LEAST_OWN * contract.k
    own = large and _inside_clusters(edges, contract.k) >= CLUSTERED
    by = "default" if preset == "strong" else "fast"
    part = by_vertices(edges, contract, "evener" if own else "metis", seed, by)
    return Split(EdgePartition(part, contract.k), order="vertices")


def _inside_clusters(edges: EdgeList, k: int) -> float:
    """Return the share of edges inside of clusters of vertices, as a stream finds them."""
    ends = (edges.tails, edges.heads)
    return clusters_of(lambda: (ends,), edges.degrees, edges.m, k, CLUSTERING)[1]


def _start_at_hubs(edges: EdgeList, contract: Contract, seed: int) -> Split:
    """Return blocks by neighbourhoods, or by groups where degrees are small."""
    if _mean_degree(edges) >= LEAST_EXPANDED:
        grow = ranked_neighbourhoods if edges.m >= LEAST_RANKED else neighbourhoods
        return grow(edges, contract, "fast", seed)
    return _joined_groups(edges, contract, seed)


def _combined_at_hubs(edges: EdgeList, contract: Contract, tried: AtHubs, seed: int) -> Split:
    """Return blocks by groups, and by neighbourhoods in the best of several orders, combined."""
    grown = neighbourhoods_in_orders(edges, contract, tried.orders, seed)
    others = tried.starts - 1 - (_mean_degree(edges) < LEAST_EXPANDED)
    starts = [_joined_groups(edges, contract, seed), *grown[:others]]
    return combined(edges, starts, contract, tried.effort, seed)


def _joined_groups(edges: EdgeList, contract: Contract, seed: int) -> Split:
    part, saved = by_groups(edges, contract, "metis", Effort(ROUNDS_OF_A_START), seed)
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
    """Return split-and-connect without clones: a vertex for each edge, divided by METIS.

    Its graph is that of `printed` with each dominant edge contracted, so that none is cut. order:
    as of `printed`; without one, `fast` takes the neighbours' and the others the better one of
    TRIED_ORDERS.
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
    """Return whether a vertex has many times as many edges as vertices have on average."""
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
    """Return split-and-connect as in its paper: clones, divided by METIS.

    order: of the clones of a vertex, one of evener.splitting.orders.ORDERS.
    """
    incidence = incidence_in(order, edges, contract, seed)
    clones = clone_graph(edges, closed=closed, incidence=incidence)
    result = partition_with("metis", clones.graph, asked_of_tool(contract, preset, seed, clones=2))
    part, cut = blocks_of_edges(result.part, clones, contract.targets, edges.weights)
    return Split(kept(edges, part, contract), cut, order=order, notes=clones.notes)


def combined(
    edges: EdgeList, splits: list[Split], contract: Contract, effort: Effort, seed: int
) -> Split:
    """Return the best of splits, combined with each other one in turn; never worse than it.

    splits: one or more, whose blocks are within their limits, as those of the result are.
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


def overlay(part: Part, other: Part, k: int) -> Part:
    """(edges,) int32 numbers, the same where edges have one block in both partitions into k."""
    numbers: Part = np.unique(part.astype(np.int64) * k + other, return_inverse=True)[1]
    return numbers.astype(np.int32)


def by_copies(edges: EdgeList, splits: list[Split]) -> list[Split]:
    """Return the splits by how many copies they have, fewest first."""
    return sorted(splits, key=lambda made: edge_metrics(edges, made.partition).copies)


def neighbourhoods_in_orders(
    edges: EdgeList, contract: Contract, tries: int, seed: int
) -> list[Split]:
    """Return blocks grown from vertex to vertex, by as many orders of the vertices.

    Each block is begun at the first vertex that has an edge left: the first time by the vertices'
    numbers, then by random ones. Those of fewest copies first.
    """
    rng, found = np.random.default_rng(seed), []
    for i in range(tries):
        number: IntVector = np.arange(edges.n) if i == 0 else rng.permutation(edges.n)
        ends = number[edges.tails], number[edges.heads]
        part = neighbourhoods(EdgeList(edges.n, *ends, edges.weights), contract, "default", seed)
        found.append(replace(part, partition=EdgePartition(part.partition.part, contract.k)))
    return by_copies(edges, found)


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
