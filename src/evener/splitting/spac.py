"""Split-and-connect: as its paper prints it, and the best of several starts, refined on copies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from evener.graphs.edge_list import EdgeList
from evener.partitioning.registry import partition_with
from evener.plans.edge_partition import edge_metrics
from evener.plans.partition import Contract
from evener.splitting.expanding import neighbourhoods
from evener.splitting.refining import refine_copies
from evener.splitting.split_and_connect import (
    blocks_of_edges,
    clone_graph,
    contracted_graph,
    order_by,
)
from evener.splitting.splits import Method, Split, asked_of_tool, kept
from evener.splitting.streaming import streamed
from evener.splitting.vertex_blocks import blocks_of_vertices

# Degree, relative to the mean, above which a vertex counts as a hub; chosen by hand: meshes and
# matrices of finite elements stay below it, social networks are far above.
HUB_RATIO = 10.0
ROUNDS = {"fast": 2, "default": 10, "strong": 20}  # of refinement, at most


def spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    """Return the blocks of fewest copies among the candidates of a preset, each refined."""
    found = [make(edges, contract, preset, seed) for make in _candidates(edges, contract, preset)]
    return min(found, key=lambda one: edge_metrics(edges, one.partition).copies)


def _candidates(edges: EdgeList, contract: Contract, preset: str) -> list[Method]:
    """Return what is tried: of graphs with hubs, orders by blocks and streaming do better."""
    if preset == "fast":
        return [partial(_ring, order="neighbour", tool="metis")]
    touched = np.count_nonzero(edges.degrees)
    has_hubs = edges.degrees.max() > HUB_RATIO * 2 * edges.m / max(int(touched), 1)
    by_block = contract.k <= touched
    if not has_hubs:
        made: list[Method] = [partial(_ring, order="neighbour", tool="evener")]
        if preset == "strong" and by_block:
            made.append(partial(_ring, order="block", tool="evener"))
        return made
    tool = "evener" if preset == "strong" else "metis"
    made = [partial(_ring, order="block" if by_block else "neighbour", tool=tool)]
    made += [partial(_refined_stream, by=name) for name in ("ne", "greedy", "hdrf")]
    if preset == "strong":
        made.append(partial(_ring, order="neighbour", tool="metis"))
    return made


def _ring(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, order: str, tool: str
) -> Split:
    """Return blocks of a contracted ring, its edges ordered by neighbours or by their blocks."""
    incidence = edges.incidence
    if order == "block":
        incidence = edges.incidence_by(order_by(blocks_of_vertices(edges, contract, seed)))
    graph = contracted_graph(edges, closed=True, incidence=incidence)
    result = partition_with(tool, graph, asked_of_tool(contract, "default", seed))
    made = Split(kept(edges, result.part, contract, graph), order=order)
    return _refined(made, edges, contract, preset, seed)


def _refined_stream(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str
) -> Split:
    """Return the blocks of a streaming method, or those grown in memory ("ne"), refined."""
    grown = by == "ne"
    made = (neighbourhoods if grown else partial(streamed, by=by))(edges, contract, preset, seed)
    return _refined(made, edges, contract, preset, seed)


def _refined(made: Split, edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    partition, saved = refine_copies(
        edges, made.partition, contract.low, contract.high, rounds=ROUNDS[preset], seed=seed
    )
    return replace(made, partition=partition, saved=saved)


def printed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, closed: bool) -> Split:
    """Return split-and-connect as its paper has it: clones, divided by METIS."""
    clones = clone_graph(edges, closed=closed)
    result = partition_with("metis", clones.graph, asked_of_tool(contract, preset, seed, clones=2))
    part, cut = blocks_of_edges(result.part, clones, contract.targets, edges.weights)
    return Split(kept(edges, part, contract), cut, order="neighbour")
