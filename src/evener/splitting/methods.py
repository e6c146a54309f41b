"""Edge partitions by any method: split-and-connect, streaming methods, runs of the edges' order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import one_of
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.edge_partition import EdgePartition, edge_metrics
from evener.plans.partition import Contract, Partition
from evener.splitting import placing_kernels as kernels
from evener.splitting.refining import refine_copies
from evener.splitting.split_and_connect import (
    blocks_of_edges,
    clone_graph,
    contracted_graph,
    order_by,
)

HASH_SLOTS = 4096  # entries of the table from hashes to blocks, in proportion to targets
HDRF_BALANCE = 1.1  # lambda of HDRF, as its authors chose it
# Degree, relative to the mean, above which a vertex counts as a hub; chosen by hand: meshes and
# matrices of finite elements stay below it, social networks are far above.
HUB_RATIO = 10.0
ROUNDS = {"fast": 2, "default": 10, "strong": 20}  # of refinement, at most


@dataclass(frozen=True)
class Split:
    """Blocks of edges, and how they were made.

    partition: keeps its contract. cut_pairs: dominant edges that were cut (spac-path, spac-ring).
    saved: copies that refinement saved. order: of the clones or of the stream, in a word.
    """

    partition: EdgePartition
    cut_pairs: int = 0
    saved: int = 0
    order: str = ""


Method = Callable[[EdgeList, Contract, str, int], Split]


def split_with(
    method: str, edges: EdgeList, contract: Contract, *, preset: str = "default", seed: int = 7
) -> Split:
    """Divide edges into the blocks of a contract by one of METHODS.

    contract: targets, low and high (k,) are of the edges' work [units]. Every method's blocks are
    enforced: moved as little as is needed to keep the contract. Raises UsageError for an unknown
    method, and what `enforce` raises where the contract cannot be kept.
    """
    one_of("method", method, tuple(METHODS))
    one_of("preset", preset, tuple(ROUNDS))
    return METHODS[method](edges, contract, preset, seed)


def _spac(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
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
    made += [partial(_refined_stream, by=name) for name in ("greedy", "hdrf")]
    if preset == "strong":
        made.append(partial(_ring, order="neighbour", tool="metis"))
    return made


def _ring(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, order: str, tool: str
) -> Split:
    """Return blocks of a contracted ring, its edges ordered by neighbours or by their blocks."""
    incidence = edges.incidence
    if order == "block":
        incidence = edges.incidence_by(order_by(_blocks_of_vertices(edges, contract, seed)))
    graph = contracted_graph(edges, closed=True, incidence=incidence)
    result = partition_with(tool, graph, _request(contract, "default", seed))
    made = Split(_kept(graph, result.part, contract), order=order)
    return _refined(made, edges, contract, preset, seed)


def _refined_stream(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str
) -> Split:
    """Return the blocks of a streaming method, refined."""
    made = _streamed(edges, contract, preset, seed, by=by)
    return _refined(made, edges, contract, preset, seed)


def _refined(made: Split, edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:
    partition, saved = refine_copies(
        edges, made.partition, contract.low, contract.high, rounds=ROUNDS[preset], seed=seed
    )
    return replace(made, partition=partition, saved=saved)


def _printed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, closed: bool) -> Split:
    """Return split-and-connect as its paper has it: clones, divided by METIS."""
    clones = clone_graph(edges, closed=closed)
    result = partition_with("metis", clones.graph, _request(contract, preset, seed, clones=2))
    part, cut = blocks_of_edges(result.part, clones, contract.targets, edges.weights)
    kept = _kept(contracted_graph(edges, closed=closed), part, contract)
    return Split(kept, cut, order="neighbour")


def _blocks_of_vertices(edges: EdgeList, contract: Contract, seed: int) -> Part:
    """(n,) blocks of vertices that weigh as many units as they have edges."""
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    weighted = graph.with_(vwgt=np.maximum(edges.degrees, 1))
    return partition_with("metis", weighted, _request(contract, "default", seed)).part


def _streamed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str) -> Split:  # noqa: ARG001
    """Return blocks that a streaming method chose edge by edge, in an order shuffled by `seed`."""
    rng = np.random.default_rng(seed)
    part = np.empty(edges.m, np.int32)
    targets = np.maximum(contract.targets, 1e-300)
    if by == "random":
        part[:] = rng.choice(contract.k, edges.m, p=targets / targets.sum())
    elif by == "dbh":
        table = _in_proportion(targets, HASH_SLOTS)
        kernels.place_by_hash(edges.tails, edges.heads, edges.degrees, table, part)
    else:
        order = rng.permutation(edges.m)
        work = np.ones(edges.m) if edges.weights is None else edges.weights.astype(np.float64)
        held = np.zeros((edges.n, (contract.k + 63) // 64), np.uint64)
        stream = edges.tails, edges.heads, work, order, targets, contract.high
        if by == "greedy":
            kernels.place_greedily(*stream, held, part)
        else:
            kernels.place_by_degree_seen(*stream, HDRF_BALANCE, held, part)
    return Split(_kept(contracted_graph(edges), part, contract), order=by)


def _in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return runs of the edges in their order, each of its block's target."""
    work = np.ones(edges.m) if edges.weights is None else edges.weights.astype(np.float64)
    ends = np.cumsum(contract.targets) / contract.targets.sum() * work.sum()
    middles = np.cumsum(work) - work / 2
    part = np.minimum(np.searchsorted(ends, middles, "right"), contract.k - 1)
    graph = contracted_graph(edges)
    return Split(_kept(graph, part.astype(np.int32), contract), order="edges")


def _in_proportion(targets: FloatArray, size: int) -> Part:
    """(size,) blocks, each as often as its share of the targets."""
    ends = np.cumsum(targets) / targets.sum() * size
    return np.searchsorted(ends, np.arange(size) + 0.5, "right").astype(np.int32)


def _request(contract: Contract, preset: str, seed: int, clones: int = 1) -> Request:
    """Return what is asked of a partitioner: the limits, and a tolerance for tools that take one.

    clones: how many vertices of its graph stand for an edge, each with the edge's work.
    """
    above = contract.high / np.maximum(contract.targets, 1e-300) - 1
    return Request(
        clones * contract.targets,
        epsilon=max(float(above.min()), 0.0),
        low=clones * contract.low,
        high=clones * contract.high,
        preset=preset,
        seed=seed,
    )


def _kept(graph: Graph, part: Part, contract: Contract) -> EdgePartition:
    """Return the blocks, moved as little as is needed to keep the contract."""
    kept = enforce(graph, Partition(part, contract.k), contract).partition
    return EdgePartition(kept.part, contract.k)


METHODS: dict[str, Method] = {
    "spac": _spac,
    "spac-path": partial(_printed, closed=False),
    "spac-ring": partial(_printed, closed=True),
    "order": _in_order,
    "random": partial(_streamed, by="random"),
    "dbh": partial(_streamed, by="dbh"),
    "greedy": partial(_streamed, by="greedy"),
    "hdrf": partial(_streamed, by="hdrf"),
}
