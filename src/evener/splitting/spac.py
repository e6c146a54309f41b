"""Split-and-connect: as its paper prints it, and on groups of edges, refined on copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting.expanding import neighbourhoods
from evener.splitting.groups import single_edges
from evener.splitting.orders import incidence_in
from evener.splitting.refining import Effort, refine_groups
from evener.splitting.separating import cut_borders
from evener.splitting.split_and_connect import blocks_of_edges, clone_graph, contracted_graph
from evener.splitting.splits import Split, asked_of_tool, kept
from evener.splitting.starting import by_groups, by_vertices, limits_of

# Degree, relative to the mean, above which a vertex counts as a hub; chosen by hand: meshes and
# matrices of finite elements stay below it, social networks are far above.
HUB_RATIO = 10.0
# Mean degree from which `fast` expands neighbourhoods at hubs, below it joins groups: circuits and
# peer-to-peer networks, of degrees 4 to 6, copy less by groups (tuning set of the benchmark).
LEAST_EXPANDED = 8.0
# Vertices per block from which Evener's own partitioner takes less time than the moves after it.
LEAST_OWN = 100
# Searches cost most at hubs, where single moves find nearly as much.
EFFORTS = {
    "fast": Effort(rounds=2),
    "default": Effort(rounds=3, patience=8, searches=1, cycles=1),
    "strong": Effort(rounds=3, patience=15, cycles=1),
}
EFFORTS_AT_HUBS = {
    "default": Effort(rounds=2, patience=3, searches=1),
    "strong": Effort(rounds=3, patience=8, searches=1, cycles=2),
}
TURNS = {"fast": 1, "default": 1, "strong": 2}  # of moves, then borders cut anew; without hubs
ROUNDS_OF_A_START = 3
AFTER_CUTS = Effort(rounds=2, patience=8, searches=1)  # on single edges, once borders are cut anew
TRIED = Effort(rounds=2, cycles=1)  # of each start at hubs, before the best is chosen


def spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks of few copies: a start, refined on copies; hubs need other ones."""
    if has_hubs(edges) or contract.k > np.count_nonzero(edges.degrees):
        made = _start_at_hubs(edges, contract, preset, seed)
        if preset == "fast":
            return made
        return _refined(made, edges, contract, EFFORTS_AT_HUBS[preset], seed)
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
    """Return blocks by those of vertices: by METIS, or by Evener's partitioner for large blocks."""
    own = preset != "fast" and np.count_nonzero(edges.degrees) >= LEAST_OWN * contract.k
    by = "default" if preset == "strong" else "fast"
    part = by_vertices(edges, contract, "evener" if own else "metis", seed, by)
    return Split(EdgePartition(part, contract.k), order="vertices")


def _start_at_hubs(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks by neighbourhoods or by groups, whichever copies less once refined a little.

    `fast` tries one of both, and refines it no further; `strong` tries those by vertices as well.
    """
    found = []
    touched = np.count_nonzero(edges.degrees)
    mean = 2 * edges.m / touched
    if preset != "fast" or mean >= LEAST_EXPANDED:
        found.append(neighbourhoods(edges, contract, preset, seed))
    if preset != "fast" or mean < LEAST_EXPANDED:
        part, saved = by_groups(edges, contract, "metis", Effort(ROUNDS_OF_A_START), seed)
        found.append(Split(kept(edges, part, contract), saved=saved, order="groups"))
    if preset == "strong" and contract.k <= touched:
        part = by_vertices(edges, contract, "metis", seed)
        found.append(Split(EdgePartition(part, contract.k), order="vertices"))
    if preset != "fast":
        found = [_refined(made, edges, contract, TRIED, seed) for made in found]
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda made: edge_metrics(edges, made.partition).copies)


def contracted(
    edges: EdgeList,
    contract: Contract,
    preset: str,
    seed: int,
    *,
    closed: bool = False,
    order: str = "neighbour",
) -> Split:
    """Return split-and-connect without clones: a vertex for each edge, divided by METIS.

    Its graph is that of `printed` with each dominant edge contracted, so that none is cut. order:
    as of `printed`.
    """
    incidence = incidence_in(order, edges, contract, seed)
    graph = contracted_graph(edges, closed=closed, incidence=incidence)
    result = partition_with("metis", graph, asked_of_tool(contract, preset, seed))
    return Split(kept(edges, result.part, contract, graph), order=order)


def has_hubs(edges: EdgeList) -> bool:
    """Return whether a vertex has many times as many edges as vertices have on average."""
    touched = max(int(np.count_nonzero(edges.degrees)), 1)
    return bool(edges.degrees.max() > HUB_RATIO * 2 * edges.m / touched)


def printed(
    edges: EdgeList,
    contract: Contract,
    preset: str,
    seed: int,
    *,
    closed: bool,
    order: str = "neighbour",
) -> Split:
    """Return split-and-connect as its paper has it: clones, divided by METIS.

    order: of the clones of a vertex, one of evener.splitting.orders.ORDERS.
    """
    incidence = incidence_in(order, edges, contract, seed)
    clones = clone_graph(edges, closed=closed, incidence=incidence)
    result = partition_with("metis", clones.graph, asked_of_tool(contract, preset, seed, clones=2))
    part, cut = blocks_of_edges(result.part, clones, contract.targets, edges.weights)
    return Split(kept(edges, part, contract), cut, order=order)
