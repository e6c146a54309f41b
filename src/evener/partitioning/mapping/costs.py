"""Makes a mapping problem from a partition's quotient graph and a platform."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.graphs.graph import Graph
from evener.partitioning.initial.trees import Tree, leaf_order
from evener.partitioning.mapping.cost_kernels import MappingProblem
from evener.partitioning.mapping.swap_kernels import Nearby
from evener.plans import metrics
from evener.plans.partition import RELATIVE_SLACK, Contract, Partition
from evener.platforms.platform import Platform

CHUNK = 1 << 20  # pairs of devices routed at once: bounds the memory
DIGITS = 10  # significant digits of a link's costs: rounding errors make no new kind
ALL_PAIRS = 256  # devices up to which every swap is tried
# With more, swaps of a block are tried with the devices near those of the HEAVY blocks that it
# exchanges most with: WINDOW to either side in the order of the tree's leaves, among all devices
# and among those like its own. MAX_ROWS: orders kept, one for all devices, others for like ones.
WINDOW, HEAVY, MAX_ROWS = 12, 8, 64


def mapping_problem(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    contract: Contract,
    bytes_per_value: float,
    constraint: int,
) -> MappingProblem:
    """Return the problem in which block b of `partition` is on device b; O(n + m)."""
    between = metrics.quotient(graph, partition)
    # Limits on further weights count too; seconds follow from the first weight.
    counted = [constraint, *range(1, contract.n_constraints)]
    weights = np.stack([metrics.block_weights(graph, partition, c) for c in counted], axis=1)
    size = metrics.block_bytes(graph, partition)
    # An empty block keeps no contract: the kernels know it by its size 0.
    size = np.where(metrics.block_sizes(partition) > 0, np.maximum(size, 1e-300), 0.0)
    slack = RELATIVE_SLACK * np.maximum(np.abs(contract.table("targets")), 1e-300)
    kind, alpha, beta, hops = _links(platform)
    return MappingProblem(
        between.starts, between.other,
        (between.sent + between.received) * float(bytes_per_value),
        weights, size, np.arange(partition.k), platform.speeds, contract.table("low") - slack,
        contract.table("high") + slack, contract.caps * (1 + RELATIVE_SLACK),
        platform.places, kind, alpha, beta, hops,
    )  # fmt: skip


def _links(
    platform: Platform,
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray, FloatArray]:
    """Return the kind of link of every pair of devices, and what each kind costs.

    With levels, the kind is the number of levels that two devices share, which needs no table.
    """
    if not platform.connections:
        depth = len(platform.levels)
        alpha, beta = (
            np.array([*(getattr(level.link, key) for level in platform.levels), 0.0])
            for key in ("alpha", "beta")
        )
        hops = np.asarray(2.0 * (depth - np.arange(depth + 1)), np.float64)
        return np.empty((0, 0), np.int32), alpha, beta, hops
    k = platform.k
    kinds: dict[tuple[float, float, float], int] = {}
    table = np.empty((k, k), np.int32)
    rows = max(CHUNK // k, 1)
    everyone = np.arange(k)
    for start in range(0, k, rows):
        own = everyone[start : start + rows]
        p, q = np.repeat(own, k), np.tile(everyone, own.size)
        costs = np.column_stack([*platform.link_costs(p, q), platform.hops(p, q)])
        costs = _rounded(costs)
        found, number = _unique_rows(costs)
        new = [kinds.setdefault(tuple(row), len(kinds)) for row in found.tolist()]
        table[own] = np.array(new, np.int32)[number].reshape(own.size, k)
    alpha, beta, hops = np.array(list(kinds)).T.copy()
    return table, alpha, beta, hops


def _unique_rows(rows: FloatArray) -> tuple[FloatArray, IntVector]:
    """Return the distinct rows, and for each row the number of the one it equals."""
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, number = np.unique(column, return_inverse=True)
        code = np.unique(code * values.size + number, return_inverse=True)[1]
    first = np.unique(code, return_index=True)[1]
    return rows[first], code


def _rounded(values: FloatArray) -> FloatArray:
    """Return the values rounded to DIGITS: a route's costs, summed in any order, are then equal."""
    exponent = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    unit = 10.0 ** (exponent - DIGITS)
    return np.asarray(np.rint(values / unit) * unit)


def nearby_of(problem: MappingProblem, tree: Tree, alike: IntVector) -> Nearby:
    """Return where to look for better devices; alike (k,): equal numbers for like devices."""
    k = alike.size
    order = leaf_order(tree)
    if k <= ALL_PAIRS:
        nothing = np.empty((0, 0), np.int64)
        return Nearby(nothing, nothing, order[:0], nothing, order[:0], k)
    position = np.empty(k, np.int64)
    position[order] = np.arange(k)
    counts = np.bincount(alike)
    common = np.argsort(-counts, kind="stable")[: MAX_ROWS - 1]
    orders, places = [order], [position]
    row_of = np.zeros(k, np.int64)
    for row, which in enumerate(common, start=1):
        own = order[alike[order] == which]
        row_of[own] = row
        orders.append(np.resize(own, k))
        places.append(np.searchsorted(position[own], position))
    length = np.array([k, *counts[common]])
    return Nearby(_heaviest(problem, k), np.array(orders), length, np.array(places), row_of, WINDOW)


def _heaviest(problem: MappingProblem, k: int) -> npt.NDArray[np.int64]:
    """Return the blocks (k, HEAVY) that each exchanges most with, in that order, padded by -1."""
    row = np.repeat(np.arange(k), np.diff(problem.starts))
    by_weight = np.lexsort((problem.other, -problem.n_bytes, row))
    rank = np.arange(row.size) - problem.starts[row]
    heavy = np.full((k, HEAVY), -1, np.int64)
    shown = rank < HEAVY
    heavy[row[shown], rank[shown]] = problem.other[by_weight[shown]]
    return heavy
