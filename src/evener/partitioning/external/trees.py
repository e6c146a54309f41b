"""Divides a graph along a tree of blocks, or bisects it into a tree, by METIS in one process.

Imports NumPy only, because the process in which METIS runs needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.partitioning.external.jobs import LIMIT_32, LIMIT_64, Call, Job, whole_weights
from evener.partitioning.external.metis import (
    N_OPTIONS,
    PLACES,
    MetisLibrary,
    Weighted,
    _is_newer,
)

# Divides a graph of more vertices than blocks, by shares (blocks, c) of each weight: (n,) blocks.
Divide = Callable[[Weighted, npt.NDArray[np.float64]], npt.NDArray[Any]]


def part_of_graph(
    graph: Weighted, chosen: npt.NDArray[np.int64], place: npt.NDArray[np.int64]
) -> Weighted:
    """Return the subgraph of the chosen vertices. place (n,): -1 everywhere, before and after."""
    place[chosen] = np.arange(chosen.size)
    starts, degrees = graph.xadj[chosen], np.diff(graph.xadj)[chosen]
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    entries = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], degrees)
    ends = place[graph.adjncy[entries]]
    kept = ends >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    place[chosen] = -1
    return Weighted(before[offsets], ends[kept], graph.vwgt[chosen], graph.adjwgt[entries][kept])


def bisected(graph: Weighted, divide: Divide) -> npt.NDArray[np.int32]:
    """Return the tree (depth, n) of recursive bisections, down to single vertices.

    In row i, vertices with equal numbers are in the same part. Both halves of a part get about
    equal sums of each of the c weights.
    """
    n = graph.vwgt.shape[0]
    place = np.full(n, -1, np.int64)
    rows, groups = [], [np.arange(n)]
    while any(group.size > 1 for group in groups):
        halves: list[npt.NDArray[np.int64]] = []
        for group in groups:
            halves.extend(_halves(graph, group, place, divide) if group.size > 1 else [group])
        row = np.empty(n, np.int32)
        for number, group in enumerate(halves):
            row[group] = number
        rows.append(row)
        groups = halves
    return np.array(rows, np.int32).reshape(-1, n)


def _halves(
    graph: Weighted, group: npt.NDArray[np.int64], place: npt.NDArray[np.int64], divide: Divide
) -> list[npt.NDArray[np.int64]]:
    if group.size == 2:
        return [group[:1], group[1:]]
    shares = np.full((2, graph.vwgt.shape[1]), 0.5)
    side = np.asarray(divide(part_of_graph(graph, group, place), shares))
    first, second = group[side == 0], group[side == 1]
    if first.size == 0 or second.size == 0:
        return [group[: group.size // 2], group[group.size // 2 :]]
    return [first, second]


def along_tree(
    graph: Weighted,
    abilities: npt.NDArray[np.float64],
    tree: npt.NDArray[np.int32],
    divide: Divide,
) -> npt.NDArray[np.int32]:
    """Return the block (n,) of each vertex by dividing vertices among branches, from the root down.

    abilities (k, c): target of each block for each weight, in any unit; a branch gets weight in
    proportion to the sum over its blocks. tree (depth, k): as in `bisected`.
    """
    n, k = graph.vwgt.shape[0], abilities.shape[0]
    part = np.zeros(n, np.int32)
    place = np.full(n, -1, np.int64)
    todo = [(np.arange(n), np.arange(k), 0)]
    while todo:
        vertices, blocks, depth = todo.pop()
        while depth < len(tree) and np.ptp(tree[depth, blocks]) == 0:
            depth += 1
        if vertices.size == 0:
            continue
        if blocks.size == 1 or depth == len(tree):
            part[vertices] = blocks[0]
            continue
        names, branch = np.unique(tree[depth, blocks], return_inverse=True)
        sums = np.stack(
            [np.bincount(branch, column, names.size) for column in abilities[blocks].T], axis=1
        )
        chosen = _divided(graph, vertices, place, sums.astype(np.float64), divide)
        todo.extend(
            (vertices[chosen == b], blocks[branch == b], depth + 1) for b in range(names.size)
        )
    return part


def _divided(
    graph: Weighted,
    vertices: npt.NDArray[np.int64],
    place: npt.NDArray[np.int64],
    sums: npt.NDArray[np.float64],
    divide: Divide,
) -> npt.NDArray[Any]:
    """Return the branch of each vertex.

    If there are at most as many vertices as branches, each branch gets at most one: the heaviest
    vertex goes to the branch with the largest targets, and so on.
    """
    if vertices.size <= len(sums):
        ablest = np.argsort(-sums.prod(axis=1), kind="stable")
        heaviest = np.argsort(-graph.vwgt[vertices].prod(axis=1, dtype=np.float64), kind="stable")
        chosen = np.empty(vertices.size, np.int64)
        chosen[heaviest] = ablest[: vertices.size]
        return chosen
    return np.asarray(divide(part_of_graph(graph, vertices, place), sums / sums.sum(axis=0)))


CLUSTERS, TREE = "metis-clusters", "metis-tree"


def prepare(job: Job, folder: Path) -> Call:  # noqa: ARG001
    """Return the prepared Call: `metis-clusters` returns a tree (depth, n), `metis-tree` blocks."""
    metis = MetisLibrary.loaded()
    limit = LIMIT_64 if metis.index.itemsize == 8 else LIMIT_32
    vwgt = np.asarray(job.vwgt)
    columns = [whole_weights(np.asarray(column), limit, least=1).values for column in vwgt.T]
    adjwgt = np.asarray(job.adjwgt)
    edges = whole_weights(adjwgt, limit, least=1).values if adjwgt.size else adjwgt
    graph = Weighted(job.xadj, job.adjncy, np.stack(columns, axis=1), edges)
    options = np.full(N_OPTIONS, -1, np.int64)
    options[PLACES[_is_newer(metis.functions)]["seed"]] = job.seed % (2**31 - 1)

    def divide(part: Weighted, shares: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        return metis.divided(part, shares, None, options, recursive=True)

    def run() -> npt.ArrayLike:
        if job.tool == CLUSTERS:
            return bisected(graph, divide)
        assert job.tree is not None
        return along_tree(graph, job.targets, np.asarray(job.tree), divide)

    return Call(run, f"libmetis {metis.version}")
