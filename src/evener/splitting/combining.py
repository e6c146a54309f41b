"""Combines edge partitions: edges that they all keep together move together, for fewer copies.

Edges are joined to groups inside the blocks of both of two partitions; the better one is refined on
these groups, level by level. So groups lie where either partition would cut, and whatever one of
them divides better can be taken over: the recombination of memetic partitioners [SS12]_, on copies
of vertices.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evener.arrays import IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract
from evener.splitting.expanding import neighbourhoods
from evener.splitting.groups import single_edges
from evener.splitting.refining import Effort, refine_inside
from evener.splitting.splits import Split, kept
from evener.splitting.starting import limits_of


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
