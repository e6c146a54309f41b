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
from evener.splitting.split_and_connect import blocks_of_edges, clone_graph
from evener.splitting.splits import Split, asked_of_tool, kept
from evener.splitting.starting import by_groups, by_vertices, limits_of

# Degree, relative to the mean, above which a vertex counts as a hub; chosen by hand: meshes and
# matrices of finite elements stay below it, social networks are far above.
HUB_RATIO = 10.0
# Searches cost most at hubs, where single moves find nearly as much.
EFFORTS = {
    "fast": Effort(rounds=2, patience=3, searches=1),
    "default": Effort(rounds=3, patience=8, cycles=2),
    "strong": Effort(rounds=4, patience=15, searches=3, most_lost=1, cycles=4),
}
EFFORTS_AT_HUBS = {
    "fast": Effort(rounds=1),
    "default": Effort(rounds=3, cycles=2),
    "strong": Effort(rounds=4, patience=3, searches=1, cycles=4),
}
ROUNDS_OF_A_START = 3


def spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return blocks of few copies: a start by vertices or by groups of edges, refined."""
    hubs = has_hubs(edges)
    effort = (EFFORTS_AT_HUBS if hubs else EFFORTS)[preset]
    if hubs or contract.k > np.count_nonzero(edges.degrees):
        made = _start_at_hubs(edges, contract, preset, effort, seed)
    else:
        tool = "evener" if preset == "strong" else "metis"
        part = by_vertices(edges, contract, tool, seed)
        made = Split(EdgePartition(part, contract.k), order="vertices")
    finest, part, saved = single_edges(edges), made.partition.part.copy(), made.saved
    if not hubs or effort.cycles:
        limits = limits_of(part, finest, contract)
        saved += refine_groups(finest, part, limits, effort, np.random.default_rng(seed))
    return replace(made, partition=kept(edges, part, contract), saved=saved)


def _start_at_hubs(
    edges: EdgeList, contract: Contract, preset: str, effort: Effort, seed: int
) -> Split:
    """Return blocks by groups, or by their neighbourhoods where that copies less."""
    rounds = min(effort.rounds, ROUNDS_OF_A_START)
    part, saved = by_groups(edges, contract, "metis", Effort(rounds), seed)
    groups = Split(kept(edges, part, contract), saved=saved, order="groups")
    if preset == "fast":
        return groups
    rivals = groups, neighbourhoods(edges, contract, preset, seed)
    return min(rivals, key=lambda made: edge_metrics(edges, made.partition).copies)


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
