"""HMAP [Muralidharan13]_: clusters processors in a tree, and divides filters along the tree.

The tree is built in one of two ways. `down` bisects the whole machine such that little bandwidth
lies between the halves (IV-A). `up` starts with single processors and halves the number of clusters
per level, according to effective bandwidth (III-A). A cluster's capabilities R0 and R1 are the sums
of those of its processors. Filters are divided among the branches of a cluster in proportion to R0
(weight T0) and R1 (weight T1), with few bytes between branches.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from evener.arrays import FloatArray, IntArray, Part
from evener.errors import UsageError, one_of
from evener.graphs.graph import Graph
from evener.partitioning.external.children import run_in_child
from evener.partitioning.external.jobs import Job
from evener.partitioning.external.metis import Weighted
from evener.partitioning.external.trees import (
    CLUSTERS,
    TREE,
    Divide,
    along_tree,
    bisected,
)
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Further
from evener.streams.period import StreamProblem, read_times
from evener.streams.placing import speeds

WAYS = ("down", "up")
TOOLS = ("metis", "evener")
EPSILON = 0.03
FREE = 1e-3  # share of the widest link's seconds per byte, for links where bytes cost nothing
METIS_TREES = "evener.partitioning.external.trees"
TIME_LIMIT = 600.0  # seconds for METIS on both trees
LEAST_TIME = 0.1


@dataclass(frozen=True, eq=False)
class Hmap:
    """A mapping (n,), and the tree of clusters (depth, k).

    unequal: number of clusters whose branches have different numbers of processors.
    """

    part: Part
    tree: npt.NDArray[np.int32]
    unequal: int


def hmap(
    problem: StreamProblem,
    *,
    way: str = "down",
    tool: str = "metis",
    work: bool = False,
    seed: int = 7,
    seconds: float = TIME_LIMIT,
) -> Hmap:
    """Return HMAP's mapping, computed by METIS or by Evener's own partitioner.

    way: how processors are clustered, "down" or "up". tool: "metis" or "evener". work: whether
    filters and processors have one weight instead of two, see `weights_of`; only with METIS. The
    mapping ignores further needs of filters. seconds: time limit of METIS for both trees. Raises
    UsageError for an unknown way or tool, ToolError if METIS fails.
    """
    one_of("way", way, WAYS)
    one_of("tool", tool, TOOLS)
    if work and tool != "metis":
        raise UsageError("work=True needs tool metis", hint="Leave out tool or work.")
    until = time.monotonic() + seconds
    machine = machine_graph(problem)
    tree = (
        _clustered_up(problem, machine, tool, seed)
        if way == "up"
        else _bisected(machine, tool, seed, seconds)
    )
    left = max(until - time.monotonic(), LEAST_TIME)
    part = _filters_along(problem, weights_of(problem, work=work), tree, tool, seed, left)
    return Hmap(part, tree, _unequal(tree))


def weights_of(problem: StreamProblem, *, work: bool) -> tuple[FloatArray, FloatArray]:
    """Return the weights of filters (n, c) and of processors (k, c).

    Without `work`, there are two weights as in the paper: T0, T1 and R0, R1. With `work`, there is
    one: a filter's time [s] on the mean processor, and the number of mean filters that a processor
    runs per second.
    """
    processors, graph = problem.processors, problem.graph
    if not work:
        able = np.column_stack([processors.rate, processors.width])
        return np.column_stack([graph.scalar, graph.vector]), able
    kinds, counts = np.unique(processors.width, return_counts=True)
    rates = np.array([processors.rate[processors.width == width].mean() for width in kinds])
    times = read_times(problem.reading.compute, graph.vector[:, None] / kinds)
    seconds = graph.scalar * ((times / rates) @ (counts / counts.sum()))
    return seconds[:, None], speeds(problem)[:, None]


def machine_graph(problem: StreamProblem) -> Weighted:
    """Return the processors as a graph with vertex weights R0, R1 and bandwidths [B/s] on edges.

    Switches are not vertices: the processors that a switch joins are adjacent, with the bandwidth
    of their route. If the platform has levels, all processors are adjacent.
    """
    processors = problem.processors
    rate_and_width = np.column_stack([processors.rate, processors.width])
    tails, heads = _links(problem)
    cost = processors.seconds_per_byte()[tails, heads]
    bandwidth = 1.0 / np.maximum(cost, _free(processors.seconds_per_byte()))
    ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    matrix = coo_array((np.tile(bandwidth, 2), ends), (problem.k, problem.k)).tocsr()
    matrix.sort_indices()
    return Weighted(matrix.indptr, matrix.indices, rate_and_width, matrix.data)


def _free(cost: FloatArray) -> float:
    """Return a time per byte to replace zeros, for finite weights: FREE x the least above 0."""
    return FREE * float(cost.min(where=cost > 0, initial=1.0))


def _links(problem: StreamProblem) -> tuple[IntArray, IntArray]:
    """Return pairs p < q of adjacent processors: joined by a link, or through switches only."""
    roads, k = problem.processors.roads, problem.k
    if roads is None:
        return np.triu_indices(k, 1)
    at: dict[int, list[int]] = {}
    for p, place in enumerate(roads.home.tolist()):
        at.setdefault(place, []).append(p)
    pairs: set[tuple[int, int]] = set()
    for p, place in enumerate(roads.home.tolist()):
        seen, todo = {place}, [place]
        while todo:
            u = todo.pop()
            for v in roads.ends[roads.offsets[u] : roads.offsets[u + 1]].tolist():
                if v not in seen:
                    seen.add(v)
                    pairs.update((min(p, q), max(p, q)) for q in at.get(v, ()))
                    if v not in at:
                        todo.append(v)
        pairs.update((min(p, q), max(p, q)) for q in at[place] if q != p)
    found = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _bisected(machine: Weighted, tool: str, seed: int, seconds: float) -> npt.NDArray[np.int32]:
    if tool == "evener":
        return bisected(machine, _divider(seed))
    job = _job(CLUSTERS, machine, np.ones((1, 2)), seed)
    return np.asarray(run_in_child(job, METIS_TREES, seconds).part, np.int32)


def _filters_along(
    problem: StreamProblem,
    weighing: tuple[FloatArray, FloatArray],
    tree: npt.NDArray[np.int32],
    tool: str,
    seed: int,
    seconds: float,
) -> Part:
    filters, (weights, abilities) = problem.filters, weighing
    graph = Weighted(
        filters.offsets, filters.ends, weights, np.maximum(filters.here, filters.there)
    )
    if tool == "evener":
        return along_tree(graph, abilities, tree, _divider(seed))
    job = _job(TREE, graph, abilities, seed, tree)
    return np.asarray(run_in_child(job, METIS_TREES, seconds).part, np.int32)


def _job(
    tool: str, graph: Weighted, abilities: FloatArray, seed: int, tree: IntArray | None = None
) -> Job:
    return Job(
        tool, graph.xadj, graph.adjncy, graph.vwgt, graph.adjwgt, abilities, EPSILON, seed, 1,
        "cut", "default", None if tree is None else tree.astype(np.int32),
    )  # fmt: skip


def _divider(seed: int) -> Divide:
    """Return a function that divides a graph by shares of each weight, with Evener."""

    def divide(graph: Weighted, shares: FloatArray) -> IntArray:
        whole = Graph(graph.xadj, graph.adjncy, vwgt=graph.vwgt, adjwgt=graph.adjwgt)
        first, second = (
            Further(sums, (1 - EPSILON) * sums, (1 + EPSILON) * sums)
            for sums in (shares * graph.vwgt.sum(axis=0)).T
        )
        request = Request(
            first.targets, EPSILON, seed, low=first.low, high=first.high, further=(second,)
        )
        return partition_with("evener", whole, request).part

    return divide


def _clustered_up(
    problem: StreamProblem, machine: Weighted, tool: str, seed: int
) -> npt.NDArray[np.int32]:
    """Return the tree (depth, k) that `up` builds: each level halves the number of clusters."""
    label = np.arange(problem.k)
    rows = [label.astype(np.int32)]
    rows_of = np.repeat(np.arange(problem.k), np.diff(machine.xadj))
    while label.max() > 0:
        count = int(label.max()) + 1
        a, b = label[rows_of], label[machine.adjncy]
        joined = np.unique(a[a < b] * count + b[a < b])
        tails, heads = np.divmod(joined, count)
        weights = effective_bandwidths(problem, label, tails, heads)
        able = np.stack([np.bincount(label, column, count) for column in machine.vwgt.T], axis=1)
        graph = Graph.from_edges(count, tails, heads, weights=weights, vwgt=able)
        half = (count + 1) // 2
        made = _grouped(graph, half, tool, seed) if half > 1 else np.zeros(count, np.int64)
        label = np.unique(made[label], return_inverse=True)[1].ravel()
        if label.max() + 1 == count:  # nothing was joined
            label = label // 2
        rows.append(label.astype(np.int32))
    return np.array(rows[-2::-1] if len(rows) > 1 else rows, np.int32)


def _grouped(graph: Graph, parts: int, tool: str, seed: int) -> IntArray:
    return partition_with(tool, graph, Request(np.ones(parts), EPSILON, seed)).part


def effective_bandwidths(
    problem: StreamProblem, label: IntArray, tails: IntArray, heads: IntArray
) -> FloatArray:
    """Return the effective bandwidth (pairs,) between clusters tails[i] and heads[i] [B/s].

    In the paper's four steps, each processor of one cluster contributes the least bandwidth of its
    routes to the other cluster, and these contributions are added. The paper's example adds over
    the processors of the other cluster instead. The smaller of both sums is used. label (k,): the
    cluster of each processor.
    """
    cost = problem.processors.seconds_per_byte()
    members = [np.flatnonzero(label == c) for c in range(int(label.max()) + 1)]
    found, free = np.empty(tails.size), _free(cost)
    for i, (a, b) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
        between = cost[np.ix_(members[a], members[b])]
        sums = (1.0 / np.maximum(between.max(axis=axis), free) for axis in (0, 1))
        found[i] = min(float(part.sum()) for part in sums)
    return found


def _unequal(tree: npt.NDArray[np.int32]) -> int:
    """Count the clusters whose branches have different numbers of processors."""
    unequal, parent = 0, np.zeros(tree.shape[1], np.int64)
    for row in tree:
        names, counts = np.unique(parent * tree.shape[1] + row, return_counts=True)
        owners = names // tree.shape[1]
        low = np.full(int(parent.max()) + 1, tree.shape[1])
        high = np.zeros_like(low)
        np.minimum.at(low, owners, counts)
        np.maximum.at(high, owners, counts)
        unequal += int(np.count_nonzero(high > low))
        parent = row.astype(np.int64)
    return unequal
