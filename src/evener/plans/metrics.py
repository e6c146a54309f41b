"""Costs of a partition: pure functions, each with its definition.

`prediction_of` defines predicted seconds; plans state those that evener.plans.counts computes with
exact=True. Searches also have faster approximations: partitioning/makespan (vertices that move, no
waits), partitioning/mapping (blocks that change places), planning/device_sets (before there are
blocks); planning/makespan/baselines.py has a bound.

Partitioners, searches and certificates use these functions. Also exports the names of
evener.plans.exchange_costs.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntVector, NumberArray
from evener.graphs.graph import Graph
from evener.plans.costs import fixed_seconds
from evener.plans.exchange_costs import (
    ExchangeCosts,
    Quotient,
    communication_seconds,
    hop_bytes,
    no_contact,
    quotient,
)
from evener.plans.partition import Partition
from evener.plans.plan import Prediction
from evener.plans.workload import BYTES_PER_VALUE, WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.platforms.with_curves import seconds_at

__all__ = [
    "BYTES_PER_VALUE",
    "Quotient",
    "block_bytes",
    "block_components",
    "block_sizes",
    "block_weights",
    "boundary_weights",
    "comm_volumes",
    "communication_seconds",
    "compute_seconds",
    "edge_cut",
    "hop_bytes",
    "imbalance",
    "neighbours",
    "no_contact",
    "predicted_seconds",
    "prediction_of",
    "quotient",
    "summed",
]  # fmt: skip


def edge_cut(between: Quotient) -> float:
    """Return the weight of the edges whose ends lie in different blocks."""
    return float(between.cut.sum() / 2)


def comm_volumes(between: Quotient) -> IntVector:
    """Return the number of values that each block sends, (k,).

    A vertex sends one value to each other block with a neighbour of the vertex; or each face sends
    one.
    """
    volumes = np.zeros(between.k, np.int64)
    np.add.at(volumes, between.block, between.sent)
    return volumes


def neighbours(between: Quotient) -> IntVector:
    """Return the number of other blocks that each block touches, (k,): messages per exchange."""
    return np.diff(between.starts)


def block_weights(graph: Graph, partition: Partition, constraint: int = 0) -> FloatArray:
    """Return the sum of the vertex weights of each block, (k,) [units]."""
    if graph.vwgt is None:
        return block_sizes(partition).astype(np.float64)
    return summed(graph.weights(constraint), partition)


def summed(values: NumberArray, partition: Partition) -> FloatArray:
    """Return the sum of values (n,) over the vertices of each block, (k,)."""
    from evener.plans import metrics_kernels as kernels

    total = np.zeros(partition.k)
    kernels.sum_by_block(partition.part, values, total)
    return total


def block_sizes(partition: Partition) -> IntVector:
    """Return the number of vertices of each block, (k,)."""
    from evener.plans import metrics_kernels as kernels

    count = np.zeros(partition.k, np.int64)
    kernels.count_by_block(partition.part, count)
    return count


def block_bytes(graph: Graph, partition: Partition) -> FloatArray:
    """Return the memory of the vertices and adjacency entries of each block, (k,) [B]."""
    held = np.bincount(partition.part, graph.vertex_bytes(), partition.k)
    return np.asarray(held, np.float64)


def block_components(graph: Graph, partition: Partition) -> IntVector:
    """Return the number of connected pieces of each block, (k,); 1 is best, 0 means empty."""
    from evener.plans import metrics_kernels as kernels

    count = np.zeros(partition.k, np.int64)
    leader = np.empty(graph.n, graph.adjncy.dtype)
    kernels.block_components(graph.xadj, graph.adjncy, partition.part, leader, count)
    return count


def imbalance(weights: FloatArray, targets: FloatArray) -> float:
    """Return the largest weight / target - 1; a target of zero matters only if it is exceeded."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(targets > 0, weights / targets, np.where(weights > 0, np.inf, 1.0))
    return float(ratio.max() - 1)


def compute_seconds(weights: FloatArray, platform: Platform) -> FloatArray:
    """Return the seconds that each device computes, (k,): weight / speed.

    With a speed curve, the speed is its value at this weight.
    """
    if platform.has_curves:
        return seconds_at(platform, weights)
    return np.asarray(weights / platform.speeds)


def boundary_weights(graph: Graph, partition: Partition, work: FloatArray) -> FloatArray:
    """Return the work of vertices with a neighbour in another block, (k,) [units].

    work (n,) [units]: of each vertex.
    """
    from evener.plans import metrics_kernels as kernels

    total = np.zeros(partition.k)
    kernels.sum_boundary(graph.xadj, graph.adjncy, partition.part, work, total)
    return total


def predicted_seconds(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    workload: Workload = WEIGHTS,
    *,
    between: Quotient | None = None,
    bound: float = np.nan,
) -> Prediction:
    """Return the Prediction of an iteration of `workload` with block b on device b; O(n + m).

    graph: as it was read; its work comes from the workload, or from the first vertex weight if the
    workload states no work. between: the quotient graph, if known. bound [s]: see Prediction.

    A device computes at its speed for its load, communicates for the sum over its neighbours of
    alpha + beta x bytes both ways, waits for partners and shared links, and has fixed costs; with
    overlap it communicates while it computes interior vertices. Without work and neighbours it
    takes no time. docs/prediction.md defines all these times.
    """
    between = between or quotient(graph, partition, of_faces=workload.of_faces)
    if any(workload.shares):
        work = workload.work(graph)
        loads, outside = summed(work, partition), boundary_weights(graph, partition, work)
    elif graph.vwgt is None:
        loads = block_sizes(partition).astype(np.float64)
        outside = between.boundary.astype(np.float64)
    else:
        work = np.asarray(graph.weights(0), np.float64)
        loads, outside = summed(work, partition), boundary_weights(graph, partition, work)
    interior = np.clip(1 - outside / np.maximum(loads, 1e-300), 0, 1)
    return prediction_of(between, loads, interior, platform, workload, bound=bound)


def prediction_of(
    between: Quotient,
    loads: FloatArray,
    interior: FloatArray,
    platform: Platform,
    workload: Workload = WEIGHTS,
    *,
    bound: float = np.nan,
    exact: bool = False,
) -> Prediction:
    """Return the Prediction for blocks of loads (k,) [units] and the quotient graph `between`.

    interior (k,): share of each load at vertices without a neighbour in another block. bound [s]:
    from evener.sizing.bounds, if known. exact: whether to compute waiting times exactly even for
    many messages; see ExchangeCosts.lateness.
    """
    compute = compute_seconds(loads, platform)
    takes_part = (loads > 0) | (neighbours(between) > 0)
    fixed = np.where(takes_part, fixed_seconds(platform, workload), 0.0)
    meanwhile = interior * compute if workload.overlap else np.zeros(between.k)
    exchange = ExchangeCosts.of(between, platform, workload.bytes_per_value)
    late = np.zeros(between.k)
    if platform.has_links:
        late = exchange.lateness(fixed if workload.overlap else fixed + compute, exact)
    with np.errstate(invalid="ignore"):  # infinite times less infinite ones; whoever judges refuses
        contention = np.fmin(late, np.fmax(exchange.held_up() - exchange.direct, 0.0))
        communicate = exchange.direct + contention
        delay = np.fmax(exchange.direct + late - np.maximum(meanwhile, communicate), 0.0)
    return Prediction(
        compute,
        communicate,
        bound,
        hop_bytes(between, platform, workload.bytes_per_value),
        contention=contention,
        fixed=fixed,
        overlapped=np.minimum(meanwhile, communicate),
        interior=interior,
        delay=delay,
        ideal=platform.relative_ideal(float(loads.sum())),
    )
